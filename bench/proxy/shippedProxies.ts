// The proxy configurations of deploy/ as shipped, with other ports, folders and certificates. The benchmark runs what
// operators run: a text to replace that the file no longer contains is an error. Starts no proxy.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { claimPort } from '../../server/http/ports.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
/** Below the ports that Linux assigns to clients, so that a restarted replica finds its port free. */
const PORTS = { first: 20_000, count: 12_000 };
let last = (process.pid * 97) % PORTS.count;

/**
 * A free port that no client is assigned. It contains no 8: replacements of one shipped port after another, such as
 * 8081 and 8082, would change a part of it.
 */
export async function steadyPort(): Promise<number> {
  for (;;) {
    last = (last + 1) % PORTS.count;
    if (`${PORTS.first + last}`.includes('8')) continue;
    const claimed = await claimPort('127.0.0.1', PORTS.first + last).catch(() => undefined);
    await claimed?.release();
    if (claimed) return claimed.port;
  }
}

/** How to start each proxy with its file: texts that replace the shipped ones, and the arguments of its command. */
export interface ProxyKind {
  readonly program: 'nginx' | 'haproxy' | 'varnishd';
  readonly file: string;
  readonly endsTls: boolean;
  places(at: ProxyPlaces): readonly ReplacedText[];
  words(file: string, at: ProxyPlaces, text: string): readonly string[];
}

/** A text of a shipped file, and its replacement. */
export type ReplacedText = readonly [shipped: string, ours: string];

/** The port of a proxy, and its folder. */
export interface ProxyPlaces {
  readonly folder: string;
  readonly port: number;
  readonly tlsPort: number;
}

export type ProxyName = 'nginx' | 'haproxy' | 'varnish';

/** The proxies of deploy/. */
export const PROXIES: Readonly<Record<ProxyName, ProxyKind>> = {
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
      // Tests run under any user.
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
    // The header of the file has the command.
    words: (file, { folder, port }, text) => {
      const [, ...words] = /# varnishd .*\n(?:#   .*\n)+/.exec(text)![0].replaceAll('#', '').trim().split(/\s+/);
      return [...words.map((word) => (word === ':80' ? `127.0.0.1:${port}` : word)), '-n', folder, '-j', 'none'].map(
        (word) => (word === 'varnish.vcl' ? file : word),
      );
    },
  },
};

/** The user that runs the tests. If root starts nginx, nginx would run its workers as another user. */
function user(): string {
  return spawnSync('id', ['-un'], { encoding: 'utf8' }).stdout.trim();
}

/** A proxy that can be started: its folder and ports, and the arguments of its command. */
export interface AdaptedProxy {
  readonly kind: ProxyKind;
  readonly at: ProxyPlaces;
  readonly words: readonly string[];
}

/**
 * The shipped file of a proxy, adapted to a folder in `parent` and to the ports of the replicas; entries of further
 * replicas are removed. `more` is replaced too. Throws if the file lacks a text to replace.
 */
export async function adaptedProxy(
  name: ProxyName,
  parent: string,
  replicas: readonly { readonly port: number; readonly http10Port: number }[],
  more: readonly ReplacedText[] = [],
): Promise<AdaptedProxy> {
  const kind = PROXIES[name];
  const folder = mkdtempSync(join(parent, `${name}-`));
  const at = { folder, port: await steadyPort(), tlsPort: await steadyPort() };
  const shipped = readFileSync(join(DEPLOY, kind.file), 'utf8');
  const ports = replicas.flatMap(({ port, http10Port }, i) => [
    [`808${i + 1}`, `${port}`] as const,
    ...(name === 'haproxy' ? [[`818${i + 1}`, `${http10Port}`] as const] : []),
  ]);
  let text = shipped;
  for (const [place, ours] of [...more, ...kind.places(at), ...ports]) {
    if (!shipped.includes(place))
      throw new Error(`${kind.file} has no ${place}: change bench/proxy/shippedProxies.ts too`);
    text = text.replaceAll(place, ours);
  }
  const absent = /^ *server .*127\.0\.0\.1:8[01]8\d.*\n/gm;
  text = text.replaceAll(absent, '');
  const file = join(folder, kind.file);
  writeFileSync(file, text);
  if (kind.endsTls) writeCertificate(folder);
  return { kind, at, words: kind.words(file, at, shipped) };
}

/** Writes a self-signed certificate for the public name: key, certificate, and both in one file. */
export function writeCertificate(folder: string): void {
  const path = (end: string): string => join(folder, `catalogue.${end}`);
  const files = ['-keyout', path('key'), '-out', path('crt'), '-subj', '/CN=catalogue.example.org'];
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...files]);
  if (made.status !== 0) throw new Error(`openssl makes no certificate: ${String(made.error ?? made.stderr)}`);
  writeFileSync(path('pem'), readFileSync(path('crt'), 'utf8') + readFileSync(path('key'), 'utf8'));
}
