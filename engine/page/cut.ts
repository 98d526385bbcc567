// Records cut to some of their top-level members, without parsing them: outlines say which members a record has, the
// stored positions where they end. Neighbouring members stay one part.
import type { Outlines, RecordChunk, Records } from '../column/records.ts';
import { own } from '../kernel/own.ts';
import { firstLinkOf, type RecordPart, type Rewrite, rewrittenBytes, wholeRecords, writePart } from './rewrite.ts';
import { eachOf, type RecordWriter } from './gather.ts';

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
 * Writes records with those members only whose keys are among `keys`, in their own order, each record with a comma
 * behind it; a record with none of them is `{}`. Cost: a step a run of kept members and a look at each own URL before
 * their end; for writing a copy of what is kept.
 */
export function cutWriter(records: Records, keys: ReadonlySet<string>, rewrite: Rewrite | undefined): RecordWriter {
  const cut: Cut = { records, rewrite, runs: runsByOutline(records.outlines, keys) };
  const part = newPart();
  return {
    bytes: (chunk, index) => cutBytes(cut, chunk, index, part),
    write: eachOf((chunk, index, at) => writeCut(cut, chunk, index, at, part)),
  };
}

/** An empty part, to be filled again and again. */
export function newPart(): RecordPart {
  return { start: 0, end: 0, firstLink: 0, linkEnd: 0 };
}

/**
 * Makes a part the members `first` to `last` of a record, without commas around. `part` must be that of members before
 * these in the same record, or `recordStart` of it. Cost: a look at each own URL between that part and the end of this
 * one.
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

/** Makes a part the empty one at the start of a record, from which `membersPart` goes on. */
export function recordStart(part: RecordPart, chunk: RecordChunk, index: number): void {
  part.linkEnd = firstLinkOf(chunk, index);
}

/** What cutting needs of a collection: for each outline the first and the last member of every run that is kept. */
interface Cut {
  readonly records: Records;
  readonly rewrite: Rewrite | undefined;
  readonly runs: (outline: number) => readonly number[];
}

/** Outlines of an answer that are kept: a collection may have as many as records, with 1,000 members 8 kB each. */
const KEPT_OUTLINES_MAX = 1024;

/**
 * What is made of each outline, once for records in a row that share it, and seldom again: what is kept goes at
 * `KEPT_OUTLINES_MAX` outlines. Cost: a look; what `make` takes, when a record first has an outline.
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

function runsByOutline(outlines: Outlines, keys: ReadonlySet<string>): (outline: number) => readonly number[] {
  const isKept = outlines.keys.map((key) => keys.has(key));
  return outlineMemory((outline) => runsOf(outlines.lists[outline]!.map((key) => isKept[key]!)));
}

function runsOf(isKept: readonly boolean[]): readonly number[] {
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
  // Braces, the comma behind the record, and those between runs.
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
  const target = own.bytes;
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
