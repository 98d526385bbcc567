// deploy/IN_FRONT.md, executed in front of a catalogue on Django REST Framework, with nginx and HAProxy as Debian
// configures them: traffic moves to replicas and back under steady load, and no request fails.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { steadyPort, writeCertificate } from '../../bench/proxy/shippedProxies.ts';
import {
  DEMONSTRATION_FILES,
  demonstrationDirectory,
  prepareDemonstration,
} from '../../server/authority/demonstration.ts';
import { epochSeconds } from '../../server/observe/clock.ts';
import type { Block } from '../documents/blocks.ts';
import { blocksRunBy } from '../documents/plan.ts';
import { misprintsOf, runBlocks } from '../documents/script.ts';
import { type CommandProcess, runProgram } from '../support/commandProcess.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hasProgram } from '../support/debian.ts';
import { type Django, hasDjango, startDjango } from '../support/django.ts';
import { call } from '../support/envelopes.ts';
import { ROOT } from '../support/sources.ts';
import { until } from '../support/waits.ts';

const LIST = '/api/v3/observations/';
const ID = 141;
const SOAP = '/attAuthority.wsdl';
const XML = { 'content-type': 'text/xml; charset=utf-8' };
const READS = [
  '/api/v3/',
  '/api/v2/observations/?limit=1',
  `${LIST}?limit=1`,
  '/api/v0/obs/get_info/neodc',
  '/api/legacy_lookup/?identifier=x',
  '/browse/observations/?limit=1',
  '/docs/',
  '/openapi.json',
];
const PAUSE_MS = 20;
/** Records of each collection: pages of Django take long. */
const RECORDS = 30;
const hasAll = hasDjango && (['nginx', 'haproxy', 'curl', 'openssl'] as const).every((name) => hasProgram(name));

interface Request {
  readonly target: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The last two bytes of the client's address, by which the proxy chooses between replicas and original. */
  readonly client?: number;
}

interface Response {
  readonly status: number;
  readonly isOfReplica: boolean;
  readonly body: string;
}

