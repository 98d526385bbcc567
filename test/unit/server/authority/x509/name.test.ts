// Distinguished names: written in certificate order, compared as in RFC 5280 section 7.1, and different if their texts
// differ.
import { describe, expect, test } from 'vitest';
import { DerReader } from '../../../../../server/authority/x509/der.ts';
import {
  type Name,
  nameProblem,
  nameSetKey,
  setKeyFromText,
  nameText,
  readName,
  sameName,
} from '../../../../../server/authority/x509/name.ts';
import {
  type Attribute,
  nameDer,
  NONSENSE,
  element,
  integer,
  oid,
  sequence,
  set,
  utf8,
} from '../../../../support/certificates.ts';

function nameOf(...attributes: readonly Attribute[]): Name {
  return readName(new DerReader(nameDer(attributes)));
}

const printable = (text: string): Buffer => element(0x13, Buffer.from(text));
const bmp = (text: string): Buffer => element(0x1e, Buffer.from(text, 'utf16le').swap16());
const teletex = (text: string): Buffer => element(0x14, Buffer.from(text, 'latin1'));

test('writes a name as /TYPE=value in the order of the certificate, unknown types by their number', () => {
  const name = nameOf(['DC', 'org'], ['O', 'Grid'], ['CN', 'Ada'], ['emailAddress', 'a@b.org'], ['1.2.3', 'x']);
  expect(nameText(name)).toBe('/DC=org/O=Grid/CN=Ada/emailAddress=a@b.org/1.2.3=x');
  expect(nameText(nameOf())).toBe('');
});

test('writes all attributes of an RDN', () => {
  const pair = (type: string, value: string): Buffer => sequence(oid(type), utf8(value));
  const name = readName(new DerReader(sequence(set(pair('2.5.4.3', 'a'), pair('2.5.4.11', 'b')))));
  expect(nameText(name)).toBe('/CN=a/OU=b');
  expect(name.rdns.length).toBe(1);
});

describe('two names', () => {
  test.each([
    ['in other letters', nameOf(['CN', 'Ada LOVELACE']), nameOf(['CN', 'ada lovelace'])],
    ['with more blanks', nameOf(['CN', ' Ada   Lovelace ']), nameOf(['CN', 'Ada Lovelace'])],
    ['in another string type', nameOf(['CN', printable('Ada')]), nameOf(['CN', utf8('Ada')])],
    ['in UTF-16', nameOf(['CN', bmp('Ådå')]), nameOf(['CN', 'Ådå'])],
    ['in Latin-1', nameOf(['CN', teletex('Ådå')]), nameOf(['CN', 'Ådå'])],
    ['in compatibility forms', nameOf(['CN', 'Å']), nameOf(['CN', 'A\u030a'])],
  ])('match %s', (_, a, b) => {
    expect(sameName(a, b)).toBe(true);
  });

  test.each([
    ['in another order', nameOf(['CN', 'a'], ['O', 'b']), nameOf(['O', 'b'], ['CN', 'a'])],
    ['with one part more', nameOf(['CN', 'a']), nameOf(['CN', 'a'], ['CN', 'a'])],
    ['of another type', nameOf(['CN', 'a']), nameOf(['O', 'a'])],
    ['with another value', nameOf(['CN', 'a']), nameOf(['CN', 'b'])],
    [
      'where one value holds what looks like two parts',
      nameOf(['CN', 'a/2.5.4.10=1:b']),
      nameOf(['CN', 'a'], ['O', 'b']),
    ],
  ])('do not match %s', (_, a, b) => {
    expect(sameName(a, b)).toBe(false);
  });
});

