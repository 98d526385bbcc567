// Patterns of names: what is within one, compared with a regular expression, and that none costs more than it is long.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesAny } from '../../../../../server/authority/x509/nameConstraints.ts';

test('a text is within a pattern exactly when the regular expression of that pattern matches', () => {
  const pieces = fc.array(fc.constantFrom('a', 'b', '/', '*'), { maxLength: 8 }).map((list) => list.join(''));
  const texts = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 12 }).map((list) => list.join(''));
  fc.assert(
    fc.property(texts, pieces, (text, pattern) => {
      expect(matchesAny(text, [pattern])).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text));
    }),
    { numRuns: 2000 },
  );
});

test('a pattern of many wildcards is refused at once, however long the name', { timeout: 20_000 }, () => {
  expect(matchesAny('a'.repeat(100_000), [`${'*a'.repeat(5000)}b`])).toBe(false);
});
