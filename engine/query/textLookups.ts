// The lookups that read texts: contains, startswith, endswith, and the same with case folded. They compare bytes and
// make no string per text. Each search folds into one buffer.
import { type CodeRange, type Dictionary, eachCodeContaining, storedDictionary } from '../column/dictionary.ts';
import type { ServedForm } from '../column/served.ts';
import { hasBytesAt, hasPrefix, horspoolShifts, indexOfBytes, isContinuation } from '../bits/bytes.ts';
import { FOLD_GROWTH_MAX, FOLD_SHRINKAGE_MAX, foldBytes, foldInPlace, foldMarks, foldText } from '../bits/fold.ts';
import { startOfPart, upperBound } from '../bits/lists.ts';
import { isWordCharacter } from '../index/words.ts';
import { codesOfServedPrefix, isTextOrdered } from './codes.ts';
import type { TextMatcher, TextSearch } from './dateParts.ts';
import type { Operand } from './values.ts';

/** How an operand and a text relate: the text contains it, starts or ends with it. */
export type TextRelation = 'contains' | 'startswith' | 'endswith';

const encoder = new TextEncoder();

/** Searches of the case-sensitive lookups. The operand is a text; for `contains` it must not be empty. */
export const TEXT_SEARCHES: Readonly<Record<TextRelation, (operand: Operand) => TextSearch>> = {
  contains: (operand) => {
    const needle = needleOf(operand);
    const eachHit: TextSearch['eachHit'] = (dictionary, codes, onHit) =>
      eachCodeContaining(dictionary, codes, needle, onHit);
    return { kind: 'text', matches: containsMatcher(needle), eachHit, needle };
  },
  startswith: (operand) => plainSearch(operand, prefixMatcher),
  endswith: (operand) => plainSearch(operand, suffixMatcher),
};

/** Searches of the lookups that fold case (A55). */
export const FOLDED_SEARCHES: Readonly<Record<TextRelation | 'exact', (operand: Operand) => TextSearch>> = {
  exact: (operand) => {
    const { matches, needle } = foldedSearch(operand, wholeMatcher, wholePart);
    const most = foldedNeedle(operand).length * FOLD_SHRINKAGE_MAX;
    return { kind: 'text', matches: (bytes, start, end) => end - start <= most && matches(bytes, start, end), needle };
  },
  contains: (operand) => {
    const search = foldedSearch(operand, containsMatcher, wholePart);
    return { ...search, eachHit: eachFoldedContaining(foldedNeedle(operand), search.matches) };
  },
  startswith: (operand) => foldedSearch(operand, prefixMatcher, firstPart),
  endswith: (operand) => foldedSearch(operand, suffixMatcher, lastPart),
};

/** Searches of the words of `search`, which are folded (A168). With `isWhole`, letters and digits must not adjoin. */
export function wordSearch({ values }: Operand, isWhole: boolean): TextSearch {
  const spellings = values.map((value) => encoder.encode(value));
  const matchers = spellings.map((spelling) => (isWhole ? wholeWordMatcher(spelling) : containsMatcher(spelling)));
  const room = newRoom();
  const matches: TextMatcher = (bytes, start, end) => {
    const folded = room(end - start);
    const foldedEnd = foldBytes(bytes, start, end, folded, 0, foldMarks);
    return matchers.some((isHit) => isHit(folded, 0, foldedEnd));
  };
  return { kind: 'text', matches, word: { spellings, isWhole } };
}

function wholeWordMatcher(word: Uint8Array): TextMatcher {
  const shifts = horspoolShifts(word);
  return (bytes, start, end) => {
    for (let at = start; (at = indexOfBytes(bytes, word, shifts, at, end)) >= 0; at++) {
      const [before, after] = [lastPart(bytes, start, at, 1), firstPart(bytes, at + word.length, end, 1)];
      if (![before, after].some((character) => isWordCharacter(bytes, character.start, character.end))) return true;
    }
    return false;
  };
}

/**
 * The codes whose text starts with the operand. `undefined` if the texts are not in order: misfits are not sorted among
 * the other texts.
 */
export function prefixCodes(
  dictionary: Dictionary,
  operand: Operand,
  form: ServedForm,
): readonly CodeRange[] | undefined {
  const isOrdered = isTextOrdered(dictionary) && dictionary.fitting === dictionary.size;
  return isOrdered ? codesOfServedPrefix(dictionary, operand.values[0]!, form) : undefined;
}

function containsMatcher(needle: Uint8Array): TextMatcher {
  const shifts = horspoolShifts(needle);
  return (bytes, start, end) => indexOfBytes(bytes, needle, shifts, start, end) >= 0;
}

