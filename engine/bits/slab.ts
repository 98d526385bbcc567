// Small arrays cut from slabs, since the system's allocator and the collector are slow: without them a page of an
// equality costs 1.06 times as much.
// For results that live as long as one answer; whoever keeps or sends one copies it (index/footprint.ts does).

/** A page of 100 rows and its head take 700 bytes: one slab in 90 pages. */
const SLAB_BYTES = 65_536;
/** Longer arrays are made for themselves: of slabs too much would be left over. */
const CUT_BYTES_MAX = 8192;
/** The most bytes of UTF-8 that one UTF-16 unit becomes. */
const UTF8_GROWTH_MAX = 3;

const encoder = new TextEncoder();
let slab = new ArrayBuffer(SLAB_BYTES);
let used = 0;

/** Where `bytes` more start in the slab at hand, a new one if need be. */
function cut(bytes: number): number {
  if (used + bytes > SLAB_BYTES) {
    slab = new ArrayBuffer(SLAB_BYTES);
    used = 0;
  }
  const start = used;
  // Words start at whole words.
  used = (used + bytes + 3) & ~3;
  return start;
}

/** `length` words, all 0. Cost: a view; every 100th time an allocation. */
export function slabWords(length: number): Uint32Array<ArrayBuffer> {
  const bytes = length * Uint32Array.BYTES_PER_ELEMENT;
  if (bytes > CUT_BYTES_MAX) return new Uint32Array(length);
  const start = cut(bytes);
  return new Uint32Array(slab, start, length);
}

/** A text in UTF-8. Cost: its length. */
export function slabText(text: string): Uint8Array {
  const most = text.length * UTF8_GROWTH_MAX;
  if (most > CUT_BYTES_MAX) return encoder.encode(text);
  const start = cut(most);
  const { written } = encoder.encodeInto(text, new Uint8Array(slab, start, most));
  used = (start + written + 3) & ~3;
  return new Uint8Array(slab, start, written);
}
