// Lists of unsigned integers in as few bytes per element as their maximum needs: codes, members and outlines of a
// snapshot.

/** Unsigned integers of 1, 2 or 4 bytes. */
export type UnsignedArray = Uint8Array | Uint16Array | Uint32Array;

/**
 * The same values in the narrowest elements that fit them all; an empty list gets one byte per element. Cost: two
 * passes.
 */
export function narrow(values: UnsignedArray): UnsignedArray {
  const width = narrowWidth(values);
  if (width === values.BYTES_PER_ELEMENT) return values;
  return width === 1 ? Uint8Array.from(values) : Uint16Array.from(values);
}

/** The bytes per element that the maximum needs: 1, 2 or 4. Cost: one pass. */
function narrowWidth(values: UnsignedArray): 1 | 2 | 4 {
  let bits = 0;
  for (let i = 0; i < values.length; i++) bits |= values[i]!;
  if (bits >>> 16 !== 0) return 4;
  return bits >>> 8 === 0 ? 1 : 2;
}
