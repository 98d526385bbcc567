// Debian's OpenStack Swift with its S3 interface: four servers on one folder, which judge signatures, put parts
// together and list as real ones do. It ignores If-Match. For tests that are skipped without it.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { execFileSync } from 'node:child_process';
import { steadyPort } from '../../bench/proxy/shippedProxies.ts';
import { S3Exchange } from '../../data/distribution/s3Exchange.ts';
import type { S3Access } from '../../data/distribution/target.ts';
import { type CommandProcess, runProgram } from './commandProcess.ts';
import type { Program } from './debian.ts';

/** The programs, for `test.skipIf(!SWIFT_SERVERS.every((name) => hasProgram(name)))`. */
export const SWIFT_SERVERS: readonly Program[] = [
  'swift-account-server',
  'swift-container-server',
  'swift-object-server',
  'swift-proxy-server',
];

const PIPELINE =
  'catch_errors gatekeeper proxy-logging cache listing_formats s3api tempauth copy slo dlo proxy-logging proxy-server';

/** The sections behind the pipeline of the proxy; each filter has the name of its code but for two. */
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
export interface SwiftServer {
  readonly access: S3Access;
  readonly bucket: string;
  kill(): Promise<void>;
}

/** Starts all of it on a new folder in `parent`; resolves when the bucket is made. */
export async function swiftServer(parent: string): Promise<SwiftServer> {
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
  // The last failure is thrown.
  for (let tries = 0; tries < TRIES && !(await make().then(isDone, () => false)); tries++) await wait(100);
  await make();
  await exchange.close();
  return { access, bucket, kill: async () => void (await Promise.all(running.map((one) => one.kill()))) };
}
