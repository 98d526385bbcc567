// Whether one column of a snapshot is what FORMAT.md says: its dictionary sorted, its posting lists and bitmaps in
// agreement. Slow and thorough, for `verify` only; yields the first thing found wrong.
import { countBits, hasBit, wordsFor } from '../bits/bitmap.ts';
import type { Variant } from './variants.ts';
import { type Dictionary, storedDictionary } from '../column/dictionary.ts';
import { firstUnsorted, numbersOf } from '../column/sort.ts';
import { buildGrams, hasGrams } from '../index/grams.ts';
import { DENSE_PART } from '../index/rowset.ts';
import type { ColumnLayout } from '../schema/layout.ts';
import type { Refusal } from './header.ts';
import type { Sections } from './loaded.ts';
import { BITMAPS, DICTIONARY, GRAMS, POSTINGS, sectionNames, type SectionViews } from './sections.ts';
import { refusalIn, verifyForm, verifyLength, verifySame } from './verifyForm.ts';

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
  const { path } = column;
  const dictionary = yield* verifyValues(sections, column, rows, instantOf);
  yield* verifyGrams(sections, path, dictionary, without);
  const { size } = dictionary;
  if (column.isId) return { values: size, nulls: 0, bitmaps: 0 };
  const lists = yield* verifyPostings(sections, path, { rows, size });
  const bitmaps = yield* verifyBitmaps(sections, path, { ...lists, hasBitmaps: !without.includes(BITMAPS.variant) });
  return { values: size, nulls: rows - lists.starts[size]!, bitmaps };
}

function* verifyValues(
  sections: Sections,
  { path, type, isId }: ColumnLayout,
  rows: number,
  instantOf: InstantOf,
): Generator<Refusal, Dictionary> {
  const parts = yield* verifyForm(sections, DICTIONARY, path, isId ? { 'one a code': rows } : {});
  const names = sectionNames(DICTIONARY, path);
  const { text, ends, numbers } = parts;
  const dictionary = storedDictionary(type, parts);
  const { size, fitting } = dictionary;
  const expected = numbersOf(type, { bytes: text, ends }, instantOf, fitting);
  if (numbers && expected) yield* verifySame(names.numbers, numbers, expected);
  const misfit = expected?.findIndex(Number.isNaN) ?? fitting;
  const first = misfit < 0 ? size : misfit;
  if (fitting !== first || (parts.fitting && (parts.fitting.length !== 1 || fitting >= size)))
    yield refusalIn(names.fitting, `code ${fitting}`, `${first}, or none for ${size}`);
  const unsorted = firstUnsorted(dictionary);
  if (unsorted >= 0)
    yield refusalIn(names.text, `value ${unsorted} is not above the one before it`, 'ascending values');
  const wrong = isId ? firstWrongId(numbers!) : -1;
  if (wrong >= 0) yield refusalIn(names.numbers, `id ${numbers![wrong]} at ${wrong}`, 'ascending ids of 0 to 2^53 - 1');
  return dictionary;
}

function firstWrongId(ids: Float64Array): number {
  return ids.findIndex((id, row) => !Number.isSafeInteger(id) || id < 0 || (row > 0 && id <= ids[row - 1]!));
}

/** An n-gram index is what building it again gives. */
function* verifyGrams(
  sections: Sections,
  path: string,
  dictionary: Dictionary,
  without: readonly Variant[],
): Generator<Refusal> {
  const names = sectionNames(GRAMS, path);
  const isThere = sections.has(GRAMS, path);
  if (isThere !== (!without.includes(GRAMS.variant) && hasGrams(dictionary))) {
    yield refusalIn(names.keys, isThere ? 'an n-gram index' : 'no n-gram index', isThere ? 'none' : 'one');
  }
  if (!isThere) return;
  const { keys, ends, postings } = sections.views(GRAMS, path);
  const expected = buildGrams(dictionary);
  yield* verifySame(names.keys, keys, expected.keys);
  yield* verifySame(names.ends, ends, expected.ends);
  yield* verifySame(names.postings, postings, expected.postings);
}

/** The rows of a column by code. */
interface Lists {
  readonly starts: Uint32Array;
  readonly postings: Uint32Array;
}

function* verifyPostings(
  sections: Sections,
  path: string,
  { rows, size }: { rows: number; size: number },
): Generator<Refusal, Lists> {
  const lists = yield* verifyForm(sections, POSTINGS, path, { 'one a row': rows, 'codes + 2': size + 2 });
  const names = sectionNames(POSTINGS, path);
  const unused = firstUnused(lists.starts, size);
  if (unused >= 0) yield refusalIn(names.starts, `value ${unused} has no row`, 'at least one');
  const strayed = firstStrayed(lists);
  if (strayed >= 0) {
    const expected = 'the rows by code, ascending within a code';
    yield refusalIn(names.postings, `row ${lists.postings[strayed]} at ${strayed}`, expected);
  }
  return lists;
}

function* verifyBitmaps(
  sections: Sections,
  path: string,
  { starts, postings, hasBitmaps }: Lists & { readonly hasBitmaps: boolean },
): Generator<Refusal, number> {
  const { dense, bitmaps } = sections.views(BITMAPS, path);
  const names = sectionNames(BITMAPS, path);
  const rows = postings.length;
  let count = 0;
  for (let code = 0; hasBitmaps && code + 1 < starts.length; code++) {
    if (starts[code + 1]! - starts[code]! <= rows * DENSE_PART) continue;
    if (dense[count] !== code) yield refusalIn(names.dense, `element ${count} is ${dense[count]}`, String(code));
    count++;
  }
  yield* verifyLength(names.dense, dense.length, count);
  const words = wordsFor(rows);
  yield* verifyLength(names.bitmaps, bitmaps.length, words * count);
  for (let i = 0; i < count; i++) {
    const bitmap = bitmaps.subarray(i * words, (i + 1) * words);
    const list = postings.subarray(starts[dense[i]!], starts[dense[i]! + 1]);
    const missing = list.findIndex((row) => !hasBit(bitmap, row));
    if (missing >= 0)
      yield refusalIn(names.bitmaps, `bitmap ${i} without row ${list[missing]}`, 'the rows of its code');
    if (countBits(bitmap) !== list.length) {
      yield refusalIn(names.bitmaps, `bitmap ${i} of ${countBits(bitmap)} rows`, String(list.length));
    }
  }
  return count;
}

function firstUnused(starts: Uint32Array, size: number): number {
  for (let code = 0; code < size; code++) if (starts[code + 1] === starts[code]) return code;
  return -1;
}

/** Rows that ascend within each code and have that code, as many as there are rows, are each row once. */
function firstStrayed({ codes, starts, postings }: SectionViews<typeof POSTINGS>): number {
  for (let code = 0; code + 1 < starts.length; code++) {
    const start = starts[code]!;
    const end = starts[code + 1]!;
    for (let i = start; i < end; i++) {
      if (codes[postings[i]!] !== code || (i > start && postings[i]! <= postings[i - 1]!)) return i;
    }
  }
  return -1;
}
