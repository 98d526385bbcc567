// Bounds of rows by values, while a long column is counted piece by piece and when it is: never below the truth.
import { describe, expect, test } from 'vitest';
import type { Dictionary } from '../../../../engine/column/dictionary.ts';
import { invertedIndex, type FieldIndex } from '../../../../engine/index/field.ts';
import { invert } from '../../../../engine/index/invert.ts';
import { type Counting, mostRowsOf } from '../../../../engine/index/mostRows.ts';

/** A column of the texts or numbers 0, 1, 2 and so on with so many rows each, and how often rows were counted. */
function columnOf(type: 'text' | 'integer', counts: readonly number[]): { index: FieldIndex; looked(): number } {
  let bytes = 0;
  const texts = counts.map((_, code) => String(code).padStart(6, '0'));
  const dictionary: Dictionary = {
    type,
    size: texts.length,
    fitting: texts.length,
    ends: Uint32Array.from(texts, (text) => (bytes += text.length)),
    text: new Uint8Array(Buffer.from(texts.join(''))),
    numbers: type === 'integer' ? Float64Array.from(texts, Number) : undefined,
  };
  const index = invertedIndex(
    dictionary,
    invert(Uint32Array.from(counts.flatMap((rows, code) => Array<number>(rows).fill(code))), texts.length),
  );
  let looks = 0;
  const countOf: FieldIndex['countOf'] = (codes) => {
    looks++;
    return index.countOf(codes);
  };
  return { index: { ...index, countOf }, looked: () => looks };
}

const PIECES = 3;
const PIECE = 1000;
/** Most values have one row; those with the most stand at the end. */
const COUNTS = Array.from({ length: PIECES * PIECE - 100 }, (_, code) =>
  code % 50 === 0 ? 2 + Math.floor(code / 500) : 1,
);
const DESCENDING = COUNTS.toSorted((a, b) => b - a);
const truthOf = (values: number): number => DESCENDING.slice(0, values).reduce((sum, rows) => sum + rows, 0);
const ASKED = [0, 1, 2, 64, 65, 1000, COUNTS.length, COUNTS.length + 1];
const nothing = (): Counting => ({ codesToCount: 0 });

describe.each(['text', 'integer'] as const)('a long column of type %s', (type) => {
  test('is counted as far as it may be each time, by bounds that fall until they are exact', () => {
    const { index, looked } = columnOf(type, COUNTS);
    let before = Infinity;
    for (let piece = 0; piece < PIECES; piece++) {
      const from = looked();
      const counting = { codesToCount: PIECE };
      const bound = mostRowsOf(index, 64, counting);
      expect(counting.codesToCount).toBe(piece === PIECES - 1 ? 100 : 0);
      expect(looked() - from).toBeLessThanOrEqual(PIECE + 2);
      expect(bound).toBeGreaterThanOrEqual(truthOf(64));
      expect(bound).toBeLessThanOrEqual(before);
      before = bound;
    }
    const from = looked();
    expect(ASKED.map((values) => mostRowsOf(index, values, nothing()))).toEqual(ASKED.map(truthOf));
    expect(looked()).toBe(from);
  });

  test.each(ASKED)('has at most as many rows as the bound, however little of it is counted, of %i values', (values) => {
    const { index } = columnOf(type, COUNTS);
    for (const codesToCount of [0, 1, PIECE, 0, PIECE]) {
      expect(mostRowsOf(index, values, { codesToCount })).toBeGreaterThanOrEqual(truthOf(values));
    }
  });
});

test('of texts that are nearly all different the bound is near before any is counted', () => {
  const { index } = columnOf(
    'text',
    COUNTS.map((_, code) => (code % 100 === 0 ? 2 : 1)),
  );
  expect(mostRowsOf(index, 64, nothing())).toBe(64 + Math.ceil(COUNTS.length / 100));
});

test('texts that are all different are never counted one by one', () => {
  const { index, looked } = columnOf(
    'text',
    COUNTS.map(() => 1),
  );
  for (let i = 0; i <= PIECES; i++) expect(mostRowsOf(index, 64, { codesToCount: PIECE })).toBe(64);
  expect(looked()).toBeLessThan(5);
});
