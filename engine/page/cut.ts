// Cuts records to some of their top-level members without parsing them. Outlines list the members of a record, and
// stored positions are their ends. Neighbouring members stay one part.
import type { Outlines, RecordChunk, Records } from '../column/records.ts';
import { scratch } from '../kernel/own.ts';
import { keyText } from '../bits/json.ts';
import { firstLinkOf, type RecordPart, type Rewrite, rewrittenBytes, wholeRecords, writePart } from './rewrite.ts';
import { writeEach, type RecordWriter } from './gather.ts';

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const COMMA = 0x2c;

/** Writes whole records, each with its comma, in another form. Cost: see `rewrittenBytes` and `writePart`. */
export function wholeWriter(records: Records, rewrite: Rewrite): RecordWriter {
  const part = newPart();
  return {
    bytes(chunk, index) {
      wholeRecords(part, chunk, { growth: records.growth, index, count: 1 });
      return rewrittenBytes(rewrite, chunk, part);
    },
    write(chunk, index, count, at) {
      wholeRecords(part, chunk, { growth: records.growth, index, count });
      return writePart(rewrite, chunk, part, at);
    },
  };
}

/**
 * Writes only the members of records with a key in `keys`, in their order, each record followed by a comma. A record
 * without such members is `{}`. Measuring costs a step per run of selected members, and a read of each own URL before
 * their end. Writing copies the selected members.
 */
export function cutWriter(records: Records, keys: ReadonlySet<string>, rewrite: Rewrite | undefined): RecordWriter {
  const cut: Cut = { records, rewrite, runs: runsByOutline(records.outlines, keys) };
  const part = newPart();
  return {
    bytes: (chunk, index) => cutBytes(cut, chunk, index, part),
    write: writeEach((chunk, index, at) => writeCut(cut, chunk, index, at, part)),
  };
}

/** An empty part, to be reused. */
export function newPart(): RecordPart {
  return { start: 0, end: 0, firstLink: 0, linkEnd: 0 };
}

/**
 * Sets a part to the members `first` to `last` of a record, without the commas around them. Before the call, `part`
 * must contain earlier members of the same record, or be set by `recordStart`. Cost: a read of each own URL between
 * that part and the end of this one.
 */
export function membersPart(
  part: RecordPart,
  chunk: RecordChunk,
  { growth, index, first, last }: { growth: number; index: number; first: number; last: number },
): void {
  const { members, links } = chunk;
  const record = index === 0 ? 0 : chunk.ends[index - 1]!;
  const offset = index === 0 ? 0 : chunk.memberEnds[index - 1]!;
  const start = record + 1 + (first === 0 ? 0 : members[offset + first - 1]!);
  const end = record + members[offset + last]!;
  const linksEnd = chunk.linkEnds[index]!;
  let link = part.linkEnd;
  while (link < linksEnd && links[link]! < start) link++;
  part.firstLink = link;
  part.start = start + growth * link;
  while (link < linksEnd && links[link]! < end) link++;
  part.linkEnd = link;
  part.end = end + growth * link;
}

/** Sets a part to the start of a record, as `membersPart` needs it for the first members. */
export function recordStart(part: RecordPart, chunk: RecordChunk, index: number): void {
  part.linkEnd = firstLinkOf(chunk, index);
}

interface Cut {
  readonly records: Records;
  readonly rewrite: Rewrite | undefined;
  /** The first and the last member of every run that is kept, for an outline. */
  readonly runs: (outline: number) => readonly number[];
}

/**
 * The most outlines that one response caches. A collection may have as many as records, and with 1,000 members each
 * takes 8 kB.
 */
const KEPT_OUTLINES_MAX = 1024;

/**
 * Caches the result of `make` per outline. The cache is cleared when it has `KEPT_OUTLINES_MAX` outlines. Cost: a
 * look-up; that of `make` for a new outline.
 */
export function outlineMemory<Made extends object>(make: (outline: number) => Made): (outline: number) => Made {
  const kept = new Map<number, Made>();
  let [last, made] = [-1, undefined as Made | undefined];
  return (outline) => {
    if (made && outline === last) return made;
    made = kept.get(outline);
    if (!made) {
      if (kept.size >= KEPT_OUTLINES_MAX) kept.clear();
      made = make(outline);
      kept.set(outline, made);
    }
    last = outline;
    return made;
  };
}

/**
 * For each outline, two numbers per column: the place of its member (-1 if missing), and the bytes of its key and
 * colon. Cost: an outline's members, when the first record with it is met.
 */
export function membersByOutline(outlines: Outlines, columns: readonly string[]): (outline: number) => Int32Array {
  const columnOf = new Map(columns.map((key, column) => [key, column]));
  const places = outlines.keys.map((key) => columnOf.get(key));
  return outlineMemory((outline) => {
    const members = new Int32Array(columns.length * 2).fill(-1);
    outlines.lists[outline]!.forEach((key, member) => {
      const column = places[key];
      if (column !== undefined) members.set([member, keyText(outlines.keys[key]!).length], column * 2);
    });
    return members;
  });
}

function runsByOutline(outlines: Outlines, keys: ReadonlySet<string>): (outline: number) => readonly number[] {
  const isKept = outlines.keys.map((key) => keys.has(key));
  return outlineMemory((outline) => runsOf(outlines.lists[outline]!.map((key) => isKept[key]!)));
}

/** The first and the last member of each run of kept members. */
export function runsOf(isKept: readonly boolean[]): readonly number[] {
  const runs: number[] = [];
  isKept.forEach((kept, i) => {
    if (!kept) return;
    if (i > 0 && isKept[i - 1]) runs[runs.length - 1] = i;
    else runs.push(i, i);
  });
  return runs;
}

function cutBytes({ records, rewrite, runs }: Cut, chunk: RecordChunk, index: number, part: RecordPart): number {
  const kept = runs(chunk.outlines[index]!);
  // Braces, the comma after the record, and those between runs.
  let bytes = 3 + Math.max(0, kept.length / 2 - 1);
  recordStart(part, chunk, index);
  for (let i = 0; i < kept.length; i += 2) {
    membersPart(part, chunk, { growth: records.growth, index, first: kept[i]!, last: kept[i + 1]! });
    bytes += rewrittenBytes(rewrite, chunk, part);
  }
  return bytes;
}

function writeCut(
  { records, rewrite, runs }: Cut,
  chunk: RecordChunk,
  index: number,
  start: number,
  part: RecordPart,
): number {
  const kept = runs(chunk.outlines[index]!);
  const target = scratch.bytes;
  let at = start;
  target[at++] = OPEN_BRACE;
  recordStart(part, chunk, index);
  for (let i = 0; i < kept.length; i += 2) {
    if (i > 0) target[at++] = COMMA;
    membersPart(part, chunk, { growth: records.growth, index, first: kept[i]!, last: kept[i + 1]! });
    at = writePart(rewrite, chunk, part, at);
  }
  target[at++] = CLOSE_BRACE;
  target[at++] = COMMA;
  return at;
}
