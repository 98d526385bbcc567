// Writes records as CSV rows. Top-level members are found by their stored positions, nested values are written as JSON,
// and own URLs get the requested form. Lengths need a pass over the bytes, so that they are measured in slices.
import type { RecordChunk, Records } from '../column/records.ts';
import type { CollectionIndex } from '../index/table.ts';
import { cellBytes, textCell, writeCell } from './cell.ts';
import { membersByOutline, membersPart, newPart, recordStart } from './cut.ts';
import { scratch } from '../kernel/own.ts';
import { writeEach, type RecordWriter } from './gather.ts';
import { type JoinedColumn, readJoined } from './joined.ts';
import { JsonDraft } from './linked.ts';
import { type RecordPart, type Rewrite, rewrittenBytes, writePartInto } from './rewrite.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;
const UTF8 = new TextEncoder();

/**
 * At most this many keys that are not fields become columns. More keys are data rather than names (A54), and each would
 * add a comma to every row.
 */
const OTHER_COLUMNS_MAX = 1000;

/**
 * The columns of a collection's export before `joined` ones: fields in their order, then keys that are not fields.
 * `keys` selects among them. The id if there would be no columns: readers skip empty lines, and reject files without
 * columns (A63, A142). Cost: the keys.
 */
export function exportColumns(
  { declaration, keys: { fields, others } }: Pick<CollectionIndex, 'declaration' | 'keys'>,
  keys: ReadonlySet<string> | undefined,
  joined: readonly JoinedColumn[] = [],
): readonly string[] {
  const all = keys || others.length <= OTHER_COLUMNS_MAX ? [...fields, ...others] : fields;
  const columns = keys ? all.filter((key) => keys.has(key)) : all;
  return columns.length + joined.length > 0 ? columns : [declaration.idField];
}

export function csvHeader(columns: readonly string[], hasBom = false): Uint8Array {
  return UTF8.encode(`${hasBom ? '\ufeff' : ''}${columns.map(textCell).join(',')}\r\n`);
}

/**
 * Writes records as rows of these columns, then `joined` ones, each row followed by CRLF. A missing member is an empty
 * cell. A row of one empty cell is `""`, because readers skip empty lines. Cost: one pass over the bytes to measure,
 * two to write.
 */
export function csvWriter(
  records: Records,
  columns: readonly string[],
  rewrite: Rewrite | undefined,
  joined: readonly JoinedColumn[] = [],
): RecordWriter {
  const rows: Rows = {
    records,
    columns: columns.length,
    rewrite,
    membersOf: membersByOutline(records.outlines, columns),
    joined,
    draft: new JsonDraft(rewrite),
  };
  return {
    ...(joined.length > 0 ? { work: rows.draft.work } : {}),
    bytes: (chunk, index) => rowBytes(rows, chunk, index),
    write: writeEach((chunk, index, at) => writeRow(rows, chunk, index, scratch.bytes, at)),
  };
}

interface Rows {
  readonly records: Records;
  readonly columns: number;
  readonly rewrite: Rewrite | undefined;
  readonly membersOf: (outline: number) => Int32Array;
  readonly joined: readonly JoinedColumn[];
  readonly draft: JsonDraft;
}

const part = newPart();
/** Buffer in which a value with own URLs is rewritten before it becomes a cell. Grows to the largest such value. */
let staging = new Uint8Array(4096);
/**
 * The current value, as JSON in `bytes`: those of the chunk or the staging buffer. Reset after each row, so that it
 * does not keep a snapshot alive.
 */
const value = { bytes: staging, start: 0, end: 0 };

function rowBytes(rows: Rows, chunk: RecordChunk, index: number): number {
  const { joined, draft } = rows;
  const members = rows.membersOf(chunk.outlines[index]!);
  const columns = rows.columns + joined.length;
  let bytes = 2 + Math.max(0, columns - 1);
  let before = Infinity;
  for (let column = 0; column < rows.columns; column++) {
    const member = members[column * 2]!;
    if (member < 0) continue;
    if (member < before) recordStart(part, chunk, index);
    before = member;
    find(rows, chunk, { index, member, keyBytes: members[column * 2 + 1]! });
    bytes += cellBytes(value.bytes, value.start, value.end);
  }
  value.bytes = staging;
  draft.beginRecord();
  for (const column of joined) {
    const start = draft.json.length;
    readJoined(draft, column, chunk, index);
    bytes += cellBytes(draft.json.view(), start, draft.json.length);
  }
  if (draft.isFull) return Infinity;
  return columns === 1 && bytes === 2 ? 4 : bytes;
}

function writeRow(rows: Rows, chunk: RecordChunk, index: number, target: Uint8Array, start: number): number {
  const members = rows.membersOf(chunk.outlines[index]!);
  let at = start;
  let before = Infinity;
  for (let column = 0; column < rows.columns; column++) {
    if (column > 0) target[at++] = COMMA;
    const member = members[column * 2]!;
    if (member < 0) continue;
    if (member < before) recordStart(part, chunk, index);
    before = member;
    find(rows, chunk, { index, member, keyBytes: members[column * 2 + 1]! });
    at = writeCell(value.bytes, value.start, value.end, target, at);
  }
  value.bytes = staging;
  const { draft } = rows;
  draft.beginRecord();
  for (const [i, column] of rows.joined.entries()) {
    if (rows.columns + i > 0) target[at++] = COMMA;
    const from = draft.json.length;
    readJoined(draft, column, chunk, index);
    at = writeCell(draft.json.view(), from, draft.json.length, target, at);
  }
  if (rows.columns + rows.joined.length === 1 && at === start) {
    target[at++] = QUOTE;
    target[at++] = QUOTE;
  }
  target[at++] = CARRIAGE_RETURN;
  target[at++] = LINE_FEED;
  return at;
}

/** Sets `value` to the served value of a member. */
function find(
  { records, rewrite }: Rows,
  chunk: RecordChunk,
  { index, member, keyBytes }: { index: number; member: number; keyBytes: number },
): void {
  membersPart(part, chunk, { growth: records.growth, index, first: member, last: member });
  part.start += keyBytes;
  if (rewrite && part.firstLink < part.linkEnd) return rewritten(rewrite, chunk, part);
  value.bytes = chunk.bytes as Uint8Array<ArrayBuffer>;
  value.start = part.start;
  value.end = part.end;
}

function rewritten(rewrite: Rewrite, chunk: RecordChunk, cell: RecordPart): void {
  const bytes = rewrittenBytes(rewrite, chunk, cell);
  if (staging.length < bytes) staging = new Uint8Array(bytes * 2);
  writePartInto(rewrite, chunk, cell, staging);
  value.bytes = staging;
  value.start = 0;
  value.end = bytes;
}
