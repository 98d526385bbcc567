// The records of one collection during an import, written in the order of their ids. Memory has only the positions of
// their bytes, own URLs and members.
import { closeSync } from 'node:fs';
import { addToSpill, type Batch, openSpill, readSpill, type Spill } from './batch.ts';
import { GrowableF64, GrowableU32 } from '../../engine/bits/growable.ts';
import { upperBound } from '../../engine/bits/lists.ts';
import { RECORDS, runPath, type SectionViews } from '../../engine/snapshot/sections.ts';
import type { SnapshotWriter } from '../../engine/snapshot/write.ts';
import type { Outlines } from '../../engine/column/records.ts';
import type { Order } from './order.ts';
import { OutlineStore } from './outlines.ts';

/** Small enough that a piece is still in the processor's cache when it is hashed and written. */
const READ_BYTES = 256 << 10;

/** Bytes that are stored elsewhere. `read` fills `target` from a position on. */
export interface StoredBytes {
  readonly length: number;
  read(at: number, target: Uint8Array): void;
}

/** Maximum size of a run of records: with any base URL, it fits into one memory of 4 GiB. */
export const CHUNK_BYTES_MAX = 1 << 30;

/** One run of records: its sections, and the ranges of its decoded bytes. */
type Chunk = ReturnType<typeof emptyChunk>;

interface StoredRecords {
  readonly chunks: number;
  readonly bytes: number;
  readonly outlines: Outlines;
}

/** A run of records of an earlier snapshot, without its bytes. */
type EarlierRun = Omit<SectionViews<typeof RECORDS>, 'bytes'>;

/** The records of a collection in an earlier snapshot. `bytes` are those of all runs. */
export interface EarlierRecords {
  readonly bytes: StoredBytes;
  readonly runs: readonly EarlierRun[];
  readonly outlines: Outlines;
}

/** Decoded records of one collection. `recordEnds` and `links` are positions in the record's batch. */
export class RecordStore {
  /** The file for the records of batches. */
  readonly spill: Spill;
  readonly #earlierBytes: StoredBytes | undefined;
  /** For each batch, its first row and the start of its bytes. */
  readonly #batchRows = new GrowableU32();
  readonly #batchStarts = new GrowableF64();
  readonly #recordEnds = new GrowableU32();
  readonly #links = new GrowableU32();
  readonly #linkEnds = new GrowableU32();
  readonly #members = new GrowableU32();
  readonly #memberEnds = new GrowableU32();
  readonly #outlineOf = new GrowableU32();
  readonly #outlines = new OutlineStore();

  /**
   * Creates an unnamed file for the records at `spillPath`. The records of `earlier` come before added ones. Throws
   * OperationError `file`.
   */
  constructor(spillPath: string, earlier?: EarlierRecords) {
    this.spill = openSpill(spillPath);
    this.#earlierBytes = earlier?.bytes;
    let start = 0;
    for (const run of earlier?.runs ?? []) {
      this.#addRun(run, start, earlier!.outlines);
      start += run.ends.at(-1) ?? 0;
    }
  }

  #addRun(run: EarlierRun, start: number, { keys, lists }: Outlines): void {
    this.#batchRows.push(this.rows);
    this.#batchStarts.push(start);
    this.#linkEnds.pushAll(run.linkEnds, this.#links.length);
    this.#links.pushAll(run.links);
    this.#recordEnds.pushAll(run.ends);
    this.#memberEnds.pushAll(run.memberEnds, this.#members.length);
    this.#members.pushAll(run.members);
    const numbers = lists.map((list) => this.#outlines.addOutline(list.map((i) => keys[i]!)));
    for (const outline of run.outlines) this.#outlineOf.push(numbers[outline]!);
  }

  get rows(): number {
    return this.#recordEnds.length;
  }

  /** Adds the records of a batch. Throws OperationError `file`. */
  add(batch: Batch): void {
    this.#batchRows.push(this.rows);
    const spilledAt = batch.spilledAt ?? addToSpill(this.spill, batch.bytes);
    this.#batchStarts.push((this.#earlierBytes?.length ?? 0) + spilledAt);
    this.#linkEnds.pushAll(batch.linkEnds, this.#links.length);
    this.#links.pushAll(batch.links);
    this.#recordEnds.pushAll(batch.recordEnds);
    this.#addMembers(batch);
  }

  #addMembers({ members, outlineOf, outlines }: Batch): void {
    const numbers = outlines.map((keys) => this.#outlines.addOutline(keys));
    this.#members.pushAll(members);
    let end = this.#memberEnds.length === 0 ? 0 : this.#memberEnds.at(this.#memberEnds.length - 1);
    for (const outline of outlineOf) {
      this.#outlineOf.push(numbers[outline]!);
      this.#memberEnds.push((end += outlines[outline]!.length));
    }
  }

