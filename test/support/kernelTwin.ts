// The kernel in plain JavaScript: the same functions over the same memories with the same results. Slow and obvious.
import type { Kernel } from '../../engine/kernel/contract.ts';
import { BASE_AT, END_AT, FORM, KEEP_STORED, NEEDLE_AT, NOT_FOUND } from '../../engine/kernel/layout.ts';
import type { Scratch } from '../../engine/kernel/own.ts';
import {
  copyBytes,
  DIGIT_AT,
  isAt,
  linkEndAt,
  pathOf,
  type SpliceForm,
  type SplicedPart,
  splicePart,
  STORED_API,
} from '../../engine/kernel/splice.ts';

export function twinKernel(
  sourceMemory: WebAssembly.Memory,
  positionsMemory: WebAssembly.Memory,
  own: Scratch,
): Kernel {
  const source = new Uint8Array(sourceMemory.buffer);
  const positions = new Uint32Array(positionsMemory.buffer);
  const partOf = (start: number, end: number, first: number, last: number): SplicedPart => {
    const links = positions.subarray(wordAt(own, FORM.links) / 4);
    return { bytes: source, start: start >>> 0, end: end >>> 0, links, first, last };
  };
  return {
    copy: (to, from, bytes) => void copyBytes(source, from >>> 0, bytes, own.bytes, to),
    gather: (list, count, to) => {
      let at = to;
      for (let i = list / 4; i < list / 4 + count * 2; i += 2) {
        at = copyBytes(source, own.words[i]!, own.words[i + 1]!, own.bytes, at);
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

/** Copies a part with another version digit in its own URLs. Returns the end of the copy. */
function patchPart(part: SplicedPart, form: SpliceForm, target: Uint8Array, at: number): number {
  const end = copyBytes(part.bytes, part.start, part.end - part.start, target, at);
  for (let n = part.first; n < part.last; n++) {
    const path = at - part.start + pathOf(part, form, n);
    if (isAt(target, path, end, STORED_API)) target[path + DIGIT_AT] = form.digit;
  }
  return end;
}

/** Counts the own URLs of a part that are links to records (`linkEndAt`). Cost: one check per URL. */
function countLinkEnds(part: SplicedPart, form: SpliceForm): number {
  let count = 0;
  for (let n = part.first; n < part.last; n++) {
    const path = pathOf(part, form, n);
    if (isAt(part.bytes, path, part.end, STORED_API) && linkEndAt(part.bytes, path, part.end) >= 0) count++;
  }
  return count;
}

function wordAt({ words }: Scratch, at: number): number {
  return words[at / 4]!;
}

function formIn(own: Scratch): SpliceForm {
  const textAt = (at: number, length: number): Uint8Array | undefined =>
    length === KEEP_STORED ? undefined : own.bytes.subarray(at, at + length);
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

/** Words of a block of the directory in bits/ranks.ts. */
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
