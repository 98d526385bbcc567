// Hostile input of a fuzz run: targets with odd paths and queries, well-framed requests with odd parts, and bytes that
// are no request. A target is one line without blanks below 60 kB, so that it fits into a well-framed request.
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { type Random } from './random.ts';

const METHODS = ['GET', 'GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH'];
const TOKENS = ['GETT', 'get', 'G', 'PROPFIND', 'BREW', 'M-SEARCH', "!#$%&'*+-.^_`|~", 'A'.repeat(200), 'PRI', 'TRACE'];
const TYPES = [...'*/* application/json text/html application/* * */ /* a/b text/html;level=1'.split(' '), ''];
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
/** Forms of a target other than a path: absolute, `*`, an authority, and invalid ones. */
const FORMS = 'http://a/ http://a/api/v3/ https://a:1/?x * a:80 //a/b ? # /# a /api/v3/?# ftp://x'.split(' ');

/** A correctly framed request. `isOrdinary`: its method and target have the form that every server accepts. */
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

/** Header lines that are well-formed, with odd values. */
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

/** A valid request, perhaps with a body, as input of mutations. */
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

/** Pieces that break parsers: line ends, framing, versions, controls. */
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

/** Heads beyond every limit: many lines, long lines, long names, one name repeated. */
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

/** Characters of the longest target: with its headers the request stays below the limit of a head, 64 kB. */
const TARGET_LENGTH_MAX = 60_000;

const NAMES = [
  ...new Set(COLLECTIONS.flatMap(({ fields }) => fields.map(({ name }) => name))),
  ...(
    '__proto__ constructor prototype hasOwnProperty toString valueOf results_field discoveryKeyword _' +
    ' __ ! %00 ob_id%00 %C3%A9 %ED%A0%80 %F0%9F%98%80'
  ).split(' '),
  '',
];
const MEMBERS = ['name', 'label', 'value', 'uuid', 'dataPath', 'oldDataPath', 'volume', 'ob_id', '__proto__', '0', ''];
const LOOKUPS = [
  ...'exact in contains startswith regex iregex icontains gt range isnull year hour nope'.split(' '),
  '',
];
const OWN = 'limit offset format fields ordering facets pretty strict after generation explain page callback'.split(
  ' ',
);
const FORMATS = ['json', 'api', 'ndjson', 'csv', 'parquet', 'xml', ''];
/** Paths other than lists and records. */
const OTHER_PATHS = (
  '/browse/ /browse/observations/ /browse/observations/1/ /browse/platforms/ /api/v0/obs/get_info/' +
  ' /api/v0/obs/all /api/v0/complete /api/v0/drs_lookup/ /api/v0/drs_listing/ /api/v0/' +
  ' /api/legacy_lookup/ /openapi.json /openapi.yaml /docs/ /docs/docs.js /attAuthority.wsdl'
).split(' ');
const BROKEN = '% %z %zz %0 %u0041 %%30 %2 %C0%80 %E2%82 %FF%FE %ED%BF%BF %F4%90%80%80'.split(' ');

/** A path, usually with a query. */
export function hostileTarget(random: Random): string {
  const query = random.chance(0.9) ? `?${hostileQuery(random)}` : '';
  return (hostilePath(random) + query).slice(0, TARGET_LENGTH_MAX);
}

function hostilePath(random: Random): string {
  const collection = random.pick(COLLECTIONS);
  const list = `/api/${random.pick(['v2', 'v3', 'v3', 'v4'])}/${random.pick([collection.name, collection.documentedPath])}`;
  if (random.chance(0.5)) return `${list}/`;
  return random.pick<() => string>([
    () => random.pick(OTHER_PATHS) + random.pick(['', '', '', 'badc/a', '1/', '/', '../', ...BROKEN]),
    () => random.pick(OTHER_PATHS) + random.pick(['a/', '%2F', '..%2f', '%FF']).repeat(random.integer(1, 2000)),
    () => `${list}.json`,
    () => list,
    () => `${list}/${hostileNumber(random)}/`,
    () => `${list}/${random.pick(BROKEN)}/`,
    () => escaped(`${list}/1/`, random),
    () => `${list}/${'/'.repeat(random.integer(1, 3000))}`,
    () => `${list}/${'../'.repeat(random.integer(1, 300))}etc/passwd`,
    () => `${list}/${'%2e%2e%2f'.repeat(random.integer(1, 300))}`,
    () => `/${random.pick(NAMES)}/${random.pick(NAMES)}`,
    () => `${list}/${random.pick(['a', '0', '.json', '%20', '%00', ';x=1'])}`.repeat(random.integer(1, 500)),
    () => '/',
  ])();
}

