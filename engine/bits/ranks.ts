// Rank and select over bitmaps: a directory of how many bits lie before each block of words, and the rows of given
// ranks. A directory is made once per bitmap and kept beside it, so that bitmaps stay plain words that threads can be
// sent.
import { popcount } from './bitmap.ts';

/**
 * Words a block: a select looks at 16 words at most before it meets its first row; a directory has 1/16 of the words.
 */
const BLOCK_WORDS = 16;
const BLOCK_BITS = BLOCK_WORDS * 32;

/** Ranks that are looked for without a directory, in so many words at most: a page where one row in 32 is set. */
const FIRST_RANKS = 128;
const FIRST_WORDS = 256;

/** Words that directories and selects of this thread have looked at: tests read it before and after. */
export const ranking = { words: 0 };

const directories = new WeakMap<Uint32Array, Uint32Array>();

/**
 * How many bits are set. Makes the directory in the same pass. Cost: one pass over the words, nothing the next time.
 */
export function countRanked(words: Uint32Array): number {
  const ranks = ranksOf(words);
  return ranks[ranks.length - 1]!;
}

/** How many words the directory of a bitmap of so many words takes. */
export function directoryWords(words: number): number {
  return blocksOf(words) + 1;
}

/** How many bytes the directory of a bitmap of so many words takes. */
export function directoryBytes(words: number): number {
  return directoryWords(words) * Uint32Array.BYTES_PER_ELEMENT;
}

/**
 * Keeps a directory that was made elsewhere: bits before each block of 16 words, and behind the last one their number.
 */
export function keepDirectory(words: Uint32Array, ranks: Uint32Array): void {
  directories.set(words, ranks);
}

/** How many bits below `row` are set. Makes the directory where there is none. Cost: 16 words at most. */
export function countBitsBelow(words: Uint32Array, row: number): number {
  const ranks = ranksOf(words);
  const word = row >>> 5;
  if (word >= words.length) return ranks[ranks.length - 1]!;
  const block = Math.floor(word / BLOCK_WORDS);
  let count = ranks[block]!;
  for (let i = block * BLOCK_WORDS; i < word; i++) count += popcount(words[i]!);
  ranking.words += word - block * BLOCK_WORDS + 1;
  return count + popcount(words[word]! & ((1 << (row & 31)) - 1));
}

/**
 * The rows of rank `start` to `end` (exclusive), ascending; with `isFlipped` those of the bits that are not set, of
 * which `end` may not count the ones behind the table. Ranks beyond the last bit are left out. Cost: O(log words), and
 * the words from one block before the first row to the last. The rows are written to `selected`, which has room for
 * them.
 */
export function selectRanks(
  words: Uint32Array,
  start: number,
  end: number,
  isFlipped = false,
  selected = new Uint32Array(Math.max(0, end - start)),
): Uint32Array {
  const flip = isFlipped ? -1 : 0;
  // Most sets are asked for one page: the first rows of a bitmap that is new are met soon, or a directory finds them.
  if (end <= FIRST_RANKS && !directories.has(words)) {
    const length = selectFrom(words, flip, { word: 0, wordEnd: FIRST_WORDS, rank: 0, start, end }, selected);
    if (length === end - start) return selected.subarray(0, length);
  }
  const ranks = ranksOf(words);
  const block = blockOfRank(ranks, start, isFlipped);
  const from = { word: block * BLOCK_WORDS, rank: bitsBefore(ranks, block, isFlipped) };
  const length = selectFrom(words, flip, { ...from, wordEnd: words.length, start, end }, selected);
  return selected.subarray(0, length);
}

/**
 * Where to look: in the words from `word` to `wordEnd`, before which lie `rank` bits, for those of rank `start` to
 * `end`.
 */
interface Stretch {
  readonly word: number;
  readonly wordEnd: number;
  readonly rank: number;
  readonly start: number;
  readonly end: number;
}

function selectFrom(
  words: Uint32Array,
  flip: number,
  { word: first, wordEnd, rank: before, start, end }: Stretch,
  selected: Uint32Array,
): number {
  const last = Math.min(wordEnd, words.length);
  let rank = before;
  let length = 0;
  let i = first;
  for (; i < last && rank < end; i++) {
    let word = words[i]! ^ flip;
    const count = popcount(word);
    if (rank + count > start) {
      for (; word !== 0 && rank < end; word &= word - 1, rank++) {
        if (rank >= start) selected[length++] = i * 32 + (31 - Math.clz32(word & -word));
      }
    } else rank += count;
  }
  ranking.words += i - first;
  return length;
}

/** Bits before each block, and behind the last one the count of all. Words never change once they are asked for it. */
function ranksOf(words: Uint32Array): Uint32Array {
  let ranks = directories.get(words);
  if (!ranks) {
    ranks = directoryOf(words);
    directories.set(words, ranks);
  }
  return ranks;
}

function directoryOf(words: Uint32Array): Uint32Array {
  const ranks = new Uint32Array(directoryWords(words.length));
  let count = 0;
  for (let i = 0; i < words.length; i++) {
    count += popcount(words[i]!);
    if (i % BLOCK_WORDS === BLOCK_WORDS - 1) ranks[(i + 1) / BLOCK_WORDS] = count;
  }
  ranks[ranks.length - 1] = count;
  ranking.words += words.length;
  return ranks;
}

function blocksOf(words: number): number {
  return Math.ceil(words / BLOCK_WORDS);
}

/** The last block with at most `rank` bits before it. */
function blockOfRank(ranks: Uint32Array, rank: number, isFlipped: boolean): number {
  let low = 0;
  let high = ranks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (bitsBefore(ranks, middle, isFlipped) <= rank) low = middle;
    else high = middle - 1;
  }
  return low;
}

function bitsBefore(ranks: Uint32Array, block: number, isFlipped: boolean): number {
  return isFlipped ? block * BLOCK_BITS - ranks[block]! : ranks[block]!;
}
