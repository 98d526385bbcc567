// A column of rows of which some are those of an earlier snapshot: their codes are taken over, and only what is new is
// put among the values.
import type { Dictionary } from '../../engine/column/dictionary.ts';
import { type MergedDictionary, mergeDictionaries } from '../../engine/column/mergeDictionary.ts';
import { sortDictionary } from '../../engine/column/sort.ts';
import { blockOf, type Grams, hasGrams } from '../../engine/index/grams.ts';
import { mergeGrams } from '../../engine/index/mergeGrams.ts';
import { parseInstant } from '../../engine/query/instant.ts';
import { NULL_NUMBER } from './batch.ts';
import { type ColumnTexts, indexed, type StoredColumn } from './column.ts';
import type { EarlierColumn } from './earlier.ts';
import { joinedTexts } from './joinedTexts.ts';

/**
 * The column of rows in their `order`, where those below the rows of `earlier` are its rows, and all others those of
 * `made` behind them; the earlier one itself where it would be the same. Cost: two steps a row, and what is stored of
 * the column where it has changed.
 */
export function mergedColumn(
  made: ColumnTexts,
  earlier: EarlierColumn,
  order: Uint32Array,
): StoredColumn | EarlierColumn {
  const { dictionary: old, codes } = earlier;
  const { texts, numbers } = joinedTexts(made);
  const later = sortDictionary(made.column.type, texts, parseInstant);
  const isUsed = new Uint8Array(old.size + 1);
  for (const row of order) if (row < codes.length) isUsed[codes[row]!] = 1;
  const merged = mergeDictionaries(old, isUsed, later.dictionary);
  const { dictionary, oldCodes, youngCodes, isOld } = merged;
  const codeOf = (row: number): number => {
    if (row < codes.length) return codes[row] === old.size ? dictionary.size : oldCodes[codes[row]!]!;
    const number = numbers[row - codes.length]!;
    return number === NULL_NUMBER ? dictionary.size : youngCodes[later.codes[number]!]!;
  };
  const isSame = isOld && order.length === codes.length;
  if (isSame && order.every((row, i) => row === i || codeOf(row) === codes[i])) return earlier;
  return indexed({ dictionary, rows: order.map(codeOf), grams: gramsOf(earlier, later.dictionary, merged) }, made);
}

/** The n-gram index where it follows from the earlier one: that of texts which are a block each. */
function gramsOf(earlier: EarlierColumn, young: Dictionary, merged: MergedDictionary): Grams | undefined {
  const { dictionary, isOld } = merged;
  if (!hasGrams(dictionary)) return undefined;
  const grams = earlier.grams();
  if (!grams || isOld) return grams;
  return grams.block === 1 && blockOf(dictionary) === 1 ? mergeGrams(grams, young, merged) : undefined;
}
