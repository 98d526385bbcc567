// Values of filters: what each type accepts and refuses, exactness at any length, and dates as instants.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  arePlainDecimals,
  canonicalDecimal,
  compareDecimals,
  isPlainDecimal,
  exactInstant,
  parseInstant,
} from '../../../../engine/query/decimal.ts';
import { exactValue, parseValue } from '../../../../engine/query/values.ts';
import type { ColumnType } from '../../../../engine/column/dictionary.ts';

function read(type: ColumnType, text: string): string {
  const parsed = parseValue(type, text);
  return parsed.kind === 'value' ? parsed.value : parsed.message;
}

describe('the canonical form of a decimal', () => {
  test('is equal for equal integers and different for different ones, however large', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.nat(400), fc.nat(3), (integer, zeros, fraction) => {
        const value = integer * 10n ** BigInt(zeros);
        const written = `${value < 0n ? '-' : '+'}00${String(value).replace('-', '')}${fraction > 0 ? '.000'.slice(0, fraction + 1) : ''}`;
        expect(canonicalDecimal(written)).toBe(canonicalDecimal(String(value)));
        expect(canonicalDecimal(String(value + 1n))).not.toBe(canonicalDecimal(String(value)));
      }),
    );
  });

  test('is found in one pass over long runs of digits and zeros', () => {
    const digits = `1${'0'.repeat(500_000)}1`;
    expect(canonicalDecimal(digits)).toBe(digits);
    expect(read('integer', `${digits}.${'0'.repeat(500_000)}`)).toBe(digits);
  });
});

test('reads a list of plain tokens like its members one by one, and no other list', () => {
  const member = fc.oneof(
    fc.nat().map(String),
    fc.bigInt({ min: 1n, max: 10n ** 17n }).map(String),
    fc.constantFrom('', '0', '07', ' 7', '1.0', '-1', '1e3', 'x', '100', '999999999999999', '1000000000000000'),
  );
  fc.assert(
    fc.property(fc.array(member, { minLength: 1, maxLength: 6 }), (members) => {
      expect(arePlainDecimals(members.join(','))).toBe(members.every(isPlainDecimal));
      for (const one of members.filter(isPlainDecimal)) expect(canonicalDecimal(one)).toBe(one);
    }),
    { numRuns: 2000 },
  );
});

test('compares decimals exactly, in any spelling and at any length', () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.bigInt(), fc.nat(40), fc.nat(40), (a, b, i, j) => {
      const [first, second] = [a * 10n ** BigInt(i), b * 10n ** BigInt(j)];
      expect(Math.sign(compareDecimals(String(first), `${b}e${j}`))).toBe(first < second ? -1 : first > second ? 1 : 0);
    }),
  );
  expect(compareDecimals('0.30', '.3')).toBe(0);
  expect(compareDecimals('-0', '0.00')).toBe(0);
  expect(compareDecimals('0.1000000000000000055511151231257827', '0.1')).toBeGreaterThan(0);
  expect(compareDecimals('-2e-3', '-0.0021')).toBeGreaterThan(0);
});

test('gives a stored text the form of the operands that it equals', () => {
  expect(exactValue('integer', '9007199254740993')).toBe(read('integer', '9007199254740993'));
  expect(exactValue('dateTime', '2016-05-04T12:30:00')).toBe(read('dateTime', '2016-05-04 12:30Z'));
  expect(exactValue('date', 'unknown')).toBeUndefined();
});

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
])('reads %s as %s microseconds after 1970', (text, microseconds) => {
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
])('reads no date from %j', (text) => {
  expect(parseInstant(text)).toBeNaN();
  expect(exactInstant(text)).toBeUndefined();
});

describe('an operand of a date filter', () => {
  const second = fc.integer({ min: -62_167_219_200, max: 253_402_300_799 });
  const decimals = fc.stringMatching(/^\d{0,12}$/);
  const zones = fc.constantFrom(
    ['', ''],
    ['Z', 'Z'],
    ['z', 'Z'],
    ...['+01:00', '+0100', '+01'].map((zone) => [zone, '+01:00']),
    ...['-00:30', '-0030'].map((zone) => [zone, '-00:30']),
  );

  test('is the instant that clients print, whatever decimals, letters and zones they use', () => {
    const styles = fc.record({ t: fc.constantFrom('T', 't', ' '), point: fc.constantFrom('.', ',') });
    fc.assert(
      fc.property(second, decimals, zones, styles, (seconds, digits, [zone, plain], { t, point }) => {
        const text = new Date(seconds * 1000).toISOString().slice(0, 19);
        const printed = text.replace('T', t) + (digits && point + digits) + zone;
        const microseconds = digits && `.${digits.slice(0, 6)}`;
        expect(read('dateTime', printed)).toBe(exactInstant(text + microseconds + plain));
      }),
      { numRuns: 2000 },
    );
  });

  test.each(['2016-05-04T12:30:15.', '2016-05-04T12:30.5', '2016-05-04T12:30+1', '2016-05-04T24:00z', '2016-05-04z'])(
    'is not an instant: %s',
    (text) => expect(read('dateTime', text)).toBe('Enter a valid date/time.'),
  );
});

test('computes every second of ten thousand years as the platform does', () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_167_219_200, max: 253_402_300_799 }), (seconds) => {
      const text = new Date(seconds * 1000).toISOString().replace('.000', '');
      expect(exactInstant(text)).toBe(String(BigInt(seconds) * 1_000_000n));
    }),
    { numRuns: 2000 },
  );
});
