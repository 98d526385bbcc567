// Links between pages: when they exist and how the query is written again.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeQueryText, pageLinks, percentEncode, type PagePlace } from '../../../../engine/query/links.ts';
import { indexOf } from '../../../support/index.ts';
import { askOf, QUERY_OPTIONS } from '../../../support/lists.ts';

const OBSERVATIONS = indexOf('observations', []);
const ADDRESS = 'http://localhost:8080/api/v3/observations/';

interface Links {
  readonly next: string | null;
  readonly previous: string | null;
}

/** The links of a page at a place, asked for by these parameters, whatever these mean for the place. */
function linksAt(
  parameters: readonly (readonly [string, string])[],
  { limit = 100, ...place }: PagePlace & { readonly limit?: number },
  options = QUERY_OPTIONS,
): Links {
  const { page } = askOf(OBSERVATIONS, '');
  return pageLinks({ parameters, page: { ...page, limit } }, options, place);
}

function linksFor(
  parameters: readonly (readonly [string, string])[],
  { limit = 100, offset = 0, count = 1000 },
): Links {
  const { next, previous } = linksAt(parameters, { address: ADDRESS, limit, offset, count });
  return { next: next?.slice(ADDRESS.length) ?? null, previous: previous?.slice(ADDRESS.length) ?? null };
}

test('links are written as they stand in JSON, whatever the path holds', () => {
  const { next } = linksAt([['a"', '\\']], { address: 'http://h/"\\\u2028/', limit: 2, offset: 0, count: 8 });
  expect(JSON.parse(`"${next}"`)).toBe('http://h/"\\\u2028/?a%22=%5C&limit=2&offset=2');
  expect(next).not.toContain('\u2028');
});

test('a page asked for by after leads on behind its last id, and never back', () => {
  const parameters = [
    ['after', '3'],
    ['status', 'x'],
    ['after', '+7'],
  ] as const;
  const place = { address: 'http://h/', limit: 2, offset: 5, lastId: 40 };
  const next = 'http://h/?after=40&limit=2&status=x';
  expect(linksAt(parameters, { ...place, count: 8 })).toEqual({ next, previous: null });
  expect(linksAt(parameters, { ...place, count: 7 })).toEqual({ next: null, previous: null });
});

test('a page of a pinned walk leads on in its generation, whatever the request named', () => {
  const parameters = [
    ['generation', ''],
    ['title', 'x'],
    ['generation', 'abcdef'],
  ] as const;
  const pinning = { ...QUERY_OPTIONS, pinsWalks: true };
  const place = { address: 'http://h/', limit: 2, offset: 2, count: 8, generation: 'abc' };
  expect(linksAt(parameters, place, pinning)).toEqual({
    next: 'http://h/?generation=abc&limit=2&offset=4&title=x',
    previous: 'http://h/?generation=abc&limit=2&title=x',
  });
  const next = 'http://h/?after=9&generation=abc&limit=2&title=x';
  expect(linksAt(parameters, { ...place, lastId: 9 }, pinning)).toEqual({ next, previous: null });
});

describe('links between pages', () => {
  test('sort the names, add the offset and percent-encode all but unreserved characters', () => {
    const parameters = [
      ['title__contains!', 'ocean'],
      ['limit', '1'],
      ['publicationState__in', 'published,citable'],
    ] as const;
    expect(linksFor(parameters, { limit: 1 }).next).toBe(
      '?limit=1&offset=1&publicationState__in=published%2Ccitable&title__contains%21=ocean',
    );
  });

  test('write the effective limit and offset, not the ones asked for', () => {
    const parameters = [
      ['limit', 'abc'],
      ['offset', '-7'],
      ['limit', '0'],
    ] as const;
    expect(linksFor(parameters, {}).next).toBe('?limit=100&offset=100');
  });

  test('keep repeats in order and write a blank as a plus', () => {
    const parameters = [
      ['x', 'b c'],
      ['format', 'api'],
      ['x', 'a'],
      ['a', ''],
    ] as const;
    expect(linksFor(parameters, {}).next).toBe('?a=&format=api&limit=100&offset=100&x=b+c&x=a');
  });

  test('sort names by code point, not by UTF-16 unit', () => {
    expect(
      linksFor(
        [
          ['\u{10000}', '1'],
          ['\uffee', '2'],
          ['z', '3'],
        ],
        {},
      ).next,
    ).toBe('?limit=100&offset=100&z=3&%EF%BF%AE=2&%F0%90%80%80=1');
  });

  test('have no next where the page reaches the end', () => {
    expect(linksFor([], { count: 100 })).toEqual({ next: null, previous: null });
    expect(linksFor([], { count: 101 }).next).toBe('?limit=100&offset=100');
  });

  test('leave the offset out of previous where it would be 0 or less', () => {
    expect(linksFor([], { offset: 100 }).previous).toBe('?limit=100');
    expect(linksFor([], { offset: 50 }).previous).toBe('?limit=100');
    expect(linksFor([], { offset: 101 }).previous).toBe('?limit=100&offset=1');
  });

  test('past the end lead back by one limit', () => {
    expect(linksFor([], { offset: 5000, count: 7 })).toEqual({ next: null, previous: '?limit=100&offset=4900' });
  });

  test('take the largest limit and offset', () => {
    const most = 999_999_999_999_999;
    expect(linksFor([], { limit: most, offset: most }).previous).toBe(`?limit=${most}`);
  });
});

test('any query text is written so that a form decoder reads it back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const written = encodeQueryText(text);
      expect(written).toMatch(/^(?:[A-Za-z0-9\-._~+]|%[0-9A-F]{2})*$/);
      expect(new URLSearchParams(`x=${written}`).get('x')).toBe(text.toWellFormed());
    }),
  );
});

const CHARACTERS = ['!', "'", '(', ')', '*', '~', '%', '+', ' ', 'a', '&', 'é', '日', '😀', '\ud800', '\udc00'];

test('any text is percent-encoded as its bytes of UTF-8 are one by one', () => {
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
