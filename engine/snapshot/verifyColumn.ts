// Whether one column of a snapshot is what FORMAT.md says: its dictionary sorted, its posting lists and bitmaps in
// agreement. Slow and thorough, for `verify` only; yields the first thing found wrong.
import { countBits, hasBit, wordsFor } from '../bits/bitmap.ts';
import { narrowWidth, type Unsigned } from '../bits/narrow.ts';
import type { Variant } from './variants.ts';
import type { Dictionary } from '../column/dictionary.ts';
import { firstUnsorted, numbersOf } from '../column/sort.ts';
import { buildGrams, hasGrams } from '../index/grams.ts';
import { DENSE_PART } from '../index/rowset.ts';
import type { ColumnLayout } from '../schema/layout.ts';
import type { Refusal } from './header.ts';
import type { Sections } from './loaded.ts';

/** Reads a date or date-time text as microseconds since 1970, NaN where it is none. */
export type InstantOf = (text: string) => number;

/** What was found of a column: how many values it has, how many rows are null and how many bitmaps there are. */
export interface ColumnTally {
  readonly values: number;
  readonly nulls: number;
  readonly bitmaps: number;
}

/**
 * Checks a column whose table has `rows` rows and which has all index variants but those `without`; yields a refusal at
 * the first fault, returns what was counted. Cost: one pass over its sections, and the decoding of its numbers and
 * dates.
 */
export function* verifyColumn(
  sections: Sections,
  column: ColumnLayout,
  rows: number,
  instantOf: InstantOf,
  without: readonly Variant[] = [],
): Generator<Refusal, ColumnTally> {
  const { path, type } = column;
  const ends = sections.u32(`${path}.textEnds`);
  const text = sections.bytes(`${path}.text`);
  yield* verifyEnds(`${path}.textEnds`, ends, text.length);
  const numbers = sections.has(`${path}.numbers`) ? sections.f64(`${path}.numbers`) : undefined;
  const dictionary: Dictionary = { type, size: ends.length, ends, text, numbers };
  yield* verifyDictionary(path, dictionary, instantOf);
  yield* verifyGrams(sections, path, dictionary, without);
  if (column.isId) {
    yield* verifyIds(path, dictionary, rows);
    return { values: ends.length, nulls: 0, bitmaps: 0 };
  }
  return yield* verifyPostings(sections, path, { rows, size: ends.length, hasBitmaps: !without.includes('bitmaps') });
}

/** Checks that `ends` never descend and that the last is `end`; 0 when there are none. Cost: one pass. */
export function* verifyEnds(name: string, ends: Uint32Array, end: number): Generator<Refusal> {
  const i = firstDescent(ends);
  if (i >= 0) yield refused(name, `element ${i} is ${ends[i]}`, `at least the ${ends[i - 1]} before it`);
  const last = ends[ends.length - 1] ?? 0;
  if (last !== end) yield refused(name, `the last element is ${last}`, String(end));
}

/** A refusal of a section, with what was found and what was expected. */
export function refused(section: string, found: string, expected: string): Refusal {
  return { refusal: `section ${section}: ${found}, expected ${expected}` };
}

/** Checks how many elements a section has. */
export function* verifyLength(name: string, length: number, expected: number): Generator<Refusal> {
  if (length !== expected) yield refused(name, `${length} elements`, String(expected));
}

/** Checks that a section of narrow integers is as narrow as its greatest element allows. Cost: one pass. */
export function* verifyWidth(name: string, values: Unsigned): Generator<Refusal> {
  const expected = narrowWidth(values);
  const found = values.BYTES_PER_ELEMENT;
  if (found !== expected) yield refused(name, `elements of ${found} bytes`, `of ${expected}`);
}

function* verifyDictionary(path: string, dictionary: Dictionary, instantOf: InstantOf): Generator<Refusal> {
  const { type, ends, text: bytes, numbers } = dictionary;
  const expected = numbersOf(type, { bytes, ends }, instantOf);
  yield* verifyLength(`${path}.numbers`, numbers?.length ?? 0, expected?.length ?? 0);
  const wrong = expected ? expected.findIndex((number, code) => !Object.is(number, numbers![code])) : -1;
  if (wrong >= 0) yield refused(`${path}.numbers`, `element ${wrong} is ${numbers![wrong]}`, String(expected![wrong]));
  const unsorted = firstUnsorted(dictionary);
  if (unsorted >= 0)
    yield refused(`${path}.text`, `value ${unsorted} is not above the one before it`, 'ascending values');
}

/** An n-gram index is what building it again gives. */
function* verifyGrams(
  sections: Sections,
  path: string,
  dictionary: Dictionary,
  without: readonly Variant[],
): Generator<Refusal> {
  const isThere = sections.has(`${path}.gramKeys`);
  if (isThere !== (!without.includes('grams') && hasGrams(dictionary))) {
    yield refused(`${path}.gramKeys`, isThere ? 'an n-gram index' : 'no n-gram index', isThere ? 'none' : 'one');
  }
  if (!isThere) return;
  const expected = buildGrams(dictionary);
  yield* verifySame(`${path}.gramKeys`, sections.u32(`${path}.gramKeys`), expected.keys);
  yield* verifySame(`${path}.gramEnds`, sections.u32(`${path}.gramEnds`), expected.ends);
  yield* verifySame(`${path}.gramPostings`, sections.bytes(`${path}.gramPostings`), expected.postings);
}

