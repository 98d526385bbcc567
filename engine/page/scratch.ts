// The room of a thread that pieces of bodies are put together in, and whose bytes it holds at the moment. Lies in the
// thread's own memory, where the kernel writes.
import { ROOM_AT } from '../kernel/layout.ts';
import { own, takeRoom } from '../kernel/own.ts';

/** How much is put together at once: a page of 100 typical records is one write. A larger record has more room. */
export const SCRATCH_BYTES = 512 * 1024;

/**
 * The room holds the bytes `start` to `end` of one body: by its number, since the body itself would keep its snapshot
 * alive, and as long as nobody else used the room. Number 0 is no body.
 */
const held = { body: 0, start: 0, end: 0, use: 0 };

let bodies = 0;

/** A number for a new body. */
export function newBodyNumber(): number {
  return ++bodies;
}

/** Whether the room holds the byte at `offset` of a body. Cost: none. */
export function isHeld(body: number, offset: number): boolean {
  return held.body === body && held.use === own.uses && offset >= held.start && offset < held.end;
}

/** The room, empty: at least `SCRATCH_BYTES`, and as many more as `bytes` asks for. Cost: none but when it grows. */
export function emptied(bytes: number): number {
  const room = Math.max(SCRATCH_BYTES, bytes);
  takeRoom(own, room);
  return room;
}

/** Says whose bytes the room holds now, from `ROOM_AT` on. */
export function hold(body: number, start: number, end: number): void {
  held.body = body;
  held.start = start;
  held.end = end;
  held.use = own.uses;
}

/**
 * A piece with `tail` right behind it where the piece ends the room's contents, so that both are written at once;
 * undefined where it lies elsewhere. The byte behind the piece is no longer that of the body. Cost: a copy of the tail.
 */
export function withTail(piece: Uint8Array, tail: Uint8Array): Uint8Array | undefined {
  const end = piece.byteOffset + piece.length;
  if (piece.buffer !== own.bytes.buffer || end + tail.length > own.bytes.length) return undefined;
  own.bytes.set(tail, end);
  return own.bytes.subarray(piece.byteOffset, end + tail.length);
}

/** What the room holds of the body it holds, from `offset` to before `end`. Cost: a view. */
export function heldBytes(offset: number, end: number): Uint8Array {
  return own.bytes.subarray(ROOM_AT + offset - held.start, ROOM_AT + Math.min(held.end, end) - held.start);
}
