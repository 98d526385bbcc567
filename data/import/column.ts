// From the texts of a column's rows to all that is stored of it: dictionary, n-grams, posting lists, bitmaps. Pure and
// by itself, so that a thread can do it beside other columns; the same input gives the same arrays.
import { sortDictionary } from '../../engine/column/sort.ts';
import type { WrittenDictionary } from '../../engine/column/dictionary.ts';
import type { InvertedParts } from '../../engine/index/field.ts';
import { buildGrams, type Grams, hasGrams } from '../../engine/index/grams.ts';
import { invert } from '../../engine/index/invert.ts';
import { parseInstant } from '../../engine/query/instant.ts';
import type { ColumnLayout } from '../../engine/schema/layout.ts';
import { BITMAPS, GRAMS } from '../../engine/snapshot/sections.ts';
import type { Variant } from '../../engine/snapshot/variants.ts';
import { NULL_NUMBER } from './batch.ts';
import { letGo } from '../threadsInOrder.ts';
import { joinedTexts, type TextSources } from './joinedTexts.ts';

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
export interface CodedColumn {
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
