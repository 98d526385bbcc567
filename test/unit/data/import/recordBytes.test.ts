// Record bytes while a collection is imported: in a file, whoever wrote them there, and behind earlier ones.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addToSpill } from '../../../../data/decode/spill.ts';
import { RecordBytes } from '../../../../data/import/recordBytes.ts';
import { OperationError } from '../../../../data/operationError.ts';
import { randomOf } from '../../../support/random.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';

const SEED = 7;
const SCRATCH = temporaryDirectory();

const batchOf = (bytes: Uint8Array): { bytes: Uint8Array; spilledAt: undefined } => ({ bytes, spilledAt: undefined });

/** Pieces of random bytes, 10 MB together, so that reading needs more than one step. */
function filled(bytes: RecordBytes): Buffer {
  const random = randomOf(SEED);
  const pieces = Array.from({ length: 200 }, (_, i) => Buffer.alloc(random.integer(1, 100_000), i));
  for (const piece of pieces) bytes.add(batchOf(piece));
  return Buffer.concat(pieces);
}

describe('record bytes', () => {
  test(`are read in any order of runs (seed ${SEED})`, () => {
    const bytes = new RecordBytes(join(SCRATCH, 'records'));
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
    const bytes = new RecordBytes(join(SCRATCH, 'records'));
    filled(bytes);
    expect(readdirSync(SCRATCH)).toEqual([]);
    bytes.close();
  });

  test('that others wrote to the file stand where they say, behind those that came before', () => {
    const before = { length: 2, read: (_at: number, target: Uint8Array): void => void target.fill(0x62) };
    const bytes = new RecordBytes(join(SCRATCH, 'records'), before);
    expect(bytes.add(batchOf(Buffer.from('1234')))).toBe(2);
    const spilledAt = addToSpill(bytes.spill, Buffer.from('567'));
    expect(bytes.add({ bytes: Buffer.alloc(0), spilledAt })).toBe(6);
    expect(bytes.add(batchOf(Buffer.from('8')))).toBe(9);
    const read = (start: number, end: number): string =>
      Buffer.concat([...bytes.read({ starts: Float64Array.of(start), ends: Float64Array.of(end) })]).toString();
    expect([read(0, 10), read(1, 3), read(6, 9)]).toEqual(['bb12345678', 'b1', '567']);
    bytes.close();
  });

  test('whose file cannot be made are refused with its name', () => {
    const path = join(SCRATCH, 'no', 'such', 'directory');
    expect(() => new RecordBytes(path)).toThrow(OperationError);
    expect(() => new RecordBytes(path)).toThrow(`cannot hold records in ${path}: `);
  });
});
