// Blocks of records made by hand: one run a chunk, deflated here, for tests of stitched answers.
import { deflateRun } from '../../data/blocks/deflate.ts';
import { DeflateEncoder } from '../../data/blocks/encoder.ts';
import { type BlockRun, blocksOf, type RecordBlocks } from '../../engine/column/blocks.ts';
import { endOf, type Records } from '../../engine/column/records.ts';
import { kernelBetween } from '../../engine/kernel/kernel.ts';
import { crc32 } from 'node:zlib';

const ENCODER = new DeflateEncoder();

/** The blocks of records; `sums` are computed from the bytes themselves. */
export function recordBlocksOf(records: Records): RecordBlocks {
  const chunks = records.chunks.map((chunk, i) => {
    const run = deflateRun(ENCODER, records, { chunk: i, first: 0, end: chunk.ends.length });
    const sums = Uint32Array.from(chunk.ends, (_, n) =>
      crc32(Buffer.from(chunk.bytes.subarray(0, endOf(chunk, records.growth, n)))),
    );
    return {
      independent: shared(run.independent, run.independentEnds),
      chained: shared(run.chained, run.chainedEnds),
      crcs: run.crcs,
      sums,
    };
  });
  return blocksOf(records, chunks);
}

/** A run in shared memory, as it is served. */
function shared(content: Uint8Array, ends: Uint32Array): BlockRun {
  const pages = Math.max(1, Math.ceil(content.length / 65_536));
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const bytes = new Uint8Array(memory.buffer, memory.buffer.byteLength - content.length);
  bytes.set(content);
  return { bytes, ends, kernel: kernelBetween(memory, memory) };
}
