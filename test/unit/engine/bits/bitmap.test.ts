import { expect, test } from 'vitest';
import * as bitmap from '../../../../engine/bits/bitmap.ts';
import { countRanked, directoryBytes, ranking, selectRanks } from '../../../../engine/bits/ranks.ts';

test('selects at the end of a large bitmap in as many words as at its start, and counts its ranks once', () => {
  const rows = 1_000_000;
  const words = bitmap.makeBitmap(
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

test('finds the first rows of a new bitmap from its start, and counts its ranks once if they are far away', () => {
  const rows = 1_000_000;
  const expectFirst = (first: number, looked: readonly number[]): void => {
    const words = bitmap.makeBitmap(
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
