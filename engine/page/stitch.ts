// Assembles compressed responses from stored deflate blocks: one valid gzip member, whose length is known before its
// first byte. Nothing is compressed: envelope and separators become stored blocks, and the checksum is combined from
// those of the records. A page of 100 costs 0.42 of the CPU of the plain one. Source: RFC 1951, RFC 1952.
import { separateCrc, combineCrcs, computeCrc, addByteToCrc } from '../bits/checksum.ts';
import { CHAINED_ROWS, type RecordBlocks, SEPARATOR } from '../column/blocks.ts';
import { endOf, type Records, startOf } from '../column/records.ts';
import { countSelected, selectedRow, type Selection } from '../index/rowset.ts';
import type { Body } from './envelope.ts';
import { gatheredBody } from './gather.ts';
import { LINE_FEED, linesBody } from './lines.ts';
import { rewriteFor } from './rewrite.ts';
import { joinedBody, pageBody, runOf, type ServedRows, viewsOf } from './rows.ts';

export interface GzipBody extends Body {
  /** The length after decompression. */
  readonly plainBytes: number;
  /** The bytes that are not views of shared memory; undefined if the body gathers its rows. */
  readonly ownBytes: number | undefined;
}

/**
 * Measures a compressed body in slices. Each call measures one slice. Returns the body once its length is known,
 * undefined before.
 */
export type Stitching = () => GzipBody | undefined;

/** The content of a compressed body: at least one row, between `head` and `tail`. */
export interface StitchOrder {
  readonly records: Records;
  readonly stored: RecordBlocks;
  readonly rows: Selection;
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  /** Whether a line feed follows each record. Otherwise commas separate them. */
  readonly isLines: boolean;
}

const COMMA = 0x2c;
/** Rows whose checksums are combined in one slice: about 0.5 ms. */
const SLICE_ROWS = 4096;
const STORED_BYTES_MAX = 0xffff;

// Magic, deflate, no flags, no time, no hint, unknown system.
const GZIP_HEAD = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);
/** An empty last block with fixed codes. */
const LAST_BLOCK = Uint8Array.of(0x03, 0x00);
const TRAILER_BYTES = 8;

/**
 * The compressed form of served rows. Returns undefined if stored blocks cannot represent it: cut, expanded or
 * rewritten rows, and an empty selection. Cost: see `stitchedBody`.
 */
export function stitchedRows(
  { records, rows, form, keys, joins }: ServedRows,
  around: Omit<StitchOrder, 'records' | 'rows'>,
): Stitching | undefined {
  if (keys || joins || countSelected(rows) === 0 || rewriteFor(records, form)) return undefined;
  return stitchedBody({ records, rows, ...around });
}

/**
 * The compressed form of head, records and tail. Neighbours are views of shared memory: independent blocks for the
 * first ones, chained blocks for the rest. Other rows are gathered, with chained blocks in runs of neighbours. Cost:
 * for neighbours with commas, a step per chunk. Otherwise a combination of checksums for each row, in slices.
 */
export function stitchedBody(stitched: StitchOrder): Stitching {
  let parts: Parts | undefined;
  return () => {
    parts ??= partsOf(stitched);
    const rows = parts.summing();
    const middle = rows && parts.measuring();
    return middle && gzipBody(stitched, rows, middle, parts.isViews);
  };
}

/** The measurements of a compressed body, made by the first slice. */
interface Parts {
  readonly summing: () => Sum | undefined;
  readonly measuring: () => Body | undefined;
  /** Whether the middle needs no gathering. */
  readonly isViews: boolean;
}

function partsOf(stitched: StitchOrder): Parts {
  const run = runOf(stitched.rows);
  if (!run) {
    const blocks = new Uint32Array(countSelected(stitched.rows));
    return { summing: sumOfRows(stitched, blocks), measuring: gatheredBlocks(stitched, blocks), isViews: false };
  }
  const middle = middleOf(stitched, run);
  const sum = stitched.isLines ? undefined : sumOfRun(stitched, run.start, run.end);
  const summing = sum ? () => sum : sumOfRows(stitched, undefined);
  return { summing, measuring: () => middle, isViews: sum !== undefined };
}

interface Sum {
  readonly crc: number;
  readonly bytes: number;
}

function gzipBody({ head, tail, isLines }: StitchOrder, rows: Sum, middle: Body, isViews: boolean): GzipBody {
  const withHead = combineCrcs(computeCrc(head), rows.crc, rows.bytes);
  const crc = combineCrcs(withHead, computeCrc(tail), tail.length);
  const plainBytes = head.length + rows.bytes + tail.length;
  const before = new Uint8Array(GZIP_HEAD.length + (head.length === 0 ? 0 : storedBytes(head) + 1));
  before.set(GZIP_HEAD);
  // The header of the first stored block has three bits, padded with five to a whole byte. All are zero.
  if (head.length > 0) writeStored(head, before, GZIP_HEAD.length + 1);
  const opened = isLines ? 0 : storedBytes(tail);
  const behind = new Uint8Array(opened + LAST_BLOCK.length + TRAILER_BYTES);
  // The last block of a page already has the three bits and the padding.
  if (!isLines) writeStored(tail, behind, 0);
  behind.set(LAST_BLOCK, opened);
  const trailer = new DataView(behind.buffer, opened + LAST_BLOCK.length);
  trailer.setUint32(0, crc, true);
  trailer.setUint32(4, plainBytes % 2 ** 32, true);
  const body = pageBody(before, middle, behind);
  const ownBytes = isViews ? before.length + behind.length : undefined;
  return { bytes: body.bytes, pieceAt: (offset) => body.pieceAt(offset), plainBytes, ownBytes };
}

