// Simple case folding of Unicode: two characters are the same when one is the other in another case, one code point
// each. Derived from the language's own case tables, a page of code points at a time when first met.

/**
 * Characters whose case class the case conversions of the language do not give: dotless i has none, and the upper case
 * of the other three is several characters. Source: Unicode CaseFolding.txt, statuses C and S.
 */
const EXCEPTIONS: ReadonlyMap<number, number> = new Map([
  [0x131, 0x131],
  [0x1fd3, 0x390],
  [0x1fe3, 0x3b0],
  [0xfb05, 0xfb06],
]);

const PAGE_BITS = 8;
const PAGE_SIZE = 1 << PAGE_BITS;
/** No character from here on has a case. */
const CASELESS_FROM = 0x1f000;

/** What each code point of a page folds to, by page; filled as characters are met, 124 kB a script or less. */
const pages: (Uint32Array | undefined)[] = [];

/**
 * The representative of a code point's case class: equal for two code points exactly where simple case folding makes
 * them equal (`K` and the Kelvin sign, all three sigmas, `ß` and `ẞ`; not `ß` and `ss`, not `İ` and `i`). It is not
 * always the one that Unicode chose. ASCII folds to ASCII. Cost: two reads. Source: A55.
 */
export function foldCodePoint(codePoint: number): number {
  if (codePoint >= CASELESS_FROM) return codePoint;
  const page = (pages[codePoint >>> PAGE_BITS] ??= foldedPage(codePoint >>> PAGE_BITS));
  return page[codePoint & (PAGE_SIZE - 1)]!;
}

/** A text with each character as `foldCodePoint` gives it. Cost: its length. */
export function foldText(text: string): string {
  let folded = '';
  for (const character of text) folded += String.fromCodePoint(foldCodePoint(character.codePointAt(0)!));
  return folded;
}

/** How many times as long as its bytes a text may be when it is folded: `Ⱥ` has two bytes, its lower case three. */
export const FOLD_GROWTH_MAX = 1.5;

/** How many times as long as its folded bytes a text may be: the Kelvin sign has three bytes, `k` one. */
export const FOLD_SHRINKAGE_MAX = 3;

/**
 * Folds the UTF-8 text `bytes[start..end)` into `target` from `at` on, and answers where it ends there. `target` has
 * room for `FOLD_GROWTH_MAX` times the bytes. Cost: one step a byte of ASCII, some more for other characters.
 */
export function foldBytes(bytes: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  let length = at;
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (byte < 0x80) target[length++] = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
    else {
      const bytesOfOne = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
      length = encodeInto(target, length, foldCodePoint(decodeAt(bytes, i, bytesOfOne)));
      i += bytesOfOne - 1;
    }
  }
  return length;
}

/**
 * Folds the UTF-8 text `text[start..end)` where it lies, up to the first character that folds to one of another length,
 * as very few do; answers where that stands, or `end`. `text` starts its buffer, whose length is a multiple of 4; up to
 * 3 bytes before `start` and behind `end` may be folded too. Cost: one step for 4 bytes of ASCII, some for another
 * character.
 */
export function foldInPlace(text: Uint8Array, start: number, end: number): number {
  const words = new Uint32Array(text.buffer, 0, text.length >>> 2);
  for (let i = start >>> 2; i * 4 < end; i++) {
    const word = words[i]!;
    const low = word & 0x7f7f7f7f;
    // The highest bit of each byte: set from A on, not set from behind Z on, and only in ASCII.
    const isUpper = (low + 0x3f3f3f3f) & ~(low + 0x25252525) & ~word & 0x80808080;
    words[i] = word | (isUpper >>> 2);
    if ((word & 0x80808080) === 0) continue;
    const stop = Math.min(i * 4 + 4, end);
    const reached = foldCharacters(text, Math.max(i * 4, start), stop);
    if (reached < stop) return reached;
  }
  return end;
}

/** Folds the characters beyond ASCII that start in `text[start..end)`; answers where it could not, or `end`. */
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

function foldedPage(page: number): Uint32Array {
  return Uint32Array.from({ length: PAGE_SIZE }, (_, i) => classOf(page * PAGE_SIZE + i));
}

/**
 * The lower case of the upper case of the lower case brings the members of a class together (all sigmas are one upper
 * case). Where that is several characters (`SS`), the lower case does, and where even that is (`İ`), the character is
 * alone.
 */
function classOf(codePoint: number): number {
  const exception = EXCEPTIONS.get(codePoint);
  if (exception !== undefined) return exception;
  const character = String.fromCodePoint(codePoint);
  const lower = character.toLowerCase();
  return only(lower.toUpperCase().toLowerCase()) ?? only(lower) ?? codePoint;
}

/** The code point of a text that is one, else undefined. */
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
