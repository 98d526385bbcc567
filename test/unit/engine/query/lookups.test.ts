// The table of lookups, one test a row: what it fits, how its operand is read, which codes it finds.
import { describe, expect, test } from 'vitest';
import { lookupNamed, type Lookup } from '../../../../engine/query/lookups.ts';
import { textsOf } from '../../../support/dictionaries.ts';
import { indexOf } from '../../../support/index.ts';
import type { Dictionary } from '../../../../engine/column/dictionary.ts';
import type { CollectionIndex } from '../../../../engine/index/table.ts';
import { Meter } from '../../../../engine/find/counters.ts';
import { scanCodes } from '../../../../engine/find/scan.ts';

const FORM = { baseUrl: '', version: 'v3', linkEnd: '/?format=api' } as const;
const COLLECTION = indexOf(
  'migrationproperties',
  ['a', 'ab', 'b', 'ba'].map((key, i) => ({ id: i + 10, key, modified: `2016-05-0${i + 1}` })),
);
const KEYS = dictionaryOf('key');
const IDS = dictionaryOf('id');
const DATES = dictionaryOf('modified');

function dictionaryOf(name: string, collection: CollectionIndex = COLLECTION): Dictionary {
  const node = collection.members.get(name);
  if (node?.kind !== 'values') throw new Error(name);
  return node.index.dictionary;
}

/** The codes that a lookup's search hits, all codes at once. */
function hitsOf(name: string, operand: string, dictionary: Dictionary): readonly number[] {
  const lookup = lookupNamed(name)!;
  const search = lookup.search!({ kind: 'text', values: [operand] });
  const context = { form: FORM, meter: new Meter() };
  return scanCodes(context, { dictionary, grams: undefined }, lookup, search).flatMap(({ start, end }) =>
    Array.from({ length: end - start }, (_, i) => start + i),
  );
}

/** The codes that a lookup finds without a scan, as `start-end`; `scan` where it has to. */
function codesOf(name: string, dictionary: Dictionary, text: string): readonly string[] | string {
  const lookup: Lookup = lookupNamed(name)!;
  const parsed = lookup.parse(dictionary.type, text, false);
  if (parsed.kind === 'error') return parsed.message;
  return lookup.codes(dictionary, parsed.value, FORM)?.map(({ start, end }) => `${start}-${end}`) ?? 'scan';
}

/** Whether a lookup's search hits a text, put in the middle of other bytes. */
function isHit(name: string, operand: string, text: string): boolean {
  const bytes = Buffer.from(`ab${text}ab`);
  const search = lookupNamed(name)!.search!({ kind: 'text', values: [operand] });
  return search.kind === 'text' && search.matches(bytes, 2, bytes.length - 2);
}

test('exact finds the one code of a value, on every type and on relations', () => {
  expect(codesOf('exact', KEYS, ' ab ')).toEqual(['1-2']);
  expect(codesOf('exact', KEYS, 'abc')).toEqual([]);
  expect(codesOf('exact', IDS, '012')).toEqual(['2-3']);
  expect(codesOf('exact', IDS, 'x')).toBe('Enter a whole number.');
  expect(codesOf('exact', DATES, '2016-05-02T00:00')).toEqual(['1-2']);
  expect(lookupNamed('exact')!.fits({ type: 'link', isRelation: true })).toBe(true);
});

test('in finds the codes of all members, neighbours as one range, repeats once', () => {
  expect(codesOf('in', KEYS, 'ba,a, ab,a,x')).toEqual(['0-2', '3-4']);
  const texts = ['2016-05-01T00:00:00.000002', 'unknown'].map((modified, id) => ({ id, key: 'a', modified }));
  const dates = dictionaryOf('modified', indexOf('migrationproperties', texts));
  expect(codesOf('in', dates, '2016-05-01T00:00:00.000001,2016-05-01T00:00:00.000002')).toEqual(['0-1']);
  expect(codesOf('in', KEYS, '')).toEqual([]);
  expect(codesOf('in', IDS, '13,12')).toEqual(['2-4']);
  expect(codesOf('in', IDS, '13,x')).toBe('Enter a whole number.');
  expect(lookupNamed('in')!.parse('integer', '13,x', true)).toMatchObject({ value: { values: ['13'] } });
  expect(lookupNamed('in')!.parse('integer', 'y,x', true)).toMatchObject({ kind: 'error' });
  expect(lookupNamed('in')!.fits({ type: 'link', isRelation: true })).toBe(true);
});

