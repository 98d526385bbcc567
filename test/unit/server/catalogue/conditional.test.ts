// Conditions of requests: which tags a list does not name, and since when an answer is unchanged.
import { expect, test } from 'vitest';
import { isNamedIn, lastModifiedSeconds } from '../../../../server/catalogue/conditional.ts';

const LAST_MODIFIED = Date.UTC(2024, 0, 1) / 1000;

test.each(['"abc-deg"', '"abc-def-"', 'abc-def', '"*"', '"x", *', '""', '"abc-def', "'abc-def'"])(
  '%s does not name the tag abc-def',
  (tags) => expect(isNamedIn(tags, 'abc-def')).toBe(false),
);

test('the time of the data counts in whole seconds, and not at all where it lies ahead', () => {
  const now = Date.UTC(2024, 0, 2);
  expect(lastModifiedSeconds('2024-01-01T00:00:00.999Z', 0, now)).toBe(LAST_MODIFIED);
  expect(lastModifiedSeconds('2024-01-01T01:00:00+01:00', 0, now)).toBe(LAST_MODIFIED);
  expect(lastModifiedSeconds('2024-01-03T00:00:00Z', 0, now)).toBeUndefined();
  expect(lastModifiedSeconds('soon', 0, now)).toBeUndefined();
  expect(lastModifiedSeconds(undefined, 0, now)).toBeUndefined();
});

test('nothing is unchanged since before it was served under these settings', () => {
  const now = Date.UTC(2024, 0, 2);
  expect(lastModifiedSeconds('2023-01-01T00:00:00Z', LAST_MODIFIED * 1000 + 999, now)).toBe(LAST_MODIFIED);
  expect(lastModifiedSeconds(undefined, LAST_MODIFIED * 1000, now)).toBeUndefined();
  expect(lastModifiedSeconds('2023-01-01T00:00:00Z', now + 1000, now)).toBeUndefined();
});
