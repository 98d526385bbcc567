// Values of filters: what each type reads, what it refuses, and exactness at any length.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  arePlainDecimals,
  canonicalDecimal,
  compareDecimals,
  isPlainDecimal,
} from '../../../../engine/query/decimal.ts';
import { exactValue, parseValue } from '../../../../engine/query/values.ts';
import type { ColumnType } from '../../../../engine/column/dictionary.ts';

function read(type: ColumnType, text: string): string {
  const parsed = parseValue(type, text);
  return parsed.kind === 'value' ? parsed.value : parsed.message;
}

test.each([
  ['integer', '5', '5'],
  ['integer', ' +005.00 ', '5'],
  ['integer', '5.', '5'],
  ['integer', '-0', '0'],
  ['integer', '1200', '1200'],
  ['integer', '-7', '-7'],
  ['integer', '', 'This field is required.'],
  ['integer', '1.5', 'Enter a whole number.'],
  ['integer', '1e3', 'Enter a whole number.'],
  ['integer', 'abc', 'Enter a whole number.'],
  ['integer', '1 2', 'Enter a whole number.'],
  ['integer', '1_000', 'Enter a whole number.'],
  ['link', '3', '3'],
  ['link', 'x', 'Enter a whole number.'],
  ['float', ' 1.50', '1.5'],
  ['float', '1e3', '1000'],
  ['float', '.5', '0.5'],
  ['float', 'NaN', 'Enter a number.'],
  ['float', 'Infinity', 'Enter a number.'],
  ['float', '0x10', 'Enter a number.'],
  ['float', '', 'This field is required.'],
  ['boolean', 'FALSE', 'false'],
  ['boolean', '0', 'false'],
  ['boolean', '', 'false'],
  ['boolean', 'no', 'true'],
  ['boolean', '1', 'true'],
  ['text', '  a b\t', 'a b'],
  ['text', '', ''],
  ['date', '1970-01-02', '86400000000'],
  ['date', '1970-02-30', 'Enter a valid date.'],
  ['date', '', 'This field is required.'],
  ['dateTime', '1970-01-01T00:00:01', '1000000'],
  ['dateTime', 'now', 'Enter a valid date/time.'],
] as const)('%s reads %j as %j', (type, text, expected) => {
  expect(read(type, text)).toBe(expected);
});

test.each(['text', 'boolean', 'integer', 'float', 'date', 'dateTime', 'link'] as const)('%s refuses NUL', (type) => {
  expect(read(type, '1\0')).toBe('Null characters are not allowed.');
});

describe('the canonical form of a decimal', () => {
  test.each([
    ['1200', '1200'],
    ['1.2e3', '1200'],
    ['+01200.0', '1200'],
    ['0.00120', '12e-4'],
    ['-0.0e9', '0'],
    ['5.', '5'],
    ['.5', '5e-1'],
    ['-12e2', '-1200'],
    ['1e20', `1${'0'.repeat(20)}`],
    ['1e21', '1e21'],
    [`1${'0'.repeat(21)}`, '1e21'],
    ['15e-1', '15e-1'],
    ['1420070400000000', '1420070400000000'],
  ])('of %s is %s', (token, form) => {
    expect(canonicalDecimal(token)).toBe(form);
  });

  test.each(['', '.', '-', 'e5', '1e', '1.2.3', '0x1', 'Infinity'])('does not exist for %j', (token) => {
    expect(canonicalDecimal(token)).toBeUndefined();
  });

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

  test('of long runs of digits and zeros is found in one pass over them', () => {
    const digits = `1${'0'.repeat(500_000)}1`;
    expect(canonicalDecimal(digits)).toBe(digits);
    expect(read('integer', `${digits}.${'0'.repeat(500_000)}`)).toBe(digits);
  });
});

test('a list of plain tokens is read as its members are one by one, and no other list is', () => {
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

test('decimals compare exactly, in any spelling and at any length', () => {
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

test('a stored text has the form of the operands that it equals', () => {
  expect(exactValue('integer', '9007199254740993')).toBe(read('integer', '9007199254740993'));
  expect(exactValue('dateTime', '2016-05-04T12:30:00')).toBe(read('dateTime', '2016-05-04 12:30Z'));
  expect(exactValue('date', 'unknown')).toBeUndefined();
});