test('contains scans, but for the empty text, and does not fit a relation', () => {
  expect(codesOf('contains', KEYS, 'b')).toBe('scan');
  expect(codesOf('contains', KEYS, ' ')).toEqual(['0-4']);
  expect(isHit('contains', 'b', 'ba')).toBe(true);
  expect(isHit('contains', 'ab', 'b')).toBe(false);
  expect(lookupNamed('contains')!.fits({ type: 'integer', isRelation: false })).toBe(true);
  expect(lookupNamed('contains')!.fits({ type: 'integer', isRelation: true })).toBe(false);
});

test('startswith is a range of texts in order, scans other types, and does not fit a relation', () => {
  expect(codesOf('startswith', KEYS, 'b')).toEqual(['2-4']);
  expect(codesOf('startswith', KEYS, '')).toEqual(['0-4']);
  expect(codesOf('startswith', IDS, '1')).toBe('scan');
  expect(codesOf('startswith', DATES, '2016')).toBe('scan');
  expect(isHit('startswith', 'b', 'ba')).toBe(true);
  expect(isHit('startswith', 'ba', 'b')).toBe(false);
  expect(lookupNamed('startswith')!.fits({ type: 'link', isRelation: true })).toBe(false);
});

test('endswith scans, but for the empty text, and does not fit a relation', () => {
  expect(codesOf('endswith', KEYS, 'b')).toBe('scan');
  expect(codesOf('endswith', KEYS, '')).toEqual(['0-4']);
  expect(isHit('endswith', 'a', 'ba')).toBe(true);
  expect(isHit('endswith', 'ba', 'a')).toBe(false);
  expect(lookupNamed('endswith')!.fits({ type: 'link', isRelation: true })).toBe(false);
});

test('iexact scans for texts that are the same but for case', () => {
  expect(codesOf('iexact', KEYS, 'AB')).toBe('scan');
  expect(isHit('iexact', 'ångström', 'ÅNGSTRÖM')).toBe(true);
  expect(isHit('iexact', '300 k', '300 \u212a')).toBe(true);
  expect(isHit('iexact', 'b', 'ba')).toBe(false);
  expect(isHit('iexact', '', 'a')).toBe(false);
  expect(isHit('iexact', '', '')).toBe(true);
});

test('icontains scans texts whose case is folded, many at a time too', () => {
  expect(codesOf('icontains', KEYS, '')).toEqual(['0-4']);
  expect(isHit('icontains', 'gstRÖ', 'ÅNGSTRÖM')).toBe(true);
  expect(isHit('icontains', 'gstro', 'ÅNGSTRÖM')).toBe(false);
  expect(hitsOf('icontains', 'B', KEYS)).toEqual([1, 2, 3]);
  expect(hitsOf('icontains', 'BB', KEYS)).toEqual([]);
  const odd = ['Ak', 'B\u212a', 'Ck', 'D\u212a\u212b', 'E\u017f', 'F\u00c9k', 'G\u023aK', 'Hk\u023a'];
  const collection = indexOf(
    'migrationproperties',
    odd.map((key, id) => ({ id, key })),
  );
  expect(hitsOf('icontains', 'K', dictionaryOf('key', collection))).toEqual([0, 1, 2, 3, 5, 6, 7]);
  expect(hitsOf('icontains', 'ék', dictionaryOf('key', collection))).toEqual([5]);
  expect(hitsOf('icontains', 'kå', dictionaryOf('key', collection))).toEqual([3]);
});

