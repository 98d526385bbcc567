// Bounds of the messages that wait for the authority thread, over all serving threads. Long messages have a separate
// bound, so that a flood of them leaves room for those of users.

/** Users send less than a third of it. A message of this length takes 2.5 ms to read at worst. */
const LONG_BYTES = 16_384;
/** About 0.2 s of signing (A85). */
const SHORT_MAX = 256;
/** About a second of reading at worst (A105). */
const LONG_BYTES_MAX = 4 << 20;

/** Two shared words: the number of short messages that wait, and the bytes of long ones. */
export function newBacklog(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}

/** Whether a message waits until no short one does. */
export function isLong({ length }: Uint8Array): boolean {
  return length > LONG_BYTES;
}

/** Counts a message in, if there is room for it. A long one has room alone, whatever its length. */
export function enter(backlog: Int32Array, body: Uint8Array): boolean {
  const before = isLong(body) ? Atomics.add(backlog, 1, body.length) : Atomics.add(backlog, 0, 1);
  const hasRoom = isLong(body) ? before === 0 || before + body.length <= LONG_BYTES_MAX : before < SHORT_MAX;
  if (!hasRoom) leave(backlog, body);
  return hasRoom;
}

/** Counts a message out that was counted in. */
export function leave(backlog: Int32Array, body: Uint8Array): void {
  if (isLong(body)) Atomics.sub(backlog, 1, body.length);
  else Atomics.sub(backlog, 0, 1);
}
