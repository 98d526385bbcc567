// A thread's own memory: the inputs of the kernel, and the room, an area in which it assembles bytes. It is not shared:
// threads do not see each other's, and JavaScript reads it as fast as any array.
import { OVERRUN_BYTES, ROOM_AT } from './layout.ts';

const PAGE_BYTES = 65_536;
const PAGES_MAX = 65_536;
/** Untouched pages cost nothing. A page of 100 records and three bitmaps of a million rows fit. */
const PAGES_INITIAL = 32;

/** The memory of one thread, invisible to all others. */
export interface Scratch {
  readonly memory: WebAssembly.UnsharedMemory;
  /** View of the whole memory, replaced when it grows. */
  bytes: Uint8Array<ArrayBuffer>;
  /** As `bytes`, in words of 4 bytes. */
  words: Uint32Array<ArrayBuffer>;
  /** Counts the calls of `reserve`. If the number has not changed, the room still has the same contents. */
  uses: number;
}

/** A new memory. Cost: address space; the system allocates a page when it is first written. */
export function newScratch(): Scratch {
  const memory = new WebAssembly.Memory({ initial: PAGES_INITIAL, maximum: PAGES_MAX });
  return { memory, bytes: new Uint8Array(memory.buffer), words: new Uint32Array(memory.buffer), uses: 0 };
}

export const scratch: Scratch = newScratch();

/**
 * Reserves the room for a new use: at least `bytes` from `ROOM_AT` on, and `OVERRUN_BYTES`. The previous contents are
 * lost. If the memory grows, views of it become detached. Cost: none unless it grows. Throws RangeError if the system
 * is out of memory.
 */
export function reserve(memory: Scratch, bytes: number): void {
  memory.uses++;
  const missing = ROOM_AT + bytes + OVERRUN_BYTES - memory.bytes.length;
  if (missing <= 0) return;
  memory.memory.grow(Math.ceil(missing / PAGE_BYTES));
  memory.bytes = new Uint8Array(memory.memory.buffer);
  memory.words = new Uint32Array(memory.memory.buffer);
}
