// Blocks of records made by hand: one run a chunk, deflated here, for tests of stitched answers.
import { deflateRun } from '../../data/deflate.ts';
import { blocksOf, type RecordBlocks } from '../../engine/column/blocks.ts';
import type { Records } from '../../engine/column/records.ts';
import { crc32 } from 'node:zlib';
import { endOf } from '../../engine/column/records.ts';

/** The blocks of records; `sums` are computed from the bytes themselves. */
export function recordBlocksOf(records: Records): RecordBlocks {
  const chunks = records.chunks.map((chunk, i) => ({
    ...deflateRun(records, { chunk: i, first: 0, end: chunk.ends.length }),
    sums: Uint32Array.from(chunk.ends, (_, n) =>
      crc32(Buffer.from(chunk.bytes.subarray(0, endOf(chunk, records.growth, n)))),
    ),
  }));
  return blocksOf(records, chunks);
}
