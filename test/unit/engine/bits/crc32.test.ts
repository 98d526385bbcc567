// CRC-32 against zlib's, and the algebra of parts against sums of the whole.
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crcBehind, crcCombined, crcOf, crcWithByte } from '../../../../engine/bits/checksum.ts';
import { times } from '../../../support/ring.ts';

const bytes = fc.uint8Array({ maxLength: 300 });

describe('CRC-32', () => {
  test('of bytes is that of zlib, whole and in parts', () => {
    expect(crcOf(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(crcOf(a)).toBe(crc32(a));
        expect(crcOf(b, crcOf(a))).toBe(crc32(b, crc32(a)));
      }),
    );
  });

  test('of two texts follows from their own sums, and that of the second from both and the first', () => {
    fc.assert(
      fc.property(bytes, bytes, fc.nat(255), (a, b, byte) => {
        const both = crc32(b, crc32(a));
        expect(crcCombined(crc32(a), crc32(b), b.length)).toBe(both);
        expect(crcBehind(both, crc32(a), b.length)).toBe(crc32(b));
        expect(crcWithByte(crc32(a), byte)).toBe(crc32(Uint8Array.of(byte), crc32(a)));
      }),
    );
  });

  test.each([16_383, 16_384, 16_385, 1 << 20, times(1 << 24, 1 << 28) + 12_345])(
    'is combined behind a second text of %i bytes',
    (length) => {
      const zeros = Buffer.alloc(length);
      expect(crcCombined(0x12345678, crc32(zeros), length)).toBe(crc32(zeros, 0x12345678));
    },
  );

  test('is combined behind more than 2^32 bytes as behind them in parts', () => {
    const part = 2 ** 31 + 12_345;
    const once = crcCombined(crcCombined(0xdeadbeef, 0, part), 0, part);
    expect(crcCombined(0xdeadbeef, 0, 2 * part)).toBe(once);
  });
});
