// Entity tags and their equality, and conditional requests: lists of tags, and dates of the last change.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeForm } from '../../../../engine/query/ask.ts';
import { entityTags, type TagParts, isNamedIn, lastModifiedSeconds } from '../../../../server/catalogue/conditional.ts';

const SETTINGS = ['spec', 100, undefined, false];
const tagOf = entityTags('generation', SETTINGS);
const PAGE: TagParts = { baseUrl: 'http://a.test', path: '/api/v3/observations/', parameters: [] };

function tagged(query: string): string {
  return tagOf({ ...PAGE, parameters: decodeForm(query) });
}

test('makes a tag of 32 hexadecimal digits with a dash, the same on every replica', () => {
  expect(tagOf(PAGE)).toMatch(/^[0-9a-f]{16}-[0-9a-f]{16}$/);
  expect(entityTags('generation', [...SETTINGS])({ ...PAGE })).toBe(tagOf(PAGE));
});

test('changes the tag with each of snapshot, settings, base URL and path', () => {
  const tags = [
    tagOf(PAGE),
    entityTags('other', SETTINGS)(PAGE),
    entityTags('generation', ['request', 100, undefined, false])(PAGE),
    entityTags('generation', ['spec', 100, 7, false])(PAGE),
    tagOf({ ...PAGE, baseUrl: 'http://b.test' }),
    tagOf({ ...PAGE, path: '/api/v2/observations/' }),
    tagOf({ ...PAGE, path: '/api/v3/observations.json' }),
  ];
  expect(new Set(tags).size).toBe(tags.length);
});

describe('a query', () => {
  test('has the tag of no other query, whatever the positions of its parts', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '=', '&', '-', 'é', '\u{10000}'), maxLength: 6 });
    const pairs = fc.array(fc.tuple(text, text), { maxLength: 4 });
    const key = (list: readonly (readonly [string, string])[]): string =>
      JSON.stringify(list.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
    fc.assert(
      fc.property(pairs, pairs, (a, b) => {
        const same = tagOf({ ...PAGE, parameters: a }) === tagOf({ ...PAGE, parameters: b });
        expect(same).toBe(key(a) === key(b));
      }),
      { numRuns: 2000 },
    );
  });

  test('differs in every single digit of a number', () => {
    const tags = new Set(Array.from({ length: 20_000 }, (_, i) => tagged(`offset=${i}`)));
    expect(tags.size).toBe(20_000);
    const halves = [...tags].map((tag) => tag.slice(17));
    for (const at of [0, 8]) expect(new Set(halves.map((half) => half.slice(at, at + 8))).size).toBeGreaterThan(19_990);
  });
});

test.each(['-gzip', ';gzip', '-br', '-zstd'])('recognises a tag with the suffix %s of a proxy', (suffix) => {
  expect(isNamedIn(`W/"abc-def${suffix}"`, 'abc-def')).toBe(true);
  expect(isNamedIn(`"x${suffix}", "abc-def${suffix}"`, 'abc-def')).toBe(true);
  expect(isNamedIn(`"abc-def${suffix}${suffix}", "abc-def"${suffix}`, 'abc-deg')).toBe(false);
});

const LAST_MODIFIED = Date.UTC(2024, 0, 1) / 1000;

test.each(['"abc-deg"', '"abc-def-"', 'abc-def', '"*"', '"x", *', '""', '"abc-def', "'abc-def'"])(
  'finds in %s no tag abc-def',
  (tags) => expect(isNamedIn(tags, 'abc-def')).toBe(false),
);

test('compares the time of the data in whole seconds, and ignores a time in the future', () => {
  const now = Date.UTC(2024, 0, 2);
  expect(lastModifiedSeconds('2024-01-01T00:00:00.999Z', 0, now)).toBe(LAST_MODIFIED);
  expect(lastModifiedSeconds('2024-01-01T01:00:00+01:00', 0, now)).toBe(LAST_MODIFIED);
  expect(lastModifiedSeconds('2024-01-03T00:00:00Z', 0, now)).toBeUndefined();
  expect(lastModifiedSeconds('soon', 0, now)).toBeUndefined();
  expect(lastModifiedSeconds(undefined, 0, now)).toBeUndefined();
});

test('treats no response as unchanged since before it was served under these settings', () => {
  const now = Date.UTC(2024, 0, 2);
  expect(lastModifiedSeconds('2023-01-01T00:00:00Z', LAST_MODIFIED * 1000 + 999, now)).toBe(LAST_MODIFIED);
  expect(lastModifiedSeconds(undefined, LAST_MODIFIED * 1000, now)).toBeUndefined();
  expect(lastModifiedSeconds('2023-01-01T00:00:00Z', now + 1000, now)).toBeUndefined();
});
