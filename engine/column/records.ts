// The served bytes of a collection's records, in id order. A comma follows each record, so that neighbouring records
// are one range of bytes. The bytes contain one base URL, and the positions of all own URLs (A9) are stored. Views of
// shared memory, never written.
import { compareBytes } from '../bits/bytes.ts';
import type { UnsignedArray } from '../bits/narrow.ts';
import type { Kernel } from '../kernel/contract.ts';

/** The outlines of a collection: the distinct lists of top-level keys of its records. */
export interface Outlines {
  /** The distinct top-level keys, unescaped, in the order of their first appearance. */
  readonly keys: readonly string[];
  /** The outlines by number, each as positions in `keys`. */
  readonly lists: readonly (readonly number[])[];
}

export const NO_OUTLINES: Outlines = { keys: [], lists: [] };

export interface TopLevelKeys {
  /** The fields of the collection, in their order. */
  readonly fields: readonly string[];
  /** Keys that are not fields, in code point order. There may be many. */
  readonly others: readonly string[];
  /** `fields`, then `others`. */
  readonly all: ReadonlySet<string>;
}

/** The top-level keys of a collection with these fields. Cost: sorting its distinct keys. */
export function topLevelKeys(fields: readonly string[], { keys }: Outlines): TopLevelKeys {
  const isField = new Set(fields);
  const encoded = keys.filter((key) => !isField.has(key)).map((key) => ({ key, bytes: UTF8.encode(key) }));
  const others = encoded.sort((a, b) => compareBytes(a.bytes, b.bytes)).map(({ key }) => key);
  return { fields, others, all: new Set([...fields, ...others]) };
}

const UTF8 = new TextEncoder();

/**
 * A run of records in one contiguous memory.
 *
 *   bytes     the records, each followed by one comma
 *   ends      end of each record in `bytes`, after its comma: one u32 per record
 *   links     position of each own URL, ascending: one u32 per URL
 *   linkEnds  number of own URLs in the records up to and including this one: one u32 per record
 *   outlines  number of each record's outline: 1, 2 or 4 bytes per record
 *   members   end of each top-level member, from the start of its record: 1, 2 or 4 bytes each
 *   memberEnds  number of members in the records up to and including this one: one u32 per record
 *   kernel    reads from the memory of `bytes`, and positions from that of `links`
 *
 * `ends`, `links` and `members` are positions for a base URL as long as `PLACEHOLDER`. If the base URL is `growth`
 * bytes longer, a position after n URLs moves by growth * n.
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

/** All records of a collection. Chunks ascend by row; most collections have one. */
export interface Records {
  readonly rows: number;
  readonly chunks: readonly RecordChunk[];
  /** The base URL in the bytes of the records. */
  readonly baseUrl: string;
  /** Bytes by which `baseUrl` is longer than `PLACEHOLDER`. */
  readonly growth: number;
  readonly outlines: Outlines;
}

/** Represents the base URL in data sets and snapshots. Every own URL starts with it (design: Data set format). */
export const PLACEHOLDER = '{base_url}';

/** The chunk with `row`, which must exist. Cost: one step per chunk. */
export function findChunk(records: Records, row: number): RecordChunk {
  let i = records.chunks.length - 1;
  while (records.chunks[i]!.firstRow > row) i--;
  return records.chunks[i]!;
}

/** The start of a record in its chunk's bytes. `index` is the row within the chunk. Cost: none. */
export function startOf(chunk: RecordChunk, growth: number, index: number): number {
  return index === 0 ? 0 : endOf(chunk, growth, index - 1);
}

/** The end of a record in its chunk's bytes, after its comma. `index` is the row within the chunk. Cost: none. */
export function endOf(chunk: RecordChunk, growth: number, index: number): number {
  return chunk.ends[index]! + growth * chunk.linkEnds[index]!;
}
