// One column of a collection: joins the values of all threads, sorts and writes them. A text that several threads have
// decoded may occur twice in the joined list; sorting removes duplicates.
import { sortDictionary, type Texts } from '../../engine/column/sort.ts';
import { codesOfOption, type Dictionary, type WrittenDictionary } from '../../engine/column/dictionary.ts';
import { buildGrams, type Grams, hasGrams } from '../../engine/index/grams.ts';
import { buildWords, hasWords, type StoredWords } from '../../engine/index/words.ts';
import { invert, type InvertedParts } from '../../engine/index/invert.ts';
import { parseInstant } from '../../engine/query/decimal.ts';
import type { UnsignedArray } from '../../engine/bits/narrow.ts';
import type { ColumnLayout, Layout } from '../../engine/schema/layout.ts';
import { BITMAPS, GRAMS, type Variant, WORDS } from '../../engine/snapshot/sections.ts';
import { NULL_NUMBER, SEED } from './batch.ts';
import { releaseBuffers } from '../threadsInOrder.ts';
import { GrowableBytes, GrowableU32 } from '../../engine/bits/growable.ts';
import { startOfPart } from '../../engine/bits/lists.ts';
import type { Outlines } from '../../engine/column/records.ts';
import type { Field } from '../../engine/schema/types.ts';

/** The texts of a column in any order, the number of each row's text, and the index variants to skip. */
export interface ColumnTexts extends TextSources {
  readonly column: ColumnLayout;
  readonly without: readonly Variant[];
}

/** The stored parts of a column. Ids have neither posting lists nor bitmaps, because their codes are the rows. */
export interface StoredColumn {
  readonly dictionary: WrittenDictionary;
  readonly grams: Grams | undefined;
  readonly words: StoredWords | undefined;
  readonly inverted: InvertedParts | undefined;
}

/**
 * The values of a column and the code of each row. Null is the code after the last one. `grams` is set if they are
 * known.
 */
interface CodedColumn {
  readonly dictionary: WrittenDictionary;
  readonly rows: Uint32Array;
  readonly grams?: Grams | undefined;
}

/**
 * Makes a column of new rows only, and releases its texts first, because the n-grams need as much memory again. Cost:
 * sorting the texts, and a pass over their n-grams and the rows.
 */
export function storeColumn(columnTexts: ColumnTexts): StoredColumn {
  const { texts, numbers } = joinTexts(columnTexts);
  const { dictionary, codes } = sortDictionary(columnTexts.column.type, texts, parseInstant);
  releaseBuffers(texts);
  const rows = numbers.map((number) => (number === NULL_NUMBER ? dictionary.size : codes[number]!));
  return indexColumn({ dictionary, rows }, columnTexts);
}

/**
 * Makes the stored parts of a column with these codes. Cost: a pass over its rows, over its words, and over its n-grams
 * unless they are known.
 */
export function indexColumn({ dictionary, rows, grams }: CodedColumn, { column, without }: ColumnTexts): StoredColumn {
  const wantsWords = !without.includes(WORDS.variant) && hasWords(column);
  const wantsGrams = !without.includes(GRAMS.variant) && hasGrams(dictionary);
  return {
    dictionary,
    grams: wantsGrams ? (grams ?? buildGrams(dictionary)) : undefined,
    words: wantsWords ? buildWords(dictionary, SEED) : undefined,
    inverted: column.isId ? undefined : invert(rows, dictionary.size, !without.includes(BITMAPS.variant)),
  };
}

/**
 * The texts of each thread, and the number of each row's text, counted over all of them. `cut` is the number of bytes
 * at both ends of each text that do not belong to it.
 */
interface TextSources {
  readonly sources: readonly Texts[];
  readonly numbers: Uint32Array;
  readonly cut?: { readonly before: number; readonly after: number } | undefined;
}

export function countTextBytes(sources: readonly Texts[]): number {
  return sources.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/**
 * The texts as one list, and the number of each row's text in it. Releases the sources if it copies them. Cost: a pass
 * over the rows, and a copy unless there is one source whose texts are all used.
 */
export function joinTexts({ sources, numbers, cut }: TextSources): { texts: Texts; numbers: Uint32Array } {
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
  const bytes = new GrowableBytes(countTextBytes(sources));
  const ends = new GrowableU32(used);
  const { before, after: behind } = cut ?? { before: 0, after: 0 };
  let number = 0;
  for (const source of sources) {
    for (let i = 0; i < source.ends.length; i++, number++) {
      if (newNumbers[number] === NULL_NUMBER) continue;
      newNumbers[number] = ends.length;
      bytes.push(source.bytes, startOfPart(source.ends, i) + before, source.ends[i]! - behind);
      ends.push(bytes.length);
    }
  }
  releaseBuffers(sources);
  const texts = { bytes: bytes.view(), ends: ends.view() };
  return { texts, numbers: used === size ? numbers : numbers.map((old) => newNumbers[old] ?? NULL_NUMBER) };
}

/**
 * The targets of a link column: the column's path, the ids in code order (NaN for misfits), and the number of links to
 * each.
 */
export interface LinkTargets {
  readonly path: string;
  readonly to: string;
  readonly ids: Float64Array;
  readonly counts: Uint32Array;
  /** Whether the link is generic: its targets are not stored. */
  readonly isGeneric?: true;
}

/** The values of a column, and the code of each row. */
export interface ColumnCodes {
  readonly dictionary: Dictionary;
  readonly codes: UnsignedArray;
}

/** The targets of generic links. Cost: a pass over their rows for each collection. */
export function listGenericTargets(
  { columns, genericLinks }: Pick<Layout, 'columns' | 'genericLinks'>,
  codesOf: (column: number) => ColumnCodes,
): readonly LinkTargets[] {
  const found: LinkTargets[] = [];
  for (const { link, id, discriminator } of genericLinks) {
    const { path } = columns[id]!;
    const [ids, kinds] = [codesOf(id), codesOf(discriminator)];
    const { size, numbers } = ids.dictionary;
    for (const [text, to] of link.collections) {
      const { start, end } = codesOfOption(kinds.dictionary, link, text);
      if (start === end) continue;
      const counts = new Uint32Array(size);
      kinds.codes.forEach((kind, row) => {
        const code = ids.codes[row]!;
        if (kind >= start && kind < end && code < size) counts[code]!++;
      });
      found.push({ path, to, ids: numbers!, counts, isGeneric: true });
    }
  }
  return found;
}

/** A finished collection. `ids` are ascending. */
export interface BuiltCollection {
  readonly records: number;
  readonly ids: Float64Array;
  readonly chunks: number;
  readonly outlines: Outlines;
  readonly recordBytes: number;
  readonly fields: readonly Field[];
  readonly nulls: number;
  readonly targets: readonly LinkTargets[];
  /** Whether records have undocumented keys. */
  readonly hasUndeclared: boolean;
  /** The line of a record; undefined if the collection has no misfits, or if the lines are not known. */
  readonly lineOf?: ((id: number) => number) | undefined;
}
