// Debian's nginx, HAProxy and Varnish on the files of deploy/, and three replicas behind them. What is run is the
// shipped text with other ports, folders and certificates in it: a place that the text no longer has is an error.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { claimPort } from '../../server/http/claim.ts';
import { type Addresses, type CommandProcess, runCommand, runProgram } from './commandProcess.ts';
import type { Program } from './debian.ts';
import { statusOf, until } from './watchedServer.ts';

/** Where every link of the replicas starts. */
export const PUBLIC_URL = 'https://catalogue.example.org';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
/** Below the ports that Linux gives to clients: a replica that starts again finds its own free. */
const PORTS = { first: 20_000, count: 12_000 };
let last = (process.pid * 97) % PORTS.count;

/** A port that nobody has, and that no client is given. */
async function steadyPort(): Promise<number> {
  for (;;) {
    last = (last + 1) % PORTS.count;
    const claimed = await claimPort('127.0.0.1', PORTS.first + last).catch(() => undefined);
    await claimed?.release();
    if (claimed) return claimed.port;
  }
}

/** A replica that may be started again at its ports. */
export interface Replica {
  readonly port: number;
  readonly http10Port: number;
  readonly adminPort: number;
  process: CommandProcess;
  /** Starts it again once it has ended; resolves when it is ready. */
  start(): Promise<void>;
}

/** Starts a replica of the sample, with links that start at PUBLIC_URL, and waits until it is ready. */
export async function startReplica(graceSeconds: number): Promise<Replica> {
  const [port, http10Port, adminPort] = [await steadyPort(), await steadyPort(), await steadyPort()];
  const flags = ['--port', port, '--http10-port', http10Port, '--admin-port', adminPort].map(String);
  const more = ['--threads', '1', '--base-url', PUBLIC_URL, '--drain-grace-seconds', String(graceSeconds)];
  const run = (): CommandProcess => runCommand(['serve', ...flags, ...more]);
  const isReady = async (): Promise<boolean> => (await statusOf(`http://127.0.0.1:${port}`)) === 200;
  const replica: Replica = {
    port,
    http10Port,
    adminPort,
    process: run(),
    start: async () => {
      replica.process = run();
      await until(isReady);
    },
  };
  await until(isReady);
  return replica;
}

/** A proxy that runs: where it listens, and what it logged where it writes files. */
export interface Proxy extends Pick<Addresses, 'url' | 'port'> {
  /** Absent where it ends no TLS. */
  readonly tlsPort: number | undefined;
  log(): string;
  stop(): Promise<void>;
}

/** How each is started on its file: other texts in place of the shipped ones, and the words of its command. */
interface Kind {
  readonly program: Program;
  readonly file: string;
  readonly endsTls: boolean;
  places(at: Places): readonly (readonly [shipped: string, ours: string])[];
  words(file: string, at: Places, text: string): readonly string[];
}

interface Places {
  readonly folder: string;
  readonly port: number;
  readonly tlsPort: number;
}

/** The name of a proxy of deploy/. */
export type ProxyName = 'nginx' | 'haproxy' | 'varnish';

