// One column of a collection: its values from all threads are joined, sorted and written. A text that several threads
// found may occur twice in the joined list; sorting unites them.
import { sortDictionary, type Texts } from '../../engine/column/sort.ts';
import type { WrittenDictionary } from '../../engine/column/dictionary.ts';
import type { InvertedParts } from '../../engine/index/field.ts';
import { buildGrams, type Grams, hasGrams } from '../../engine/index/grams.ts';
import { invert } from '../../engine/index/invert.ts';
import { parseInstant } from '../../engine/query/decimal.ts';
import type { ColumnLayout } from '../../engine/schema/layout.ts';
import { BITMAPS, GRAMS, type Variant } from '../../engine/snapshot/sections.ts';
import { NULL_NUMBER } from './batch.ts';
import { letGo } from '../threadsInOrder.ts';
import { GrowableBytes, GrowableU32 } from '../../engine/bits/growable.ts';
import { startOfPart } from '../../engine/bits/lists.ts';
import type { Outlines } from '../../engine/column/records.ts';
import type { Field } from '../../engine/schema/types.ts';

/** A column's texts in any order, the number of each row's, and the index variants that are left out. */
export interface ColumnTexts extends TextSources {
  readonly column: ColumnLayout;
  readonly without: readonly Variant[];
}

/** What is stored of a column; ids have neither posting lists nor bitmaps, since their codes are the rows. */
export interface StoredColumn {
  readonly dictionary: WrittenDictionary;
  readonly grams: Grams | undefined;
  readonly inverted: InvertedParts | undefined;
}

/** A column's values and the code of each row, null the code behind the last; `grams` where they are known already. */
interface CodedColumn {
  readonly dictionary: WrittenDictionary;
  readonly rows: Uint32Array;
  readonly grams?: Grams | undefined;
}

/**
 * A column of new rows alone, whose texts are used up: the n-grams take as much memory again. Cost: sorts the texts; a
 * pass over their n-grams and over the rows.
 */
export function storedColumn(made: ColumnTexts): StoredColumn {
  const { texts, numbers } = joinedTexts(made);
  const { dictionary, codes } = sortDictionary(made.column.type, texts, parseInstant);
  letGo(texts);
  const rows = numbers.map((number) => (number === NULL_NUMBER ? dictionary.size : codes[number]!));
  return indexed({ dictionary, rows }, made);
}

/** What is stored of a column with such codes. Cost: a pass over its n-grams, unless they are known, and its rows. */
export function indexed({ dictionary, rows, grams }: CodedColumn, { column, without }: ColumnTexts): StoredColumn {
  const wantsGrams = !without.includes(GRAMS.variant) && hasGrams(dictionary);
  return {
    dictionary,
    grams: wantsGrams ? (grams ?? buildGrams(dictionary)) : undefined,
    inverted: column.isId ? undefined : invert(rows, dictionary.size, !without.includes(BITMAPS.variant)),
  };
}

/**
 * The texts of each thread, and the number of each row's text, counted over all of them. `cut` bytes at the ends of
 * each are not part of it.
 */
interface TextSources {
  readonly sources: readonly Texts[];
  readonly numbers: Uint32Array;
  readonly cut?: { readonly before: number; readonly behind: number } | undefined;
}

export function textBytesOf(sources: readonly Texts[]): number {
  return sources.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/**
 * The texts as one run, and the number of each row's text there. Lets go of the sources where it copies. Cost: a pass
 * over the rows; a copy, unless there is one source and all of it is some row's.
 */
export function joinedTexts({ sources, numbers, cut }: TextSources): { texts: Texts; numbers: Uint32Array } {
  const size = sources.reduce((sum, { ends }) => sum + ends.length, 0);
  const newNumbers = new Uint32Array(size).fill(NULL_NUMBER);
  let used = 0;
  for (const number of numbers) {
    if (number === NULL_NUMBER || newNumbers[number] === 0) continue;
    newNumbers[number] = 0;
    used++;
  }
  const [only] = sources;
  if (only && sources.length === 1 && used === size && !cut) return { texts: only, numbers };
  const bytes = new GrowableBytes(textBytesOf(sources));
  const ends = new GrowableU32(used);
  const { before, behind } = cut ?? { before: 0, behind: 0 };
  let number = 0;
  for (const source of sources) {
    for (let i = 0; i < source.ends.length; i++, number++) {
      if (newNumbers[number] === NULL_NUMBER) continue;
      newNumbers[number] = ends.length;
      bytes.push(source.bytes, startOfPart(source.ends, i) + before, source.ends[i]! - behind);
      ends.push(bytes.length);
    }
  }
  letGo(sources);
  const texts = { bytes: bytes.view(), ends: ends.view() };
  return { texts, numbers: used === size ? numbers : numbers.map((old) => newNumbers[old] ?? NULL_NUMBER) };
}

/**
 * Where a link column points: the path of the column, the ids in code order, NaN of misfits, and how many links have
 * each.
 */
export interface LinkTargets {
  readonly path: string;
  readonly to: string;
  readonly ids: Float64Array;
  readonly counts: Uint32Array;
}

/** What a finished collection consists of. `ids` ascend. */
export interface BuiltCollection {
  readonly records: number;
  readonly ids: Float64Array;
  readonly chunks: number;
  readonly outlines: Outlines;
  readonly recordBytes: number;
  readonly columns: number;
  readonly fields: readonly Field[];
  readonly nulls: number;
  readonly targets: readonly LinkTargets[];
  /** Whether records have keys that are not documented. */
  readonly hasUndeclared: boolean;
  /** The line of a record; undefined if the collection has no misfits, or if the lines are not known. */
  readonly lineOf?: ((id: number) => number) | undefined;
}
