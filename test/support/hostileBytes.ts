// What goes over a connection in a fuzz run: well-framed requests with odd parts, and bytes that are no request any
// more.
import { hostileTarget } from './hostileQueries.ts';
import type { Random } from './random.ts';

const METHODS = ['GET', 'GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH'];
const TOKENS = ['GETT', 'get', 'G', 'PROPFIND', 'BREW', 'M-SEARCH', "!#$%&'*+-.^_`|~", 'A'.repeat(200), 'PRI', 'TRACE'];
const TYPES = [
  '*/*',
  'application/json',
  'text/html',
  'application/*',
  '*',
  '*/',
  '/*',
  'a/b',
  'text/html;level=1',
  '',
];
const QUALITIES = [
  '',
  ';q=0',
  ';q=1',
  ';q=0.001',
  ';q=2',
  ';q=-1',
  ';q=x',
  ';q="0.5',
  '; q = 0.5',
  ';q=',
  ';;;',
  ';x="a,b"',
];
/** Forms of a target beyond a path: absolute, of the server as a whole, of an authority, and what is none. */
const FORMS = [
  'http://a/',
  'http://a/api/v3/',
  'https://a:1/?x',
  '*',
  'a:80',
  '//a/b',
  '?',
  '#',
  '/#',
  'a',
  '/api/v3/?#',
  'ftp://x',
];

/** A request that is framed as it should be. `isOrdinary`: method and target have the form that every server takes. */
export interface HostileRequest {
  readonly method: string;
  readonly target: string;
  readonly lines: readonly string[];
  readonly isOrdinary: boolean;
}

/** A well-framed request without a body. */
export function hostileRequest(random: Random): HostileRequest {
  const isOrdinary = random.chance(0.8);
  if (isOrdinary) {
    const method = random.pick(METHODS);
    return { method, target: hostileTarget(random), lines: hostileLines(random), isOrdinary };
  }
  const method = random.pick([...METHODS, ...TOKENS, 'CONNECT']);
  return { method, target: random.pick([...FORMS, hostileTarget(random)]), lines: hostileLines(random), isOrdinary };
}

/** Header lines that may be sent to anyone: each is well-formed, whatever it says. */
function hostileLines(random: Random): readonly string[] {
  return random.several(0, 4, () =>
    random.pick<() => string>([
      () => `Accept: ${random.several(1, 6, () => random.pick(TYPES) + random.pick(QUALITIES)).join(',')}`,
      () => `Accept: ${random.pick([',', ';', '"', '/', 'a/b,', '*/*;q=0,']).repeat(random.integer(1, 500))}`,
      () =>
        `X-Forwarded-Host: ${random.pick(['', ',', 'a', 'a:99999', '[::1]', '%00', 'b.example.org, c', 'x'.repeat(99)])}`,
      () => `X-Forwarded-Proto: ${random.pick(['https', 'javascript', ',https', ' ', 'HTTPS,http'])}`,
      () => `X-Forwarded-For: ${random.pick(['1.2.3.4', '::', '999.9.9.9', ',,,', '127.0.0.1, 10.0.0.1'])}`,
      () => `Forwarded: ${random.pick(['for=_x;host="a"', ';;;', 'for="[::1"'])}`,
      () => `If-None-Match: ${random.pick(['*', '"x"', 'W/"', '"'.repeat(300), ',,,'])}`,
      () => `If-Modified-Since: ${random.pick(['Thu, 01 Jan 1970 00:00:00 GMT', '0', '-1', 'x'.repeat(300)])}`,
      () => `Range: bytes=${random.pick(['0-0', '-1', '9-1', '0-0,'.repeat(200)])}`,
      () => `Accept-Encoding: ${random.pick(['gzip', '*;q=0', 'gzip;q=0,identity;q=0', ','.repeat(300)])}`,
      () => `Cookie: ${'a=b; '.repeat(random.integer(0, 200))}`,
      () => `Connection: ${random.pick(['close', 'keep-alive', 'upgrade', 'host', 'x,y,z'])}`,
      () =>
        `${random.pick(['__proto__', 'constructor', 'X-'.repeat(99) + 'x'])}: ${'v'.repeat(random.integer(0, 300))}`,
    ])(),
  );
}

