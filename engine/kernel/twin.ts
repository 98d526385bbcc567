// The kernel in plain JavaScript: the same functions over the same memories with the same results. Slow and obvious.
// The oracle of the kernel's tests, and what is used where the runtime has no such WebAssembly.
import { BASE_AT, END_AT, FORM, KEPT, NEEDLE_AT, NOT_FOUND } from './layout.ts';
import type { Kernel } from './contract.ts';
import type { Own } from './own.ts';

/** The form of a splice, see layout.ts. Positions count from the start of the bytes that are spliced. */
export interface SpliceForm {
  readonly origin: number;
  readonly growth: number;
  readonly urlBytes: number;
  readonly base: Uint8Array | undefined;
  readonly digit: number;
  readonly end: Uint8Array | undefined;
}

/** A part of records: bytes from `start` to `end`, with the own URLs `first` to `last` (exclusive) of `links` in it. */
export interface SplicedPart {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly links: Uint32Array;
  readonly first: number;
  readonly last: number;
}

const UTF8 = new TextEncoder();
const STORED_API = UTF8.encode('/api/v3/');
const STORED_END = UTF8.encode('/?format=api');
/** Where the digit stands in `/api/v3/`. */
const DIGIT_AT = 6;
const QUOTE = 0x22;
const SLASH = 0x2f;
const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;

/** The twin over these memories, as views of all of each. */
export function twinKernel(source: Uint8Array, positions: Uint32Array, own: Own): Kernel {
  const partOf = (start: number, end: number, first: number, last: number): SplicedPart => {
    const links = positions.subarray(wordAt(own, FORM.links) / 4);
    return { bytes: source, start: start >>> 0, end: end >>> 0, links, first, last };
  };
  return {
    copy: (to, from, bytes) => void copied(source, from >>> 0, bytes, own.bytes, to),
    gather: (list, count, to) => {
      let at = to;
      for (let i = list / 4; i < list / 4 + count * 2; i += 2) {
        at = copied(source, own.words[i]!, own.words[i + 1]!, own.bytes, at);
      }
      return at;
    },
    patch: (start, end, first, last, to) => patchPart(partOf(start, end, first, last), formIn(own), own.bytes, to),
    splice: (start, end, first, last, to) => splicePart(partOf(start, end, first, last), formIn(own), own.bytes, to),
    countLinkEnds: (start, end, first, last) => countLinkEnds(partOf(start, end, first, last), formIn(own)),
    indexOf: (start, end, bytes) => indexOf(source, own.bytes.subarray(NEEDLE_AT, NEEDLE_AT + bytes), start, end) | 0,
    rank: (words, bytes, ranks) => rank(own.words, words / 4, bytes / 4, ranks / 4),
    and: (target, other, bytes) => {
      for (let i = 0; i < bytes; i++) own.bytes[target + i]! &= own.bytes[other + i]!;
    },
  };
}

/** Copies a part with another version digit in its own URLs; answers the position behind it. */
function patchPart(part: SplicedPart, form: SpliceForm, target: Uint8Array, at: number): number {
  const end = copied(part.bytes, part.start, part.end - part.start, target, at);
  for (let n = part.first; n < part.last; n++) {
    const path = at - part.start + pathOf(part, form, n);
    if (isAt(target, path, end, STORED_API)) target[path + DIGIT_AT] = form.digit;
  }
  return end;
}