function prefixMatcher(prefix: Uint8Array): TextMatcher {
  return (bytes, start, end) => hasPrefix(bytes, prefix, start, end);
}

function suffixMatcher(suffix: Uint8Array): TextMatcher {
  return (bytes, start, end) => end - start >= suffix.length && hasBytesAt(bytes, end - suffix.length, suffix);
}

function wholeMatcher(whole: Uint8Array): TextMatcher {
  return (bytes, start, end) => end - start === whole.length && hasBytesAt(bytes, start, whole);
}

function needleOf(operand: Operand): Uint8Array {
  return encoder.encode(operand.values[0]!);
}

function plainSearch(operand: Operand, matcherOf: (needle: Uint8Array) => TextMatcher): TextSearch & Needled {
  const needle = needleOf(operand);
  return { kind: 'text', matches: matcherOf(needle), needle };
}

interface Needled {
  readonly needle: Uint8Array;
}

function foldedNeedle(operand: Operand): Uint8Array {
  return encoder.encode(foldText(operand.values[0]!));
}

/**
 * Returns the part of a text that decides whether it matches. `most` is the largest number of bytes that can fold to
 * the needle.
 */
type Part = (bytes: Uint8Array, start: number, end: number, most: number) => CodeRange;

function foldedSearch(
  operand: Operand,
  matcherOf: (needle: Uint8Array) => TextMatcher,
  partOf: Part,
): TextSearch & Needled {
  const needle = foldedNeedle(operand);
  const isHit = matcherOf(needle);
  const most = needle.length * FOLD_SHRINKAGE_MAX;
  const room = newRoom();
  const matches: TextMatcher = (bytes, start, end) => {
    const part = partOf(bytes, start, end, most);
    const folded = room(part.end - part.start);
    return isHit(folded, 0, foldBytes(bytes, part.start, part.end, folded, 0));
  };
  return { kind: 'text', matches, needle };
}

function wholePart(_bytes: Uint8Array, start: number, end: number): CodeRange {
  return { start, end };
}

/** The first `most` bytes, extended to the end of a character: more cannot fold to the needle. */
function firstPart(bytes: Uint8Array, start: number, end: number, most: number): CodeRange {
  let cut = Math.min(end, start + most);
  while (cut < end && isContinuation(bytes[cut]!)) cut++;
  return { start, end: cut };
}

function lastPart(bytes: Uint8Array, start: number, end: number, most: number): CodeRange {
  let cut = Math.max(start, end - most);
  while (cut > start && isContinuation(bytes[cut]!)) cut--;
  return { start: cut, end };
}

/**
 * Folds a copy of the texts in place and searches them as one text. The few texts whose length changes are checked one
 * by one by `matches`.
 */
function eachFoldedContaining(needle: Uint8Array, matches: TextMatcher): NonNullable<TextSearch['eachHit']> {
  const room = newRoom();
  return (dictionary, codes, onHit) => {
    const first = startOfPart(dictionary.ends, codes.start);
    const bytes = startOfPart(dictionary.ends, codes.end) - first;
    const text = room(bytes);
    text.set(dictionary.text.subarray(first, first + bytes));
    const ends = dictionary.ends.slice(codes.start, codes.end);
    for (let i = 0; i < ends.length; i++) ends[i]! -= first;
    const folded = storedDictionary('text', { ends, text, numbers: undefined });
    const onFoldedHit = (i: number): void => onHit(codes.start + i);
    for (let from = 0; from < ends.length;) {
      const stop = foldTexts(text, ends, from);
      eachCodeContaining(folded, { start: from, end: stop }, needle, onFoldedHit);
      const isHit =
        stop < ends.length && matches(dictionary.text, first + startOfPart(ends, stop), first + ends[stop]!);
      if (isHit) onFoldedHit(stop);
      from = stop + 1;
    }
  };
}

/**
 * Folds the texts from `from` on in place. Returns the index of the first text that cannot be folded so, or the number
 * of texts.
 */
function foldTexts(text: Uint8Array, ends: Uint32Array, from: number): number {
  const end = ends[ends.length - 1]!;
  const reached = foldInPlace(text, startOfPart(ends, from), end);
  return reached < end ? upperBound(ends, reached) : ends.length;
}

/**
 * Returns a function that provides a reusable buffer with room for a text of `bytes` bytes, folded. Its length is a
 * multiple of 4.
 */
function newRoom(): (bytes: number) => Uint8Array {
  let buffer = new Uint8Array(0);
  return (bytes) => {
    if (buffer.length < bytes * FOLD_GROWTH_MAX) buffer = new Uint8Array(Math.ceil((bytes * FOLD_GROWTH_MAX) / 4) * 4);
    return buffer;
  };
}