/** The request as text; its characters are bytes. */
export function textOf({ method, target, lines }: Pick<HostileRequest, 'method' | 'target' | 'lines'>): string {
  return [`${method} ${target} HTTP/1.1`, 'Host: b.example.org', ...lines, '', ''].join('\r\n');
}

/** Bytes for one connection, in the pieces in which they are written. */
export function hostileBytes(random: Random): readonly Buffer[] {
  const bytes = random.pick<() => Buffer>([
    () => mutated(random),
    () => mutated(random),
    () => mutated(random),
    () => noise(random, random.integer(1, 4000)),
    () => Buffer.concat([seed(random), noise(random, random.integer(1, 200)), seed(random)]),
    () => Buffer.concat(random.several(2, 20, () => (random.chance(0.8) ? seed(random) : mutated(random)))),
    () => flood(random),
  ])();
  return pieces(bytes, random);
}

function pieces(bytes: Buffer, random: Random): readonly Buffer[] {
  if (random.chance(0.6)) return [bytes];
  if (bytes.length < 400 && random.chance(0.5)) return [...bytes].map((byte) => Buffer.of(byte));
  const cuts = random.several(1, 6, () => random.integer(0, bytes.length)).sort((a, b) => a - b);
  return [0, ...cuts]
    .map((start, i) => bytes.subarray(start, cuts[i] ?? bytes.length))
    .filter(({ length }) => length > 0);
}

/** A request as a client would send it, also with a body, before anything is done to it. */
function seed(random: Random): Buffer {
  const path = '/api/v3/platforms/';
  return Buffer.from(
    random.pick([
      textOf({ method: 'GET', target: `${path}?limit=2`, lines: [] }),
      textOf({ method: 'HEAD', target: path, lines: ['Accept: application/json'] }),
      textOf({ method: 'GET', target: `${path}1/?format=api`, lines: ['Connection: close'] }),
      textOf({ method: 'OPTIONS', target: path, lines: ['Origin: http://x'] }),
      `${textOf({ method: 'POST', target: path, lines: ['Content-Length: 5'] })}hello`,
      `${textOf({ method: 'POST', target: path, lines: ['Transfer-Encoding: chunked'] })}5\r\nhello\r\n0\r\n\r\n`,
      `${textOf({ method: 'GET', target: path, lines: ['Content-Length: 5'] })}hello`,
      'GET / HTTP/1.0\r\n\r\n',
      textOf(hostileRequest(random)),
    ]),
    'latin1',
  );
}

/** What breaks parsers: line ends, framing, versions, controls. */
const TOXINS = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  '\r\n ',
  '\r\n\r\n',
  ' HTTP/1.1\r\n',
  'HTTP/2.0',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Host: other\r\n',
  'Expect: 100-continue\r\n',
  'Expect: 200-ok\r\n',
  '\xe9\xff',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  'ffffffffffffffff\r\n',
  '0\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
];

function mutated(random: Random): Buffer {
  let bytes = seed(random);
  for (let n = random.integer(1, 6); n > 0 && bytes.length > 0; n--) bytes = mutation(bytes, random);
  return bytes;
}

function mutation(bytes: Buffer, random: Random): Buffer {
  const at = random.integer(0, bytes.length);
  const end = Math.min(bytes.length, at + random.integer(1, 40));
  const around = (middle: Buffer, from = at): Buffer =>
    Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(from)]);
  return random.pick<() => Buffer>([
    () => around(Buffer.of(bytes[at]! ^ (1 << random.integer(0, 8))), at + 1),
    () => around(noise(random, 1), at + 1),
    () => bytes.subarray(0, at),
    () => around(Buffer.alloc(0), end),
    () => around(bytes.subarray(at, end)),
    () => around(Buffer.from(random.pick(TOXINS), 'latin1')),
    () => around(seed(random)),
  ])();
}

function noise(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.integer(0, 256)));
}

/** Heads beyond every limit: many lines, long lines, long names, one name over and over. */
function flood(random: Random): Buffer {
  const line = random.pick([
    (i: number): string => `X-${i}: y`,
    (): string => 'Host: again',
    (): string => 'X: y',
    (): string => 'Content-Length: 0',
    (): string => `X: ${'y'.repeat(9000)}`,
    (): string => `${'x'.repeat(9000)}: y`,
  ]);
  const lines = Array.from({ length: random.integer(50, 400) }, (_, i) => line(i));
  return Buffer.from(textOf({ method: 'GET', target: '/', lines }), 'latin1');
}
