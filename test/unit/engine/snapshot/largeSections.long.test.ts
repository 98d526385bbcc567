import { expect, test } from 'vitest';
import { checksum, computeChecksum } from '../../../../engine/bits/checksum.ts';
import { type Sink, SnapshotWriter } from '../../../../engine/snapshot/write.ts';

/** Beyond 2^31, as for the texts of a column of some million records, and not a multiple of 16. */
const BYTES = 2 ** 31 + 37;
const PIECE = 16 << 20;

test('writes sections of more than 2 GiB whole, with the checksum that a loader computes', () => {
  const bytes = new Uint8Array(BYTES);
  for (let i = 0; i < BYTES; i += 1_000_003) bytes[i] = i;
  bytes[BYTES - 1] = 7;
  const running = checksum();
  for (let start = 0; start < BYTES; start += PIECE) running.add(bytes.subarray(start, Math.min(BYTES, start + PIECE)));
  expect(computeChecksum(bytes)).toBe(running.digest());
  let written = 0;
  let longest = 0;
  let last = 0;
  const sink: Sink = {
    write: (piece) => {
      written += piece.length;
      longest = Math.max(longest, piece.length);
      if (written >= BYTES && last === 0) last = piece[piece.length - 1 - (written - BYTES)]!;
    },
    hash: () => ({ update: (piece) => expect(piece.length).toBeLessThan(2 ** 31), digest: () => 'digest' }),
  };
  const writer = new SnapshotWriter(sink);
  writer.addBytes('notes/text.text', [bytes]);
  expect([written - BYTES < 64, last]).toEqual([true, 7]);
  expect(longest).toBeLessThanOrEqual(64 << 20);
});
