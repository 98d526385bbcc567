// Keys that stay short: those of nearly all filters as they are, long ones no longer, and still apart.
import { expect, test } from 'vitest';
import { shortKey } from '../../../workers/shortKey.ts';

test('a key of 1,024 characters is as it is', () => {
  const key = 'é'.repeat(1024);
  expect(shortKey(key)).toBe(key);
});

test('longer ones are 44 characters, other ones for any other text', () => {
  const long = 'a'.repeat(60_000);
  const keys = [long, `${long}a`, `${long.slice(1)}b`, `b${long.slice(1)}`, `${long.slice(1)}\u{1f600}`].map(shortKey);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys.map(({ length }) => length)).toEqual(keys.map(() => 44));
  expect(shortKey('a'.repeat(60_000))).toBe(keys[0]);
});
