// The contract of targets, over Debian's OpenStack Swift with its S3 interface and over Debian's nats-server.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { steadyPort } from '../../bench/proxy/shippedProxies.ts';
import { openPublishingTarget } from '../../data/distribution/openTarget.ts';
import { S3Exchange } from '../../data/distribution/s3Exchange.ts';
import { upload } from '../../data/distribution/s3Target.ts';
import { type PublishingTarget, type S3Access } from '../../data/distribution/target.ts';
import { type CommandProcess, runProgram } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram, type Program } from '../support/debian.ts';
import { published, releaseOf } from '../support/distributions.ts';
import { NATS_SERVER, natsServer, type NatsServer } from '../support/natsServers.ts';
import { randomBytes } from '../support/random.ts';
import { cutInto, describeTarget } from '../support/targetSuite.ts';

/** The programs, for `test.skipIf(!SWIFT_SERVERS.every((name) => hasProgram(name)))`. */
const SWIFT_SERVERS: readonly Program[] = [
  'swift-account-server',
  'swift-container-server',
  'swift-object-server',
  'swift-proxy-server',
];

const PIPELINE =
  'catch_errors gatekeeper proxy-logging cache listing_formats s3api tempauth copy slo dlo proxy-logging proxy-server';

/** The sections for the filters in the proxy's pipeline. All filters except two have the name of their code. */
function proxySections(): string {
  const special: Readonly<Record<string, string>> = {
    'proxy-logging': 'use = egg:swift#proxy_logging',
    'proxy-server': 'use = egg:swift#proxy\naccount_autocreate = true',
    cache: 'use = egg:swift#memcache\nmemcache_servers = 127.0.0.1:1',
    s3api: 'use = egg:swift#s3api\nmin_segment_size = 1',
    tempauth: 'use = egg:swift#tempauth\nuser_me_tester = hunter2secret .admin',
  };
  const sections = [...new Set(PIPELINE.split(' '))].map((name) => {
    const kind = name === 'proxy-server' ? 'app' : 'filter';
    return `[${kind}:${name}]\n${special[name] ?? `use = egg:swift#${name}`}\n`;
  });
  return `[pipeline:main]\npipeline = ${PIPELINE}\n${sections.join('')}`;
}

const TRIES = 30;
const isDone = (): boolean => true;

/** Swift, with a bucket. */
interface SwiftServer {
  readonly access: S3Access;
  readonly bucket: string;
  kill(): Promise<void>;
}

/** Starts all servers in a new folder in `parent`. Resolves once the bucket exists. */
async function swiftServer(parent: string): Promise<SwiftServer> {
  const folder = mkdtempSync(join(parent, 'swift-'));
  mkdirSync(join(folder, 'disks', 'd1'), { recursive: true });
  const suffix = '[swift-hash]\nswift_hash_path_prefix = a\nswift_hash_path_suffix = b\n';
  writeFileSync(join(folder, 'swift.conf'), suffix);
  const running: CommandProcess[] = [];
  const start = async (kind: string, rest: string): Promise<number> => {
    const port = await steadyPort();
    const file = join(folder, `${kind}.conf`);
    const own = [`swift_dir = ${folder}`, `devices = ${join(folder, 'disks')}`, 'mount_check = false', 'user = root'];
    const at = ['bind_ip = 127.0.0.1', `bind_port = ${port}`, 'workers = 0', 'fallocate_reserve = 0'];
    writeFileSync(file, ['[DEFAULT]', ...own, ...at, rest].join('\n'));
    if (kind !== 'proxy') {
      const builder = join(folder, `${kind}.builder`);
      for (const words of [['create', '2', '1', '0'], ['add', `r1z1-127.0.0.1:${port}/d1`, '1'], ['rebalance']])
        execFileSync('swift-ring-builder', [builder, ...words], { stdio: 'ignore' });
    }
    running.push(runProgram(`swift-${kind}-server`, [file]));
    return port;
  };
  await Promise.all(
    ['account', 'container', 'object'].map((kind) =>
      start(kind, `[pipeline:main]\npipeline = ${kind}-server\n[app:${kind}-server]\nuse = egg:swift#${kind}\n`),
    ),
  );
  const port = await start('proxy', proxySections());
  const endpoint = `http://127.0.0.1:${port}`;
  const keys = { id: 'me:tester', secret: 'hunter2secret', token: '' };
  const access: S3Access = { endpoint, region: 'us-east-1', keys };
  const bucket = 'bucket';
  const exchange = new S3Exchange(bucket, access, 30_000);
  const make = async (): Promise<void> =>
    (await exchange.send({ method: 'PUT', key: '', expected: [200, 409] })).discard();
  // Throws the last failure.
  for (let tries = 0; tries < TRIES && !(await make().then(isDone, () => false)); tries++) await wait(100);
  await make();
  await exchange.close();
  return { access, bucket, kill: async () => void (await Promise.all(running.map((one) => one.kill()))) };
}

