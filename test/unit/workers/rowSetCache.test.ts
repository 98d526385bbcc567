// The cache of row sets: its bound in bytes, the set that it drops, and its counters.
import { describe, expect, test } from 'vitest';
import type { RowSet } from '../../../engine/engine.ts';
import { RowSetCache, shortKey } from '../../../workers/rowSetCache.ts';
import { randomOf } from '../../support/random.ts';

function listOf(rows: number): RowSet {
  return { kind: 'list', rows: Uint32Array.from({ length: rows }, (_, i) => i) };
}

test('drops the least recently used set first', () => {
  const cache = new RowSetCache(20_000);
  for (const key of ['a', 'b', 'c', 'd']) cache.put(key, listOf(1000));
  cache.get('a');
  cache.put('e', listOf(1000));
  expect(['a', 'b', 'c', 'd', 'e'].filter((key) => cache.get(key))).toEqual(['a', 'c', 'd', 'e']);
});

test('never exceeds its bound, and counts the bytes of its sets', () => {
  const seed = 31;
  const random = randomOf(seed);
  const cache = new RowSetCache(50_000);
  for (let i = 0; i < 2000; i++) {
    const key = `k${random.integer(0, 60)}`;
    if (random.chance(0.4)) cache.get(key);
    else cache.put(key, listOf(random.integer(0, 5000)));
    expect(cache.bytes, `seed ${seed}, step ${i}`).toBeLessThanOrEqual(cache.bytesMax);
  }
  expect(cache.size).toBeGreaterThan(1);
  for (let i = 0; i < 60; i++) cache.put(`k${i}`, listOf(0));
  const empty = cache.bytes / cache.size;
  expect(empty).toBeLessThan(300);
});

test('stores a view next to sets, under a separate key, in the same bytes', () => {
  const cache = new RowSetCache(20_000);
  const rows = Uint32Array.from({ length: 1000 }, (_, i) => 999 - i);
  const facets = [{ name: 'status', values: [['completed', 3]] }] as const;
  const view = { count: 5000, offset: 0, rows: { kind: 'sequence', rows }, facets } as const;
  cache.putView('view of a', view);
  expect([cache.view('view of a'), cache.view('a'), cache.get('view of a')]).toEqual([view, undefined, undefined]);
  expect(cache.bytes).toBeGreaterThan(4000 + 'completed'.length);
  cache.putView('b', { ...view, rows: { kind: 'sequence', rows: new Uint32Array(2000) } });
  expect(cache.view('b')).toBeUndefined();
  for (const key of ['c', 'd', 'e', 'f']) cache.put(key, listOf(1000));
  expect([cache.view('view of a'), cache.size]).toEqual([undefined, 4]);
});

describe('a row set', () => {
  test('is not cached if it takes more than a quarter of the cache, and what was under its key is dropped', () => {
    const cache = new RowSetCache(20_000);
    cache.put('a', listOf(10));
    cache.put('a', listOf(2000));
    expect([cache.get('a'), cache.size, cache.bytes]).toEqual([undefined, 0, 0]);
  });

  test('is not cached if the cache has no bytes', () => {
    const cache = new RowSetCache(0);
    cache.put('a', { kind: 'range', start: 0, end: 9 });
    expect(cache.get('a')).toBeUndefined();
    expect(cache.setBytesMax).toBeLessThan(0);
  });

  test('is not cached if its key alone is too long', () => {
    const cache = new RowSetCache(20_000);
    cache.put('x'.repeat(5000), listOf(1));
    expect(cache.size).toBe(0);
  });
});

test('charges for views of shared memory only their key, for a part of a buffer the whole buffer', () => {
  const shared = new Uint32Array(new SharedArrayBuffer(4000));
  const sizeOf = (set: RowSet): number => {
    const cache = new RowSetCache(1_000_000);
    cache.put('a', set);
    return cache.bytes;
  };
  const nothing = sizeOf({ kind: 'range', start: 0, end: 10 });
  expect(sizeOf({ kind: 'list', rows: shared })).toBe(nothing);
  expect(sizeOf({ kind: 'complement', of: { kind: 'list', rows: shared }, rows: 5000 })).toBe(nothing);
  expect(sizeOf({ kind: 'list', rows: new Uint32Array(1000).subarray(0, 1) })).toBe(nothing + 4000);
});

test('shortens longer keys to 44 characters, different ones for any other text', () => {
  const long = 'a'.repeat(60_000);
  const keys = [long, `${long}a`, `${long.slice(1)}b`, `b${long.slice(1)}`, `${long.slice(1)}\u{1f600}`].map(shortKey);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys.map(({ length }) => length)).toEqual(keys.map(() => 44));
  expect(shortKey('a'.repeat(60_000))).toBe(keys[0]);
});
