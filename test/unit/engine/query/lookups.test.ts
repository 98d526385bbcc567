// The table of lookups, one test a row: what it fits, how its operand is read, which codes it finds.
import { describe, expect, test } from 'vitest';
import { lookupNamed, type Lookup } from '../../../../engine/query/lookups.ts';
import { indexOf } from '../../../support/index.ts';
import type { Dictionary } from '../../../../engine/column/dictionary.ts';

const COLLECTION = indexOf(
  'migrationproperties',
  ['a', 'ab', 'b', 'ba'].map((key, i) => ({ id: i + 10, key, modified: `2016-05-0${i + 1}` })),
);
const KEYS = dictionaryOf('key');
const IDS = dictionaryOf('id');
const DATES = dictionaryOf('modified');

function dictionaryOf(name: string): Dictionary {
  const node = COLLECTION.members.get(name);
  if (node?.kind !== 'values') throw new Error(name);
  return node.index.dictionary;
}

/** The codes that a lookup finds without a scan, as `start-end`; `scan` where it has to. */
function codesOf(name: string, dictionary: Dictionary, text: string): readonly string[] | 'scan' | string {
  const lookup: Lookup = lookupNamed(name)!;
  const parsed = lookup.parse(dictionary.type, text, false);
  if (parsed.kind === 'error') return parsed.message;
  return (
    lookup
      .codes(dictionary, parsed.value, { baseUrl: '', version: 'v3', linkEnd: '/?format=api' })
      ?.map(({ start, end }) => `${start}-${end}`) ?? 'scan'
  );
}

/** Whether a lookup's search hits a text, put in the middle of other bytes. */
function isHit(name: string, operand: string, text: string): boolean {
  const bytes = Buffer.from(`ab${text}ab`);
  return lookupNamed(name)!.search!({ kind: 'text', values: [operand] }).matches(bytes, 2, bytes.length - 2);
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
  expect(codesOf('in', KEYS, '')).toEqual([]);
  expect(codesOf('in', IDS, '13,12')).toEqual(['2-4']);
  expect(codesOf('in', IDS, '13,x')).toBe('Enter a whole number.');
  expect(lookupNamed('in')!.parse('integer', '13,x', true)).toMatchObject({ value: { values: ['13e0'] } });
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

describe('a name that is no lookup', () => {
  test.each(['', 'icontains', 'Exact', 'constructor', '__proto__'])('such as %j is not found', (name) => {
    expect(lookupNamed(name)).toBeUndefined();
  });
});
