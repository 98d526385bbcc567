// Targets that nobody means well with: odd paths, and queries of prototype names, broken escapes, huge lists and
// numbers. All are one line of bytes below 60 kB without blanks, so that they fit a well-framed request.
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Random } from './random.ts';

/** Characters of the longest target: with its headers the request stays below the 64 kB that a head may have. */
const TARGET_LENGTH_MAX = 60_000;

const NAMES = [
  ...new Set(COLLECTIONS.flatMap(({ fields }) => fields.map(({ name }) => name))),
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  'valueOf',
  'results_field',
  'discoveryKeyword',
  '',
  '_',
  '__',
  '!',
  '%00',
  'ob_id%00',
  '%C3%A9',
  '%ED%A0%80',
  '%F0%9F%98%80',
];
const MEMBERS = ['name', 'label', 'value', 'uuid', 'dataPath', 'oldDataPath', 'volume', 'ob_id', '__proto__', '0', ''];
const LOOKUPS = [
  'exact',
  'in',
  'contains',
  'startswith',
  'regex',
  'iregex',
  'icontains',
  'gt',
  'range',
  'isnull',
  'year',
  'hour',
  'nope',
  '',
];
const OWN = [
  'limit',
  'offset',
  'format',
  'fields',
  'ordering',
  'facets',
  'pretty',
  'strict',
  'after',
  'generation',
  'explain',
  'page',
  'callback',
];
const FORMATS = ['json', 'api', 'ndjson', 'csv', 'parquet', 'xml', ''];
/** What is no list and no record. */
const OTHER_PATHS = [
  '/browse/',
  '/browse/observations/',
  '/browse/observations/1/',
  '/browse/platforms/',
  '/api/v0/obs/get_info/',
  '/api/v0/obs/all',
  '/api/v0/complete',
  '/api/v0/drs_lookup/',
  '/api/v0/drs_listing/',
  '/api/v0/',
  '/api/legacy_lookup/',
  '/openapi.json',
  '/openapi.yaml',
  '/docs/',
  '/docs/docs.js',
  '/attAuthority.wsdl',
];
const BROKEN = [
  '%',
  '%z',
  '%zz',
  '%0',
  '%u0041',
  '%%30',
  '%2',
  '%C0%80',
  '%E2%82',
  '%FF%FE',
  '%ED%BF%BF',
  '%F4%90%80%80',
];

/** A path with a query, or without one. */
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

/** One character of every plane, surrogates and all, percent-encoded by hand: the platform's encoder refuses some. */
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

/** Some or all characters percent-encoded. */
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
