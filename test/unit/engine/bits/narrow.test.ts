// Lists of integers in the narrowest elements that hold them.
import { describe, expect, test } from 'vitest';
import { narrow } from '../../../../engine/bits/narrow.ts';

describe('narrow', () => {
  test.each([
    [[], 1],
    [[0], 1],
    [[255, 3], 1],
    [[3, 256], 2],
    [[65_535], 2],
    [[1, 65_536, 2], 4],
    [[4_294_967_295], 4],
  ])('takes for %j elements of %i bytes and keeps the values', (values, bytes) => {
    const narrowed = narrow(Uint32Array.from(values));
    expect(narrowed.BYTES_PER_ELEMENT).toBe(bytes);
    expect([...narrowed]).toEqual(values);
  });
});