/** The bytes of stored blocks for `bytes`, without the first byte of the first one. No bytes make one empty block. */
function storedBytes(bytes: Uint8Array): number {
  const blocks = Math.max(1, Math.ceil(bytes.length / STORED_BYTES_MAX));
  return bytes.length + 5 * blocks - 1;
}

/** Writes stored blocks without the first byte of the first one. */
function writeStored(bytes: Uint8Array, target: Uint8Array, start: number): void {
  const view = new DataView(target.buffer);
  let at = start;
  for (let from = 0; from === 0 || from < bytes.length; from += STORED_BYTES_MAX) {
    const part = bytes.subarray(from, from + STORED_BYTES_MAX);
    if (from > 0) at++;
    view.setUint16(at, part.length, true);
    view.setUint16(at + 2, ~part.length, true);
    target.set(part, at + 4);
    at += 4 + part.length;
  }
}

/**
 * Measures the blocks of scattered rows. `blocks` are their rows in `stored.blocks`: the array must be filled before
 * the returned function is called.
 */
function gatheredBlocks({ stored, isLines }: StitchOrder, blocks: Uint32Array): () => Body | undefined {
  return gatheredBody({
    records: stored.blocks,
    rows: { kind: 'sequence', rows: blocks },
    writer: undefined,
    separator: isLines ? LINE_FEED : -1,
    openBytes: isLines ? 0 : SEPARATOR.length,
    sliceBytes: Infinity,
    isSlow: false,
    isCut: false,
  });
}

function middleOf({ records, stored, isLines }: StitchOrder, run: { start: number; end: number }): Body {
  const alone = Math.min(run.end, run.start + CHAINED_ROWS);
  const parts = [{ start: run.start, end: alone }];
  if (alone < run.end) parts.push({ start: records.rows + alone, end: records.rows + run.end });
  return isLines
    ? joinedBody(parts.map(({ start, end }) => linesBody(stored.blocks, start, end)))
    : joinedBody(viewsOfParts(stored.blocks, parts));
}

function viewsOfParts(blocks: Records, parts: readonly { start: number; end: number }[]): readonly Body[] {
  return parts.flatMap(({ start, end }, i) =>
    viewsOf(blocks, { start, end }, i === parts.length - 1 ? SEPARATOR.length : 0),
  );
}

/**
 * The sum of neighbours separated by commas. For each chunk, it removes the records before the first row from the sum
 * up to the last.
 */
function sumOfRun({ records, stored }: StitchOrder, start: number, end: number): Sum {
  let crc = 0;
  let bytes = 0;
  for (let row = start; row < end;) {
    const i = chunkIndexOf(records, row);
    const chunk = records.chunks[i]!;
    const first = row - chunk.firstRow;
    const chunkEnd = Math.min(end - chunk.firstRow, chunk.ends.length);
    row = chunk.firstRow + chunkEnd;
    // The last record of all has no comma, so that it is added separately.
    const commaEnd = row === end ? chunkEnd - 1 : chunkEnd;
    const from = startOf(chunk, records.growth, first);
    const length = startOf(chunk, records.growth, commaEnd) - from;
    if (length > 0) {
      const both = stored.sums[i]![commaEnd - 1]!;
      crc = combineCrcs(crc, first === 0 ? both : separateCrc(both, stored.sums[i]![first - 1]!, length), length);
    }
    bytes += length;
    if (row < end) continue;
    const last = endOf(chunk, records.growth, chunkEnd - 1) - 1 - from - length;
    crc = combineCrcs(crc, stored.crcs[i]![chunkEnd - 1]!, last);
    bytes += last;
  }
  return { crc, bytes };
}

/**
 * The sum of any rows, record by record, in slices. If given, `blocks` is filled with the block of each row: the
 * chained one if enough neighbours precede it.
 */
function sumOfRows(
  { records, stored, rows, isLines }: StitchOrder,
  blocks: Uint32Array | undefined,
): () => Sum | undefined {
  const count = countSelected(rows);
  const separator = isLines ? LINE_FEED : COMMA;
  let crc = 0;
  let bytes = 0;
  let done = 0;
  let before = -2;
  let neighbours = 0;
  return () => {
    for (const end = Math.min(count, done + SLICE_ROWS); done < end; done++) {
      const row = selectedRow(rows, done);
      const i = chunkIndexOf(records, row);
      const chunk = records.chunks[i]!;
      const index = row - chunk.firstRow;
      const record = stored.crcs[i]![index]!;
      const length = endOf(chunk, records.growth, index) - startOf(chunk, records.growth, index);
      const isLast = !isLines && done === count - 1;
      crc = combineCrcs(crc, isLast ? record : addByteToCrc(record, separator), isLast ? length - 1 : length);
      bytes += isLast ? length - 1 : length;
      if (!blocks) continue;
      neighbours = row - 1 === before ? neighbours + 1 : 0;
      blocks[done] = neighbours < CHAINED_ROWS ? row : records.rows + row;
      before = row;
    }
    return done === count ? { crc, bytes } : undefined;
  };
}

function chunkIndexOf({ chunks }: Records, row: number): number {
  let i = chunks.length - 1;
  while (chunks[i]!.firstRow > row) i--;
  return i;
}
