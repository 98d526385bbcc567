// Runs of lines in, batches out, in order: decoding in threads beside the one that builds, or in this one for small
// input. Batches cross threads as msgpack, one buffer each, which is handed over and not copied again.
import { isUtf8 } from 'node:buffer';
import { Worker } from 'node:worker_threads';
import { Packr } from 'msgpackr/pack';
import { collectionNamed } from '../../engine/schema/catalogue.ts';
import { layoutOf } from '../../engine/schema/layout.ts';
import type { Batch } from './batch.ts';
import { Decoder } from './decode.ts';
import type { Lines } from '../import/ndjson.ts';
import { endWorkers, inOrder, replyOf } from '../threadsInOrder.ts';

// Plain maps and typed arrays, without state between batches: any decode thread's batch can be read by itself.
const BATCHES = new Packr({ useRecords: false, moreTypes: true });

/** A batch as one buffer of its own. */
export function packBatch(batch: Batch): Uint8Array<ArrayBuffer> {
  return new Uint8Array(BATCHES.pack(batch));
}

/** What a decode thread is sent. */
export interface DecodeOrder {
  readonly collection: string;
  readonly lines: Lines;
}

/** Decodes runs of lines. `batches` keeps the order of its runs; `close` ends the threads. */
export interface Decoders {
  batches(collection: string, runs: AsyncIterable<Lines>): AsyncGenerator<{ batch: Batch; fileBytesRead: number }>;
  close(): Promise<void>;
}

/** Decoders in `threads` threads; 0 decodes in the calling thread. */
export function startDecoders(threads: number): Decoders {
  return threads === 0 ? inline() : threaded(threads);
}

/** One run of lines as a batch: refuses lines that are no UTF-8, skips blank ones. */
export function decodeLines(decoder: Decoder, lines: Lines): Batch {
  const { bytes } = lines;
  const isText = isUtf8(bytes);
  let number = lines.firstLine;
  for (let start = 0; start < bytes.length; number++) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline;
    if (!isText && !isUtf8(bytes.subarray(start, end))) decoder.refuse(number, 'the line is no valid UTF-8');
    else if (!isBlank(bytes, start, end)) decoder.line(bytes, start, end, number);
    start = end + 1;
  }
  return decoder.take();
}

/** White space of JSON alone: a line of NUL is what a crash left of a record. */
function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}

function inline(): Decoders {
  return {
    batches: async function* (collection, runs) {
      const decoder = decoderOf(collection);
      for await (const run of runs) yield { batch: decodeLines(decoder, run), fileBytesRead: run.fileBytesRead };
    },
    close: () => Promise.resolve(),
  };
}

/** A decoder for a collection of the root view. */
export function decoderOf(name: string): Decoder {
  const collection = collectionNamed(name);
  if (!collection) throw new Error(`no collection ${name} is declared`);
  return new Decoder(layoutOf(collection));
}

function threaded(threads: number): Decoders {
  const workers = Array.from({ length: threads }, () => new Worker(new URL('./decodeThread.ts', import.meta.url)));
  const decode = async (worker: Worker, order: DecodeOrder): Promise<{ batch: Batch; fileBytesRead: number }> => {
    const packed = await replyOf<Uint8Array>(worker, order, [order.lines.bytes.buffer as ArrayBuffer]);
    return { batch: BATCHES.unpack(packed) as Batch, fileBytesRead: order.lines.fileBytesRead };
  };
  return {
    batches: (collection, runs) => inOrder(workers, runs, (worker, lines) => decode(worker, { collection, lines })),
    close: () => endWorkers(workers),
  };
}