function* verifySame<A extends Uint32Array | Uint8Array>(name: string, found: A, expected: A): Generator<Refusal> {
  yield* verifyLength(name, found.length, expected.length);
  const wrong = found.findIndex((element, i) => element !== expected[i]);
  if (wrong >= 0) yield refused(name, `element ${wrong} is ${found[wrong]}`, String(expected[wrong]));
}

function* verifyIds(path: string, { size, numbers }: Dictionary, rows: number): Generator<Refusal> {
  yield* verifyLength(`${path}.textEnds`, size, rows);
  const wrong = numbers!.findIndex(
    (id, row) => !Number.isSafeInteger(id) || id < 0 || (row > 0 && id <= numbers![row - 1]!),
  );
  if (wrong >= 0)
    yield refused(`${path}.numbers`, `id ${numbers![wrong]} at ${wrong}`, 'ascending ids of 0 to 2^53 - 1');
}

function* verifyPostings(
  sections: Sections,
  path: string,
  { rows, size, hasBitmaps }: { rows: number; size: number; hasBitmaps: boolean },
): Generator<Refusal, ColumnTally> {
  const codes = sections.unsigned(`${path}.codes`);
  yield* verifyWidth(`${path}.codes`, codes);
  const starts = sections.u32(`${path}.postingStarts`);
  const postings = sections.u32(`${path}.postings`);
  yield* verifyLength(`${path}.codes`, codes.length, rows);
  yield* verifyLength(`${path}.postingStarts`, starts.length, size + 2);
  yield* verifyLength(`${path}.postings`, postings.length, rows);
  if (starts[0] !== 0) yield refused(`${path}.postingStarts`, `element 0 is ${starts[0]}`, '0');
  yield* verifyEnds(`${path}.postingStarts`, starts, rows);
  const unused = firstUnused(starts, size);
  if (unused >= 0) yield refused(`${path}.postingStarts`, `value ${unused} has no row`, 'at least one');
  const strayed = firstStrayed({ codes, starts, postings });
  if (strayed >= 0) {
    yield refused(
      `${path}.postings`,
      `row ${postings[strayed]} at ${strayed}`,
      'the rows by code, ascending within a code',
    );
  }
  const dense = sections.u32(`${path}.dense`);
  yield* verifyBitmaps(path, { starts, postings, dense, bitmaps: sections.u32(`${path}.bitmaps`), hasBitmaps });
  return { values: size, nulls: rows - starts[size]!, bitmaps: dense.length };
}

interface Dense {
  readonly starts: Uint32Array;
  readonly postings: Uint32Array;
  readonly dense: Uint32Array;
  readonly bitmaps: Uint32Array;
  readonly hasBitmaps: boolean;
}

function* verifyBitmaps(path: string, { starts, postings, dense, bitmaps, hasBitmaps }: Dense): Generator<Refusal> {
  const rows = postings.length;
  let count = 0;
  for (let code = 0; hasBitmaps && code + 1 < starts.length; code++) {
    if (starts[code + 1]! - starts[code]! <= rows * DENSE_PART) continue;
    if (dense[count] !== code) yield refused(`${path}.dense`, `element ${count} is ${dense[count]}`, String(code));
    count++;
  }
  yield* verifyLength(`${path}.dense`, dense.length, count);
  const words = wordsFor(rows);
  yield* verifyLength(`${path}.bitmaps`, bitmaps.length, words * count);
  for (let i = 0; i < count; i++) {
    const bitmap = bitmaps.subarray(i * words, (i + 1) * words);
    const list = postings.subarray(starts[dense[i]!], starts[dense[i]! + 1]);
    const missing = list.findIndex((row) => !hasBit(bitmap, row));
    if (missing >= 0)
      yield refused(`${path}.bitmaps`, `bitmap ${i} without row ${list[missing]}`, 'the rows of its code');
    if (countBits(bitmap) !== list.length) {
      yield refused(`${path}.bitmaps`, `bitmap ${i} of ${countBits(bitmap)} rows`, String(list.length));
    }
  }
}

function firstDescent(ends: Uint32Array): number {
  for (let i = 1; i < ends.length; i++) if (ends[i]! < ends[i - 1]!) return i;
  return -1;
}

function firstUnused(starts: Uint32Array, size: number): number {
  for (let code = 0; code < size; code++) if (starts[code + 1] === starts[code]) return code;
  return -1;
}

/** Rows that ascend within each code and have that code, as many as there are rows, are each row once. */
function firstStrayed({
  codes,
  starts,
  postings,
}: {
  codes: Unsigned;
  starts: Uint32Array;
  postings: Uint32Array;
}): number {
  for (let code = 0; code + 1 < starts.length; code++) {
    const start = starts[code]!;
    const end = starts[code + 1]!;
    for (let i = start; i < end; i++) {
      if (codes[postings[i]!] !== code || (i > start && postings[i]! <= postings[i - 1]!)) return i;
    }
  }
  return -1;
}
