// The n-gram index of a dictionary. For every three bytes of its folded texts, it lists the blocks of codes that
// contain them. It returns candidates for a substring, which the caller must verify. A word in all titles takes 0.04 of
// the time of a scan. Source: Zobel and Moffat 2006, 6 (inverted files); Cox 2012 (trigrams with verification).
import { isContinuation } from '../bits/bytes.ts';
import { FOLD_GROWTH_MAX, foldBytes, foldInPlace } from '../bits/fold.ts';
import { GrowableBytes, GrowableU32 } from '../bits/growable.ts';
import { lowerBound, startOfPart } from '../bits/lists.ts';
import type { CodeRange, WrittenDictionary } from '../column/dictionary.ts';

/**
 * A stored n-gram index.
 *
 *   keys      ascending: three folded bytes as one number, first byte highest
 *   ends      end of each key's list in `postings`
 *   postings  ascending block numbers, each as its distance from the previous one (the first from -1), in LEB128
 *   block     number of neighbouring codes in a block; block b has the codes b * block up to (b + 1) * block, exclusive
 */
export interface Grams {
  readonly keys: Uint32Array;
  readonly ends: Uint32Array;
  readonly postings: Uint8Array;
  readonly block: number;
}

/** Bytes of a gram. Shorter needles cannot use the index; longer grams would multiply the keys. */
const GRAM_BYTES = 3;

/** Dictionaries with less text are scanned without an index, which takes about 60 us. */
export const GRAM_TEXT_BYTES_MIN = 65_536;

/** If the mean length of texts is at most this, each text is a block. */
const SHORT_TEXT_BYTES = 256;

/**
 * Longer texts share blocks of about this many bytes, because one list entry per text would take more room than the
 * texts.
 */
const BLOCK_BYTES = 8192;

/** Lists that are read for one needle, rarest first. More lists hardly reduce the candidates. */
const LISTS_MAX = 4;

/** Only the first bytes of a needle are looked up, in about 20 us. The rest hardly reduces the candidates. */
const NEEDLE_BYTES_MAX = 256;

/**
 * The bytes of a list that may be read to exclude one block: reading more takes longer than checking the block's texts.
 * A short block is one text, a long block many.
 */
const SHORT_BLOCK_LIST_BYTES = 64;
const LONG_BLOCK_LIST_BYTES = 4096;

/**
 * Whether a dictionary has an n-gram index: if it has texts and a scan would take long. Texts of one length are
 * identifiers, in which clients do not search for substrings. Cost: at most one pass over the ends.
 */
export function hasGrams({ type, ends }: Pick<WrittenDictionary, 'type' | 'ends'>): boolean {
  if (type !== 'text' || (ends.at(-1) ?? 0) < GRAM_TEXT_BYTES_MIN) return false;
  return ends.some((end, code) => end !== ends[0]! * (code + 1));
}

/** The number of codes per block of a dictionary. */
export function blockOf({ size, ends }: Pick<WrittenDictionary, 'size' | 'ends'>): number {
  const meanBytes = (ends.at(-1) ?? 0) / Math.max(1, size);
  return meanBytes <= SHORT_TEXT_BYTES ? 1 : Math.max(1, Math.round(BLOCK_BYTES / meanBytes));
}

/**
 * Builds the index of a dictionary, with its default block length or another. Cost: one pass over the folded texts, and
 * a copy of the lists.
 */
export function buildGrams(dictionary: WrittenDictionary, block = blockOf(dictionary)): Grams {
  const pieces = dictionary.text instanceof Uint8Array ? [dictionary.text] : dictionary.text;
  const lists = new GramLists();
  let folded = new Uint8Array(BLOCK_BYTES);
  let code = 0;
  let pieceStart = 0;
  for (const text of pieces) {
    for (; code < dictionary.size && dictionary.ends[code]! <= pieceStart + text.length; code++) {
      if (code % block === 0) lists.beginBlock();
      const start = startOfPart(dictionary.ends, code) - pieceStart;
      const end = dictionary.ends[code]! - pieceStart;
      const room = Math.ceil((end - start) * FOLD_GROWTH_MAX);
      if (folded.length < room) folded = new Uint8Array((room + 3) & ~3);
      // Folds four bytes at once if every character keeps its length: 0.8 of the build time of long texts.
      folded.set(text.subarray(start, end));
      const isFolded = foldInPlace(folded, 0, end - start) === end - start;
      lists.note(folded, isFolded ? end - start : foldBytes(text, start, end, folded, 0));
    }
    pieceStart += text.length;
  }
  return { ...lists.finish(), block };
}

/**
 * The words of a gram: the number of blocks begun when it last occurred (0 for never), and the start and end of its
 * list.
 */
const GRAM_WORDS = 4;

