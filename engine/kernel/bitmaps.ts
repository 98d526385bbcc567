// Combines bitmaps with the kernel. They are copied to the thread's own memory, ANDed and counted there 16 bytes at a
// time, and copied out with their rank directory. For short bitmaps, the copies cost more than they save.
import { andBitmaps, countSharedBits } from '../bits/bitmap.ts';
import { countRanked, directoryWords, cacheDirectory } from '../bits/ranks.ts';
import { findKernel, kernelForScratch } from './kernel.ts';
import { ROOM_AT } from './layout.ts';
import { scratch, reserve } from './own.ts';

/** Below this many words, a loop in JavaScript takes less than the copies, which cost 1 us. */
const WORDS_MIN = 512;

/**
 * The rows in both bitmaps, which have the same length, and their number. The result has a rank directory. Cost: one
 * pass.
 */
export function intersection(a: Uint32Array, b: Uint32Array): { readonly words: Uint32Array; readonly count: number } {
  if (a.length < WORDS_MIN) {
    const words = andBitmaps(a, b);
    return { words, count: countRanked(words) };
  }
  const count = intersectInKernel(a, b);
  const end = (ROOM_AT + a.byteLength) / 4;
  const words = scratch.words.slice(ROOM_AT / 4, end);
  cacheDirectory(words, scratch.words.slice(end, end + directoryWords(a.length)));
  return { words, count };
}

/** The number of rows in both bitmaps, which have the same length. Cost: one pass. */
export function countIntersection(a: Uint32Array, b: Uint32Array): number {
  return a.length < WORDS_MIN ? countSharedBits(a, b) : intersectInKernel(a, b);
}

/** Writes the rows in both to the room, followed by their directory. Returns their number. */
function intersectInKernel(a: Uint32Array, b: Uint32Array): number {
  const bytes = a.byteLength;
  reserve(scratch, bytes * 2 + directoryWords(a.length) * 4);
  place(a, ROOM_AT);
  place(b, ROOM_AT + bytes);
  const kernel = kernelForScratch();
  kernel.and(ROOM_AT, ROOM_AT + bytes, bytes);
  return kernel.rank(ROOM_AT, bytes, ROOM_AT + bytes);
}

/**
 * Copies words to an address of the thread's own memory: from shared memory with the kernel, otherwise in JavaScript.
 */
function place(words: Uint32Array, to: number): void {
  const kernel = findKernel(words.buffer);
  if (kernel) kernel.copy(to, words.byteOffset, words.byteLength);
  else scratch.words.set(words, to / 4);
}
