import { expect, test } from 'vitest';
import { Memory } from '../../../../server/http/memory.ts';

test('finds a value by its text, and not by a character more or less', () => {
  const memory = new Memory<number>(100);
  memory.keep('<a>role</a>', 1, 11);
  expect(memory.find('<a>role</a>')).toBe(1);
  for (const other of ['<a>rolf</a>', '<a>role</a> ', '<a>role</a', '']) expect(memory.find(other)).toBeUndefined();
});

test('keeps the last value of a text, with the bytes of one', () => {
  const memory = new Memory<number>(8);
  for (let i = 0; i < 100; i++) memory.keep('a', i, 2);
  memory.keep('b', 100, 2);
  expect([memory.find('a'), memory.find('b')]).toEqual([99, 100]);
});

test('keeps used values, whatever else comes, and drops unused ones', () => {
  const memory = new Memory<number>(20);
  memory.keep('asked for', -1, 1);
  memory.keep('never', -2, 1);
  for (let i = 0; i < 1000; i++) {
    memory.keep(`${i}`, i, 1);
    expect(memory.find('asked for')).toBe(-1);
  }
  expect(memory.find('never')).toBeUndefined();
});

test('stores no more than the bytes allow, and at least half of them of the latest', () => {
  const memory = new Memory<number>(20);
  for (let i = 0; i < 1000; i++) {
    memory.keep(`${i}`, i, 2);
    expect(memory.find(`${i}`)).toBe(i);
  }
  const left = Array.from({ length: 1000 }, (_, i) => memory.find(`${i}`)).filter((value) => value !== undefined);
  expect(left.length).toBeLessThanOrEqual(10);
  expect(left.length).toBeGreaterThanOrEqual(5);
});

test('does not store a value of more than half the bytes, and drops nothing for it', () => {
  const memory = new Memory<number>(20);
  memory.keep('small', 1, 10);
  for (let i = 0; i < 10; i++) memory.keep('large', 2, 11);
  expect([memory.find('small'), memory.find('large')]).toEqual([1, undefined]);
  const nothing = new Memory<number>(0);
  nothing.keep('a', 1, 1);
  expect(nothing.find('a')).toBeUndefined();
});
