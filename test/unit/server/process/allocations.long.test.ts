// Allocations of cheap requests, and their independence of the offset, counted in a separate process without a clock.
// Long, because V8 must have compiled the code of each request. test/unit/bench/load counts buffers and hops in `npm
// test`.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import type { Allocated } from '../../../support/allocations.ts';
import { snapshotOf } from '../../../support/snapshots.ts';

const PROGRAM = fileURLToPath(new URL('../../../support/allocations.ts', import.meta.url));
/** Compiled code affects allocations. These flags compile at a fixed moment of the run, not in another thread. */
const FLAGS = [
  '--no-concurrent-recompilation',
  '--expose-gc',
  '--min-semi-space-size=128',
  '--max-semi-space-size=128',
];
const ROWS = 20_000;
const LIST = '/api/v3/notes/';

const TARGETS = {
  record: `${LIST}7777/`,
  missing: `${LIST}999999999/`,
  first: `${LIST}?limit=100&offset=0`,
  deep: `${LIST}?limit=100&offset=18000`,
  near: `${LIST}?limit=100&offset=300`,
  nearOrdered: `${LIST}?limit=100&offset=300&ordering=text`,
  deepOrdered: `${LIST}?limit=100&offset=18000&ordering=text`,
  firstEqual: `${LIST}?limit=100&offset=0&kind=even`,
  nearEqual: `${LIST}?limit=100&offset=300&kind=even`,
  middleEqual: `${LIST}?limit=100&offset=4000&kind=even`,
  deepEqual: `${LIST}?limit=100&offset=8000&kind=even`,
} as const;
type Name = keyof typeof TARGETS;

/** The bytes that a page takes from slabs of 64 kB: its head, and for an ordered page its rows, which are 400 bytes. */
const SLAB_PART_BYTES = 768;

const directory = temporaryDirectory();
let allocated: Readonly<Record<Name, Allocated>>;

beforeAll(async () => {
  const file = join(directory, 'many.snapshot');
  const lines = Array.from(
    { length: ROWS },
    (_, i) => `{"ob_id":${i},"text":"t${i}","kind":"${i % 2 ? 'odd' : 'even'}"}`,
  );
  await snapshotOf(file, { notes: lines.join('\n') });
  const argv = [...FLAGS, PROGRAM, file, ...Object.values(TARGETS)];
  const { stdout } = await promisify(execFile)(process.execPath, argv);
  const counts = JSON.parse(stdout) as readonly Allocated[];
  allocated = Object.fromEntries(Object.keys(TARGETS).map((name, i) => [name, counts[i]])) as Record<Name, Allocated>;
}, 120_000);

test('keeps every cheap request in the thread', () => {
  for (const name of Object.keys(TARGETS) as Name[]) expect(allocated[name].hops, name).toBe(0);
});

test('makes no buffer for a record and a 404, and takes for pages a part of a slab', () => {
  for (const name of ['record', 'missing'] as const) expect(allocated[name].bufferBytes, name).toBeLessThanOrEqual(0);
  for (const name of Object.keys(TARGETS) as Name[]) {
    expect(allocated[name].bufferBytes, name).toBeLessThan(SLAB_PART_BYTES);
  }
});

/** Bytes of V8's heap: the measured value and a fifth. */
const HEAP_LIMITS = [
  ['record', 1400],
  ['missing', 200],
  ['first', 4400],
  ['firstEqual', 9050],
] as const;

describe('the heap for a request', () => {
  test.each(HEAP_LIMITS)('of %s is at most %d bytes', (name, most) => {
    expect(allocated[name].heapBytes).toBeGreaterThan(0);
    expect(allocated[name].heapBytes).toBeLessThan(most);
  });

  test.each([
    ['near', 'deep'],
    ['nearOrdered', 'deepOrdered'],
    ['middleEqual', 'deepEqual'],
  ] as const)('is the same for %s and %s, to a twentieth', (near, deep) => {
    expect(Math.abs(allocated[deep].heapBytes / allocated[near].heapBytes - 1)).toBeLessThan(0.05);
  });

  test('is no larger for a filtered page near the start, which is found without its set, than for a deep one', () => {
    expect(allocated.nearEqual.heapBytes).toBeLessThan(allocated.deepEqual.heapBytes * 1.01);
  });

  test('is smaller for the first page than for the deep one, by at most the link to the previous page', () => {
    const link = allocated.deep.heapBytes - allocated.first.heapBytes;
    expect(link).toBeGreaterThan(0);
    expect(link).toBeLessThan(LINK_BYTES_MAX);
  });
});

/** The texts and parts of a link. */
const LINK_BYTES_MAX = 3000;
