// Files that are read and written past the page cache: the bytes are the same on disks, in memory, and if the system
// refuses such transfers.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { alignedBytes, UNCACHED_BYTES, UncachedDescriptor, UncachedReader } from '../../../data/uncached.ts';
import { hasProgram } from '../../support/debian.ts';
import { temporaryDirectory } from '../../support/dataSets.ts';
import { RUN_SEED, randomOf } from '../../support/random.ts';

/** Usually a disk, and memory if the system has such a folder. */
const PLACES = [temporaryDirectory(), ...(existsSync('/dev/shm') ? [mkdtempSync('/dev/shm/uncached-')] : [])];
afterAll(() => PLACES.slice(1).forEach((place) => rmSync(place, { recursive: true, force: true })));

/** Three windows and a little more, without repeated runs. */
const BYTES = Buffer.from(
  Uint32Array.from({ length: (3 * UNCACHED_BYTES + 5004) / 4 }, (_, i) => i * 2654435761).buffer,
);

function withDescriptor<T>(file: string, flags: string, work: (descriptor: number) => T): T {
  const descriptor = openSync(file, flags);
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function read(reader: UncachedReader, start: number, end: number): Uint8Array {
  const bytes = new Uint8Array(end - start);
  for (let at = 0; at < bytes.length;) {
    const came = reader.read(bytes.subarray(at), start + at);
    expect(came).toBeGreaterThan(0);
    at += came;
  }
  return bytes;
}

/** The fraction of a file that is in the page cache of Linux. */
function pagesCached(file: string): number {
  const words = execFileSync('fincore', ['--bytes', '--noheadings', '--raw', '-o', 'RES,SIZE', file], {
    encoding: 'utf8',
  });
  const [resident = NaN, size = NaN] = words.trim().split(/\s+/).map(Number);
  return resident / size;
}

/** Returns whether a file in the folder can be opened for uncached transfers. */
function isUncachable(folder: string): boolean {
  if (process.platform !== 'linux') return false;
  const file = join(folder, 'probe');
  writeFileSync(file, '');
  try {
    closeSync(openSync(file, constants.O_RDONLY | constants.O_DIRECT));
    return true;
  } catch {
    return false;
  }
}

describe.each(PLACES)('in %s', (place) => {
  const file = join(place, 'bytes');
  writeFileSync(file, BYTES);

  test(`reads bytes from anywhere, in sequence or not (seed ${RUN_SEED})`, () => {
    const random = randomOf(RUN_SEED);
    withDescriptor(file, 'r', (descriptor) => {
      const reader = new UncachedReader(descriptor);
      expect(BYTES.equals(read(reader, 0, BYTES.length))).toBe(true);
      for (let i = 0; i < 50; i++) {
        const start = random.integer(0, BYTES.length);
        const end = Math.min(BYTES.length, start + random.integer(1, 300_000));
        expect(BYTES.subarray(start, end).equals(read(reader, start, end)), `${start} to ${end}`).toBe(true);
      }
      expect(reader.read(new Uint8Array(10), BYTES.length)).toBe(0);
      expect(reader.read(new Uint8Array(10), BYTES.length + 100_000)).toBe(0);
      expect(read(reader, BYTES.length - 1, BYTES.length)).toHaveLength(1);
      reader.close();
      expect(read(reader, 5, 6)[0]).toBe(BYTES[5]);
    });
  });

  test('writes through the cache if the file does not support such transfers', () => {
    const target = join(place, 'written');
    const memory = alignedBytes();
    memory.set(BYTES.subarray(0, memory.length));
    withDescriptor(target, 'w', (descriptor) => {
      const writer = new UncachedDescriptor(descriptor, constants.O_WRONLY);
      expect(writer.write(memory, 0)).toBe(memory.length);
      // Neither the length nor the offset nor the memory is aligned.
      expect(writer.write(memory.subarray(1, 78), memory.length)).toBe(77);
      expect(writer.write(memory.subarray(78, 4096 + 78), memory.length + 77)).toBe(4096);
      writer.close();
    });
    const expected = Buffer.concat([memory, memory.subarray(1, 4096 + 78)]);
    expect(readFileSync(target).equals(expected)).toBe(true);
  });
});

test.skipIf(!hasProgram('fincore') || !isUncachable(PLACES[0]!))(
  'puts only the end of the file into the page cache',
  () => {
    const file = join(PLACES[0]!, 'kept-out');
    const memory = alignedBytes();
    withDescriptor(file, 'w+', (descriptor) => {
      const writer = new UncachedDescriptor(descriptor, constants.O_WRONLY);
      for (let i = 0; i < 4; i++) writer.write(memory, i * memory.length);
      writer.close();
      const reader = new UncachedReader(descriptor);
      expect(read(reader, 0, 4 * memory.length)).toHaveLength(4 * memory.length);
      reader.close();
    });
    expect(pagesCached(file)).toBe(0);
    expect(readFileSync(file)).toHaveLength(4 * memory.length);
    expect(pagesCached(file)).toBeGreaterThan(0.9);
  },
);