test('istartswith sees the beginning of a text, however long its letters are', () => {
  expect(isHit('istartswith', 'KK', '\u212a\u212ax')).toBe(true);
  expect(isHit('istartswith', 'Åb', 'åBc')).toBe(true);
  expect(isHit('istartswith', 'ab', 'b')).toBe(false);
  expect(isHit('istartswith', 'ab', 'a')).toBe(false);
});

test('iendswith sees the end of a text, however long its letters are', () => {
  expect(isHit('iendswith', 'kK', 'x\u212a\u212a')).toBe(true);
  expect(isHit('iendswith', 'bÅ', 'aaBå')).toBe(true);
  expect(isHit('iendswith', 'ba', 'a')).toBe(false);
});

test('gt, gte, lt and lte are ranges of codes by value, and do not fit booleans', () => {
  expect(codesOf('gt', KEYS, 'ab')).toEqual(['2-4']);
  expect(codesOf('gte', KEYS, 'ab')).toEqual(['1-4']);
  expect(codesOf('lt', KEYS, 'ab')).toEqual(['0-1']);
  expect(codesOf('lte', KEYS, 'ab')).toEqual(['0-2']);
  expect(codesOf('gt', KEYS, '')).toEqual(['0-4']);
  expect(codesOf('lt', KEYS, '')).toEqual([]);
  expect(codesOf('gt', IDS, '11.0')).toEqual(['2-4']);
  expect(codesOf('lte', IDS, '9')).toEqual([]);
  expect(codesOf('gte', DATES, '2016-05-02T00:00:00.000001')).toEqual(['2-4']);
  expect(codesOf('gt', IDS, 'x')).toBe('Enter a whole number.');
  for (const name of ['gt', 'gte', 'lt', 'lte', 'range']) {
    expect(lookupNamed(name)!.fits({ type: 'boolean', isRelation: false })).toBe(false);
    expect(lookupNamed(name)!.fits({ type: 'link', isRelation: true })).toBe(true);
  }
});

test('range takes exactly two values, both included', () => {
  expect(codesOf('range', KEYS, 'ab, b')).toEqual(['1-3']);
  expect(codesOf('range', IDS, '13,11')).toEqual([]);
  expect(codesOf('range', IDS, '11,11')).toEqual(['1-2']);
  expect(codesOf('range', IDS, '11')).toBe('Ensure this value has at least 2 items (it has 1).');
  expect(codesOf('range', IDS, '11,12,13')).toBe('Ensure this value has at most 2 items (it has 3).');
  expect(codesOf('range', IDS, '11,x,13')).toBe('Enter a whole number.');
  expect(codesOf('range', IDS, '')).toBe('This field is required.');
  expect(lookupNamed('range')!.parse('integer', 'x,1', true)).toMatchObject({ kind: 'error' });
});

test('isnull is the code behind the last one, or all before it, on every type', () => {
  expect(codesOf('isnull', KEYS, 'TRUE')).toEqual(['4-5']);
  expect(codesOf('isnull', DATES, 'false')).toEqual(['0-4']);
  expect(codesOf('isnull', IDS, '')).toEqual(['0-4']);
  expect(lookupNamed('isnull')!.fits({ type: 'link', isRelation: true })).toBe(true);
});

test('regex and iregex take the syntax of RE2 and match anywhere', () => {
  expect(isHit('regex', '^[a-z]+$', 'ba')).toBe(true);
  expect(isHit('regex', 'é.?e', 'bée')).toBe(true);
  expect(isHit('regex', 'B', 'ba')).toBe(false);
  expect(isHit('iregex', 'ÅNG', 'ångström')).toBe(true);
  expect(isHit('iregex', '^300 k$', '300 \u212a')).toBe(true);
  expect(codesOf('regex', KEYS, 'a')).toBe('scan');
  expect(codesOf('regex', KEYS, ' ')).toBe('This field is required.');
  for (const pattern of ['(', 'a**', '(?=a)', '\\1', '[b-a]', 'x{1001}']) {
    expect(codesOf('iregex', KEYS, pattern)).toBe('Enter a valid regular expression.');
  }
  for (const pattern of ['a'.repeat(501), '(a{10}){500}', 'abc{900}d{900}e{900}', '\\pL'.repeat(50)]) {
    expect(codesOf('regex', KEYS, pattern)).toBe('This regular expression is too large.');
  }
  expect(codesOf('regex', KEYS, '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$')).toBe('scan');
  expect(lookupNamed('regex')!.fits({ type: 'link', isRelation: true })).toBe(false);
});

