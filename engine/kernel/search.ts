// Searches for a byte string: with the kernel if the text is in a snapshot's memory, otherwise in JavaScript.
import { horspoolShifts, indexOfBytes } from '../bits/bytes.ts';
import type { Kernel } from './contract.ts';
import { findKernel } from './kernel.ts';
import { NEEDLE_AT, NEEDLE_BYTES_MAX, NOT_FOUND } from './layout.ts';
import { scratch } from './own.ts';

/** Returns the first position in `text[start..end)` of the whole needle, or -1. */
export type Finder = (start: number, end: number) => number;

/**
 * A search for a non-empty needle in one text, for many calls. A finder must not be called after another one was made.
 * Cost of a call: one pass over the bytes up to the match, 16 at a time with the kernel.
 */
export function finderIn(text: Uint8Array, needle: Uint8Array): Finder {
  const kernel = needle.length <= NEEDLE_BYTES_MAX ? findKernel(text.buffer) : undefined;
  if (kernel) return kernelFinder(kernel, text.byteOffset, needle);
  const shifts = horspoolShifts(needle);
  return (start, end) => indexOfBytes(text, needle, shifts, start, end);
}

function kernelFinder(kernel: Kernel, origin: number, needle: Uint8Array): Finder {
  scratch.bytes.set(needle, NEEDLE_AT);
  const { length } = needle;
  return (start, end) => {
    const at = kernel.indexOf(origin + start, origin + end, length) >>> 0;
    return at === NOT_FOUND ? -1 : at - origin;
  };
}
