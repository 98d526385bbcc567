// Ascending lists against plain array methods.
import { expect, test } from 'vitest';
import { intersectLists, lowerBound, upperBound } from '../../../../engine/bits/lists.ts';
import { randomOf, type Random } from '../../../support/random.ts';

function ascending(random: Random, length: number, end: number): Uint32Array {
  return Uint32Array.from(new Set(Array.from({ length }, () => random.integer(0, end)))).sort();
}

test('the bounds are where the first value at least and the first value above stand', () => {
  const random = randomOf(1);
  for (let round = 0; round < 200; round++) {
    const list = Uint32Array.from({ length: random.integer(0, 20) }, () => random.integer(0, 15)).sort();
    const value = random.integer(0, 17);
    const orEnd = (i: number): number => (i < 0 ? list.length : i);
    expect(lowerBound(list, value)).toBe(orEnd(list.findIndex((one) => one >= value)));
    expect(upperBound(list, value)).toBe(orEnd(list.findIndex((one) => one > value)));
  }
});

test('a lower bound within a part of the list stays within it', () => {
  const list = Uint32Array.of(1, 3, 5, 7, 9);
  expect(lowerBound(list, 0, 2, 4)).toBe(2);
  expect(lowerBound(list, 7, 2, 4)).toBe(3);
  expect(lowerBound(list, 99, 2, 4)).toBe(4);
});

test('bounds work on numbers beyond 32 bits, with NaN behind all', () => {
  const list = Float64Array.of(-1.5, 0, 2 ** 40, 2 ** 53, NaN, NaN);
  expect(lowerBound(list, 2 ** 40)).toBe(2);
  expect(upperBound(list, 2 ** 53)).toBe(4);
});

test('an intersection holds what both lists hold, whatever their lengths', () => {
  const random = randomOf(2);
  for (let round = 0; round < 400; round++) {
    const end = random.pick([10, 100, 5000]);
    const a = ascending(random, random.pick([0, 1, 5, 300]), end);
    const b = ascending(random, random.pick([0, 1, 5, 300]), end);
    const held = new Set(b);
    const expected = [...a].filter((row) => held.has(row));
    expect([...intersectLists(a, b)], `round ${round}`).toEqual(expected);
    expect([...intersectLists(b, a)], `round ${round}`).toEqual(expected);
  }
});
