// The n-gram index of a dictionary: for every three bytes of its folded texts, the blocks of codes in which they stand.
// Answers candidates for a substring, which the caller verifies: a word in all titles takes 0.04 of a scan of them.
// Source: Zobel and Moffat 2006, 6 (inverted files); Cox 2012 (trigrams with verification).
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
 *   postings  ascending block numbers, each as its distance from the one before (the first from -1), in LEB128
 *   block     how many neighbouring codes are one block; block b holds codes b * block up to (b + 1) * block
 */
export interface Grams {
  readonly keys: Uint32Array;
  readonly ends: Uint32Array;
  readonly postings: Uint8Array;
  readonly block: number;
}

/** Bytes of a gram: shorter needles find no list, longer grams would multiply the keys. */
const GRAM_BYTES = 3;

/** Dictionaries with less text are scanned as they are: that takes some 60 us. */
export const GRAM_TEXT_BYTES_MIN = 65_536;

/** Texts up to this mean length are blocks of their own. */
const SHORT_TEXT_BYTES = 256;

/** Longer texts share blocks of about this many bytes: a list entry per text would take more room than the texts. */
const BLOCK_BYTES = 8192;

/** Lists that are read for one needle, rarest first; more of them hardly lower the candidates. */
const LISTS_MAX = 4;

/** The first bytes of a needle are looked up, some 20 us: what its rest has hardly lowers the candidates. */
const NEEDLE_BYTES_MAX = 256;

/**
 * Bytes of a list that are read to leave a block out: what its texts take to be looked at, where a block is one text,
 * and where it is many.
 */
const SHORT_BLOCK_LIST_BYTES = 64;
const LONG_BLOCK_LIST_BYTES = 4096;

/**
 * Whether a dictionary has an n-gram index: one of texts, when a scan would be long. Texts that all have one length are
 * identifiers, of which nobody asks for a part. Cost: one pass over the ends at most.
 */
export function hasGrams({ type, ends }: Pick<WrittenDictionary, 'type' | 'ends'>): boolean {
  if (type !== 'text' || (ends.at(-1) ?? 0) < GRAM_TEXT_BYTES_MIN) return false;
  return ends.some((end, code) => end !== ends[0]! * (code + 1));
}

/** How many codes make a block of a dictionary. */
export function blockOf({ size, ends }: Pick<WrittenDictionary, 'size' | 'ends'>): number {
  const meanBytes = (ends.at(-1) ?? 0) / Math.max(1, size);
  return meanBytes <= SHORT_TEXT_BYTES ? 1 : Math.max(1, Math.round(BLOCK_BYTES / meanBytes));
}

/**
 * Builds the index of a dictionary, in its own blocks or in such of other lengths. Cost: one pass over the folded
 * texts, and a copy of the lists.
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
      // Four bytes at once, where every character keeps its length: 0.8 of the time of a build of long texts.
      folded.set(text.subarray(start, end));
      const isFolded = foldInPlace(folded, 0, end - start) === end - start;
      lists.note(folded, isFolded ? end - start : foldBytes(text, start, end, folded, 0));
    }
    pieceStart += text.length;
  }
  return { ...lists.finish(), block };
}

/** Of a gram: the blocks begun when it was last met, 0 for none, and where its list starts and ends by then. */
const GRAM_WORDS = 4;

/** The words of all grams with the same first two bytes. */
const GRAMS_WORDS = GRAM_WORDS << 8;

/** A list is written in pieces of so many bytes; a power of 2. */
const PIECE_BYTES = 128;

/**
 * The lists of an index while it is built, each as it is stored, in pieces. What is known of grams lies in a table that
 * has room for those of first two bytes that were met: room for all would take 268 MB.
 */
class GramLists {
  #blocks = 0;
  /** By the first two bytes where their words start; 0 where none was met. */
  readonly #starts = new Uint32Array(1 << 16);
  #words: Uint32Array = new Uint32Array(GRAMS_WORDS * 16);
  #wordsEnd = GRAMS_WORDS;
  /** The first piece has no list, so that a list which ends at 0 has no piece yet. */
  #pieces = new Uint8Array(1 << 16);
  #end = PIECE_BYTES;
  /** By piece: where the one that follows it in its list starts. */
  readonly #following = new GrowableU32();

  beginBlock(): void {
    this.#blocks++;
  }

  /** Notes the grams of a folded text of the block. */
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

  /** The lists by gram. Cost: a look at the table, and a copy. */
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

  /** Room for the grams with such first two bytes; answers the table, which may be another. */
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

  /** Adds a distance to a list that ends at `end`, in LEB128; answers where it ends then. */
  #append(end: number, distance: number): number {
    let at = end;
    for (let rest = distance; ; rest >>>= 7) {
      if (at % PIECE_BYTES === 0) at = this.#pieceBehind(at);
      this.#pieces[at++] = rest < 0x80 ? rest : (rest & 0x7f) | 0x80;
      if (rest < 0x80) return at;
    }
  }

  /** A new piece for a list whose last one is full, or which has none. */
  #pieceBehind(end: number): number {
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

/** Writes a distance as lists have it. */
export function pushDistance(postings: GrowableBytes, distance: number): void {
  let rest = distance;
  for (; rest >= 0x80; rest >>>= 7) postings.pushByte((rest & 0x7f) | 0x80);
  postings.pushByte(rest);
}

/** Lists of an index that a needle needs all of, shortest first; `bytes` of the shortest bounds the candidates. */
export interface GramQuery {
  readonly lists: readonly { readonly start: number; readonly end: number }[];
  readonly bytes: number;
}

/**
 * What to read for a needle, UTF-8 and not folded; undefined where it is too short for a gram. A needle with a gram
 * that stands nowhere has one empty list. Cost: a binary search for each of its first 256 bytes.
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

/** The end of text, or the place in it where the character at `at` starts. */
function startOfCharacter(text: Uint8Array, at: number): number {
  if (at >= text.length) return text.length;
  let start = at;
  while (isContinuation(text[start]!)) start--;
  return start;
}

/**
 * The blocks that are in all of some lists, at least one, ascending, but for lists that take longer to read than these
 * blocks to look at. `beforeList` is called with the bytes of each list before it is read.
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
    blocks = blocks ? keptBlocks(postings, list, blocks) : blocksOf(postings, list);
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

function blocksOf(postings: Uint8Array, { start, end }: { start: number; end: number }): Uint32Array {
  const blocks = new Uint32Array(end - start);
  let length = 0;
  let block = -1;
  for (let at = start; at < end;) {
    let distance = 0;
    let shift = 0;
    let byte: number;
    do {
      byte = postings[at++]!;
      distance |= (byte & 0x7f) << shift;
      shift += 7;
    } while (byte >= 0x80);
    // No import writes that; a file that somebody forged would name one block for each of its bytes.
    if (distance <= 0) break;
    block += distance;
    blocks[length++] = block;
  }
  return blocks.subarray(0, length);
}

/** The blocks that are in a list too: one merge. */
function keptBlocks(
  postings: Uint8Array,
  list: { readonly start: number; readonly end: number },
  blocks: Uint32Array,
): Uint32Array {
  const others = blocksOf(postings, list);
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
