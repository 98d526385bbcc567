// Conditions of requests: which tags and times give a 304.
import { describe, expect, test } from 'vitest';
import type { BaseUrlChoice } from '../../../../server/catalogue/baseUrl.ts';
import { answersFor } from '../../../../server/catalogue/answers.ts';
import { Conditional, isNamedIn, lastModifiedSeconds } from '../../../../server/catalogue/conditional.ts';
import { requestOf } from '../../../support/requests.ts';

const LAST_MODIFIED = Date.UTC(2024, 0, 1) / 1000;
const CHOICE: BaseUrlChoice = { baseUrl: 'http://a.test', path: '', varies: [] };
const TAG = 'abc-def';

function conditionalOf(lastModified: number | undefined = LAST_MODIFIED): Conditional {
  const answers = answersFor({
    cors: false,
    cacheControl: 'no-cache',
    lastModified,
    gzip: 'stored',
    generation: undefined,
  });
  return new Conditional({ generation: 'g', settings: [], lastModified, isGzipOffered: true }, answers);
}

function statusOf(headers: Readonly<Record<string, string>>, conditional = conditionalOf()): number | undefined {
  return conditional.unchanged(requestOf({ url: '/a', headers }), CHOICE, TAG)?.status;
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
    const without = new Conditional(
      { generation: 'g', settings: [], lastModified: undefined, isGzipOffered: true },
      answers,
    );
    expect(statusOf({ 'if-modified-since': since }, without)).toBeUndefined();
  });
});

test('the time of the data counts in whole seconds, and not at all where it lies ahead', () => {
  const now = Date.UTC(2024, 0, 2);
  expect(lastModifiedSeconds('2024-01-01T00:00:00.999Z', now)).toBe(LAST_MODIFIED);
  expect(lastModifiedSeconds('2024-01-01T01:00:00+01:00', now)).toBe(LAST_MODIFIED);
  expect(lastModifiedSeconds('2024-01-03T00:00:00Z', now)).toBeUndefined();
  expect(lastModifiedSeconds('soon', now)).toBeUndefined();
  expect(lastModifiedSeconds(undefined, now)).toBeUndefined();
});
