// The one buffer of a thread that pieces of bodies are put together in, and whose bytes it holds at the moment.
// Called by page/gather.ts and page/lines.ts.

/** What the buffer starts with: a page of 70 typical records. It grows to the largest record served and stays so. */
export const SCRATCH_BYTES = 256 * 1024;

/**
 * The buffer holds the bytes `start` to `end` of one body: by its number, since the body itself would keep its snapshot alive.
 * Number 0 is no body.
 */
export const scratch = { bytes: new Uint8Array(SCRATCH_BYTES), body: 0, start: 0, end: 0 };

let bodies = 0;

/** A number for a new body. */
export function newBodyNumber(): number {
  return ++bodies;
}

/** Whether the buffer holds the byte at `offset` of a body. Cost: none. */
export function isHeld(body: number, offset: number): boolean {
  return scratch.body === body && offset >= scratch.start && offset < scratch.end;
}

/** The buffer, empty and with room for `bytes`; `hold` says what it was filled with. Cost: none but when it grows. */
export function emptied(bytes: number): Uint8Array {
  scratch.body = 0;
  if (scratch.bytes.length < bytes) scratch.bytes = new Uint8Array(bytes);
  return scratch.bytes;
}

/** Says whose bytes the buffer holds now, from its first byte on. */
export function hold(body: number, start: number, end: number): void {
  scratch.body = body;
  scratch.start = start;
  scratch.end = end;
}
