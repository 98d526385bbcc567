// The DER reader: accepted values, and inputs that are refused because they are BER or invalid.
import { describe, expect, test } from 'vitest';
import { context, DerError, DerReader, readTime, TAG } from '../../../../../server/authority/x509/der.ts';
import { bits, element, integer, oid, time } from '../../../../support/certificates.ts';

function reading(hex: string): DerReader {
  return new DerReader(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
}

describe('an element of DER', () => {
  test.each([
    ['with an indefinite length', '30 80 00 00'],
    ['with a length in more bytes than needed', '30 81 01 00'],
    ['with a length that starts with zeros', '30 82 00 80'],
    ['with a length of five bytes', '30 85 01 00 00 00 00'],
    ['with a length beyond the end', '30 02 00'],
    ['without a length', '30'],
    ['without anything', ''],
    ['with a tag of several bytes', '3f 81 01 00'],
    ['with the tag 0', '00 00'],
  ])('is refused: %s', (_, hex) => {
    expect(() => reading(hex).any()).toThrow(DerError);
  });
});

test('reads elements in sequence, and refuses trailing bytes', () => {
  const reader = reading('30 03 01 01 ff 05 00');
  const inner = reader.inside(TAG.sequence);
  expect(inner.boolean()).toBe(true);
  inner.finish();
  expect(reader.nextTag).toBe(TAG.null);
  expect(() => reader.finish()).toThrow(DerError);
  expect(reader.optional(TAG.set)).toBeUndefined();
  expect(reader.whole(reader.any())).toEqual(Buffer.of(5, 0));
  expect([reader.isAtEnd, reader.nextTag]).toEqual([true, 0]);
});

describe('integers of DER', () => {
  test.each([0n, 1n, 127n, 128n, -1n, -128n, -129n, 2n ** 159n - 1n, -(2n ** 159n)])('are read: %d', (value) => {
    expect(new DerReader(integer(value)).integer()).toBe(value);
  });

  test.each(['02 00', '02 02 00 7f', '02 02 ff 80', `02 41 ${'7f'.repeat(65)}`])('are refused: %s', (hex) => {
    expect(() => reading(hex).integer()).toThrow(DerError);
  });

  test('are refused as counts below 0 and beyond 31 bits', () => {
    expect(new DerReader(integer(2 ** 31 - 1)).count()).toBe(2 ** 31 - 1);
    for (const value of [-1, 2 ** 31]) expect(() => new DerReader(integer(value)).count()).toThrow(DerError);
  });
});

describe('object identifiers of DER', () => {
  test.each(['0.0', '1.2.840.113549.1.1.11', '2.5.29.15', '2.999.1', '2.25.329800735698586629295641978511506172918'])(
    'are read: %s',
    (text) => {
      expect(new DerReader(oid(text)).oid()).toBe(text);
    },
  );

  test.each(['06 00', '06 02 2a 80', '06 03 2a 80 01', `06 41 ${'2a'.repeat(65)}`])('are refused: %s', (hex) => {
    expect(() => reading(hex).oid()).toThrow(DerError);
  });
});

test('checks the unused bits of a bit string, which are 0', () => {
  expect(reading('03 02 05 a0').bits()).toEqual({ bytes: Buffer.of(0xa0), unused: 5 });
  expect(reading('03 01 00').bits().bytes.length).toBe(0);
  for (const hex of ['03 00', '03 02 08 00', '03 01 01', '03 02 05 a1']) {
    expect(() => reading(hex).bits(), hex).toThrow(DerError);
  }
  expect(new DerReader(bits(Buffer.of(1, 2))).signature()).toEqual(Buffer.of(1, 2));
  expect(new DerReader(bits(Buffer.of(1, 2), 1)).signature().length).toBe(0);
});

test('reads a boolean as FF or 00', () => {
  for (const hex of ['01 01 01', '01 00', '01 02 ff ff']) expect(() => reading(hex).boolean(), hex).toThrow(DerError);
});

test('gives context tags a number and a form', () => {
  expect([context(0, 'primitive'), context(3, 'constructed')]).toEqual([0x80, 0xa3]);
});

describe('times of DER', () => {
  const LAST_OF_1949 = -631_152_001;
  test.each([0, LAST_OF_1949, LAST_OF_1949 + 1, 2_524_607_999, 2_524_608_000, 951_782_400])(
    'are read: %d',
    (seconds) => {
      expect(readTime(new DerReader(time(seconds)))).toBe(seconds);
    },
  );

  test.each([
    ['UTCTime without seconds', 0x17, '2501010000Z'],
    ['UTCTime with a zone', 0x17, '250101000000+0100'],
    ['GeneralizedTime with a fraction', 0x18, '20250101000000.5Z'],
    ['GeneralizedTime without Z', 0x18, '20250101000000'],
    ['30 February', 0x18, '20250230000000Z'],
    ['month 13', 0x17, '251301000000Z'],
    ['hour 24', 0x17, '250101240000Z'],
    ['a leap second', 0x17, '250630235960Z'],
    ['no digits', 0x17, 'aaaaaaaaaaaaZ'],
    ['another type', 0x16, '250101000000Z'],
  ])('are refused: %s', (_, tag, text) => {
    expect(() => readTime(new DerReader(element(tag, Buffer.from(text))))).toThrow(DerError);
  });
});