test('compares ASCII values of any length, others only up to the length that can be normalised at once', () => {
  const marks = (count: number): string => `a${'\u0315'.repeat(count)}${'\u0316'.repeat(count)}`;
  expect(nameText(nameOf(['CN', 'x'.repeat(100_000)]))).toHaveLength(100_004);
  expect(sameName(nameOf(['CN', marks(500)]), nameOf(['CN', marks(500).normalize('NFC')]))).toBe(true);
  const tooLong = 'a name with more than 1024 characters in values beyond ASCII';
  expect(() => nameOf(['CN', marks(512)])).toThrow(tooLong);
  expect(() => nameOf(['CN', marks(300)], ['O', 'x'.repeat(1000)], ['O', marks(300)])).toThrow(tooLong);
});

describe('the text of a name', () => {
  test.each([
    ['/O=Grid', 'has a value with a slash, a type and an equals sign in it'],
    ['a/1.2.3=b', 'has a value with a slash, a type and an equals sign in it'],
    ['a\0', 'has a value with a control character'],
    ['a\nb', 'has a value with a control character'],
    ['a\u0085', 'has a value with a control character'],
    ['a\u2028', 'has a value with a control character'],
  ])('is ambiguous with the value %j', (value, problem) => {
    expect(nameProblem(nameOf(['O', 'Grid'], ['CN', value]))).toBe(problem);
  });

  test('is ambiguous with a value that is not text', () => {
    expect(nameText(nameOf(['CN', integer(5)]))).toBe('/CN=#020105');
    expect(nameProblem(nameOf(['CN', integer(5)]))).toBe('has a value that is no text');
  });

  test.each(['host/www.example.org', 'a=b', 'a/b', '', '#020105', 'Ådå'])('is unique with %j', (value) => {
    expect(nameProblem(nameOf(['CN', value]))).toBeUndefined();
  });
});

describe('the set key of a name', () => {
  const name = nameOf(['O', 'Grid'], ['CN', 'Ada/x'], ['emailAddress', 'a@b.org']);

  test.each([
    '/O=Grid/CN=Ada/x/emailAddress=a@b.org',
    '/CN=Ada/x/emailAddress=a@b.org/O=Grid',
    '/cn=Ada/x/Email=a@b.org/o=Grid',
    '/2.5.4.3=Ada/x/E=a@b.org/O=Grid',
  ])('is that of %s', (text) => {
    expect(setKeyFromText(text)).toBe(nameSetKey(name));
  });

  test.each([
    '/O=grid/CN=Ada/x/emailAddress=a@b.org',
    '/O=Grid /CN=Ada/x/emailAddress=a@b.org',
    '/O=Grid/CN=Ada/x',
    '/O=Grid/O=Grid/CN=Ada/x/emailAddress=a@b.org',
  ])('is not that of %s', (text) => {
    expect(setKeyFromText(text)).not.toBe(nameSetKey(name));
  });

  test.each(['', 'CN=Ada', 'O=Grid, CN=Ada', '/Ada', ' /CN=Ada', '/CN=Ada\n'])('is undefined for %j', (text) => {
    expect(setKeyFromText(text)).toBeUndefined();
  });
});

test.each([
  ['no set', sequence(sequence(sequence(oid('2.5.4.3'), utf8('a'))))],
  ['an empty set', sequence(set())],
  ['no value', sequence(set(sequence(oid('2.5.4.3'))))],
  ['two values', sequence(set(sequence(oid('2.5.4.3'), utf8('a'), utf8('b'))))],
  ['bytes that are no UTF-8', nameDer([['CN', element(0x0c, Buffer.of(0xff))]])],
  ['Latin-1 in a PrintableString', nameDer([['CN', element(0x13, Buffer.of(0xe9))]])],
  ['half a character of UTF-16', nameDer([['CN', element(0x1e, Buffer.of(0))]])],
  ['a surrogate', nameDer([['CN', element(0x1e, Buffer.of(0xd8, 0))]])],
  ['a code point that does not exist', nameDer([['CN', element(0x1c, Buffer.of(0, 0x11, 0, 0))]])],
  ['no sequence', NONSENSE],
])('refuses a name with %s', (_, der) => {
  expect(() => readName(new DerReader(der))).toThrow();
});
