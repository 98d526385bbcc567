// Whole numbers, days and times from the bytes of texts: what is read is what the platform reads of the text, and what
// is not written plainly is not read.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainDay, plainTime, smallInteger } from '../../../../engine/column/digits.ts';

/** What is read of a text that stands among digits. */
function readAmongDigits(read: typeof smallInteger, text: string): number | undefined {
  const bytes = Buffer.from(`12${text}34`);
  return read(bytes, 2, bytes.length - 2);
}

test.each([
  [smallInteger, '0', 0],
  [smallInteger, '7', 7],
  [smallInteger, '-1', -1],
  [smallInteger, '100', 100],
  [smallInteger, '999999999999999', 999_999_999_999_999],
  [smallInteger, '-999999999999999', -999_999_999_999_999],
  [plainDay, '2016-05-04', 20_160_504],
  [plainDay, '0000-00-00', 0],
  [plainDay, '9999-99-99', 99_999_999],
  [plainTime, 'T00:00:00', 0],
  [plainTime, 'T23:59:59', 86_399_000_000],
  [plainTime, 'T12:30:15.000001', 45_015_000_001],
])('%o reads %j as %i', (read, text, expected) => {
  expect(readAmongDigits(read, text)).toBe(expected);
});

const NO_INTEGERS = ['', '-', '-0', '00', '007', '-07', '+1', '1.0', '1e3', ' 1', '1 ', '--1', '1000000000000000', '٣'];
const NO_DAYS = ['2016-5-4x', '2016/05-04', '2016-05/04', '-016-05-04', '2016-0x-04', '2016-05-0:', '20a6-05-04'];
const NO_TIMES = [
  '',
  'T12:30',
  't12:30:15',
  ' 12:30:15',
  'T12-30:15',
  'T12:30-15',
  'T12:3a:15',
  'T12:-1:15',
  'T/1:30:15',
  'T24:00:00',
  'T12:60:00',
  'T12:30:60',
  'T12:30:15Z',
  'T12:30:15.5',
  'T12:30:15,000001',
  'T12:30:15.00000a',
  'T12:30:15.0000001',
  'T12:30:15+01:00',
];

test.each([
  [smallInteger, NO_INTEGERS],
  [plainDay, NO_DAYS],
  [plainTime, NO_TIMES],
])('%o does not read %j', (read, texts) => {
  for (const text of texts) expect(readAmongDigits(read, text), text).toBeUndefined();
});

test('any text is read as a number where it is a whole number of at most 15 digits, as the platform reads it', () => {
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
      expect(readAmongDigits(smallInteger, text)).toBe(isPlain ? Number(text) : undefined);
    }),
    { numRuns: 2000 },
  );
});
