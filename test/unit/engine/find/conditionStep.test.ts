// What an n-gram index says of a search before it runs: bounds of rows and text, own URLs and long lists included.
import { RE2JS } from 're2js';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Dictionary } from '../../../../engine/column/dictionary.ts';
import { invertedIndex, type FieldIndex } from '../../../../engine/index/field.ts';
import { buildGrams, gramQuery } from '../../../../engine/index/grams.ts';
import { invert } from '../../../../engine/index/invert.ts';
import { mostRowsOf } from '../../../../engine/index/mostRows.ts';
import { sizedCondition, type ConditionStep, type Sizing } from '../../../../engine/find/conditionStep.ts';
import { newCounters } from '../../../../engine/find/counters.ts';
import { rowCheckBytes } from '../../../../engine/find/fewRows.ts';
import { lookupNamed } from '../../../../engine/query/lookups.ts';
import { scanCodes } from '../../../../engine/find/scan.ts';
import { randomOf } from '../../../support/random.ts';

const SEED = 71;
const FORM = { baseUrl: 'http://catalogue.test', version: 'v3', linkEnd: '/?format=api' } as const;
const UNBOUNDED = { codesToCount: Infinity, valuesToFind: Infinity, listBytesToRead: Infinity };
const WORDS = ['ocean', 'air', 'ice', 'wind', 'dust', 'sonde', 'radar', 'north', 'flux', 'ozone'];

/**
 * Texts with an n-gram index. Codes of rows as given, else the first and the last twenty have the most, every seventh
 * is null.
 */
