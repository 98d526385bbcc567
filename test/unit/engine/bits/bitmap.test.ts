// Bitmaps against plain lists of rows: counting, complement and rank select, around the edges of words.
import { describe, expect, test } from 'vitest';
import * as bitmap from '../../../../engine/bits/bitmap.ts';
import { countRanked, directoryBytes, ranking, selectRanks } from '../../../../engine/bits/ranks.ts';
import { randomOf } from '../../../support/random.ts';

/** Around words of 32 bits and units of 64. */
const LENGTHS = [0, 1, 31, 32, 33, 63, 64, 65, 127, 200];

function randomRows(seed: number, rows: number, part: number): number[] {
  const random = randomOf(seed);
  return Array.from({ length: rows }, (_, row) => row).filter(() => random.chance(part));
}

describe.each(LENGTHS)('a bitmap over %i rows', (rows) => {
  const lists = [[], randomRows(rows, rows, 0.1), randomRows(rows + 1, rows, 0.7), randomRows(0, rows, 2)];

  test('is a whole number of 8 byte units with room for every row', () => {
    expect(bitmap.wordsFor(rows) % 2).toBe(0);
    expect(bitmap.wordsFor(rows) * 32).toBeGreaterThanOrEqual(rows);
    expect(bitmap.wordsFor(rows) * 32).toBeLessThan(rows + 64);
  });

  test.each(lists)('has the rows it was made of and no other', (...list) => {
    const words = bitmap.bitmapOf(Uint32Array.from(list), rows);
    const held = Array.from({ length: rows + 100 }, (_, row) => row).filter((row) => bitmap.hasBit(words, row));
    expect(held).toEqual(list);
    expect(bitmap.countBits(words)).toBe(list.length);
  });

  test.each(lists)('has a complement with the other rows and nothing behind the last', (...list) => {
    const words = bitmap.notBitmap(bitmap.bitmapOf(Uint32Array.from(list), rows), rows);
    const others = Array.from({ length: rows }, (_, row) => row).filter((row) => !list.includes(row));
    expect([...selectRanks(words, 0, rows + 100)]).toEqual(others);
    expect(bitmap.countBits(words)).toBe(rows - list.length);
  });

  test.each(lists)('selects by rank what a slice of the list holds', (...list) => {
    const words = bitmap.bitmapOf(Uint32Array.from(list), rows);
    for (let start = 0; start <= list.length + 1; start++) {
      for (const end of [start, start + 1, start + 7, list.length, list.length + 5]) {
        expect([...selectRanks(words, start, end)], `${start} to ${end}`).toEqual(list.slice(start, end));
      }
    }
  });

  test.each(lists)('selects the rows that it lacks by rank too', (...list) => {
    const words = bitmap.bitmapOf(Uint32Array.from(list), rows);
    const others = Array.from({ length: rows }, (_, row) => row).filter((row) => !list.includes(row));
    for (let start = 0; start <= others.length; start++) {
      for (const end of [start, Math.min(start + 7, others.length), others.length]) {
        const selected = selectRanks(words, start, end, true);
        expect([...selected], `${start} to ${end}`).toEqual(others.slice(start, end));
      }
    }
  });

  test.each(lists)('is counted with the directory of its ranks', (...list) => {
    expect(countRanked(bitmap.bitmapOf(Uint32Array.from(list), rows))).toBe(list.length);
  });

  test('intersects and unites as sets do', () => {
    const [a, b] = [randomRows(3, rows, 0.5), randomRows(4, rows, 0.5)];
    const words = bitmap.bitmapOf(Uint32Array.from(a), rows);
    const others = bitmap.bitmapOf(Uint32Array.from(b), rows);
    const both = bitmap.andBitmaps(words, others);
    const left = bitmap.andNotBitmaps(words, others);
    bitmap.orInto(words, others);
    expect([...selectRanks(both, 0, rows)]).toEqual(a.filter((row) => b.includes(row)));
    expect([...selectRanks(left, 0, rows)]).toEqual(a.filter((row) => !b.includes(row)));
    expect([...selectRanks(words, 0, rows)]).toEqual([...new Set([...a, ...b])].sort((x, y) => x - y));
  });
});

test('a select looks at as many words at the end of a large bitmap as at its start, and counts its ranks once', () => {
  const rows = 1_000_000;
  const words = bitmap.bitmapOf(
    Uint32Array.from({ length: rows / 8 }, (_, i) => i * 8),
    rows,
  );
  const wordsOf = (work: () => unknown): number => {
    const before = ranking.words;
    work();
    return ranking.words - before;
  };
  expect(wordsOf(() => countRanked(words))).toBe(words.length);
  for (const offset of [0, 1, 70_000, 124_900]) {
    for (const isFlipped of [false, true]) {
      const looked = wordsOf(() => selectRanks(words, offset, offset + 100, isFlipped));
      expect(looked, `offset ${offset}`).toBeLessThanOrEqual(26 + 16);
    }
  }
  expect(wordsOf(() => countRanked(words))).toBe(0);
  expect(directoryBytes(words.length)).toBeLessThan(words.byteLength / 15);
});

test('the first rows of a new bitmap are met from its start, and where they stand far away its ranks are counted once', () => {
  const rows = 1_000_000;
  const expectFirst = (first: number, looked: readonly number[]): void => {
    const words = bitmap.bitmapOf(
      Uint32Array.from({ length: 1000 }, (_, i) => first + i * 32),
      rows,
    );
    for (const most of looked) {
      const before = ranking.words;
      expect([...selectRanks(words, 20, 120)]).toEqual(Array.from({ length: 100 }, (_, i) => first + (20 + i) * 32));
      expect(ranking.words - before).toBeLessThanOrEqual(most);
    }
  };
  expectFirst(5, [120, 120]);
  expectFirst(900_000, [256 + bitmap.wordsFor(rows) + 136, 136]);
});

test('marked rows are read once each and in order, and leave no marks', () => {
  const random = randomOf(6);
  for (const rows of [1, 64, 1000, 5000, 200]) {
    const list = Uint32Array.from({ length: 300 }, () => random.integer(0, rows));
    expect([...bitmap.sortedByMarks(list, rows)]).toEqual([...new Set(list)].sort((a, b) => a - b));
    expect([...bitmap.sortedByMarks(new Uint32Array(0), rows)]).toEqual([]);
  }
});

test('popcount counts the ones of the binary form', () => {
  const random = randomOf(5);
  for (const word of [0, 1, 0x80000000, 0xffffffff, ...Array.from({ length: 200 }, () => random.integer(0, 2 ** 32))]) {
    expect(bitmap.popcount(word)).toBe(word.toString(2).replaceAll('0', '').length);
  }
});