/** The number of words of all grams with the same first two bytes. */
const GRAMS_WORDS = GRAM_WORDS << 8;

/** A list is written in pieces of this many bytes; a power of 2. */
const PIECE_BYTES = 128;

/**
 * The lists of an index while it is built, each in its stored form, in pieces. The table of grams has room only for the
 * first two bytes that occurred. Room for all of them would take 268 MB.
 */
class GramLists {
  #blocks = 0;
  /** Start of the words of each first two bytes; 0 if they have not occurred. */
  readonly #starts = new Uint32Array(1 << 16);
  #words: Uint32Array = new Uint32Array(GRAMS_WORDS * 16);
  #wordsEnd = GRAMS_WORDS;
  /** No list uses the first piece, so that a list with end 0 has no piece yet. */
  #pieces = new Uint8Array(1 << 16);
  #end = PIECE_BYTES;
  /** For each piece, the start of the next piece of its list. */
  readonly #following = new GrowableU32();

  beginBlock(): void {
    this.#blocks++;
  }

  /** Adds the grams of a folded text to the current block. */
  note(folded: Uint8Array, bytes: number): void {
    const [blocks, starts] = [this.#blocks, this.#starts];
    let words = this.#words;
    let gram = (folded[0]! << 8) | folded[1]!;
    for (let i = GRAM_BYTES - 1; i < bytes; i++) {
      gram = ((gram << 8) | folded[i]!) & 0xffffff;
      if (starts[gram >>> 8] === 0) words = this.#makeRoom(gram >>> 8);
      const at = starts[gram >>> 8]! + (gram & 0xff) * GRAM_WORDS;
      const distance = blocks - words[at]!;
      if (distance === 0) continue;
      if (words[at] === 0) words[at + 1] = this.#end;
      words[at] = blocks;
      words[at + 2] = this.#append(words[at + 2]!, distance);
    }
  }

  /** Returns the lists in the order of grams. Cost: a pass over the table, and a copy. */
  finish(): Omit<Grams, 'block'> {
    const [keys, ends, postings] = [new GrowableU32(), new GrowableU32(), new GrowableBytes(this.#end)];
    const words = this.#words;
    this.#starts.forEach((start, firstTwo) => {
      if (start === 0) return;
      for (let third = 0; third < 256; third++) {
        const at = start + third * GRAM_WORDS;
        if (words[at] === 0) continue;
        this.#copyList(postings, words[at + 1]!, words[at + 2]!);
        keys.push((firstTwo << 8) | third);
        ends.push(postings.length);
      }
    });
    return { keys: keys.view().slice(), ends: ends.view().slice(), postings: postings.view().slice() };
  }

  #copyList(postings: GrowableBytes, start: number, end: number): void {
    let piece = start;
    for (; piece + PIECE_BYTES < end || end <= piece; piece = this.#following.at(piece / PIECE_BYTES))
      postings.push(this.#pieces, piece, piece + PIECE_BYTES);
    postings.push(this.#pieces, piece, end);
  }

  /** Reserves the words of grams with these first two bytes. Returns the table, which may be a new one. */
  #makeRoom(firstTwo: number): Uint32Array {
    this.#starts[firstTwo] = this.#wordsEnd;
    this.#wordsEnd += GRAMS_WORDS;
    if (this.#wordsEnd > this.#words.length) {
      const grown = new Uint32Array(this.#words.length * 2);
      grown.set(this.#words);
      this.#words = grown;
    }
    return this.#words;
  }

  /** Appends a distance to a list that ends at `end`, in LEB128. Returns its new end. */
  #append(end: number, distance: number): number {
    let at = end;
    for (let rest = distance; ; rest >>>= 7) {
      if (at % PIECE_BYTES === 0) at = this.#pieceAfter(at);
      this.#pieces[at++] = rest < 0x80 ? rest : (rest & 0x7f) | 0x80;
      if (rest < 0x80) return at;
    }
  }

  /** Adds a piece to a list without pieces or with a full last piece. Returns the start of the piece. */
  #pieceAfter(end: number): number {
    const start = this.#end;
    this.#end += PIECE_BYTES;
    if (this.#end > this.#pieces.length) {
      const grown = new Uint8Array(this.#pieces.length * 2);
      grown.set(this.#pieces);
      this.#pieces = grown;
    }
    this.#following.fillTo(this.#end / PIECE_BYTES, 0);
    if (end > 0) this.#following.set(end / PIECE_BYTES - 1, start);
    return start;
  }
}

/** Appends a distance in the form of stored lists. */
export function pushDistance(postings: GrowableBytes, distance: number): void {
  let rest = distance;
  for (; rest >= 0x80; rest >>>= 7) postings.pushByte((rest & 0x7f) | 0x80);
  postings.pushByte(rest);
}

/**
 * Shortest lists of the grams of a needle, shortest first. A match is in all of them, so that `bytes`, the length of
 * the shortest, bounds the candidates.
 */
export interface GramQuery {
  readonly lists: readonly { readonly start: number; readonly end: number }[];
  readonly bytes: number;
}

/**
 * The lists to read for a needle, which is UTF-8 and not folded; undefined if it is too short for a gram. If a gram of
 * the needle does not occur at all, the result is one empty list. Cost: a binary search for each of its first 256
 * bytes.
 */
export function gramQuery(grams: Grams, text: Uint8Array): GramQuery | undefined {
  const needle = text.subarray(0, startOfCharacter(text, NEEDLE_BYTES_MAX));
  const folded = new Uint8Array(Math.ceil(needle.length * FOLD_GROWTH_MAX));
  const length = foldBytes(needle, 0, needle.length, folded, 0);
  if (length < GRAM_BYTES) return undefined;
  const lists = new Map<number, { start: number; end: number }>();
  for (let i = 0; i + GRAM_BYTES <= length; i++) {
    const gram = (folded[i]! << 16) | (folded[i + 1]! << 8) | folded[i + 2]!;
    const k = lowerBound(grams.keys, gram);
    if (grams.keys[k] !== gram) return { lists: [{ start: 0, end: 0 }], bytes: 0 };
    lists.set(gram, { start: k === 0 ? 0 : grams.ends[k - 1]!, end: grams.ends[k]! });
  }
  const shortest = [...lists.values()].sort((a, b) => a.end - a.start - (b.end - b.start)).slice(0, LISTS_MAX);
  return { lists: shortest, bytes: shortest[0]!.end - shortest[0]!.start };
}

/** The start of the character at `at`, or the end of the text. */
function startOfCharacter(text: Uint8Array, at: number): number {
  if (at >= text.length) return text.length;
  let start = at;
  while (isContinuation(text[start]!)) start--;
  return start;
}

/**
 * The blocks that are in all lists, ascending. There is at least one list. Stops before a list that would take longer
 * to read than the remaining blocks take to check. `beforeList` is called with the bytes of each list before it is
 * read.
 */
export function gramBlocks(
  { postings, block }: Grams,
  lists: GramQuery['lists'],
  beforeList: (bytes: number) => void = () => undefined,
): Uint32Array {
  const blockListBytes = block === 1 ? SHORT_BLOCK_LIST_BYTES : LONG_BLOCK_LIST_BYTES;
  let blocks: Uint32Array | undefined;
  for (const list of lists) {
    const bytes = list.end - list.start;
    if (blocks && bytes > blocks.length * blockListBytes) break;
    beforeList(bytes);
    blocks = blocks ? intersectBlocks(postings, list, blocks) : readList(postings, list);
  }
  return blocks!;
}

/** The codes of ascending blocks, as ascending ranges. */
export function codesOfBlocks({ block }: Grams, size: number, blocks: Uint32Array): readonly CodeRange[] {
  const ranges: { start: number; end: number }[] = [];
  for (let i = 0; i < blocks.length; i++) {
    const start = blocks[i]! * block;
    if (start >= size) break;
    const end = Math.min(size, start + block);
    const last = ranges[ranges.length - 1];
    if (last?.end === start) last.end = end;
    else ranges.push({ start, end });
  }
  return ranges;
}

/** The numbers of a stored list, ascending. Cost: its bytes. */
export function readList(postings: Uint8Array, { start, end }: CodeRange): Uint32Array {
  const numbers = new Uint32Array(end - start);
  let length = 0;
  let last = -1;
  for (let at = start; at < end;) {
    let distance = 0;
    let shift = 0;
    let byte: number;
    do {
      byte = postings[at++]!;
      distance |= (byte & 0x7f) << shift;
      shift += 7;
    } while (byte >= 0x80);
    // Imports never write distance 0. A forged file could use it to name a block for each of its bytes.
    if (distance <= 0) break;
    last += distance;
    numbers[length++] = last;
  }
  return numbers.subarray(0, length);
}

/** The given blocks that are also in the list. Cost: one merge. */
function intersectBlocks(
  postings: Uint8Array,
  list: { readonly start: number; readonly end: number },
  blocks: Uint32Array,
): Uint32Array {
  const others = readList(postings, list);
  const kept = new Uint32Array(Math.min(blocks.length, others.length));
  let length = 0;
  for (let i = 0, k = 0; i < blocks.length && k < others.length;) {
    const difference = blocks[i]! - others[k]!;
    if (difference === 0) kept[length++] = blocks[i]!;
    if (difference <= 0) i++;
    if (difference >= 0) k++;
  }
  return kept.subarray(0, length);
}
