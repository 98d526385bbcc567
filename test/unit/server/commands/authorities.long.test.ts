// The commands with HTTPS servers: they trust the CAs of the system, or those of --ca instead.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { AUTHORITY, tlsInFrontOf } from '../../../support/certificates.ts';
import { type CommandOptions, type CommandProcess, runCommand } from '../../../support/commandProcess.ts';
import { recordsOf } from '../../../support/crawls.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { newFolder, published, releaseOf, serveFolder, startFollower } from '../../../support/distributions.ts';
import { plainUpstreams } from '../../../support/plainUpstream.ts';
import { s3Server } from '../../../support/s3Servers.ts';

const directory = temporaryDirectory();
const startUpstream = plainUpstreams();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const ca = join(directory, 'ca.pem');
writeFileSync(ca, AUTHORITY.pem);
const TRUSTING: readonly (readonly [how: string, flags: readonly string[], options: CommandOptions])[] = [
  ['by --ca', ['--ca', ca], {}],
  ['by CATALOGUE_CA', [], { environment: { CATALOGUE_CA: ca } }],
  ["by the system's trust store", [], { environment: { SSL_CERT_FILE: ca } }],
];

async function encrypted(plain: string): Promise<string> {
  const server = await tlsInFrontOf(plain);
  closing.push(server.close);
  return server.origin;
}

function started(command: CommandProcess): CommandProcess {
  closing.push(() => command.kill());
  return command;
}

test.each(TRUSTING)(
  'lets a crawl and a following server trust a catalogue %s',
  async (_how, flags, options) => {
    const origin = await encrypted((await startUpstream({ collections: { notes: [{ ob_id: 1 }] } })).url);
    const folder = mkdtempSync(join(directory, 'crawled-'));
    const crawl = runCommand(['crawl', origin, '-o', join(folder, 'out'), '--rate', '1000', ...flags], options);
    expect([await crawl.ended, crawl.err()]).toEqual([{ code: 0, signal: null }, '']);
    expect(recordsOf(join(folder, 'out'))).toEqual({ 'notes.ndjson': '{"ob_id":1}\n' });
    const words = ['serve', '--follow', origin, '--state', join(folder, 'state'), '--port', '0', '--threads', '1'];
    await started(runCommand([...words, '--rate', '1000', ...flags], options)).printed(/listening on/);
  },
  60_000,
);

test.each(TRUSTING)(
  'lets a replica trust an HTTPS target, and a publisher an S3 server, %s',
  async (_how, flags, options) => {
    const release = await releaseOf(directory, 1);
    const { folder, url } = newFolder(directory);
    await published(url, release);
    const [server, bucket] = [await serveFolder(folder), await s3Server()];
    closing.push(server.close, bucket.close);
    const cache = join(mkdtempSync(join(directory, 'cache-')), 'cache');
    const replica = started(await startFollower(await encrypted(server.url), cache, flags, options));
    await replica.printed(/listening on/);
    const endpoint = await encrypted(bucket.origin);
    const words = ['publish', release.file, '--to', 's3://bucket/folder', '--s3-endpoint', endpoint, ...flags];
    const environment = { ...options.environment, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
    expect(await runCommand(words, { environment }).ended).toEqual({ code: 0, signal: null });
  },
);

test('ends a crawl of a server with an unknown CA at once, in one line', async () => {
  const origin = await encrypted((await startUpstream({ collections: {} })).url);
  const command = runCommand(['crawl', origin, '-o', join(directory, 'refused')]);
  expect(await command.ended).toEqual({ code: 1, signal: null });
  expect(command.out()).toBe('a crawl began, of everything\n');
  expect(command.err()).toMatch(/^catalogue-replica: the root view \(https:.*\): UNABLE_TO_\w+: .* with --ca .*\n$/);
});
