// Rank and select over bitmaps. A directory counts the bits before each block of words. It is made once per bitmap and
// kept separately, so that bitmaps stay plain words that can be sent to threads.
import { popcount } from './bitmap.ts';

/**
 * Words per block. A select reads at most 16 words before it reaches its first row. A directory has 1/16 of the words.
 */
const BLOCK_WORDS = 16;
const BLOCK_BITS = BLOCK_WORDS * 32;

/**
 * A selection that ends below this rank first reads only `FIRST_WORDS` words, without a directory. They suffice if at
 * least one row in 32 is set.
 */
const FIRST_RANKS = 128;
const FIRST_WORDS = 256;

/** Counts the words that this thread reads to make directories and to select. Tests compare it before and after. */
export const ranking = { words: 0 };

const directories = new WeakMap<Uint32Array, Uint32Array>();

/**
 * The number of set bits. Makes the directory in the same pass. Cost: one pass over the words, nothing the next time.
 */
export function countRanked(words: Uint32Array): number {
  const ranks = findRanks(words);
  return ranks[ranks.length - 1]!;
}

/** The number of words in the directory of a bitmap of `words` words. */
export function directoryWords(words: number): number {
  return countBlocks(words) + 1;
}

/** The number of bytes in the directory of a bitmap of `words` words. */
export function directoryBytes(words: number): number {
  return directoryWords(words) * Uint32Array.BYTES_PER_ELEMENT;
}

/**
 * Registers a directory that was made elsewhere: the bits before each block of 16 words, then the number of all bits.
 */
export function cacheDirectory(words: Uint32Array, ranks: Uint32Array): void {
  directories.set(words, ranks);
}

/** The number of set bits below `row`. Makes the directory if it does not exist. Cost: 16 words at most. */
export function countBitsBelow(words: Uint32Array, row: number): number {
  const ranks = findRanks(words);
  const word = row >>> 5;
  if (word >= words.length) return ranks[ranks.length - 1]!;
  const block = Math.floor(word / BLOCK_WORDS);
  let count = ranks[block]!;
  for (let i = block * BLOCK_WORDS; i < word; i++) count += popcount(words[i]!);
  ranking.words += word - block * BLOCK_WORDS + 1;
  return count + popcount(words[word]! & ((1 << (row & 31)) - 1));
}

/**
 * Writes the rows of rank `start` to `end` (exclusive) to `selected`, ascending, and returns them. `selected` must have
 * room for them. Ranks after the last bit are skipped. With `isFlipped` it selects the bits that are not set; `end`
 * must then not count those after the table's last row. Cost: O(log words), and the words from one block before the
 * first row to the last.
 */
export function selectRanks(
  words: Uint32Array,
  start: number,
  end: number,
  isFlipped = false,
  selected = new Uint32Array(Math.max(0, end - start)),
): Uint32Array {
  const flip = isFlipped ? -1 : 0;
  // Most sets are read for one page only. The first rows of a new bitmap are usually near its start; if not, a
  // directory finds them.
  if (end <= FIRST_RANKS && !directories.has(words)) {
    const length = selectFrom(words, flip, { word: 0, wordEnd: FIRST_WORDS, rank: 0, start, end }, selected);
    if (length === end - start) return selected.subarray(0, length);
  }
  const ranks = findRanks(words);
  const block = findBlock(ranks, start, isFlipped);
  const from = { word: block * BLOCK_WORDS, rank: bitsBefore(ranks, block, isFlipped) };
  const length = selectFrom(words, flip, { ...from, wordEnd: words.length, start, end }, selected);
  return selected.subarray(0, length);
}

/** A range of words, with the ranks to select in it. */
interface Stretch {
  /** First word to read. */
  readonly word: number;
  /** End of the words to read. */
  readonly wordEnd: number;
  /** Number of bits before `word`. */
  readonly rank: number;
  /** First rank to select. */
  readonly start: number;
  /** End of the ranks to select. */
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

/** The bits before each block, then the number of all bits. Words must not change after the first call. */
function findRanks(words: Uint32Array): Uint32Array {
  let ranks = directories.get(words);
  if (!ranks) {
    ranks = makeDirectory(words);
    directories.set(words, ranks);
  }
  return ranks;
}

function makeDirectory(words: Uint32Array): Uint32Array {
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

function countBlocks(words: number): number {
  return Math.ceil(words / BLOCK_WORDS);
}

/** The last block with at most `rank` bits before it. */
function findBlock(ranks: Uint32Array, rank: number, isFlipped: boolean): number {
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