/** Sends a request on a new connection: a reload closes idle ones, and clients then repeat the request. */
function send(port: number, { target, method = 'GET', headers, body, client = 1 }: Request): Promise<Response> {
  return new Promise((resolve, reject) => {
    const localAddress = `127.0.${client >> 8}.${client & 255}`;
    const options = { host: '127.0.0.1', port, localAddress, path: target, method, headers, agent: false };
    const outgoing = request(options, (incoming) => {
      const pieces: Buffer[] = [];
      incoming.on('data', (piece: Buffer) => pieces.push(piece));
      incoming.once('error', reject);
      incoming.once('end', () => {
        const { 'cache-control': caching, 'content-type': type } = incoming.headers;
        // The Django service sends neither Cache-Control nor XML.
        const isOfReplica = caching !== undefined || type?.startsWith('text/xml') === true;
        resolve({ status: incoming.statusCode ?? 0, isOfReplica, body: Buffer.concat(pieces).toString() });
      });
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

const WRITE = JSON.stringify({ at: '2024-06-01T00:00:00' });
const PERSONAL = [{ authorization: 'Basic dTpw' }, { cookie: 'theme=dark; sessionid=abc' }];

/** A request that must succeed at every step, from either side. Consecutive ones are of different kinds. */
function loadRequest(n: number): Request {
  const page = { target: `/api/v3/times/?limit=1&offset=${n % 20}`, client: n % 1000 };
  const kinds: readonly Request[] = [
    page,
    { ...page, method: 'HEAD' },
    { target: `${LIST}${ID}/`, client: n % 1000 },
    ...PERSONAL.map((headers) => ({ ...page, headers })),
    { target: '/changes/', method: 'POST', body: WRITE },
  ];
  return kinds[n % kinds.length]!;
}

interface Load {
  good(): number;
  stop(): Promise<readonly string[]>;
}

/** Sends requests to a port until `stop`, which resolves with the failures. */
function startLoad(port: number): Load {
  let [isOver, good] = [false, 0];
  const failures: string[] = [];
  const sendAll = async (): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const sent = loadRequest(n);
      const name = `${sent.method ?? 'GET'} ${sent.target}`;
      try {
        const { status, body } = await send(port, sent);
        if (status === 200) good++;
        else failures.push(`${name}: ${status} ${body.slice(0, 200)}`);
      } catch (error) {
        failures.push(`${name}: ${String(error)}`);
      }
      await delay(PAUSE_MS);
    }
  };
  const sending = sendAll();
  const stop = async (): Promise<readonly string[]> => {
    isOver = true;
    await sending;
    return failures;
  };
  return { good: () => good, stop };
}

async function hasReplicasFor(port: number, sent: Request): Promise<boolean> {
  return (await send(port, sent)).isOfReplica;
}

/** Which requests of each kind replicas respond to. */
async function expectSides(port: number, readsAreOfReplicas: boolean): Promise<void> {
  const soap = { target: SOAP, method: 'POST', headers: XML, body: call('getTrustedHostInfo', '') };
  const reads = [...[...READS, SOAP].map((target, i) => ({ target, method: i % 2 === 0 ? 'GET' : 'HEAD' })), soap];
  let others: readonly Request[] = [];
  // Right after a reload, a worker of the proxy may still have the old file.
  await until(
    async () => {
      const sides = await Promise.all(reads.map((read) => hasReplicasFor(port, read)));
      others = reads.filter((_, i) => sides[i] !== readsAreOfReplicas);
      return others.length === 0;
    },
    () => `from the wrong side: ${JSON.stringify(others)}`,
  );
  for (const headers of PERSONAL) {
    for (const target of ['/api/v3/', '/browse/'])
      expect([target, await hasReplicasFor(port, { target, headers })]).toEqual([target, false]);
    expect(await hasReplicasFor(port, { ...soap, headers: { ...XML, ...headers } })).toBe(false);
  }
  for (const sent of [
    { target: LIST, method: 'POST', body: '{}' },
    { target: LIST, method: 'OPTIONS' },
    { target: '/' },
    { target: '/admin/login/?next=/api/v3/' },
    { target: '/apis/v3/' },
  ])
    expect([sent, await hasReplicasFor(port, sent)]).toEqual([sent, false]);
}

/** Replicas respond to about 1 % of the clients, always to the same ones. These addresses include some of them. */
async function expectShare(port: number): Promise<void> {
  const moved = async (): Promise<readonly number[]> => {
    const clients = [];
    for (let client = 470; client <= 680; client++)
      if (await hasReplicasFor(port, { target: '/docs', client })) clients.push(client);
    return clients;
  };
  let clients: readonly number[] = [];
  await until(async () => {
    const before = clients.join();
    clients = await moved();
    return clients.length > 0 && clients.join() === before;
  });
  expect(clients.length).toBeLessThan(8);
}

const folder = temporaryDirectory();
const home = join(folder, 'home');
const etc = join(folder, 'etc');
const programs = join(home, 'programs');
const shipped = join(folder, 'shipped');
const logs = join(folder, 'logs');
let django: Django | undefined;
let proxies: { readonly nginx: number; readonly haproxy: number };
let running: readonly CommandProcess[] = [];
let control: Server | undefined;
let loads: readonly Load[] = [];
let replaced: Readonly<Record<string, string>>;

/** Writes the first records of each collection of the sample. Returns their folder. */
function writeRecords(): string {
  const [sample, data] = [join(ROOT, 'data/sample'), join(folder, 'data')];
  mkdirSync(data);
  for (const name of readdirSync(sample).filter((file) => file.endsWith('.ndjson'))) {
    const lines = readFileSync(join(sample, name), 'utf8').split('\n').slice(0, RECORDS);
    writeFileSync(join(data, name), lines.join('\n'));
  }
  return data;
}

/** Replaces texts of a file that comes with the program or with Debian. Each must be there. */
function adapted(text: string, places: Readonly<Record<string, string>>): string {
  return Object.entries(places).reduce((result, [from, to]) => {
    expect(result).toContain(from);
    return result.replaceAll(from, to);
  }, text);
}

/** Files as an operator has them before the first step: each proxy forwards everything to the original. */
async function writeMachine(original: string): Promise<void> {
  for (const path of [home, programs, shipped, logs, `${etc}/nginx/sites-available`, `${etc}/nginx/sites-enabled`])
    mkdirSync(path, { recursive: true });
  mkdirSync(`${etc}/haproxy`);
  writeCertificate(`${etc}/nginx`);
  writeCertificate(`${etc}/haproxy`);
  proxies = { nginx: await steadyPort(), haproxy: await steadyPort() };
  const ports = { '8081': `${await steadyPort()}`, '8082': `${await steadyPort()}`, '8083': `${await steadyPort()}` };
  const addresses = { '127.0.0.1:8000': original, ...ports };
  const deploy = (name: string): string => readFileSync(join(ROOT, 'deploy', name), 'utf8');
  const tls = { nginx: await steadyPort(), haproxy: await steadyPort() };
  writeFileSync(
    join(shipped, 'nginx-in-front.conf'),
    adapted(deploy('nginx-in-front.conf'), {
      ...addresses,
      'listen 80;': `listen 127.0.0.1:${proxies.nginx};`,
      'listen 443 ': `listen 127.0.0.1:${tls.nginx} `,
      '/etc/nginx': `${etc}/nginx`,
      '/var/log/nginx': logs,
    }),
  );
  // Tests run as any user.
  const userLines = '  user haproxy\n  group haproxy\n';
  const haproxyPlaces = {
    ...addresses,
    [userLines]: '',
    'bind :80\n': `bind 127.0.0.1:${proxies.haproxy}\n`,
    'bind :443 ': `bind 127.0.0.1:${tls.haproxy} `,
    '/etc/haproxy': `${etc}/haproxy`,
  };
  writeFileSync(join(shipped, 'haproxy-in-front.cfg'), adapted(deploy('haproxy-in-front.cfg'), haproxyPlaces));
  writeFileSync(
    `${etc}/haproxy/haproxy.cfg`,
    `defaults\n  mode http\n  timeout connect 1s\n  timeout client 60s\n  timeout server 60s\nlisten all\n  bind 127.0.0.1:${proxies.haproxy}\n  option http-server-close\n  server original ${original}\n`,
  );
  writeFileSync(
    `${etc}/nginx/nginx.conf`,
    adapted(readFileSync('/etc/nginx/nginx.conf', 'utf8'), {
      'user www-data;': '',
      '/run/': `${folder}/`,
      '/var/log/nginx': logs,
      '/etc/nginx/mime.types': '/etc/mime.types.nginx',
      '/etc/nginx': `${etc}/nginx`,
      '/etc/mime.types.nginx': '/etc/nginx/mime.types',
    }),
  );
  writeFileSync(
    `${etc}/nginx/sites-enabled/default`,
    `server {\n  listen 127.0.0.1:${proxies.nginx};\n  location / {\n    proxy_pass http://${original};\n    proxy_set_header Host $http_host;\n  }\n}\n`,
  );
  replaced = {
    ...addresses,
    'node_modules/catalogue-replica/deploy': shipped,
    '/etc/nginx': `${etc}/nginx`,
    '/etc/haproxy': `${etc}/haproxy`,
    '/var/log/nginx': logs,
  };
}

beforeAll(async () => {
  if (!hasAll) return;
  django = await startDjango(writeRecords(), join(folder, 'database'));
  await writeMachine(new URL(django.url).host);
  const nginxWords = ['-c', `${etc}/nginx/nginx.conf`, '-e', `${logs}/early.log`];
  const nginx = runProgram('nginx', [...nginxWords, '-g', 'daemon off;']);
  const haproxy = runProgram('haproxy', ['-W', '-f', `${etc}/haproxy/haproxy.cfg`]);
  running = [nginx, haproxy];
  const script = (name: string, text: string): void =>
    writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  script('nginx', `exec ${which('nginx')} ${nginxWords.join(' ')} "$@"`);
  script(
    'systemctl',
    `case "$*" in
"reload nginx") kill -HUP ${nginx.pid} ;;
"reload haproxy") haproxy -c -q -f ${etc}/haproxy/haproxy.cfg && kill -USR2 ${haproxy.pid} ;;
*) exit 1 ;;
esac`,
  );
  for (const port of Object.values(proxies)) await until(() => responds(port));
});
afterAll(async () => {
  await Promise.all(loads.map((load) => load.stop()));
  control?.close();
  await Promise.all(running.map((process) => process.stop()));
  await django?.stop();
});

function which(name: string): string {
  const path = (process.env['PATH'] ?? '').split(':').find((directory) => hasProgram(name as 'nginx', directory));
  return join(path!, name);
}

async function responds(port: number): Promise<boolean> {
  return send(port, { target: `${LIST}?limit=1` }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** The checks of the guide's steps, each after the block that contains its text. */
const CHECKS: Readonly<Record<string, () => Promise<void>>> = {
  'serve --config': async () => {
    loads = Object.values(proxies).map(startLoad);
    await until(() => loads.every((load) => load.good() > 30));
  },
  'nginx -t': async () => {
    await until(() => readFileSync(join(logs, 'catalogue.log'), 'utf8') !== '');
    await expectSides(proxies.nginx, false);
  },
  '$reads_from mirror': async () => {
    const mirrored = (): string => readFileSync(join(logs, 'catalogue-mirror.log'), 'utf8');
    await until(() => mirrored().split('\n').length > 5);
    await expectSides(proxies.nginx, false);
    // Writes are not mirrored, nor are requests of users who may see more.
    expect(mirrored()).not.toMatch(/POST|changes/);
  },
  '$reads_from share': () => expectShare(proxies.nginx),
  '$reads_from replicas': () => expectSides(proxies.nginx, true),
  '$reads_from original': () => expectSides(proxies.nginx, false),
  'cp node_modules/catalogue-replica/deploy/haproxy': () => expectSides(proxies.haproxy, false),
  'str(share)': () => expectShare(proxies.haproxy),
  'str(replicas)': () => expectSides(proxies.haproxy, true),
  'str(original)': () => expectSides(proxies.haproxy, false),
  down: async () => {
    for (const port of Object.values(proxies)) await expectSides(port, false);
  },
};

/** A block of commands of this test, which print nothing. */
function ownBlock(text: string): Block {
  const printed = { language: 'text', text: '' };
  return { document: '', line: 0, heading: '', language: 'sh', exits: 0, text, printed, file: undefined };
}

/** Serves the checks to the script, which asks for each after its step. Responds with the failure, if any. */
async function startControl(): Promise<(name: string) => Block> {
  const server = createServer((incoming, outgoing) => {
    const check = CHECKS[decodeURIComponent(incoming.url!.slice(1))]!;
    check().then(
      () => outgoing.end(),
      (error: unknown) => outgoing.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  control = server;
  const { port } = server.address() as { port: number };
  return (name) => ownBlock(`curl --silent --fail-with-body "http://127.0.0.1:${port}/${encodeURIComponent(name)}"\n`);
}

test.skipIf(!hasAll)('moves the reads to replicas and back by its guide without a failed request', async () => {
  const guide = blocksRunBy('test/deploy/inFront.long.test.ts', 'deploy/IN_FRONT.md');
  const checkBlock = await startControl();
  const blocks = guide.flatMap((block) => [
    block,
    ...Object.keys(CHECKS).flatMap((text) => (block.text.includes(text) ? [checkBlock(text)] : [])),
  ]);
  // At the end, while both proxies send all reads to the replicas, all replicas stop.
  const moves = guide.filter(({ text }) => /reads_from.*replicas/.test(text));
  expect(moves.length).toBe(2);
  const again = moves.map(({ text }) => ownBlock(text));
  blocks.push(...again, checkBlock('$reads_from replicas'), checkBlock('str(replicas)'));
  blocks.push(ownBlock('kill $(jobs -p)\n'), checkBlock('down'));

  const authority = prepareDemonstration(demonstrationDirectory(), epochSeconds());
  const environment = {
    CATALOGUE_AUTHORITY: join(authority, DEMONSTRATION_FILES.config),
    CATALOGUE_DRAIN_GRACE_SECONDS: '1',
    // Most of the records that links lead to are missing.
    CATALOGUE_LINKS_MIN: '0',
    CATALOGUE_RATE: '1000',
    CATALOGUE_THREADS: '1',
  };
  const outcomes = await runBlocks(blocks, { directory: join(folder, 'work'), home, replaced, environment });
  expect(misprintsOf(outcomes)).toEqual([]);
  for (const load of loads) expect(await load.stop()).toEqual([]);
});
