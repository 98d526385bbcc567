// The served bytes of the records of a collection in the order of ids, each followed by a comma, so that neighbours are
// one range. They are stored with one base URL, and the positions of all own URLs are known. Views of shared memory,
// never written.
import { compareBytes } from '../bits/bytes.ts';
import type { UnsignedArray } from '../bits/narrow.ts';
import type { Kernel } from '../kernel/contract.ts';

/**
 * All outlines of a collection. `keys` are the distinct top-level keys of its records, unescaped, in the order in which
 * they first stand; `lists` the outlines by number, each as positions in `keys`.
 */
export interface Outlines {
  readonly keys: readonly string[];
  readonly lists: readonly (readonly number[])[];
}

/** The outlines of a collection without records. */
export const NO_OUTLINES: Outlines = { keys: [], lists: [] };

/**
 * The top-level keys of a collection: those of its fields in their order, those that are no fields, by code point, and
 * all of them, in the same order; they may be many.
 */
export interface TopLevelKeys {
  readonly fields: readonly string[];
  readonly others: readonly string[];
  readonly all: ReadonlySet<string>;
}

/** The top-level keys of a collection with these fields. Cost: its distinct keys, sorted. */
export function topLevelKeys(fields: readonly string[], { keys }: Outlines): TopLevelKeys {
  const isField = new Set(fields);
  const encoded = keys.filter((key) => !isField.has(key)).map((key) => ({ key, bytes: UTF8.encode(key) }));
  const others = encoded.sort((a, b) => compareBytes(a.bytes, b.bytes)).map(({ key }) => key);
  return { fields, others, all: new Set([...fields, ...others]) };
}

const UTF8 = new TextEncoder();

/**
 * A run of records that lies in one piece of memory.
 *
 *   bytes     the records, each followed by one comma
 *   ends      end of each record in `bytes`, after its comma: one u32 a record, for a base URL of `PLACEHOLDER` length
 *   links     position of each own URL, ascending: one u32 a URL, for a base URL of `PLACEHOLDER` length
 *   linkEnds  how many own URLs stand in the records up to and with this one: one u32 a record
 *   outlines  number of each record's outline: 1, 2 or 4 bytes a record
 *   members   end of each top-level member, from the start of its record, for a base URL of `PLACEHOLDER` length: 1,
 *             2 or 4 bytes each
 *   memberEnds  how many members stand in the records up to and with this one: one u32 a record
 *   kernel    reads from the memory of `bytes`, and positions from that of `links`
 *
 * Positions are stored for the placeholder; with a base URL that is `growth` bytes longer, a position behind n URLs
 * lies growth * n further on.
 */
export interface RecordChunk {
  readonly firstRow: number;
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
  readonly links: Uint32Array;
  readonly linkEnds: Uint32Array;
  readonly outlines: UnsignedArray;
  readonly members: UnsignedArray;
  readonly memberEnds: Uint32Array;
  readonly kernel: Kernel;
}

/**
 * All records of a collection, with the base URL that stands in their bytes. Chunks ascend; most collections have one.
 */
export interface Records {
  readonly rows: number;
  readonly chunks: readonly RecordChunk[];
  readonly baseUrl: string;
  readonly growth: number;
  readonly outlines: Outlines;
}

/**
 * What stands for the base address in data sets and snapshots, at the start of every own URL (design: Data set format).
 */
export const PLACEHOLDER = '{base_url}';

/** The chunk that holds `row`. The row exists. Cost: one step a chunk. */
export function chunkOf(records: Records, row: number): RecordChunk {
  let i = records.chunks.length - 1;
  while (records.chunks[i]!.firstRow > row) i--;
  return records.chunks[i]!;
}

/** Where a record starts in its chunk's bytes. `index` is the row within the chunk. Cost: none. */
export function startOf(chunk: RecordChunk, growth: number, index: number): number {
  return index === 0 ? 0 : endOf(chunk, growth, index - 1);
}

/** Where a record ends in its chunk's bytes, after its comma. `index` is the row within the chunk. Cost: none. */
export function endOf(chunk: RecordChunk, growth: number, index: number): number {
  return chunk.ends[index]! + growth * chunk.linkEnds[index]!;
}
