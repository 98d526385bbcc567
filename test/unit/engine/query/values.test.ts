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
