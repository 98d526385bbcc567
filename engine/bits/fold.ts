// Simple case folding of Unicode: characters that differ only in case become equal, one code point each. Derived from
// the language's case tables. A page of 256 code points is computed when its first character is met.

/**
 * Characters whose case class the language's case conversions do not give. Dotless i has no other member, and the upper
 * case of the other three is several characters. Source: Unicode CaseFolding.txt, statuses C and S.
 */
const EXCEPTIONS: ReadonlyMap<number, number> = new Map([
  [0x131, 0x131],
  [0x1fd3, 0x390],
  [0x1fe3, 0x3b0],
  [0xfb05, 0xfb06],
]);

const PAGE_BITS = 8;
const PAGE_SIZE = 1 << PAGE_BITS;
/** Characters from this code point on have no case. */
const CASELESS_FROM = 0x1f000;

/** The folded code points of each page. Filled on demand, at most 124 kB per script. */
const pages: (Uint32Array | undefined)[] = [];
const unmarkedPages: (Int32Array | undefined)[] = [];

/**
 * The representative of a code point's case class. Two code points have the same one exactly if simple case folding
 * makes them equal: `K` and the Kelvin sign, all three sigmas, `ß` and `ẞ`. `ß` and `ss` differ, and so do `İ` and `i`.
 * It is not always the representative that Unicode chose. ASCII folds to ASCII. Cost: two reads. Source: A55.
 */
export function foldCodePoint(codePoint: number): number {
  if (codePoint >= CASELESS_FROM) return codePoint;
  const page = (pages[codePoint >>> PAGE_BITS] ??= makeFoldedPage(codePoint >>> PAGE_BITS));
  return page[codePoint & (PAGE_SIZE - 1)]!;
}

/** Folds each character with `fold`, and drops those for which it returns -1. Cost: its length. */
export function foldText(text: string, fold: (codePoint: number) => number = foldCodePoint): string {
  let folded = '';
  for (const character of text) {
    const codePoint = fold(character.codePointAt(0)!);
    if (codePoint >= 0) folded += String.fromCodePoint(codePoint);
  }
  return folded;
}

/**
 * Folds a character and removes its accents and other marks, as far as Unicode decomposes it. Returns -1 for a mark
 * alone.
 */
export function foldMarks(codePoint: number): number {
  if (codePoint < 0xc0 || codePoint >= CASELESS_FROM) return foldCodePoint(codePoint);
  const page = (unmarkedPages[codePoint >>> PAGE_BITS] ??= makeUnmarkedPage(codePoint >>> PAGE_BITS));
  return page[codePoint & (PAGE_SIZE - 1)]!;
}

const MARK = /\p{Mn}/u;

function makeUnmarkedPage(page: number): Int32Array {
  return Int32Array.from({ length: PAGE_SIZE }, (_, i) => {
    const codePoint = page * PAGE_SIZE + i;
    const [base, ...marks] = String.fromCodePoint(codePoint).normalize('NFD');
    if (MARK.test(base!)) return -1;
    return foldCodePoint(marks.every((mark) => MARK.test(mark)) ? base!.codePointAt(0)! : codePoint);
  });
}

/** Upper bound of folded bytes / original bytes: `Ⱥ` has two bytes, its lower case three. */
export const FOLD_GROWTH_MAX = 1.5;

/** Upper bound of original bytes / folded bytes: the Kelvin sign has three bytes, `k` one. */
export const FOLD_SHRINKAGE_MAX = 3;

/**
 * Folds the UTF-8 text `bytes[start..end)` into `target` from `at` on, with `fold` for characters beyond ASCII. Returns
 * the end in `target`. `target` must have room for `FOLD_GROWTH_MAX` times the bytes. Cost: one step per byte of ASCII,
 * some more for other characters.
 */
export function foldBytes(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  fold: (codePoint: number) => number = foldCodePoint,
): number {
  let length = at;
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (byte < 0x80) target[length++] = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
    else {
      const bytesOfOne = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
      const folded = fold(decodeAt(bytes, i, bytesOfOne));
      if (folded >= 0) length = encodeInto(target, length, folded);
      i += bytesOfOne - 1;
    }
  }
  return length;
}