  /**
   * Writes the sections of all runs. Returns the number of chunks and bytes, and the outlines of the records. Cost: one
   * pass over the bytes.
   */
  write(writer: SnapshotWriter, name: string, order: Order, chunkBytesMax: number): StoredRecords {
    const count = order ? order.length : this.rows;
    let chunks = 0;
    let bytes = 0;
    for (let row = 0; row < count; chunks++) {
      const chunk = this.#chunkFrom(row, count, order, chunkBytesMax);
      writer.add(RECORDS, runPath(RECORDS, name, chunks), {
        bytes: this.#readChunk(chunk),
        ends: chunk.ends.view(),
        links: chunk.links.view(),
        linkEnds: chunk.linkEnds.view(),
        outlines: chunk.outlines.view(),
        members: chunk.members.view(),
        memberEnds: chunk.memberEnds.view(),
      });
      row += chunk.ends.length;
      bytes += chunk.bytes;
    }
    return { chunks, bytes, outlines: this.#outlines.take() };
  }

  close(): void {
    closeSync(this.spill.descriptor);
  }

  /** The bytes of a chunk. Each piece is valid until the next. Cost: reading them from the file. */
  *#readChunk({ runStarts, runEnds }: Chunk): Generator<Uint8Array> {
    const staging = new Uint8Array(READ_BYTES);
    let filled = 0;
    for (let i = 0; i < runStarts.length; i++) {
      for (let at = runStarts.at(i); at < runEnds.at(i);) {
        const bytes = Math.min(runEnds.at(i) - at, staging.length - filled);
        this.#copy(at, staging.subarray(filled, filled + bytes));
        at += bytes;
        filled += bytes;
        if (filled < staging.length) continue;
        yield staging;
        filled = 0;
      }
    }
    if (filled > 0) yield staging.subarray(0, filled);
  }

  #copy(at: number, target: Uint8Array): void {
    const earlierBytes = this.#earlierBytes?.length ?? 0;
    const before = Math.min(target.length, Math.max(0, earlierBytes - at));
    if (before > 0) this.#earlierBytes!.read(at, target.subarray(0, before));
    if (before < target.length) readSpill(this.spill, at + before - earlierBytes, target.subarray(before));
  }

  #chunkFrom(first: number, count: number, order: Order, bytesMax: number): Chunk {
    const chunk = emptyChunk(count - first, this.#links.length, this.#members.length);
    const [batchRows, batchStarts, recordEnds] = [this.#batchRows, this.#batchStarts, this.#recordEnds];
    for (let i = first, batch = 0; i < count; i++) {
      const row = order ? order[i]! : i;
      batch = findBatch(batchRows, batch, row);
      const start = row === batchRows.at(batch) ? 0 : recordEnds.at(row - 1);
      const end = recordEnds.at(row);
      if (chunk.bytes + end - start > bytesMax && i > first) break;
      addRun(chunk, batchStarts.at(batch) + start, batchStarts.at(batch) + end);
      this.#addLinks(chunk, row, chunk.bytes - start);
      this.#copyMembers(chunk, row);
      chunk.bytes += end - start;
      chunk.ends.push(chunk.bytes);
    }
    return chunk;
  }

  #addLinks(chunk: Chunk, row: number, shift: number): void {
    const end = this.#linkEnds.at(row);
    for (let k = row === 0 ? 0 : this.#linkEnds.at(row - 1); k < end; k++) chunk.links.push(this.#links.at(k) + shift);
    chunk.linkEnds.push(chunk.links.length);
  }

  #copyMembers(chunk: Chunk, row: number): void {
    const end = this.#memberEnds.at(row);
    for (let k = row === 0 ? 0 : this.#memberEnds.at(row - 1); k < end; k++) chunk.members.push(this.#members.at(k));
    chunk.memberEnds.push(chunk.members.length);
    chunk.outlines.push(this.#outlines.writtenNumber(this.#outlineOf.at(row)));
  }
}

/** Reserves room for this many rows, links and members. */
function emptyChunk(rows: number, links: number, members: number) {
  return {
    runStarts: new GrowableF64(),
    runEnds: new GrowableF64(),
    ends: new GrowableU32(rows),
    links: new GrowableU32(links),
    linkEnds: new GrowableU32(rows),
    members: new GrowableU32(members),
    memberEnds: new GrowableU32(rows),
    outlines: new GrowableU32(rows),
    bytes: 0,
  };
}

/** Adds a range of bytes to a chunk. Merges it with the previous range if they are adjacent. */
function addRun({ runStarts, runEnds }: Chunk, start: number, end: number): void {
  const last = runEnds.length - 1;
  if (last >= 0 && runEnds.at(last) === start) runEnds.set(last, end);
  else {
    runStarts.push(start);
    runEnds.push(end);
  }
}

/** The batch of a row: `near` if it has the row, else by binary search. */
function findBatch(firstRows: GrowableU32, near: number, row: number): number {
  const endOf = (batch: number): number => (batch + 1 < firstRows.length ? firstRows.at(batch + 1) : Infinity);
  if (firstRows.at(near) <= row && row < endOf(near)) return near;
  return upperBound(firstRows.view(), row, 0, firstRows.length) - 1;
}
