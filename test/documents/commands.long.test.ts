// Follows the guides made of commands exactly: crawling, following and importing a server of the sample; a target in a
// folder, a NATS server and a bucket; the admin port; the attribute authority, from its demonstration to a real site;
// new data for running replicas; and the plan that ARCHITECTURE.md shows.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { steadyPort } from '../../bench/proxy/shippedProxies.ts';
import { generate } from '../../data/synth/generate.ts';
import { hasClickHouse } from '../support/clickHouse.ts';
import { type CommandProcess, runCommand } from '../support/commandProcess.ts';
import { imported, temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { NATS_SERVER, natsServer } from '../support/natsServers.ts';
import { CA_LINES, opensslIn, USER_LINES } from '../support/opensslCertificates.ts';
import { S3_KEYS, s3Server } from '../support/s3Servers.ts';
import { hasDuckDb } from '../support/parquetFiles.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';
import { ROOT } from '../support/sources.ts';
import type { Block } from './blocks.ts';
import { blocksRunBy } from './plan.ts';
import { misprintsOf, runBlocks } from './script.ts';

const SELF = 'test/documents/commands.long.test.ts';
const SAMPLE = join(ROOT, 'data/sample');
const directory = temporaryDirectory();
/** HOME of all commands and of the server, with its demonstration of the authority. */
const home = join(directory, 'home');
let server: CommandProcess;
let address: string;

beforeAll(async () => {
  server = runCommand(['serve', '--port', '0', '--threads', '1'], { environment: { HOME: home } });
  const [, port] = await server.printed(/listening on http:\/\/\S+:(\d+)\n[^]*try: /);
  address = `localhost:${port}`;
});
afterAll(() => server.kill());

/** A folder for the blocks of one document, with the sample as `catalogue`. */
function folderWithSample(): string {
  const folder = mkdtempSync(join(directory, 'work-'));
  symlinkSync(SAMPLE, join(folder, 'catalogue'));
  return folder;
}

/**
 * Runs these blocks in a folder, with replacements for texts of the document. Returns differences from the expected
 * output.
 */
async function misprints(
  blocks: readonly Block[],
  folder: string,
  replaced: Readonly<Record<string, string>> = {},
  // A polite crawl of the sample waits for 8 s.
  environment: Readonly<Record<string, string>> = { CATALOGUE_PORT: '0', CATALOGUE_RATE: '1000' },
): Promise<readonly string[]> {
  expect(blocks.length).toBeGreaterThan(0);
  return misprintsOf(await runBlocks(blocks, { directory: folder, home, replaced, environment }));
}

test('data/README.md: crawls and follows a server, compares and imports the result', async () => {
  const blocks = blocksRunBy(SELF, 'data/README.md');
  const folder = mkdtempSync(join(directory, 'work-'));
  expect(await misprints(blocks, folder, { 'https://catalogue.example.org': `http://${address}` })).toEqual([]);
});

test('server/catalogue/EXPORTS.md: makes files of lists, from a server and from a snapshot', async () => {
  const folder = mkdtempSync(join(directory, 'work-'));
  symlinkSync(await sampleSnapshot(), join(folder, 'catalogue.snapshot'));
  const blocks = blocksRunBy(SELF, 'server/catalogue/EXPORTS.md').filter(
    ({ language, text }) => (hasClickHouse || !text.startsWith('clickhouse')) && (hasDuckDb || language !== 'sql'),
  );
  const replaced = {
    'localhost:8080': address,
    "'observations.parquet'": "'catalogue/observations.parquet'",
    "'times.parquet'": "'catalogue/times.parquet'",
  };
  expect(await misprints(blocks, folder, replaced)).toEqual([]);
  const files = readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.parquet'));
  expect(files.length).toBe(3 + 34 + 6);
});

test('data/distribution/README.md: publishes, prunes and serves snapshots from a folder', async () => {
  const folder = folderWithSample();
  const blocks = blocksRunBy(SELF, 'data/distribution/README.md').filter(({ heading }) => !/NATS|S3/.test(heading));
  const replaced = {
    'https://snapshots.example.org/catalogue/': 'file:///srv/snapshots',
    'file:///srv/snapshots': `file://${folder}/snapshots`,
    '/var/lib/catalogue': `${folder}/cache`,
    'admin-port 9090': 'admin-port 0',
  };
  expect(await misprints(blocks, folder, replaced)).toEqual([]);
});

test.skipIf(!hasProgram(NATS_SERVER))('data/distribution/README.md: does the same with a NATS server', async () => {
  const folder = folderWithSample();
  const blocks = blocksRunBy(SELF, 'data/distribution/README.md');
  const imported = blocks[0]!;
  const own = blocks.filter(({ heading }) => heading === 'A NATS cluster');
  expect(own.map(({ file }) => file)).toEqual(['nats.conf', undefined]);
  const secrets = mkdtempSync(join(directory, 'secrets-'));
  const issued = opensslIn(secrets);
  const issuer = issued({ subject: '/CN=A test CA', extensions: CA_LINES });
  const { certificateFile, keyFile } = issued({
    subject: '/CN=localhost',
    issuer,
    extensions: [...USER_LINES, 'subjectAltName=DNS:localhost'],
  });
  for (const user of ['publisher', 'replica']) writeFileSync(join(secrets, user), `${user}:secret-of-${user}\n`);
  const files = {
    '/etc/nats/n1.pem': certificateFile,
    '/etc/nats/n1.key': keyFile,
    '/etc/nats/ca.pem': issuer.certificateFile,
    '/etc/catalogue': secrets,
    $PUBLISHER_PASSWORD: '"secret-of-publisher"',
    $REPLICA_PASSWORD: '"secret-of-replica"',
  };
  const guarded = Object.entries(files).reduce((text, [of, by]) => text.replaceAll(of, by), own[0]!.text);
  // One of the three servers, on a free port: without the lines about its place and the cluster.
  const nats = await natsServer(directory, [/^tls .*$/m.exec(guarded)![0], /^authorization [^]*$/m.exec(guarded)![0]]);
  await nats.start();
  const replaced = {
    ...files,
    'n1.example.org:4222': `localhost:${nats.port}`,
    'n2.example.org:4222': `localhost:${nats.port}`,
    '--nats-replicas 3': '--nats-replicas 1',
    '/var/lib/catalogue': `${folder}/cache`,
    'file:///srv/snapshots': `file://${folder}/snapshots`,
  };
  try {
    expect(await misprints([imported, ...own], folder, replaced)).toEqual([]);
    execFileSync(NATS_SERVER, ['-t', '-c', join(folder, 'nats.conf')], { stdio: 'pipe' });
  } finally {
    await nats.kill();
  }
});

test('data/distribution/README.md: does the same with a bucket', async () => {
  const folder = folderWithSample();
  const blocks = blocksRunBy(SELF, 'data/distribution/README.md');
  const bucket = await s3Server();
  const replaced = {
    'AWS_ACCESS_KEY_ID=...': `AWS_ACCESS_KEY_ID=${S3_KEYS.id}`,
    'AWS_SECRET_ACCESS_KEY=...': `AWS_SECRET_ACCESS_KEY=${S3_KEYS.secret}`,
    'https://s3.example.org': bucket.origin,
    '/var/lib/catalogue': `${folder}/cache`,
    'file:///srv/snapshots': `file://${folder}/snapshots`,
  };
  try {
    const own = blocks.filter(({ heading }) => heading === 'An S3 bucket');
    expect(own.length).toBe(1);
    expect(await misprints([blocks[0]!, ...own], folder, replaced)).toEqual([]);
    expect([...bucket.objects.keys()]).toContain('catalogue/current.json');
  } finally {
    bucket.close();
  }
});

test.skipIf(!hasProgram('curl'))('server/observe/README.md: watches a server that loads new data', async () => {
  const port = await steadyPort();
  const places = ['localhost:', '127.0.0.1:', 'admin-port '].map((before) => [`${before}9090`, before + port]);
  const blocks = blocksRunBy(SELF, 'server/observe/README.md');
  expect(await misprints(blocks, folderWithSample(), Object.fromEntries(places))).toEqual([]);
});

test.skipIf(!hasProgram('curl'))('deploy/README.md: reloads running replicas with the data of refresh.sh', async () => {
  const folder = mkdtempSync(join(directory, 'work-'));
  copyFileSync(join(ROOT, 'deploy/refresh.sh'), join(folder, 'refresh.sh'));
  const old = join(folder, 'old');
  await generate({ observations: 20, seed: 1, directory: old }, () => undefined);
  const { file } = await imported(old, { file: join(folder, 'catalogue.snapshot') });
  const flags = ['--data', file, '--port', '0', '--admin-port', '0', '--threads', '1'];
  const replicas = [1, 2, 3].map(() => runCommand(['serve', ...flags]));
  const replaced: Record<string, string> = {
    '/opt/catalogue/node_modules/.bin/catalogue-replica': "'npx catalogue-replica'",
    'https://upstream.example.org': `http://${address}`,
    '/var/lib/catalogue': folder,
  };
  try {
    for (const [i, replica] of replicas.entries()) {
      const [, port] = await replica.printed(/admin on http:\/\/\S+?:(\d+)\/[^]*try: /);
      replaced[`127.0.0.1:908${i + 1}`] = `127.0.0.1:${port}`;
    }
    expect(await misprints(blocksRunBy(SELF, 'deploy/README.md'), folder, replaced)).toEqual([]);
  } finally {
    await Promise.all(replicas.map((one) => one.kill()));
  }
});

test('server/authority/README.md: grants, denies and maps with the demonstration', async () => {
  const blocks = blocksRunBy(SELF, 'server/authority/README.md').filter(
    ({ heading }) => heading === 'The demonstration',
  );
  const folder = mkdtempSync(join(directory, 'work-'));
  expect(await misprints(blocks, folder, { 'localhost:8080': address })).toEqual([]);
});

test('server/authority/README.md: makes, checks and serves a real site, calls it, and keeps an audit', async () => {
  const blocks = blocksRunBy(SELF, 'server/authority/README.md').filter(
    ({ heading, text }) => heading !== 'The demonstration' && (hasProgram('xmlsec1') || !text.startsWith('xmlsec1 ')),
  );
  const port = String(await steadyPort());
  const folder = mkdtempSync(join(directory, 'work-'));
  const replaced = { 'localhost:8080': `localhost:${port}` };
  const environment = { CATALOGUE_PORT: port, CATALOGUE_THREADS: '1' };
  // With the two files from the guide that its configuration refers to.
  const merged = [
    `sed 's/^usersFile/mapConfig = "mapConfig.xml"\\n&/; /trustedHost/,$d' authority.toml > merged.toml`,
    'cat namespaces.toml >> merged.toml',
    'npx catalogue-replica authority check merged.toml',
  ];
  const text = `${merged.join('\n')}\n`;
  const printed = { language: 'text', text: '...\ntrusted hosts           Partner\n...\nmerged.toml is good' };
  const check: Block = { ...blocks[0]!, language: 'sh', text, printed, file: undefined };
  expect(await misprints([...blocks, check], folder, replaced, environment)).toEqual([]);
});

test('ARCHITECTURE.md: shows the plan of its request', async () => {
  const [block, ...others] = blocksRunBy(SELF, 'ARCHITECTURE.md');
  expect(others).toEqual([]);
  const commands = [
    'npx catalogue-replica generate --observations 20000 --seed 1 -o data 2> /dev/null > /dev/null',
    `npx catalogue-replica explain '/api/v3/observations/?status=completed&title__contains=Saharan&offset=100' --data data`,
  ];
  const printed = { language: 'text', text: `...\n${block!.text}` };
  const run = { ...block!, language: 'sh', text: `${commands.join('\n')}\n`, printed };
  expect(await misprints([run], mkdtempSync(join(directory, 'work-')))).toEqual([]);
});
