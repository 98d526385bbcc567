// A thread's own memory: what the kernel is told, and the room in which it puts bytes together. Not shared, so that no
// thread sees another's, and so that JavaScript reads it as fast as any array.
import { OVERRUN_BYTES, ROOM_AT } from './layout.ts';

const PAGE_BYTES = 65_536;
const PAGES_MAX = 65_536;
/** Untouched pages cost nothing: a page of 100 records and three bitmaps of a million rows fit. */
const PAGES_INITIAL = 32;

/**
 * A memory of its own for one thread. `bytes` and `words` are views of all of it, replaced when it grows. `uses` counts
 * how often the room was given away: whoever remembers the number knows whether the room still holds what was put
 * there.
 */
export interface Own {
  readonly memory: WebAssembly.UnsharedMemory;
  bytes: Uint8Array<ArrayBuffer>;
  words: Uint32Array<ArrayBuffer>;
  uses: number;
}

/** A new memory. Cost: address space; a page is taken when it is first written. */
export function newOwn(): Own {
  const memory = new WebAssembly.Memory({ initial: PAGES_INITIAL, maximum: PAGES_MAX });
  return { memory, bytes: new Uint8Array(memory.buffer), words: new Uint32Array(memory.buffer), uses: 0 };
}

/** The memory of this thread. */
export const own: Own = newOwn();

/**
 * Gives the room away, with at least `bytes` from `ROOM_AT` on and what the kernel may write behind them. What it held
 * is lost; views of it die where it grows. Cost: none but when it grows. Throws RangeError where the system has no more
 * memory.
 */
export function takeRoom(memory: Own, bytes: number): void {
  memory.uses++;
  const missing = ROOM_AT + bytes + OVERRUN_BYTES - memory.bytes.length;
  if (missing <= 0) return;
  memory.memory.grow(Math.ceil(missing / PAGE_BYTES));
  memory.bytes = new Uint8Array(memory.memory.buffer);
  memory.words = new Uint32Array(memory.memory.buffer);
}