const directory = temporaryDirectory();
const { signal } = new AbortController();

describe.skipIf(!SWIFT_SERVERS.every((name) => hasProgram(name)))('a bucket of Swift', () => {
  let server: SwiftServer;
  beforeAll(async () => {
    server = await swiftServer(directory);
  });
  afterAll(async () => server.kill());
  describeTarget(async (name) =>
    openPublishingTarget(`s3://${server.bucket}/${name}`, { s3: { ...server.access, isUnconditional: true } }),
  );

  test('assembles a large object, lists an upload until it is complete, and refuses a wrong signature', async () => {
    const exchange = new S3Exchange(server.bucket, server.access, 30_000);
    const body = randomBytes(2_000_001);
    const [key, left] = ['a', 'b'].map((letter) => `parts/${letter.repeat(64)}.snapshot`) as [string, string];
    await upload({ exchange, key, size: body.length, pieces: cutInto(body, 70_000), partBytes: 500_000 });
    await exchange.text({ method: 'POST', key: left, query: { uploads: '' }, expected: [200] });
    await exchange.close();
    const open = async (s3: S3Access): Promise<PublishingTarget> =>
      openPublishingTarget(`s3://${server.bucket}/parts`, { s3 });
    const target = await open(server.access);
    const found = await target.read(`${'a'.repeat(64)}.snapshot`, 1_234_567, signal);
    const pieces: Uint8Array[] = [];
    for await (const piece of found!.pieces) pieces.push(piece);
    expect(Buffer.concat(pieces).equals(body.subarray(found!.offset))).toBe(true);
    const [whole, unfinished] = (await target.list()).map(({ name }) => name);
    expect([whole, unfinished]).toEqual([`${'a'.repeat(64)}.snapshot`, expect.stringMatching(`^upload ${left} `)]);
    await target.remove(unfinished!);
    expect((await target.list()).length).toBe(1);
    const keys = { id: 'me:tester', secret: 'hunter3', token: '' };
    const stranger = await open({ ...server.access, keys });
    await expect(stranger.readPointer(undefined, signal)).rejects.toThrow(/403 SignatureDoesNotMatch: AWS_SECRET/);
    const elsewhere = await open({ ...server.access, region: 'eu-west-2' });
    await expect(elsewhere.readPointer(undefined, signal)).rejects.toThrow(/want --s3-region us-east-1$/);
    const careful = await open(server.access);
    const release = await releaseOf(directory, 1);
    await expect(published(careful, release)).rejects.toThrow(/ignores If-Match.*--s3-unconditional$/);
    for (const one of [target, stranger, elsewhere, careful]) await one.close();
  });
});

describe.skipIf(!hasProgram(NATS_SERVER))('a bucket of NATS', () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await natsServer(directory);
    await server.start();
  });
  afterAll(async () => server.kill());
  describeTarget(async (name) => openPublishingTarget(server.bucket(name)));
});
