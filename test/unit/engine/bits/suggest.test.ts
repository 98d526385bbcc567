// Slips between texts, and the known name that is nearest to a mistyped one.
import { expect, test } from 'vitest';
import { closestName, slipsBetween } from '../../../../engine/bits/suggest.ts';

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
