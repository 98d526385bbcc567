// The n-gram index of a dictionary: for every three bytes of its folded texts, the blocks of codes in which they stand.
// Answers candidates for a substring, which the caller verifies. Source: Zobel and Moffat 2006, 6
// (inverted files); Cox 2012 (trigrams with verification).
import { foldBytes, foldInPlace, FOLD_GROWTH_MAX } from '../bits/fold.ts';
import { GrowableBytes, GrowableU32 } from '../bits/growable.ts';
import { lowerBound } from '../bits/lists.ts';
import type { CodeRange, Dictionary } from '../column/dictionary.ts';

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

/**
 * Whether a dictionary has an n-gram index: one of texts, when a scan would be long. Texts that all have one length are
 * identifiers, of which nobody asks for a part. Cost: one pass over the ends at most.
 */
export function hasGrams({ type, text, ends }: Pick<Dictionary, 'type' | 'text' | 'ends'>): boolean {
  if (type !== 'text' || text.length < GRAM_TEXT_BYTES_MIN) return false;
  return ends.some((end, code) => end !== ends[0]! * (code + 1));
}

/** How many codes make a block of a dictionary. */
export function blockOf({ size, text }: Pick<Dictionary, 'size' | 'text'>): number {
  const meanBytes = text.length / Math.max(1, size);
  return meanBytes <= SHORT_TEXT_BYTES ? 1 : Math.max(1, Math.round(BLOCK_BYTES / meanBytes));
}

/**
 * Builds the index of a dictionary, in its own blocks or in such of other lengths. Cost: one pass over the folded
 * texts, and a counting sort of what was found.
 */
export function buildGrams(dictionary: Dictionary, block = blockOf(dictionary)): Grams {
  const found = new FoundGrams();
  let folded = new Uint8Array(BLOCK_BYTES);
  for (let code = 0; code < dictionary.size; code++) {
    if (code % block === 0) found.beginBlock();
    const start = code === 0 ? 0 : dictionary.ends[code - 1]!;
    const end = dictionary.ends[code]!;
    const room = Math.ceil((end - start) * FOLD_GROWTH_MAX);
    if (folded.length < room) folded = new Uint8Array((room + 3) & ~3);
    // Four bytes at once, where every character keeps its length: 0.8 of the time of a build of long texts.
    folded.set(dictionary.text.subarray(start, end));
    const isFolded = foldInPlace(folded, 0, end - start) === end - start;
    found.note(folded, isFolded ? end - start : foldBytes(dictionary.text, start, end, folded, 0));
  }
  return { ...writtenLists(found), block };
}

// Scratch for all builds of a thread: for every possible gram the last block it was met in, blocks counted over all
// builds, and its number in the build. 128 MB while importing, and never made by a thread that only serves.
let metIn: Uint32Array | undefined;
let numberOf: Uint32Array | undefined;
let blocksBuilt = 0;

/** The grams of each block, each once a block, numbered in the order in which they are first met. */
class FoundGrams {
  readonly grams = new GrowableU32();
  readonly numbers = new GrowableU32(1 << 16);
  /** Where each block's numbers start. */
  readonly starts = new GrowableU32();
  readonly #met = (metIn ??= new Uint32Array(1 << 24));
  readonly #number = (numberOf ??= new Uint32Array(1 << 24));
  readonly #first = blocksBuilt;

  beginBlock(): void {
    this.starts.push(this.numbers.length);
    blocksBuilt++;
  }

  note(folded: Uint8Array, length: number): void {
    const [met, number] = [this.#met, this.#number];
    let gram = (folded[0]! << 8) | folded[1]!;
    for (let i = GRAM_BYTES - 1; i < length; i++) {
      gram = ((gram << 8) | folded[i]!) & 0xffffff;
      if (met[gram] === blocksBuilt) continue;
      if (met[gram]! <= this.#first) {
        number[gram] = this.grams.length;
        this.grams.push(gram);
      }
      met[gram] = blocksBuilt;
      this.numbers.push(number[gram]!);
    }
  }
}

function writtenLists(found: FoundGrams): Omit<Grams, 'block'> {
  const grams = found.grams.view();
  const order = Uint32Array.from(grams, (_, number) => number).sort((a, b) => grams[a]! - grams[b]!);
  const blocks = blocksByNumber(found);
  const postings = new GrowableBytes(found.numbers.length);
  const ends = new Uint32Array(order.length);
  order.forEach((number, k) => {
    let last = -1;
    for (let at = blocks.starts[number]!; at < blocks.starts[number + 1]!; at++) {
      pushDistance(postings, blocks.list[at]! - last);
      last = blocks.list[at]!;
    }
    ends[k] = postings.length;
  });
  return { keys: order.map((number) => grams[number]!), ends, postings: postings.view().slice() };
}

function blocksByNumber(found: FoundGrams): { list: Uint32Array; starts: Uint32Array } {
  const numbers = found.numbers.view();
  const starts = new Uint32Array(found.grams.length + 1);
  for (let i = 0; i < numbers.length; i++) starts[numbers[i]! + 1]!++;
  for (let number = 1; number < starts.length; number++) starts[number]! += starts[number - 1]!;
  const next = starts.slice();
  const list = new Uint32Array(numbers.length);
  for (let block = 0; block < found.starts.length; block++) {
    const end = block + 1 < found.starts.length ? found.starts.at(block + 1) : numbers.length;
    for (let i = found.starts.at(block); i < end; i++) list[next[numbers[i]!]!++] = block;
  }
  return { list, starts };
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
 * that stands nowhere has one empty list. Cost: a binary search a byte of the needle.
 */
export function gramQuery(grams: Grams, needle: Uint8Array): GramQuery | undefined {
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

/** The blocks that are in all of some lists, at least one, ascending. Cost: the bytes of the lists. */
export function gramBlocks({ postings }: Grams, lists: GramQuery['lists']): Uint32Array {
  let blocks = blocksOf(postings, lists[0]!);
  for (const list of lists.slice(1)) {
    if (blocks.length > 0) blocks = keptBlocks(postings, list, blocks);
  }
  return blocks;
}

/** The codes that may hold the needle, as ascending ranges of whole blocks. Cost: the bytes of the lists. */
export function gramCandidates(grams: Grams, size: number, { lists }: GramQuery): readonly CodeRange[] {
  const blocks = gramBlocks(grams, lists);
  const ranges: { start: number; end: number }[] = [];
  for (let i = 0; i < blocks.length; i++) {
    const start = blocks[i]! * grams.block;
    const end = Math.min(size, start + grams.block);
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
