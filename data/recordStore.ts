// The served bytes of one collection while it is imported: blocks as they were decoded, written out in id order.
// Knows bytes and positions only. Called by build.ts.
import { GrowableU32 } from '../engine/bits/growable.ts';
import type { SnapshotWriter } from '../engine/snapshot/write.ts';
import type { Outlines } from '../engine/column/outline.ts';
import type { Batch } from './batch.ts';
import type { Order } from './order.ts';
import { OutlineStore } from './outlines.ts';

/** A run of records is at most this long, so that one memory of 4 GiB holds it whatever the base URL adds. */
export const CHUNK_BYTES_MAX = 1 << 30;

interface Block {
  readonly bytes: Uint8Array;
  readonly firstRow: number;
}

interface Chunk {
  readonly pieces: Uint8Array[];
  readonly ends: GrowableU32;
  readonly links: GrowableU32;
  readonly linkEnds: GrowableU32;
  readonly members: GrowableU32;
  readonly memberEnds: GrowableU32;
  readonly outlines: GrowableU32;
  bytes: number;
}

/** What was written of a collection's records. */
export interface StoredRecords {
  readonly chunks: number;
  readonly bytes: number;
  readonly outlines: Outlines;
}

/** Decoded records of one collection: `recordEnds` and `links` are positions in the record's block. */
export class RecordStore {
  private readonly blocks: Block[] = [];
  private readonly blockOfRow = new GrowableU32();
  private readonly recordEnds = new GrowableU32();
  private readonly links = new GrowableU32();
  private readonly linkEnds = new GrowableU32();
  private readonly members = new GrowableU32();
  private readonly memberEnds = new GrowableU32();
  private readonly outlineOf = new GrowableU32();
  private readonly outlines = new OutlineStore();

  /** How many records have been added. */
  get rows(): number {
    return this.recordEnds.length;
  }

  /** Adds the records of a batch; keeps its bytes. */
  add(batch: Batch): void {
    const block = this.blocks.push({ bytes: batch.bytes, firstRow: this.rows }) - 1;
    this.linkEnds.pushAll(batch.linkEnds, this.links.length);
    this.links.pushAll(batch.links);
    this.recordEnds.pushAll(batch.recordEnds);
    for (let i = 0; i < batch.recordEnds.length; i++) this.blockOfRow.push(block);
    this.addMembers(batch);
  }

  private addMembers({ members, outlineOf, outlines }: Batch): void {
    const numbers = outlines.map((keys) => this.outlines.numberOf(keys));
    this.members.pushAll(members);
    let end = this.memberEnds.length === 0 ? 0 : this.memberEnds.at(this.memberEnds.length - 1);
    for (const outline of outlineOf) {
      this.outlineOf.push(numbers[outline]!);
      this.memberEnds.push((end += outlines[outline]!.length));
    }
  }

  /**
   * Writes the sections `<name>/records/<i>.*`; answers how many chunks and bytes, and the outlines that the records have.
   * Cost: one pass over the bytes.
   */
  write(writer: SnapshotWriter, name: string, order: Order, chunkBytesMax: number): StoredRecords {
    const count = order ? order.length : this.rows;
    this.outlines.renumber();
    let chunks = 0;
    let bytes = 0;
    for (let row = 0; row < count; chunks++) {
      const chunk = this.chunkFrom(row, count, order, chunkBytesMax);
      const section = (part: string): string => `${name}/records/${chunks}.${part}`;
      writer.add(section('bytes'), chunk.pieces);
      writer.add(section('ends'), [chunk.ends.view()]);
      writer.add(section('links'), [chunk.links.view()]);
      writer.add(section('linkEnds'), [chunk.linkEnds.view()]);
      writer.add(section('outlines'), [chunk.outlines.view()]);
      writer.add(section('members'), [chunk.members.view()]);
      writer.add(section('memberEnds'), [chunk.memberEnds.view()]);
      row += chunk.ends.length;
      bytes += chunk.bytes;
    }
    return { chunks, bytes, outlines: this.outlines.take() };
  }

  private chunkFrom(first: number, count: number, order: Order, bytesMax: number): Chunk {
    const chunk: Chunk = {
      pieces: [],
      ends: new GrowableU32(),
      links: new GrowableU32(),
      linkEnds: new GrowableU32(),
      members: new GrowableU32(),
      memberEnds: new GrowableU32(),
      outlines: new GrowableU32(),
      bytes: 0,
    };
    let run: { block: number; start: number; end: number } | undefined;
    const endRun = (): void => {
      if (run) chunk.pieces.push(this.blocks[run.block]!.bytes.subarray(run.start, run.end));
    };
    for (let i = first; i < count; i++) {
      const row = order ? order[i]! : i;
      const block = this.blockOfRow.at(row);
      const start = row === this.blocks[block]!.firstRow ? 0 : this.recordEnds.at(row - 1);
      const end = this.recordEnds.at(row);
      if (chunk.bytes + end - start > bytesMax && i > first) break;
      if (run && run.block === block && run.end === start) run.end = end;
      else {
        endRun();
        run = { block, start, end };
      }
      this.addLinks(chunk, row, chunk.bytes - start);
      this.addMembersOf(chunk, row);
      chunk.bytes += end - start;
      chunk.ends.push(chunk.bytes);
    }
    endRun();
    return chunk;
  }

  private addLinks(chunk: Chunk, row: number, shift: number): void {
    const end = this.linkEnds.at(row);
    for (let k = row === 0 ? 0 : this.linkEnds.at(row - 1); k < end; k++) chunk.links.push(this.links.at(k) + shift);
    chunk.linkEnds.push(chunk.links.length);
  }

  private addMembersOf(chunk: Chunk, row: number): void {
    const end = this.memberEnds.at(row);
    for (let k = row === 0 ? 0 : this.memberEnds.at(row - 1); k < end; k++) chunk.members.push(this.members.at(k));
    chunk.memberEnds.push(chunk.members.length);
    chunk.outlines.push(this.outlines.written(this.outlineOf.at(row)));
  }
}
