// Form decoding against the platform's own: the same pairs for every text.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeForm } from '../../../../engine/query/ask.ts';

/** The platform drops one leading `?`, which in a query is a character like any other. */
function platform(query: string): readonly (readonly [string, string])[] {
  return [...new URLSearchParams(`?${query}`)];
}

/**
 * Escapes and raw text beyond ASCII apart: Node cuts such characters to a byte where an escape beside them is invalid.
 */
const ESCAPED = fc.oneof(
  fc.constantFrom('&', '=', '+', '%', '%2', '%zz', '%C3', '%A9', '%ED%A0%80', '%F0%9F%98%80', '%00', '%EF%BB%BF', '?'),
  fc.string({ unit: 'binary-ascii', maxLength: 4 }),
);
const RAW = fc.oneof(
  fc.constantFrom('&', '=', '+', '?', '#', '\ud800', '\udc00', 'é'),
  fc.string({ unit: 'binary', maxLength: 4 }).map((text) => text.replaceAll('%', '')),
);

test.each([
  ['escapes', ESCAPED],
  ['raw text', RAW],
])('every text of %s is read as the platform reads it', (_, piece) => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const query = pieces.join('');
      expect(decodeForm(query)).toEqual(platform(query));
    }),
    { numRuns: 2000 },
  );
});

test('raw text beside a broken escape is read as its UTF-8', () => {
  expect(decodeForm('a=%C3é')).toEqual([['a', '\ufffdé']]);
});
