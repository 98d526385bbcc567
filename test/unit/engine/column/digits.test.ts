import fc from 'fast-check';
import { expect, test } from 'vitest';
import { smallInteger } from '../../../../engine/column/dictionary.ts';

/** Reads a text that is surrounded by digits. */
function readAmongDigits(text: string): number | undefined {
  const bytes = Buffer.from(`12${text}34`);
  return smallInteger(bytes, 2, bytes.length - 2);
}

test.each([
  ['0', 0],
  ['7', 7],
  ['-1', -1],
  ['100', 100],
  ['999999999999999', 999_999_999_999_999],
  ['-999999999999999', -999_999_999_999_999],
])('reads %j as %i', (text, expected) => {
  expect(readAmongDigits(text)).toBe(expected);
});

const NO_INTEGERS = ['', '-', '-0', '00', '007', '-07', '+1', '1.0', '1e3', ' 1', '1 ', '--1', '1000000000000000', '٣'];
test.each(NO_INTEGERS)('does not read %j', (text) => {
  expect(readAmongDigits(text)).toBeUndefined();
});

test('reads any whole number of at most 15 digits as the platform does', () => {
  const TEXT = fc.oneof(
    fc.integer().map(String),
    fc.maxSafeInteger().map(String),
    fc.double().map(String),
    fc.string({ unit: fc.constantFrom(...Array.from('0123456789-')), maxLength: 17 }),
    fc.string({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(TEXT, (text) => {
      const isPlain = /^(?:0|-?[1-9]\d{0,14})$/.test(text);
      expect(readAmongDigits(text)).toBe(isPlain ? Number(text) : undefined);
    }),
    { numRuns: 2000 },
  );
});
