import { expect, test } from 'vitest';
import { closestName, nearestName, slipsBetween } from '../../../../engine/bits/suggest.ts';
import { costOf } from '../../../support/growth.ts';

test.each([
  ['title', 'title', 0],
  ['', 'abc', 3],
  ['titel', 'title', 1],
  ['tile', 'title', 1],
  ['tittle', 'title', 1],
  ['titla', 'title', 1],
  ['ab', 'ba', 1],
  ['stauts', 'status', 1],
])('counts for %j and %j an edit distance of %d', (a, b, slips) => {
  expect([slipsBetween(a, b), slipsBetween(b, a)]).toEqual([slips, slips]);
});

test('ranks a swap of adjacent letters nearer than two replaced letters', () => {
  expect(closestName('prot', ['prxx', 'pxxt', 'port'])).toBe('port');
});

test('prefers the first of several equally near names, and compares the start of a long one', () => {
  expect(closestName('ab', ['aa', 'bb'])).toBe('aa');
  expect(closestName('port' + 'x'.repeat(1e7), ['host', 'port'])).toBe('port');
  expect(closestName('a', [])).toBeUndefined();
});

test('compares the first of very many known names, however long they and the unknown one are', () => {
  const many = (length: number): string[] => Array.from({ length: 100_000 }, (_, i) => `${i}`.padEnd(length, 'y'));
  const costAt = (length: number): number => {
    const known = many(length);
    return costOf(() => nearestName('x'.repeat(length), known));
  };
  expect(costAt(1000)).toBeLessThan(20 * costAt(20));
  expect(nearestName('titel', ['title', ...many(5)])).toBe('title');
  expect(nearestName('titel', [...many(5), 'title'])).toBeUndefined();
  expect(nearestName('titel', [...many(40), 'title'])).toBeUndefined();
  expect(nearestName('titel', [...many(5).slice(0, 200), 'title'])).toBe('title');
});
