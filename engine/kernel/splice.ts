// The kernel's splice in plain JavaScript, with the same bytes as its result, for targets outside a thread's own
// memory. Slow and obvious. test/support/kernelTwin.ts has the other functions of the kernel.

/** The form of a splice, see layout.ts. Positions count from the start of the spliced bytes. */
export interface SpliceForm {
  readonly origin: number;
  readonly growth: number;
  readonly urlBytes: number;
  readonly base: Uint8Array | undefined;
  readonly digit: number;
  readonly end: Uint8Array | undefined;
}

/**
 * A part of records: the bytes from `start` to `end`, which contain the own URLs `first` to `last` (exclusive) of
 * `links`.
 */
export interface SplicedPart {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly links: Uint32Array;
  readonly first: number;
  readonly last: number;
}

const UTF8 = new TextEncoder();
/** The start of the path of an own URL. */
export const STORED_API: Uint8Array = UTF8.encode('/api/v3/');
const STORED_END = UTF8.encode('/?format=api');
/** The position of the digit in `/api/v3/`. */
export const DIGIT_AT = 6;
const QUOTE = 0x22;
const SLASH = 0x2f;
const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;

/** Writes a part whose own URLs get another base URL, version or end of links. Returns the position after it. */
export function splicePart(part: SplicedPart, form: SpliceForm, target: Uint8Array, start: number): number {
  const { bytes, end } = part;
  let at = start;
  let from = part.start;
  for (let n = part.first; n < part.last; n++) {
    const path = pathOf(part, form, n);
    if (form.base) {
      at = copyBytes(bytes, from, path - form.urlBytes - from, target, at);
      at = copyBytes(form.base, 0, form.base.length, target, at);
      from = path;
    }
    if (!isAt(bytes, path, end, STORED_API)) continue;
    if (form.digit !== 0) {
      at = copyBytes(bytes, from, path + STORED_API.length - from, target, at);
      target[at - STORED_API.length + DIGIT_AT] = form.digit;
      from = path + STORED_API.length;
    }
    const tail = form.end ? linkEndAt(bytes, path, end) : -1;
    if (tail < 0) continue;
    at = copyBytes(bytes, from, tail - from, target, at);
    at = copyBytes(form.end!, 0, form.end!.length, target, at);
    from = tail + STORED_END.length;
  }
  return copyBytes(bytes, from, end - from, target, at);
}

/** The start of the path of own URL `n`. */
export function pathOf({ links }: SplicedPart, { origin, growth, urlBytes }: SpliceForm, n: number): number {
  return origin + links[n]! + growth * n + urlBytes;
}

/**
 * The start of `/?format=api` in the own URL whose path starts at `path`, with `/api/v3/`. Returns -1 unless the text
 * up to its quote is exactly `/api/v3/<collection>/<id>/?format=api`.
 */
export function linkEndAt(bytes: Uint8Array, path: number, end: number): number {
  const name = path + STORED_API.length;
  let at = name;
  while (at < end && bytes[at] !== SLASH && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++;
  if (at === name || at >= end || bytes[at] !== SLASH) return -1;
  const id = ++at;
  while (at < end && bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
  const quote = at + STORED_END.length;
  return at > id && quote < end && isAt(bytes, at, end, STORED_END) && bytes[quote] === QUOTE ? at : -1;
}

/** Whether the whole of `expected` is at `at`, before `end`. */
export function isAt(bytes: Uint8Array, at: number, end: number, expected: Uint8Array): boolean {
  return at + expected.length <= end && expected.every((byte, i) => bytes[at + i] === byte);
}

/** Copies bytes. Returns the position after them. */
export function copyBytes(bytes: Uint8Array, from: number, length: number, target: Uint8Array, at: number): number {
  target.set(bytes.subarray(from, from + length), at);
  return at + length;
}