function indexWith(texts: readonly string[], rows: number, codeOf?: (row: number) => number): FieldIndex {
  const sorted = [...new Set(texts)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  let bytes = 0;
  const ends = Uint32Array.from(sorted, (text) => (bytes += Buffer.byteLength(text)));
  const text = new Uint8Array(Buffer.from(sorted.join('')));
  const dictionary: Dictionary = {
    type: 'text',
    size: sorted.length,
    fitting: sorted.length,
    ends,
    text,
    numbers: undefined,
  };
  const random = randomOf(SEED);
  const code = (row: number): number =>
    row % 7 === 0
      ? sorted.length
      : row % 11 === 0
        ? random.integer(sorted.length - 20, sorted.length)
        : Math.floor(sorted.length * random.unit() * random.unit());
  return invertedIndex(
    dictionary,
    invert(
      Uint32Array.from({ length: rows }, (_, row) => (codeOf ?? code)(row)),
      sorted.length,
    ),
    buildGrams(dictionary),
  );
}

const random = randomOf(SEED);
const TEXTS = Array.from(
  { length: 9000 },
  (_, i) => `${random.pick(WORDS)} ${random.pick(WORDS)} ${(i * 7919) % 9000}`,
);
const OWN = Array.from({ length: 20 }, (_, i) => `{base_url}/api/v3/times/${i}/`);
const INDEX = indexWith([...TEXTS, ...OWN], 20_000);

function stepOf(index: FieldIndex, lookup: string, ...values: readonly string[]): ConditionStep {
  return stepWithin(UNBOUNDED, index, lookup, values);
}

function stepWithin(
  bounds: Omit<Sizing, 'form'>,
  index: FieldIndex,
  lookup: string,
  values: readonly string[],
): ConditionStep {
  const operand = { kind: 'text', values } as const;
  const condition = { key: 'x', path: ['x'], lookup, isNegated: false, operand };
  return sizedCondition(condition, index, Object.assign(bounds, { form: FORM })).step;
}

/** What the search finds and looks at when it runs. */
function truthOf(lookup: string, value: string): { readonly rows: number; readonly bytes: number } {
  const counters = newCounters();
  const context = { form: FORM, counters, isCancelled: () => false };
  const search = lookupNamed(lookup)!.search!({ kind: 'text', values: [value] });
  const codes = scanCodes(context, INDEX, search)!;
  return { rows: codes.reduce((sum, range) => sum + INDEX.countOf(range), 0), bytes: counters.bytesScanned };
}

afterEach(() => void vi.restoreAllMocks());

describe('a search', () => {
  test.each([
    'zone',
    'zon',
    'sonde radar',
    'ice 12',
    '9',
    '4711',
    'catalogue.test/api',
    'times/1',
    'Dust FLUX',
    'qqq',
    'xzone',
  ])('for %s is bounded by the rows and the text of its candidates, own URLs as served included', (value) => {
    for (const lookup of ['contains', 'icontains', 'endswith', 'istartswith']) {
      const { estimate, scanBytes } = stepOf(INDEX, lookup, value);
      const truth = truthOf(lookup, value);
      expect(estimate, lookup).toBeGreaterThanOrEqual(truth.rows);
      expect(scanBytes, lookup).toBeGreaterThanOrEqual(truth.bytes);
    }
  });

  test('for what two rare grams have in common is bounded closely', () => {
    const own = INDEX.countOf({ start: 0, end: INDEX.dictionary.size }) - truthOf('contains', ' ').rows;
    const { access, estimate } = stepOf(INDEX, 'contains', '4711');
    expect(access).toBe('n-gram');
    expect(estimate).toBeLessThanOrEqual(truthOf('contains', '4711').rows + own + 50);
  });

  test('for what no gram has leaves own URLs only', () => {
    const { estimate } = stepOf(INDEX, 'contains', 'qqq');
    expect(estimate).toBe(INDEX.countOf({ start: 0, end: INDEX.dictionary.size }) - truthOf('contains', ' ').rows);
  });

  test('whose n-gram lists are long is bounded by their bytes and the texts that have the most rows', () => {
    const texts = Array.from({ length: 30_000 }, (_, i) => (i % 5 === 0 ? `${i} granule` : `${i} swath`));
    const index = indexWith(texts, texts.length * 2, (row) => row >>> 1);
    const { bytes } = gramQuery(index.grams!, Buffer.from('granule'))!;
    expect(bytes).toBe(6000);
    expect(stepOf(index, 'contains', 'granule')).toMatchObject({ access: 'n-gram', estimate: 12_000 });
    const withOwn = indexWith([...texts, ...OWN], (texts.length + OWN.length) * 2, (row) => row >>> 1);
    expect(stepOf(withOwn, 'contains', 'granule').estimate).toBe(12_000 + 2 * OWN.length);
  });

  test('counts each own URL as what it takes to be written as it is served', () => {
    const without = indexWith(TEXTS, 20_000);
    for (const value of ['qqq', 'granule', 'e', 'ocean']) {
      const bytes = stepOf(INDEX, 'contains', value).scanBytes - stepOf(without, 'contains', value).scanBytes;
      expect(bytes, value).toBeGreaterThanOrEqual(2048 * OWN.length);
    }
  });

  test('for a pattern looks at all texts, and no pattern is compiled to say so', () => {
    const compile = vi.spyOn(RE2JS, 'compile');
    for (const lookup of ['regex', 'iregex'])
      expect(stepOf(INDEX, lookup, 'oz.ne')).toMatchObject({
        access: 'scan',
        estimate: INDEX.countOf({ start: 0, end: INDEX.dictionary.size }),
      });
    expect(compile).not.toHaveBeenCalled();
  });

  test('never finds null', () => {
    const { access, estimate } = stepOf(INDEX, 'contains', 'a');
    expect([access, estimate]).toEqual(['scan', INDEX.countOf({ start: 0, end: INDEX.dictionary.size })]);
    expect(estimate).toBeLessThan(INDEX.rows);
  });
});

test('values that are too many to count are bounded by the rows of those that have the most', () => {
  const index = indexWith(TEXTS, 20_000);
  const values = TEXTS.slice(0, 70);
  expect(stepOf(index, 'in', ...values)).toMatchObject({
    access: 'code list',
    estimate: mostRowsOf(index, 70, UNBOUNDED),
  });
  const counts = values.map((value) => stepOf(index, 'exact', value).estimate);
  expect(mostRowsOf(index, 70, UNBOUNDED)).toBeGreaterThanOrEqual(counts.reduce((sum, count) => sum + count, 0));
  expect(mostRowsOf(index, 70, UNBOUNDED)).toBeLessThan(70 * mostRowsOf(index, 1, UNBOUNDED));
  expect(stepOf(INDEX, 'in', ...values).estimate).toBe(INDEX.countOf({ start: 0, end: INDEX.dictionary.size }));
});

test('a number that is written in several ways is one value', () => {
  const codes = Uint32Array.of(0, 1, 1, 2, 3, 3);
  const text = new Uint8Array(Buffer.from('11.01e05'));
  const ends = Uint32Array.of(1, 4, 7, 8);
  const numbers = Float64Array.of(1, 1, 1, 5);
  const index = invertedIndex({ type: 'float', size: 4, fitting: 4, text, ends, numbers }, invert(codes, 4));
  expect([1, 2, 3].map((values) => mostRowsOf(index, values, UNBOUNDED))).toEqual([4, 6, 6]);
  const once = invertedIndex(
    { type: 'float', size: 4, fitting: 4, text, ends, numbers },
    invert(Uint32Array.of(0, 1, 2, 3, 4), 4),
  );
  expect([1, 2].map((values) => mostRowsOf(once, values, UNBOUNDED))).toEqual([3, 4]);
});

describe('of many conditions together', () => {
  test('no more values are searched for, and no more n-gram lists read, than one plan may', () => {
    const bounds = { ...UNBOUNDED, valuesToFind: 100, listBytesToRead: 2000 };
    const values = TEXTS.slice(0, 60);
    const lists = [1, 2, 3].map(() => stepWithin(bounds, INDEX, 'in', values).codes !== undefined);
    expect(lists).toEqual([true, false, false]);
    expect(stepWithin(bounds, INDEX, 'range', ['a', 'z'])).toEqual(stepOf(INDEX, 'range', 'a', 'z'));
    // One value costs no more than a look at what stands there anyway.
    expect(stepWithin(bounds, INDEX, 'exact', values.slice(0, 1)).codes).toBeDefined();
    const searches = Array.from({ length: 20 }, () => stepWithin(bounds, INDEX, 'contains', ['ice 12']));
    expect(bounds.listBytesToRead).toBeGreaterThanOrEqual(0);
    expect(searches[0]).toEqual(stepOf(INDEX, 'contains', 'ice 12'));
    const truth = truthOf('contains', 'ice 12');
    for (const { estimate, scanBytes } of searches) {
      expect(estimate).toBeGreaterThanOrEqual(truth.rows);
      expect(scanBytes).toBeGreaterThanOrEqual(truth.bytes);
    }
    expect(searches.at(-1)!.scanBytes).toBeGreaterThan(searches[0]!.scanBytes);
  });
});

test('a check of few rows counts the own URLs that may be among them as what they take to be written', () => {
  const step = { ...stepOf(INDEX, 'contains', 'e'), scanBytes: Infinity };
  expect(rowCheckBytes(step, INDEX, 5)).toBeGreaterThanOrEqual(5 * 2048);
  expect(rowCheckBytes(step, indexWith(TEXTS, 20_000), 5)).toBeLessThan(2048);
  expect(rowCheckBytes(step, INDEX, 1000)! - rowCheckBytes(step, INDEX, 999)!).toBeLessThan(2048);
});
