import { expect, test } from 'vitest';
import { OutlineStore } from '../../../../data/import/outlines.ts';
import { costOf } from '../../../support/growth.ts';

test('gives each sequence of keys a number, which is written in the order of records', () => {
  const store = new OutlineStore();
  expect([['a', 'b'], ['b', 'a'], [], ['a', 'b']].map((keys) => store.addOutline(keys))).toEqual([0, 1, 2, 0]);
  expect([1, 0, 1].map((outline) => store.writtenNumber(outline))).toEqual([0, 1, 0]);
  expect(store.take()).toEqual({
    keys: ['b', 'a'],
    lists: [
      [0, 1],
      [1, 0],
    ],
  });
});

test('numbers many long sequences of one length as quickly as others', () => {
  const keys = Array.from({ length: 1200 }, (_, i) => `key number ${1000 + i}`);
  const number = (lastOf: (i: number) => string): void => {
    const store = new OutlineStore();
    for (let i = 0; i < 2000; i++) expect(store.addOutline([...keys, lastOf(i)])).toBe(i);
  };
  const costOfOthers = costOf(() => number((i) => 'x'.repeat(i)));
  expect(costOf(() => number((i) => String(10_000 + i)))).toBeLessThan(4 * costOfOthers);
});