/** A query without its `?`. */
function hostileQuery(random: Random): string {
  const room = TARGET_LENGTH_MAX - 5000;
  return random.pick<() => string>([
    () => pairs(random, random.integer(1, 8)),
    () => pairs(random, random.integer(1, 8)),
    () => pairs(random, 1000),
    () => `${hostileKey(random)}=${hostileValue(random)}&`.repeat(1000).slice(0, room),
    () => `${random.pick(NAMES)}__in=${filled(() => `${random.integer(0, 99)},`, room)}`,
    () => `ob_id__in=${filled(() => hostileNumber(random).slice(0, 20) + ',', room)}`,
    () => `${filled(() => random.pick(NAMES), room)}=1`,
    () => `${'relatedTo__'.repeat(random.integer(1, 5000))}uuid=1`,
    () => `${'permissions__label__'.repeat(random.integer(1, 7))}contains${'!'.repeat(random.integer(0, 9))}=x`,
    () => `fields=${filled(() => `${random.pick(NAMES)},`, room)}`,
    () =>
      `format=${random.pick(FORMATS)}&pretty=${random.pick(['1', 'true', '0'])}&${pairs(random, random.integer(0, 4))}`,
    () => `facets=${random.several(1, 14, () => random.pick(NAMES)).join(',')}&${pairs(random, random.integer(0, 4))}`,
    () => `facets=${filled(() => `${random.pick(NAMES)}__${random.pick(MEMBERS)},`, room)}`,
    () => `ordering=${filled(() => `-${random.pick(NAMES)},`, room)}`,
    () => `${random.pick(OWN)}=${'0'.repeat(random.integer(0, room))}${random.pick(['', '5', 'x', '5x'])}`,
    () => escaped(pairs(random, random.integer(1, 50)), random),
    () => `title__contains=${planes(random)}`,
    () => random.pick(['&', '=', '?', '+', ';', '%', '!']).repeat(random.integer(1, 5000)),
    () => `strict=1&${pairs(random, random.integer(1, 300))}`,
  ])();
}

function pairs(random: Random, count: number): string {
  return Array.from({ length: count }, () => `${hostileKey(random)}=${hostileValue(random)}`).join('&');
}

function hostileKey(random: Random): string {
  if (random.chance(0.2)) return random.pick(OWN);
  const members = random.several(0, 4, () => `__${random.pick(MEMBERS)}`).join('');
  const lookup = random.chance(0.6) ? `__${random.pick(LOOKUPS)}` : '';
  return random.pick(NAMES) + members + lookup + (random.chance(0.2) ? '!' : '');
}

function hostileValue(random: Random): string {
  return random.pick<() => string>([
    () => hostileNumber(random),
    () => random.pick(BROKEN),
    () => random.pick(NAMES),
    () => '%00',
    () => 'a'.repeat(random.integer(0, 200)),
    () => ','.repeat(random.integer(0, 200)),
    () =>
      random.pick(['true', 'FALSE', 'null', 'undefined', 'NaN', '[object%20Object]', '{}', '[]', "'--", '<script>']),
    () => random.pick(['2016-02-30', '2016-05-04', '0000-00-00', '9999-12-31T23:59:59.999999', '2016-05-04T25:00']),
    () => random.pick(['%7Bbase_url%7D', 'http://localhost', 'http://localhost/api/v3/times/1/?format=api']),
    () => encodeURIComponent(String.fromCodePoint(random.integer(0x10000, 0x110000))),
    () => '',
  ])();
}

function hostileNumber(random: Random): string {
  return random.pick<() => string>([
    () => String(random.integer(0, 600)),
    () => '9'.repeat(400),
    () => `-${'9'.repeat(400)}`,
    () => `${'0'.repeat(400)}1`,
    () => `0.${'0'.repeat(400)}1`,
    () => `1e${'9'.repeat(random.integer(1, 400))}`,
    () =>
      random.pick([
        '9007199254740993',
        '18446744073709551616',
        '-0',
        '+1',
        '%201',
        '1%20',
        '0x10',
        '1_000',
        '%D9%A1',
        '%EF%BC%91',
      ]),
    () => random.pick(['5.00', '5.', '.5', '1.5', 'Infinity', '-Infinity', '4294967296', '2147483648']),
  ])();
}

/**
 * One character of every plane, surrogates included. Percent-encoded by hand, because the platform's encoder refuses
 * some.
 */
function planes(random: Random): string {
  return Array.from({ length: 17 }, (_, plane) => {
    const point = plane * 0x10000 + random.integer(0, 0x10000);
    return [...Buffer.from(utf8Of(point))].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  }).join('');
}

function utf8Of(point: number): readonly number[] {
  const tail = (shift: number): number => 0x80 | ((point >> shift) & 0x3f);
  if (point < 0x80) return [point];
  if (point < 0x800) return [0xc0 | (point >> 6), tail(0)];
  if (point < 0x10000) return [0xe0 | (point >> 12), tail(6), tail(0)];
  return [0xf0 | (point >> 18), tail(12), tail(6), tail(0)];
}

/** Percent-encodes some or all characters. */
function escaped(text: string, random: Random): string {
  const share = random.pick([0.1, 0.5, 1]);
  const escape = (character: string): string =>
    random.chance(share) && character.charCodeAt(0) < 0x80
      ? `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`
      : character;
  return text.replace(/[^%/]/g, escape);
}

function filled(draw: () => string, length: number): string {
  let text = '';
  while (text.length < length) text += draw();
  return text.slice(0, length);
}
