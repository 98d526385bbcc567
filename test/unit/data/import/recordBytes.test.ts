// Record bytes while a collection is imported, in memory and in a file.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RecordBytes } from '../../../../data/import/recordBytes.ts';
import { OperationError } from '../../../../data/operationError.ts';
import { randomOf } from '../../../support/random.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';

const SEED = 7;
const SCRATCH = temporaryDirectory();

/** Pieces of random bytes, 10 MB together, so that reading needs more than one step. */
function filled(bytes: RecordBytes): Buffer {
  const random = randomOf(SEED);
  const pieces = Array.from({ length: 200 }, (_, i) => Buffer.alloc(random.integer(1, 100_000), i));
  for (const piece of pieces) bytes.add(piece);
  return Buffer.concat(pieces);
}

describe.each([
  ['in memory', 2 ** 40],
  ['in a file', 0],
  ['in memory first, then in a file', 1_000_000],
])('record bytes %s', (_where, memoryBytesMax) => {
  test(`are read in any order of runs (seed ${SEED})`, () => {
    const bytes = new RecordBytes(join(SCRATCH, 'records'), memoryBytesMax);
    const all = filled(bytes);
    const random = randomOf(SEED + 1);
    const starts = Float64Array.from({ length: 300 }, () => random.integer(0, all.length));
    const ends = starts.map((start) => random.integer(start, Math.min(all.length, start + 200_000) + 1));
    const read = Buffer.concat(Array.from(bytes.read({ starts, ends }), (piece) => Buffer.from(piece)));
    const expected = Buffer.concat([...starts].map((start, i) => all.subarray(start, ends[i])));
    expect(read.equals(expected)).toBe(true);
    bytes.close();
  });

  test('leave no file behind, closed or not', () => {
    const bytes = new RecordBytes(join(SCRATCH, 'records'), memoryBytesMax);
    filled(bytes);
    expect(readdirSync(SCRATCH)).toEqual([]);
    bytes.close();
  });
});

test('record bytes whose file cannot be made are refused with its name', () => {
  const path = join(SCRATCH, 'no', 'such', 'directory');
  const bytes = new RecordBytes(path, 0);
  expect(() => bytes.add(Uint8Array.of(1))).toThrow(OperationError);
  expect(() => new RecordBytes(path, 0).add(Uint8Array.of(1))).toThrow(`cannot hold records in ${path}: `);
});
