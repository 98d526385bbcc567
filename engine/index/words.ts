// The word index of a dictionary that `search` reads. For each word of its texts, with case and accents folded, it
// lists the codes of the texts that contain it. A search reads the vocabulary and a few lists instead of all texts:
// 100,000 generated abstracts have 61 MB of text, and some 700 words.
import { GrowableBytes, GrowableU32 } from '../bits/growable.ts';
import { FOLD_GROWTH_MAX, foldBytes, foldMarks } from '../bits/fold.ts';
import { startOfPart } from '../bits/lists.ts';
import { setBit, wordsFor } from '../bits/bitmap.ts';
import {
  codesOfText,
  type Dictionary,
  eachCodeContaining,
  storedDictionary,
  type WrittenDictionary,
} from '../column/dictionary.ts';
import { Interner } from '../column/intern.ts';
import { sortDictionary } from '../column/sort.ts';
import { type ColumnLayout, filterName } from '../schema/layout.ts';
import { isSearched } from '../schema/search.ts';
import { pushDistance, readList } from './grams.ts';
import { invert } from './invert.ts';

/**
 * A stored word index.
 *
 *   text      the distinct words in the order of their bytes, folded, without accents
 *   textEnds  end of each word in `text`
 *   ends      end of each word's list in `postings`
 *   postings  ascending codes, each as its distance from the previous one (the first from -1), in LEB128
 */
export interface StoredWords {
  readonly text: Uint8Array;
  readonly textEnds: Uint32Array;
  readonly ends: Uint32Array;
  readonly postings: Uint8Array;
}

/** A word index, opened: its words are a dictionary. `size` is the number of codes of the indexed dictionary. */
export interface Words extends Pick<StoredWords, 'ends' | 'postings'> {
  readonly vocabulary: Dictionary;
  readonly size: number;
}

/** Whether a column has a word index: `search` reads it. */
export function hasWords(column: ColumnLayout): boolean {
  return isSearched(column.path.split('/')[0]!, filterName(column));
}

/** Opens the word index of a dictionary with `size` codes. */
export function openWords({ text, textEnds, ends, postings }: StoredWords, size: number): Words {
  return { vocabulary: storedDictionary('text', { text, ends: textEnds, numbers: undefined }), size, ends, postings };
}

/**
 * Builds the word index of a dictionary. `seed` is that of the hashes (intern.ts). Cost: one pass over the folded
 * texts, and four bytes of memory for each distinct word of each text.
 */
export function buildWords({ text, ends, size }: WrittenDictionary, seed?: number): StoredWords {
  const interner = new Interner(seed);
  /** Word and code of each entry, in the order of codes. */
  const [entries, codes] = [new GrowableU32(), new GrowableU32()];
  const lastCodes = new GrowableU32();
  let folded = new Uint8Array(0);
  let code = 0;
  let pieceStart = 0;
  for (const piece of text instanceof Uint8Array ? [text] : text) {
    for (; code < size && ends[code]! <= pieceStart + piece.length; code++) {
      const [start, end] = [startOfPart(ends, code) - pieceStart, ends[code]! - pieceStart];
      const room = Math.ceil((end - start) * FOLD_GROWTH_MAX);
      if (folded.length < room) folded = new Uint8Array(room);
      const foldedEnd = foldBytes(piece, start, end, folded, 0, foldMarks);
      eachWord(folded, foldedEnd, (wordStart, wordEnd) => {
        const word = interner.intern(folded, wordStart, wordEnd);
        lastCodes.fillTo(interner.size, 0);
        if (lastCodes.at(word) === code + 1) return;
        lastCodes.set(word, code + 1);
        entries.push(word);
        codes.push(code);
      });
    }
    pieceStart += piece.length;
  }
  return sortLists(interner, entries.view(), codes.view());
}

/** Sorts the entries by word. Entries of a word stay in the order of their codes. */
function sortLists(interner: Interner, entries: Uint32Array, codes: Uint32Array): StoredWords {
  const { dictionary, codes: places } = sortDictionary('text', interner.texts, () => NaN);
  const wordPlaces = entries.map((word) => places[word]!);
  const { starts, postings: order } = invert(wordPlaces, dictionary.size, false);
  const [ends, postings] = [new Uint32Array(dictionary.size), new GrowableBytes(codes.length * 2)];
  for (let place = 0; place < dictionary.size; place++) {
    let last = -1;
    for (let i = starts[place]!; i < starts[place + 1]!; i++) {
      const code = codes[order[i]!]!;
      pushDistance(postings, code - last);
      last = code;
    }
    ends[place] = postings.length;
  }
  return { text: dictionary.text, textEnds: dictionary.ends, ends, postings: postings.view().slice() };
}