/** The proxies of deploy/. */
export const PROXIES: Readonly<Record<ProxyName, Kind>> = {
  nginx: {
    program: 'nginx',
    file: 'nginx.conf',
    endsTls: true,
    places: ({ folder, port, tlsPort }) => [
      ['listen 80 ', `listen 127.0.0.1:${port} `],
      ['listen 443 ', `listen 127.0.0.1:${tlsPort} `],
      ['/run/', `${folder}/`],
      ['/var/log/nginx/', `${folder}/`],
      ['/etc/nginx/catalogue', `${folder}/catalogue`],
    ],
    words: (file, { folder }) => ['-p', folder, '-c', file, '-e', 'early.log', '-g', `daemon off; user ${user()};`],
  },
  haproxy: {
    program: 'haproxy',
    file: 'haproxy.cfg',
    endsTls: true,
    places: ({ folder, port, tlsPort }) => [
      // Tests run as anybody.
      ['  user haproxy\n  group haproxy\n', ''],
      ['bind :80\n', `bind 127.0.0.1:${port}\n`],
      ['bind :443 ', `bind 127.0.0.1:${tlsPort} `],
      ['/etc/haproxy/catalogue', `${folder}/catalogue`],
    ],
    words: (file) => ['-db', '-f', file],
  },
  varnish: {
    program: 'varnishd',
    file: 'varnish.vcl',
    endsTls: false,
    places: () => [],
    // The command stands in the file's header.
    words: (file, { folder, port }, text) => {
      const [, ...words] = /# varnishd .*\n(?:#   .*\n)+/.exec(text)![0].replaceAll('#', '').trim().split(/\s+/);
      return [...words.map((word) => (word === ':80' ? `127.0.0.1:${port}` : word)), '-n', folder, '-j', 'none'].map(
        (word) => (word === 'varnish.vcl' ? file : word),
      );
    },
  },
};

/** The user that the tests run as: nginx, started by root, would give its threads to another. */
function user(): string {
  return spawnSync('id', ['-un'], { encoding: 'utf8' }).stdout.trim();
}

/** The shipped file of a proxy, adapted to the ports of the replicas and to a folder; and the command that runs it. */
async function adapted(name: ProxyName, parent: string, replicas: readonly Replica[]) {
  const kind = PROXIES[name];
  const folder = mkdtempSync(join(parent, `${name}-`));
  const at = { folder, port: await steadyPort(), tlsPort: await steadyPort() };
  const shipped = readFileSync(join(DEPLOY, kind.file), 'utf8');
  const ports = replicas.flatMap(({ port, http10Port }, i) => [
    [`808${i + 1}`, `${port}`] as const,
    ...(name === 'haproxy' ? [[`818${i + 1}`, `${http10Port}`] as const] : []),
  ]);
  let text = shipped;
  for (const [place, ours] of [...kind.places(at), ...ports]) {
    if (!shipped.includes(place)) throw new Error(`${kind.file} has no ${place}: change test/support/proxies.ts too`);
    text = text.replaceAll(place, ours);
  }
  const file = join(folder, kind.file);
  writeFileSync(file, text);
  if (kind.endsTls) writeCertificate(folder);
  return { kind, at, words: kind.words(file, at, shipped) };
}

/** A certificate for the public name that signs itself: key, certificate, and both in one file. */
function writeCertificate(folder: string): void {
  const path = (end: string): string => join(folder, `catalogue.${end}`);
  const files = ['-keyout', path('key'), '-out', path('crt'), '-subj', '/CN=catalogue.example.org'];
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...files]);
  if (made.status !== 0) throw new Error(made.stderr.toString());
  writeFileSync(path('pem'), readFileSync(path('crt'), 'utf8') + readFileSync(path('key'), 'utf8'));
}

/** Starts a proxy before three replicas, with a folder of its own inside `parent`, and waits until it answers. */
export async function startProxy(name: ProxyName, parent: string, replicas: readonly Replica[]): Promise<Proxy> {
  const { kind, at, words } = await adapted(name, parent, replicas);
  mkdirSync(at.folder, { recursive: true });
  const running = runProgram(kind.program, words);
  const url = `http://127.0.0.1:${at.port}`;
  let end: unknown;
  void running.ended.then((how) => (end = how));
  await until(async () => {
    if (end !== undefined) throw new Error(`${name} ended:\n${running.out()}${running.err()}`);
    return (await statusOf(url)) === 200;
  });
  return {
    url,
    port: at.port,
    tlsPort: kind.endsTls ? at.tlsPort : undefined,
    log: () => (name === 'nginx' ? readFileSync(join(at.folder, 'catalogue.log'), 'utf8') : running.out()),
    stop: async () => {
      running.signal('SIGTERM');
      await running.ended;
    },
  };
}
