// Runs of lines in, batches out, in order: decoding in threads beside the one that builds, or in this one for small
// input. The memory of lines and batches is handed from thread to thread, and not copied.
import { isUtf8 } from 'node:buffer';
import { collectionNamed } from '../../engine/schema/catalogue.ts';
import { layoutOf } from '../../engine/schema/layout.ts';
import type { Batch } from './batch.ts';
import { Decoder } from './decode.ts';
import { ImportProfile } from '../importProfile.ts';
import { inOrder, OrderThreads } from '../threadsInOrder.ts';

/** Whole lines of one file: `bytes` ends behind a line, the first of which has number `firstLine`. */
export interface Lines {
  readonly bytes: Uint8Array;
  readonly firstLine: number;
  readonly fileBytesRead: number;
}

/** What a decode thread is sent. */
export interface DecodeOrder {
  readonly collection: string;
  readonly takesNulls: boolean;
  readonly lines: Lines;
}

/** Decodes runs of lines. `batches` keeps the order of its runs; `close` ends the threads. */
export interface Decoders {
  batches(collection: string, runs: AsyncIterable<Lines>): AsyncGenerator<{ batch: Batch; fileBytesRead: number }>;
  close(): Promise<void>;
}

/**
 * How many threads decode, 0 for the calling one, whether null is taken for every declared value but an id, and who is
 * told what they take.
 */
export interface DecodeOptions {
  readonly threads: number;
  readonly takesNulls: boolean;
  readonly profile?: ImportProfile;
}

/** Starts decoders, which wait for lines. */
export function startDecoders({ threads, takesNulls, profile = new ImportProfile() }: DecodeOptions): Decoders {
  return threads === 0 ? inline(takesNulls, profile) : threaded(threads, takesNulls, profile);
}

/** One run of lines as a batch: refuses lines that are no UTF-8, skips blank ones. */
export function decodeLines(decoder: Decoder, lines: Lines): Batch {
  const { bytes } = lines;
  const isText = isUtf8(bytes);
  // Whose search takes a third of the time of that of other arrays.
  const searched = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let number = lines.firstLine;
  for (let start = 0; start < bytes.length; number++) {
    const newline = searched.indexOf(0x0a, start);
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

function inline(takesNulls: boolean, profile: ImportProfile): Decoders {
  return {
    batches: async function* (collection, runs) {
      const decoder = decoderOf(collection, takesNulls);
      for await (const run of runs) {
        const batch = profile.measure('decoding', () => decodeLines(decoder, run));
        yield { batch, fileBytesRead: run.fileBytesRead };
      }
    },
    close: () => Promise.resolve(),
  };
}

/** A decoder for a collection of the root view; see Decoder. */
export function decoderOf(name: string, takesNulls = false): Decoder {
  const collection = collectionNamed(name);
  if (!collection) throw new Error(`no collection ${name} is declared`);
  return new Decoder(layoutOf(collection), takesNulls);
}

function threaded(count: number, takesNulls: boolean, profile: ImportProfile): Decoders {
  const onMicros = (micros: number): void => profile.add('decoding', micros);
  const threads = new OrderThreads(new URL('./decodeThread.ts', import.meta.url), count, { onMicros });
  const decoded = async (order: DecodeOrder): Promise<{ batch: Batch; fileBytesRead: number }> => {
    const { fileBytesRead } = order.lines;
    return { batch: await threads.ask<Batch>(order), fileBytesRead };
  };
  return {
    batches: (collection, runs) => inOrder(runs, count * 2, (lines) => decoded({ collection, takesNulls, lines })),
    close: () => threads.close(),
  };
}
