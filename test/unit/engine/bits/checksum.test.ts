// XXH32 compared with known vectors of the published algorithm, and with a slow reference implementation in BigInt
// arithmetic on random bytes. CRC-32 compared with zlib's, and sums of parts with sums of the whole.
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checksum,
  computeChecksum,
  separateCrc,
  combineCrcs,
  computeCrc,
  addByteToCrc,
} from '../../../../engine/bits/checksum.ts';
import { randomOf } from '../../../support/random.ts';
import { times } from '../../../support/ring.ts';

const MASK = 0xffffffffn;
const [P1, P2, P3, P4, P5] = [2654435761n, 2246822519n, 3266489917n, 668265263n, 374761393n];

function rotated(value: bigint, by: bigint): bigint {
  return ((value << by) | (value >> (32n - by))) & MASK;
}

/** XXH32 with seed 0, step by step as in its specification. */
function slowChecksum(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const word = (at: number): bigint => BigInt(view.getUint32(at, true));
  let at = 0;
  let hash = P5;
  if (bytes.length >= 16) {
    const lanes = [(P1 + P2) & MASK, P2, 0n, -P1 & MASK];
    for (; at + 16 <= bytes.length; at += 16) {
      lanes.forEach((lane, i) => (lanes[i] = (rotated((lane + word(at + i * 4) * P2) & MASK, 13n) * P1) & MASK));
    }
    hash = [1n, 7n, 12n, 18n].reduce((sum, by, i) => sum + rotated(lanes[i]!, by), 0n);
  }
  hash = (hash + BigInt(bytes.length)) & MASK;
  for (; at + 4 <= bytes.length; at += 4) hash = (rotated((hash + word(at) * P3) & MASK, 17n) * P4) & MASK;
  for (; at < bytes.length; at++) hash = (rotated((hash + BigInt(bytes[at]!) * P5) & MASK, 11n) * P1) & MASK;
  hash = ((hash ^ (hash >> 15n)) * P2) & MASK;
  hash = ((hash ^ (hash >> 13n)) * P3) & MASK;
  return Number(hash ^ (hash >> 16n));
}

function randomBytes(seed: number, length: number): Uint8Array {
  const random = randomOf(seed);
  return Uint8Array.from({ length }, () => random.integer(0, 256));
}

describe('computeChecksum', () => {
  test.each([
    ['', 0x02cc5d05],
    ['a', 0x550d7456],
    ['abc', 0x32d153ff],
    ['Nobody inspects the spammish repetition', 0xe2293b2f],
  ])('is XXH32 with seed 0 of %j', (text, expected) => {
    expect(computeChecksum(new TextEncoder().encode(text))).toBe(expected);
    expect(slowChecksum(new TextEncoder().encode(text))).toBe(expected);
  });

  test('is XXH32 at every length around the stripes, aligned or not', () => {
    for (let length = 0; length <= 100; length++) {
      const whole = randomBytes(length, length + 3);
      for (let offset = 0; offset <= 3; offset++) {
        const bytes = whole.subarray(offset, offset + length);
        expect(computeChecksum(bytes), `length ${length}, offset ${offset}`).toBe(slowChecksum(bytes));
      }
    }
  });
});

test('sums pieces of whole stripes to the checksum of the whole', () => {
  const bytes = randomBytes(7, 1000);
  const running = checksum();
  for (const [start, end] of [
    [0, 16],
    [16, 16],
    [16, 528],
    [528, 1000],
  ]) {
    running.add(bytes.subarray(start, end));
  }
  expect(running.digest()).toBe(slowChecksum(bytes));
});

test('gives a running checksum of nothing the value of no bytes', () => {
  expect(checksum().digest()).toBe(0x02cc5d05);
});

test('changes with every single flipped bit', () => {
  const bytes = randomBytes(11, 75);
  const expected = computeChecksum(bytes);
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    bytes[bit >>> 3]! ^= 1 << (bit & 7);
    expect(computeChecksum(bytes), `bit ${bit}`).not.toBe(expected);
    bytes[bit >>> 3]! ^= 1 << (bit & 7);
  }
});

const bytes = fc.uint8Array({ maxLength: 300 });

describe('CRC-32', () => {
  test('is that of zlib, whole and in parts', () => {
    expect(computeCrc(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(computeCrc(a)).toBe(crc32(a));
        expect(computeCrc(b, computeCrc(a))).toBe(crc32(b, crc32(a)));
      }),
    );
  });

  test('of two texts follows from their sums, and that of the second from both and the first', () => {
    fc.assert(
      fc.property(bytes, bytes, fc.nat(255), (a, b, byte) => {
        const both = crc32(b, crc32(a));
        expect(combineCrcs(crc32(a), crc32(b), b.length)).toBe(both);
        expect(separateCrc(both, crc32(a), b.length)).toBe(crc32(b));
        expect(addByteToCrc(crc32(a), byte)).toBe(crc32(Uint8Array.of(byte), crc32(a)));
      }),
    );
  });

  test.each([16_383, 16_384, 16_385, 1 << 20, times(1 << 24, 1 << 28) + 12_345])(
    'is combined with a second text of %i bytes',
    (length) => {
      const zeros = Buffer.alloc(length);
      expect(combineCrcs(0x12345678, crc32(zeros), length)).toBe(crc32(zeros, 0x12345678));
    },
  );

  test('is combined with more than 2^32 bytes as with their parts', () => {
    const part = 2 ** 31 + 12_345;
    const once = combineCrcs(combineCrcs(0xdeadbeef, 0, part), 0, part);
    expect(combineCrcs(0xdeadbeef, 0, 2 * part)).toBe(once);
  });
});
