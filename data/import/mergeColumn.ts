// A column of rows of which some are those of an earlier snapshot: their codes are taken over, and only what is new is
// put among the values.
import type { Dictionary } from '../../engine/column/dictionary.ts';
import { type MergedDictionary, mergeDictionaries } from '../../engine/column/mergeDictionary.ts';
import type { SortedDictionary } from '../../engine/column/sort.ts';
import type { UnsignedArray } from '../../engine/bits/narrow.ts';
import { blockOf, type Grams, hasGrams } from '../../engine/index/grams.ts';
import { mergeGrams } from '../../engine/index/mergeGrams.ts';
import type { EarlierColumn } from './earlier.ts';

/** The number of a row's text where it has none. */
export const NULL_NUMBER = 0xffffffff;

/**
 * A column's values and the code of each row; `grams` where they are known already. `isEarlier` where all of it is what
 * the earlier snapshot has.
 */
export interface CodedColumn {
  readonly dictionary: Dictionary;
  readonly rows: Uint32Array;
  readonly grams: Grams | undefined;
  readonly isEarlier: boolean;
}

/**
 * The column of rows in their `order`, where numbers below those of `earlier` rows are such rows, and all others have
 * the text of their number in `later`. Cost: a step a row, and a copy of the dictionary where it has changed.
 */
export function mergedColumn(
  earlier: EarlierColumn,
  later: SortedDictionary,
  { numbers, order }: { readonly numbers: Uint32Array; readonly order: Uint32Array },
): CodedColumn {
  const { dictionary: old, codes } = earlier;
  const isUsed = new Uint8Array(old.size + 1);
  for (const row of order) if (row < codes.length) isUsed[codes[row]!] = 1;
  const merged = mergeDictionaries(old, isUsed, later.dictionary);
  const { dictionary, oldCodes, youngCodes, isOld } = merged;
  const rows = new Uint32Array(order.length);
  for (let i = 0; i < order.length; i++) {
    const row = order[i]!;
    if (row < codes.length) rows[i] = codes[row] === old.size ? dictionary.size : oldCodes[codes[row]!]!;
    else rows[i] = numbers[i] === NULL_NUMBER ? dictionary.size : youngCodes[later.codes[numbers[i]!]!]!;
  }
  if (isOld && isSame(rows, codes)) return { dictionary, rows, grams: undefined, isEarlier: true };
  return { dictionary, rows, grams: gramsOf(earlier, later.dictionary, merged), isEarlier: false };
}

function isSame(rows: Uint32Array, codes: UnsignedArray): boolean {
  if (rows.length !== codes.length) return false;
  for (let i = 0; i < rows.length; i++) if (rows[i] !== codes[i]) return false;
  return true;
}

/** The n-gram index where it follows from the earlier one: that of texts which are a block each. */
function gramsOf(earlier: EarlierColumn, young: Dictionary, merged: MergedDictionary): Grams | undefined {
  const { dictionary, isOld } = merged;
  if (!hasGrams(dictionary)) return undefined;
  const grams = earlier.grams();
  if (!grams || isOld) return grams;
  return grams.block === 1 && blockOf(dictionary) === 1 ? mergeGrams(grams, young, merged) : undefined;
}