/** A word to search, folded. */
export interface SoughtWord {
  /** Its spellings, of which one must occur. */
  readonly spellings: readonly Uint8Array[];
  /** Whether letters and digits must not adjoin. */
  readonly isWhole: boolean;
}

/** The codes that a word index finds. */
export interface WordCodes {
  /** A bitmap. */
  readonly codes: Uint32Array;
  /** Whether all of them match. Otherwise they are candidates: every match is one of them. */
  readonly isExact: boolean;
}

/** Most texts contain some shorter word, so that its lists exclude few. */
const CANDIDATE_BYTES_MIN = 3;

/**
 * The codes of the texts that contain a word. Exact if it is a single word of the index, without blanks and signs.
 * Otherwise its longest part finds candidates; `undefined` if that is too short. `beforeLists` is called with their
 * bytes before they are read. Cost: a pass over the vocabulary unless the word must be whole, and the lists of the
 * matching words.
 */
export function findWord(
  words: Words,
  { spellings, isWhole }: SoughtWord,
  beforeLists: (bytes: number) => void,
): WordCodes | undefined {
  const { vocabulary } = words;
  const parts = spellings.map(longestWord);
  const isExact = parts.every((part, i) => part.length > 0 && part.length === spellings[i]!.length);
  if (!isExact && parts.some((part) => part.length < CANDIDATE_BYTES_MIN)) return undefined;
  const places: number[] = [];
  for (const part of parts) {
    const whole = codesOfText(vocabulary, part);
    if (!isWhole)
      eachCodeContaining(vocabulary, { start: 0, end: vocabulary.size }, part, (place) => places.push(place));
    else if (whole.start < whole.end) places.push(whole.start);
  }
  return { codes: joinLists(words, places, beforeLists), isExact };
}

function longestWord(text: Uint8Array): Uint8Array {
  let longest = text.subarray(0, 0);
  eachWord(text, text.length, (start, end) => {
    if (end - start > longest.length) longest = text.subarray(start, end);
  });
  return longest;
}

function joinLists(
  { ends, postings, size }: Words,
  places: readonly number[],
  beforeLists: (bytes: number) => void,
): Uint32Array {
  beforeLists(places.reduce((sum, place) => sum + ends[place]! - startOfPart(ends, place), 0));
  const codes = new Uint32Array(wordsFor(size));
  for (const place of places) {
    for (const code of readList(postings, { start: startOfPart(ends, place), end: ends[place]! })) {
      // A forged file may have other codes.
      if (code < size) setBit(codes, code);
    }
  }
  return codes;
}

const WORD_CHARACTER = /[\p{L}\p{N}]/u;
const decoder = new TextDecoder();
/** Whether each ASCII character is a letter or digit. */
const IS_ASCII_WORD = Uint8Array.from({ length: 0x80 }, (_, code) =>
  WORD_CHARACTER.test(String.fromCharCode(code)) ? 1 : 0,
);

/** Calls `visit` with each longest run of letters and digits in folded UTF-8. Cost: one pass. */
function eachWord(bytes: Uint8Array, end: number, visit: (start: number, end: number) => void): void {
  let start = -1;
  for (let at = 0; at < end;) {
    const byte = bytes[at]!;
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    const isWord = byte < 0x80 ? IS_ASCII_WORD[byte] === 1 : isWordCharacter(bytes, at, at + length);
    if (isWord && start < 0) start = at;
    if (!isWord && start >= 0) {
      visit(start, at);
      start = -1;
    }
    at += length;
  }
  if (start >= 0) visit(start, end);
}

/** Whether the UTF-8 character `bytes[start..end)` is a letter or digit. */
export function isWordCharacter(bytes: Uint8Array, start: number, end: number): boolean {
  return WORD_CHARACTER.test(decoder.decode(bytes.subarray(start, end)));
}
