// Serial numbers: positive, of at most 96 bits, and none twice however many are drawn at once.
import { expect, test } from 'vitest';
import { randomSerialNumber } from '../../../../server/authority/issuance.ts';

test('serial numbers differ, are positive and use their 96 bits', () => {
  const numbers = Array.from({ length: 2000 }, randomSerialNumber);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers.every((one) => one > 0n && one < 1n << 96n)).toBe(true);
  const everyBit = numbers.reduce((bits, one) => bits | one, 0n);
  expect(everyBit).toBe((1n << 96n) - 1n);
});
