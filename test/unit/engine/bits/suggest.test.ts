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
])('between %j and %j there are %d slips', (a, b, slips) => {
  expect([slipsBetween(a, b), slipsBetween(b, a)]).toEqual([slips, slips]);
});

test('two neighbours exchanged are nearer than two letters replaced', () => {
  expect(closestName('prot', ['prxx', 'pxxt', 'port'])).toBe('port');
});

test('the first of several is nearest, and of a long name the start counts', () => {
  expect(closestName('ab', ['aa', 'bb'])).toBe('aa');
  expect(closestName('port' + 'x'.repeat(1e7), ['host', 'port'])).toBe('port');
  expect(closestName('a', [])).toBeUndefined();
});

test('of very many known names the first are compared, however long they and the unknown one are', () => {
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
