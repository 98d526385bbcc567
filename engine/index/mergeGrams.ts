// Derives the n-gram index of a merged dictionary from the index of the old one: renumbers the codes in its lists and
// merges the lists of the new texts. Only for indexes with one text per block, because longer blocks contain other
// texts after a merge.
import { GrowableBytes, GrowableU32 } from '../bits/growable.ts';
import type { Dictionary } from '../column/dictionary.ts';
import { DROPPED_CODE, type MergedDictionary } from '../column/mergeDictionary.ts';
import { buildGrams, type Grams, pushDistance } from './grams.ts';

/** Reads one list of an index at a time. */
interface Reader {
  readonly grams: Grams;
  /** New code of each code, or `DROPPED_CODE`. */
  readonly codes: Uint32Array;
  /** Position in the postings, up to `end`. */
  at: number;
  end: number;
  /** The last code read, as numbered in `grams`. */
  last: number;
  /** True once a list had a form that no import writes. */
  isBroken: boolean;
}

/**
 * The same result as `buildGrams` for the merged dictionary. `old` is the index of the old dictionary; both have one
 * text per block. Returns undefined if `old` is not a valid index, which is possible in a forged snapshot. Cost: a pass
 * over the lists of `old`, and building those of `young`.
 */
export function mergeGrams(
  old: Grams,
  young: Dictionary,
  { oldCodes, youngCodes, dictionary }: MergedDictionary,
): Grams | undefined {
  const olds: Reader = { grams: old, codes: oldCodes, at: 0, end: 0, last: -1, isBroken: false };
  const youngs: Reader = { ...olds, grams: buildGrams(young, 1), codes: youngCodes };
  const postings = new GrowableBytes(old.postings.length + youngs.grams.postings.length + dictionary.size);
  const keys = new GrowableU32(old.keys.length + youngs.grams.keys.length);
  const ends = new GrowableU32(keys.length);
  const [first, second] = [old.keys, youngs.grams.keys];
  for (let i = 0, k = 0; i < first.length || k < second.length;) {
    const key = Math.min(first[i] ?? DROPPED_CODE, second[k] ?? DROPPED_CODE);
    open(olds, first[i] === key ? i++ : -1);
    open(youngs, second[k] === key ? k++ : -1);
    const before = postings.length;
    mergeLists(postings, olds, youngs);
    if (olds.isBroken) return undefined;
    if (postings.length === before) continue;
    keys.push(key);
    ends.push(postings.length);
  }
  return { keys: keys.view(), ends: ends.view(), postings: postings.view(), block: 1 };
}

/** Starts reading a list by its number; -1 is an empty list. */
function open(reader: Reader, list: number): void {
  const { ends } = reader.grams;
  reader.at = list <= 0 ? 0 : ends[list - 1]!;
  reader.end = list < 0 ? 0 : ends[list]!;
  // Otherwise lists could share bytes, and their total length would be unbounded.
  reader.isBroken ||= reader.end < reader.at;
  reader.last = -1;
}

function mergeLists(postings: GrowableBytes, olds: Reader, youngs: Reader): void {
  let [last, old, young] = [-1, nextCode(olds), nextCode(youngs)];
  for (let code = Math.min(old, young); code !== DROPPED_CODE; code = Math.min(old, young)) {
    pushDistance(postings, code - last);
    last = code;
    if (old === code) old = nextCode(olds);
    if (young === code) young = nextCode(youngs);
  }
}

/** The next code of the list that is still in the dictionary, renumbered; `DROPPED_CODE` at the end of the list. */
function nextCode(reader: Reader): number {
  const { postings } = reader.grams;
  while (reader.at < reader.end) {
    let distance = 0;
    let byte = 0x80;
    for (let shift = 0; byte >= 0x80 && reader.at < reader.end; shift += 7) {
      byte = postings[reader.at++]!;
      distance |= (byte & 0x7f) << shift;
    }
    reader.last += distance;
    const code = distance > 0 ? reader.codes[reader.last] : undefined;
    reader.isBroken ||= code === undefined;
    if (code === undefined) return DROPPED_CODE;
    if (code !== DROPPED_CODE) return code;
  }
  return DROPPED_CODE;
}
