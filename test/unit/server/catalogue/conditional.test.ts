// Conditions of requests: which tags and times give a 304.
import { describe, expect, test } from 'vitest';
import { answersFor } from '../../../../server/catalogue/answers.ts';
import { Conditional, isNamedIn, lastModifiedSeconds } from '../../../../server/catalogue/conditional.ts';
import type { Coding } from '../../../../server/catalogue/negotiate.ts';
import { requestOf } from '../../../support/requests.ts';

const LAST_MODIFIED = Date.UTC(2024, 0, 1) / 1000;
const TAG = 'abc-def';

function conditionalOf(lastModified: number | undefined = LAST_MODIFIED): Conditional {
  const answers = answersFor({
    cors: false,
    cacheControl: 'no-cache',
    lastModified,
    gzip: 'stored',
    generation: undefined,
  });
  return new Conditional({ generation: 'g', settings: [], lastModified }, answers);
}

function statusOf(headers: Readonly<Record<string, string>>, conditional = conditionalOf()): number | undefined {
  const condition = conditional.conditionOf(requestOf({ url: '/a', headers }));
  return condition && conditional.unchanged(condition, [], TAG)?.status;
}

describe('If-None-Match', () => {
  test.each([
    '"abc-def"',
    'W/"abc-def"',
    '*',
    ' * ',
    '"x", "abc-def"',
    'W/"x","y",W/"abc-def", "z"',
    '"x,y", "abc-def"',
  ])('%s names the tag', (tags) => {
    expect(isNamedIn(tags, TAG)).toBe(true);
    expect(statusOf({ 'if-none-match': tags })).toBe(304);
  });

  test.each(['"abc-deg"', '"abc-def-"', 'abc-def', '"*"', '"x", *', '""', '"abc-def', "'abc-def'"])(
    '%s does not name the tag',
    (tags) => expect(statusOf({ 'if-none-match': tags })).toBeUndefined(),
  );

  test('goes before If-Modified-Since', () => {
    const since = 'Mon, 01 Jan 2024 00:00:00 GMT';
    expect(statusOf({ 'if-none-match': '"x"', 'if-modified-since': since })).toBeUndefined();
    expect(statusOf({ 'if-none-match': '*', 'if-modified-since': 'never' })).toBe(304);
  });
});

describe('If-Modified-Since', () => {
  test.each([
    ['Mon, 01 Jan 2024 00:00:00 GMT', 304],
    ['Mon, 01 Jan 2024 00:00:01 GMT', 304],
    ['Monday, 01-Jan-24 00:00:00 GMT', 304],
    ['Sun, 31 Dec 2023 23:59:59 GMT', undefined],
    ['2024-01-02', undefined],
  ])('%s gives %s', (since, status) => expect(statusOf({ 'if-modified-since': since })).toBe(status));

  test('gives nothing where the time of the data is not known', () => {
    const since = 'Mon, 01 Jan 2024 00:00:00 GMT';
    const timeless = conditionalOf();
    expect(statusOf({ 'if-modified-since': since }, timeless)).toBe(304);
    const answers = answersFor({
      cors: false,
      cacheControl: 'no-cache',
      lastModified: undefined,
      gzip: 'stored',
      generation: undefined,
    });
    const without = new Conditional({ generation: 'g', settings: [], lastModified: undefined }, answers);
    expect(statusOf({ 'if-modified-since': since }, without)).toBeUndefined();
  });
});

describe('before it is known how the body would be made', () => {
  const foreseen = (tags: string, coding: Coding): string | undefined =>
    conditionalOf().foreseen({ tags }, [], coding, TAG)?.etag;

  test.each([
    ['identity', '"abc-def"', '"abc-def"'],
    ['identity', '*', '"abc-def"'],
    ['identity', '"abc-def-s", "abc-def-z"', undefined],
    ['gzip', '"abc-def-s"', '"abc-def-s"'],
    ['gzip', '"abc-def", W/"abc-def-z"', '"abc-def-z"'],
    ['gzip', '"abc-def-so", "abc-def-zo"', undefined],
    ['gzip', '"abc-def"', undefined],
    ['gzip', '*', undefined],
    ['gzipOnly', '"abc-def-s"', '"abc-def-s"'],
    ['gzipOnly', '"abc-def-zo"', '"abc-def-zo"'],
    ['gzipOnly', '"abc-def"', undefined],
  ] as const)('for %s a tag of that coding tells: %s gives %s', (coding, tags, etag) => {
    expect(foreseen(tags, coding)).toBe(etag);
  });

  test('a time tells only where there is no coding', () => {
    expect(conditionalOf().foreseen('sinceThen', [], 'identity', TAG)?.etag).toBe('"abc-def"');
    expect(conditionalOf().foreseen('sinceThen', [], 'gzip', TAG)).toBeUndefined();
  });
});

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