/**
 * Folds the UTF-8 text `text[start..end)` in place. Stops at the first character whose folded form has another length,
 * which is rare. Returns the position of that character, or `end`. `text` must start at offset 0 of its buffer, whose
 * length is a multiple of 4. Up to 3 ASCII bytes before `start` and after `end` may be folded too. Cost: one step per 4
 * bytes of ASCII, and some for each other character.
 */
export function foldInPlace(text: Uint8Array, start: number, end: number): number {
  const words = new Uint32Array(text.buffer, 0, text.length >>> 2);
  for (let i = start >>> 2; i * 4 < end; i++) {
    const word = words[i]!;
    const low = word & 0x7f7f7f7f;
    // The highest bit of each byte. The first sum sets it from A on, the second from after Z on; only ASCII counts.
    const isUpper = (low + 0x3f3f3f3f) & ~(low + 0x25252525) & ~word & 0x80808080;
    words[i] = word | (isUpper >>> 2);
    if ((word & 0x80808080) === 0) continue;
    const stop = Math.min(i * 4 + 4, end);
    const reached = foldCharacters(text, Math.max(i * 4, start), stop);
    if (reached < stop) return reached;
  }
  return end;
}

/**
 * Folds the non-ASCII characters that start in `text[start..end)`. Returns the position of the first one that it could
 * not fold in place, or `end`.
 */
function foldCharacters(text: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) {
    const byte = text[i]!;
    if (byte < 0xc0) continue;
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    const codePoint = decodeAt(text, i, length);
    const folded = foldCodePoint(codePoint);
    if (folded === codePoint) continue;
    if (encodedLength(folded) !== length) return i;
    encodeInto(text, i, folded);
  }
  return end;
}

function encodedLength(codePoint: number): number {
  return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
}

function makeFoldedPage(page: number): Uint32Array {
  return Uint32Array.from({ length: PAGE_SIZE }, (_, i) => foldClass(page * PAGE_SIZE + i));
}

/**
 * The representative of a case class. Lower, upper, lower maps all members to one character: all sigmas have one upper
 * case. If that gives several characters (`SS`), the lower case is used. If even the lower case is several (`İ`), the
 * character is alone.
 */
function foldClass(codePoint: number): number {
  const exception = EXCEPTIONS.get(codePoint);
  if (exception !== undefined) return exception;
  const character = String.fromCodePoint(codePoint);
  const lower = character.toLowerCase();
  return only(lower.toUpperCase().toLowerCase()) ?? only(lower) ?? codePoint;
}

/** The code point of a text that is a single code point, else undefined. */
function only(text: string): number | undefined {
  const codePoint = text.codePointAt(0)!;
  return text.length === (codePoint > 0xffff ? 2 : 1) ? codePoint : undefined;
}

function decodeAt(bytes: Uint8Array, i: number, length: number): number {
  const second = bytes[i + 1]! & 0x3f;
  if (length === 2) return ((bytes[i]! & 0x1f) << 6) | second;
  const third = bytes[i + 2]! & 0x3f;
  if (length === 3) return ((bytes[i]! & 0x0f) << 12) | (second << 6) | third;
  return ((bytes[i]! & 0x07) << 18) | (second << 12) | (third << 6) | (bytes[i + 3]! & 0x3f);
}

function encodeInto(target: Uint8Array, at: number, codePoint: number): number {
  let length = at;
  if (codePoint < 0x80) target[length++] = codePoint;
  else if (codePoint < 0x800) target[length++] = 0xc0 | (codePoint >>> 6);
  else if (codePoint < 0x10000) target[length++] = 0xe0 | (codePoint >>> 12);
  else target[length++] = 0xf0 | (codePoint >>> 18);
  if (codePoint >= 0x10000) target[length++] = 0x80 | ((codePoint >>> 12) & 0x3f);
  if (codePoint >= 0x800) target[length++] = 0x80 | ((codePoint >>> 6) & 0x3f);
  if (codePoint >= 0x80) target[length++] = 0x80 | (codePoint & 0x3f);
  return length;
}
