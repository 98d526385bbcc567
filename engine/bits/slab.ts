// Cuts small arrays from slabs, because allocation and garbage collection are slow: without them a page of an equality
// costs 1.06 times as much. Only for results that live as long as one response. Code that keeps or sends a result must
// copy it (index/footprint.ts does).

/** A page of 100 rows and its head take 700 bytes: one slab is enough for 90 pages. */
const SLAB_BYTES = 65_536;
/** Longer arrays get separate buffers, because too much of a slab would be left over. */
const CUT_BYTES_MAX = 8192;
/** The most UTF-8 bytes per UTF-16 unit. */
const UTF8_GROWTH_MAX = 3;

const encoder = new TextEncoder();
let slab = new ArrayBuffer(SLAB_BYTES);
let used = 0;

/** Reserves `bytes` in the current slab, or in a new one. Returns their start. */
function cut(bytes: number): number {
  if (used + bytes > SLAB_BYTES) {
    slab = new ArrayBuffer(SLAB_BYTES);
    used = 0;
  }
  const start = used;
  // Word arrays must start at a multiple of 4.
  used = (used + bytes + 3) & ~3;
  return start;
}

/** Returns `length` words, all 0. Cost: a view; about every 100th call allocates a slab. */
export function slabWords(length: number): Uint32Array<ArrayBuffer> {
  const bytes = length * Uint32Array.BYTES_PER_ELEMENT;
  if (bytes > CUT_BYTES_MAX) return new Uint32Array(length);
  const start = cut(bytes);
  return new Uint32Array(slab, start, length);
}

/** Encodes a text in UTF-8. Cost: its length. */
export function slabText(text: string): Uint8Array {
  const most = text.length * UTF8_GROWTH_MAX;
  if (most > CUT_BYTES_MAX) return encoder.encode(text);
  const start = cut(most);
  const { written } = encoder.encodeInto(text, new Uint8Array(slab, start, most));
  used = (start + written + 3) & ~3;
  return new Uint8Array(slab, start, written);
}
