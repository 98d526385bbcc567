// Bitmaps combined by the kernel: brought to the thread's own memory, ANDed and counted there 16 bytes at a time, and
// taken out with their directory of ranks. Short ones are not worth the way.
import { andBitmaps, countSharedBits } from '../bits/bitmap.ts';
import { countRanked, directoryWords, keepDirectory } from '../bits/ranks.ts';
import { kernelOf, ownKernel } from './kernel.ts';
import { ROOM_AT } from './layout.ts';
import { own, takeRoom } from './own.ts';

/** Below this many words a loop in JavaScript takes less than the way there and back: 1 us. */
const WORDS_MIN = 512;

/** The rows in both bitmaps of one length, and how many they are; ready for rank and select. Cost: one pass. */
export function intersection(a: Uint32Array, b: Uint32Array): { readonly words: Uint32Array; readonly count: number } {
  if (a.length < WORDS_MIN) {
    const words = andBitmaps(a, b);
    return { words, count: countRanked(words) };
  }
  const count = intersected(a, b);
  const end = (ROOM_AT + a.byteLength) / 4;
  const words = own.words.slice(ROOM_AT / 4, end);
  keepDirectory(words, own.words.slice(end, end + directoryWords(a.length)));
  return { words, count };
}

/** How many rows are in both bitmaps of one length. Cost: one pass. */
export function sharedCount(a: Uint32Array, b: Uint32Array): number {
  return a.length < WORDS_MIN ? countSharedBits(a, b) : intersected(a, b);
}

/** Leaves the rows in both in the room, their directory right behind; answers how many they are. */
function intersected(a: Uint32Array, b: Uint32Array): number {
  const bytes = a.byteLength;
  takeRoom(own, bytes * 2 + directoryWords(a.length) * 4);
  place(a, ROOM_AT);
  place(b, ROOM_AT + bytes);
  const kernel = ownKernel();
  kernel.and(ROOM_AT, ROOM_AT + bytes, bytes);
  return kernel.rank(ROOM_AT, bytes, ROOM_AT + bytes);
}

/** Copies words to an address of the own memory: the kernel out of shared memory, JavaScript out of its own. */
function place(words: Uint32Array, to: number): void {
  const kernel = kernelOf(words.buffer);
  if (kernel) kernel.copy(to, words.byteOffset, words.byteLength);
  else own.words.set(words, to / 4);
}
