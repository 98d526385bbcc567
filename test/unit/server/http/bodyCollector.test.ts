// Request bodies put together from pieces: copied as little as can be, never beyond their limit, never beyond the
// budget.
import { expect, test } from 'vitest';
import { BodyBudget, BodyCollector } from '../../../../server/http/bodyCollector.ts';

function bytes(text: string): Uint8Array {
  return Buffer.from(text);
}

test('a body in one piece is that piece itself, declared or not', () => {
  for (const declared of [4, undefined]) {
    const piece = bytes('<a/>');
    expect(new BodyCollector(4, declared, new BodyBudget(0)).take(piece, declared === undefined)).toBe(piece);
  }
});

test('pieces may be changed once they were taken', () => {
  const collector = new BodyCollector(100, undefined, new BodyBudget());
  const piece = bytes('<a');
  expect(collector.take(piece, false)).toBe('more');
  piece.fill(0);
  expect(Buffer.from(collector.take(bytes('/>'), true) as Uint8Array).toString()).toBe('<a/>');
});

test('a body of undeclared length grows and keeps what came before', () => {
  const collector = new BodyCollector(1_000_000, undefined, new BodyBudget());
  const text = Array.from({ length: 90_000 }, (_, i) => i % 10).join('');
  for (let at = 0; at < text.length; at += 1000) {
    expect(collector.take(bytes(text.slice(at, at + 1000)), false)).toBe('more');
  }
  expect(Buffer.from(collector.take(bytes(''), true) as Uint8Array).toString() === text).toBe(true);
});

test('a body of its limit is whole, and one byte more is too long', () => {
  expect(new BodyCollector(4, undefined, new BodyBudget()).take(bytes('1234'), true)).toHaveLength(4);
  expect(new BodyCollector(4, undefined, new BodyBudget()).take(bytes('12345'), false)).toBe('tooLong');
  const collector = new BodyCollector(4, undefined, new BodyBudget());
  collector.take(bytes('1234'), false);
  expect(collector.take(bytes('5'), false)).toBe('tooLong');
});

test('unfinished bodies share a budget, and get it back when they are dropped', () => {
  const budget = new BodyBudget(5);
  const first = new BodyCollector(100_000, 40_000, budget);
  const second = new BodyCollector(100_000, undefined, budget);
  expect(first.take(bytes('1234'), false)).toBe('more');
  expect(second.take(bytes('12'), false)).toBe('busy');
  first.drop();
  first.drop();
  expect(second.take(bytes('12'), false)).toBe('more');
  expect(second.take(bytes('345'), false)).toBe('more');
  expect(second.take(bytes('6'), false)).toBe('busy');
});

test('what a body declares takes nothing of the budget, only what has come of it', () => {
  const budget = new BodyBudget(100);
  for (let i = 0; i < 100; i++) {
    expect(new BodyCollector(1_000_000, 1_000_000, budget).take(bytes('x'), false)).toBe('more');
  }
  expect(new BodyCollector(1_000_000, 1_000_000, budget).take(bytes('x'), false)).toBe('busy');
});
