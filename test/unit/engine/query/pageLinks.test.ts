import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeQueryText, pageLinks, percentEncode, sortedByName } from '../../../../engine/query/links.ts';
import { indexOf } from '../../../support/index.ts';
import { askOf, QUERY_OPTIONS } from '../../../support/lists.ts';

test('escapes links for JSON, whatever the path contains', () => {
  const { page } = askOf(indexOf('observations', []), 'limit=2');
  const place = { address: 'http://h/"\\\u2028/', offset: 0, count: 8 };
  const { next } = pageLinks({ parameters: [['a"', '\\']], page }, QUERY_OPTIONS, place);
  expect(JSON.parse(`"${next}"`)).toBe('http://h/"\\\u2028/?a%22=%5C&limit=2&offset=2');
  expect(next).not.toContain('\u2028');
});

test('sorts names by code point, not by UTF-16 unit', () => {
  const names = ['\u{10000}', '\uffee', 'z'].map((name) => [name, ''] as const);
  expect(sortedByName(names).map(([name]) => name)).toEqual(['z', '\uffee', '\u{10000}']);
});

test('writes any query text so that a form decoder reads it back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const written = encodeQueryText(text);
      expect(written).toMatch(/^(?:[A-Za-z0-9\-._~+]|%[0-9A-F]{2})*$/);
      expect(new URLSearchParams(`x=${written}`).get('x')).toBe(text.toWellFormed());
    }),
  );
});

const CHARACTERS = ['!', "'", '(', ')', '*', '~', '%', '+', ' ', 'a', '&', 'é', '日', '😀', '\ud800', '\udc00'];

test('percent-encodes any text as its UTF-8 bytes', () => {
  const encoded = (text: string): string =>
    [...Buffer.from(text)]
      .map((byte) => {
        const character = String.fromCharCode(byte);
        const hex = byte.toString(16).toUpperCase().padStart(2, '0');
        return byte < 0x80 && /[A-Za-z0-9\-._~]/.test(character) ? character : `%${hex}`;
      })
      .join('');
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 600 }),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(percentEncode(text)).toBe(encoded(text));
    }),
  );
});
