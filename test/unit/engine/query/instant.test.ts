// Dates as instants: the grammar, the calendar, and agreement with the platform's arithmetic.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactInstant, parseInstant } from '../../../../engine/query/decimal.ts';

test.each([
  ['1970-01-01', '0'],
  ['1970-01-02', '86400000000'],
  ['1969-12-31T23:59:59.999999', '-1'],
  ['2000-02-29', '951782400000000'],
  ['2016-05-04T12:30', '1462365000000000'],
  ['2016-05-04 12:30', '1462365000000000'],
  ['2016-05-04T12:30:15', '1462365015000000'],
  ['2016-05-04T12:30:15.5', '1462365015500000'],
  ['2016-05-04T12:30:15.000001Z', '1462365015000001'],
  ['2016-05-04T12:30:15+01:00', '1462361415000000'],
  ['2016-05-04T12:30:15-00:30', '1462366815000000'],
  ['2016-05-04Z', '1462320000000000'],
  ['0000-01-01', '-62167219200000000'],
  ['9999-12-31T23:59:59.999999', '253402300799999999'],
])('%s is %s microseconds after 1970', (text, microseconds) => {
  expect(exactInstant(text)).toBe(microseconds);
  expect(parseInstant(text)).toBe(Number(microseconds));
});

test.each([
  '',
  '2016',
  '2016-05',
  '2016-5-4',
  '2016-00-10',
  '2016-13-10',
  '2016-04-31',
  '2015-02-29',
  '1900-02-29',
  '2016-05-00',
  '2016-05-04T',
  '2016-05-04T12',
  '2016-05-04T24:00',
  '2016-05-04T12:60',
  '2016-05-04T12:30:60',
  '2016-05-04T12:30:15.',
  '2016-05-04T12:30:15.1234567',
  '2016-05-04T12:30z',
  '2016-05-04T12:30+1:00',
  '2016-05-04T12:30+24:00',
  ' 2016-05-04',
  '2016-05-04\n',
  '２０16-05-04',
  '2016-05-04T12:30:15 01:00',
])('%j is no date', (text) => {
  expect(parseInstant(text)).toBeNaN();
  expect(exactInstant(text)).toBeUndefined();
});

test('every second of ten thousand years is the one that the platform computes', () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_167_219_200, max: 253_402_300_799 }), (seconds) => {
      const text = new Date(seconds * 1000).toISOString().replace('.000', '');
      expect(exactInstant(text)).toBe(String(BigInt(seconds) * 1_000_000n));
    }),
    { numRuns: 2000 },
  );
});