test('date is the range of one day, and takes nothing but a day', () => {
  expect(codesOf('date', DATES, '2016-05-02')).toEqual(['1-2']);
  expect(codesOf('date', DATES, '2016-05-02T00:00')).toBe('Enter a valid date.');
  expect(codesOf('date', DATES, '2016-05-32')).toBe('Enter a valid date.');
  expect(codesOf('date', DATES, '')).toBe('This field is required.');
  expect(lookupNamed('date')!.fits({ type: 'text', isRelation: false })).toBe(false);
});

test('year is a range of instants', () => {
  expect(codesOf('year', DATES, '2016')).toEqual(['0-4']);
  expect(codesOf('year', DATES, '2017')).toEqual([]);
  expect(codesOf('year', DATES, '9'.repeat(400))).toEqual([]);
  expect(codesOf('year', DATES, 'x')).toBe('Enter a whole number.');
});

test('parts that are out of range match nothing, others are found by a pass', () => {
  const ranges = { month: [1, 12], day: [1, 31], week_day: [1, 7], hour: [0, 23], minute: [0, 59], second: [0, 59] };
  for (const [name, [least, most]] of Object.entries(ranges)) {
    expect(codesOf(name, DATES, String(least! - 1))).toEqual([]);
    expect(codesOf(name, DATES, String(most! + 1))).toEqual([]);
    expect(codesOf(name, DATES, `+0${least!}.0`)).toBe('scan');
    expect(codesOf(name, DATES, '1.5')).toBe('Enter a whole number.');
    expect(lookupNamed(name)!.fits({ type: 'date', isRelation: false })).toBe(true);
    expect(lookupNamed(name)!.fits({ type: 'integer', isRelation: false })).toBe(false);
  }
});

describe('parts of instants are those of the calendar in UTC', () => {
  const times = ['0000-01-01', '1600-02-29', '1899-12-31T23:59:59.999999', '1970-01-01', '2015-01-02T04:04:05+01:00'];
  times.push('2016-12-31T23:30:00-01:00', '2255-06-05T23:59:59.999999', '9999-12-31T23:59:59.999999', 'never');
  const dictionary = dictionaryOf(
    'modified',
    indexOf(
      'migrationproperties',
      times.map((modified, id) => ({ id, modified })),
    ),
  );
  const dates = textsOf(dictionary).map((text) =>
    text === 'never' ? undefined : new Date(text.includes('T') && !/[+]|-..:/.test(text) ? `${text}Z` : text),
  );

  test.each([
    ['month', (date: Date) => date.getUTCMonth() + 1, 12],
    ['day', (date: Date) => date.getUTCDate(), 31],
    ['week_day', (date: Date) => date.getUTCDay() + 1, 7],
    ['hour', (date: Date) => date.getUTCHours(), 23],
    ['minute', (date: Date) => date.getUTCMinutes(), 59],
    ['second', (date: Date) => date.getUTCSeconds(), 59],
  ] as const)('%s', (name, read, most) => {
    for (let wanted = 1; wanted <= most; wanted++) {
      const codes = dates.flatMap((date, code) => (date && read(date) === wanted ? [code] : []));
      expect(hitsOf(name, String(wanted), dictionary), `${name} ${wanted}`).toEqual(codes);
    }
  });
});

describe('a name that is no lookup', () => {
  test.each(['', 'iin', 'Exact', 'constructor', '__proto__'])('such as %j is not found', (name) => {
    expect(lookupNamed(name)).toBeUndefined();
  });
});