/** Writes a part with another base URL, version or end of links in its own URLs; answers the position behind it. */
export function splicePart(part: SplicedPart, form: SpliceForm, target: Uint8Array, start: number): number {
  const { bytes, end } = part;
  let at = start;
  let from = part.start;
  for (let n = part.first; n < part.last; n++) {
    const path = pathOf(part, form, n);
    if (form.base) {
      at = copied(bytes, from, path - form.urlBytes - from, target, at);
      at = copied(form.base, 0, form.base.length, target, at);
      from = path;
    }
    if (!isAt(bytes, path, end, STORED_API)) continue;
    if (form.digit !== 0) {
      at = copied(bytes, from, path + STORED_API.length - from, target, at);
      target[at - STORED_API.length + DIGIT_AT] = form.digit;
      from = path + STORED_API.length;
    }
    const tail = form.end ? linkEndAt(bytes, path, end) : -1;
    if (tail < 0) continue;
    at = copied(bytes, from, tail - from, target, at);
    at = copied(form.end!, 0, form.end!.length, target, at);
    from = tail + STORED_END.length;
  }
  return copied(bytes, from, end - from, target, at);
}

/** How many own URLs of a part are links to records, as `linkEndAt` says. Cost: a look at each. */
function countLinkEnds(part: SplicedPart, form: SpliceForm): number {
  let count = 0;
  for (let n = part.first; n < part.last; n++) {
    const path = pathOf(part, form, n);
    if (isAt(part.bytes, path, part.end, STORED_API) && linkEndAt(part.bytes, path, part.end) >= 0) count++;
  }
  return count;
}

function pathOf({ links }: SplicedPart, { origin, growth, urlBytes }: SpliceForm, n: number): number {
  return origin + links[n]! + growth * n + urlBytes;
}

/**
 * Where `/?format=api` starts in the own URL whose path, `/api/v3/` included, starts at `path`, or -1 where the text up
 * to its quote is not exactly `/api/v3/<collection>/<id>/?format=api`.
 */
function linkEndAt(bytes: Uint8Array, path: number, end: number): number {
  const name = path + STORED_API.length;
  let at = name;
  while (at < end && bytes[at] !== SLASH && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++;
  if (at === name || at >= end || bytes[at] !== SLASH) return -1;
  const id = ++at;
  while (at < end && bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
  const quote = at + STORED_END.length;
  return at > id && quote < end && isAt(bytes, at, end, STORED_END) && bytes[quote] === QUOTE ? at : -1;
}

function isAt(bytes: Uint8Array, at: number, end: number, expected: Uint8Array): boolean {
  return at + expected.length <= end && expected.every((byte, i) => bytes[at + i] === byte);
}

function copied(bytes: Uint8Array, from: number, length: number, target: Uint8Array, at: number): number {
  target.set(bytes.subarray(from, from + length), at);
  return at + length;
}

function wordAt({ words }: Own, at: number): number {
  return words[at / 4]!;
}

function formIn(own: Own): SpliceForm {
  const textAt = (at: number, length: number): Uint8Array | undefined =>
    length === KEPT ? undefined : own.bytes.subarray(at, at + length);
  return {
    origin: wordAt(own, FORM.origin),
    growth: wordAt(own, FORM.growth) | 0,
    urlBytes: wordAt(own, FORM.urlBytes),
    base: textAt(BASE_AT, wordAt(own, FORM.baseBytes)),
    digit: wordAt(own, FORM.digit),
    end: textAt(END_AT, wordAt(own, FORM.endBytes)),
  };
}

function indexOf(bytes: Uint8Array, needle: Uint8Array, start: number, end: number): number {
  for (let at = start >>> 0; at + needle.length <= end >>> 0; at++) {
    if (isAt(bytes, at, end >>> 0, needle)) return at;
  }
  return NOT_FOUND;
}

/** Words of a block of the directory, as bits/ranks.ts has it. */
const BLOCK_WORDS = 16;

function rank(memory: Uint32Array, first: number, words: number, ranks: number): number {
  let count = 0;
  for (let i = 0; i < words; i++) {
    if (i % BLOCK_WORDS === 0) memory[ranks + i / BLOCK_WORDS] = count;
    for (let word = memory[first + i]!; word !== 0; word &= word - 1) count++;
  }
  memory[ranks + Math.ceil(words / BLOCK_WORDS)] = count;
  return count;
}
