// Conditions of requests: which tags and times give a 304, and which request is known again by its text.
import { describe, expect, test } from 'vitest';
import type { BaseUrlChoice } from '../../../../server/catalogue/baseUrl.ts';
import { answersFor } from '../../../../server/catalogue/answers.ts';
import { Conditional, isNamedIn, lastModifiedSeconds } from '../../../../server/catalogue/conditional.ts';
import { requestOf, type RequestParts } from '../../../support/requests.ts';

const LAST_MODIFIED = Date.UTC(2024, 0, 1) / 1000;
const CHOICE: BaseUrlChoice = { baseUrl: 'http://a.test', varies: [] };
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
  return conditional.unchanged(requestOf({ url: '/a', headers }), CHOICE, TAG, true)?.status;
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

describe('a request that was answered with 304', () => {
  const named = { 'if-none-match': `"${TAG}"` };

  function afterUnchanged(parts: RequestParts, isNamed = true): Conditional {
    const conditional = conditionalOf();
    expect(conditional.unchanged(requestOf(parts), CHOICE, TAG, isNamed)?.status).toBe(304);
    return conditional;
  }

  test('is known again by path and query, to GET and HEAD, and by nothing else', () => {
    const conditional = afterUnchanged({ url: '/a?b', headers: named });
    const known = (parts: RequestParts): number | undefined =>
      conditional.known(requestOf({ headers: named, ...parts }), CHOICE)?.status;
    expect([known({ url: '/a?b' }), known({ url: '/a?b', method: 'HEAD' })]).toEqual([304, 304]);
    for (const url of ['/a', '/a?', '/a?b=', '/a%3Fb']) expect(known({ url }), url).toBeUndefined();
    for (const method of ['OPTIONS', 'POST']) expect(known({ url: '/a?b', method }), method).toBeUndefined();
    expect(known({ url: '/a?b', headers: {} })).toBeUndefined();
    expect(known({ url: '/a?b', headers: { 'if-none-match': '"other"' } })).toBeUndefined();
    const other = { baseUrl: 'http://b.test', varies: [] };
    expect(conditional.known(requestOf({ url: '/a?b', headers: named }), other)).toBeUndefined();
  });

  test('has its Accept judged each time, unless path or format name the form', () => {
    const headers = { ...named, accept: 'text/html' };
    const heeding = afterUnchanged({ url: '/a', headers: named }, false);
    expect(heeding.known(requestOf({ url: '/a', headers }), CHOICE)).toBeUndefined();
    expect(heeding.known(requestOf({ url: '/a', headers: named }), CHOICE)?.status).toBe(304);
    const free = afterUnchanged({ url: '/a', headers: named }, true);
    expect(free.known(requestOf({ url: '/a', headers }), CHOICE)?.status).toBe(304);
  });

  test('makes room for others: the oldest is forgotten, and so is one with a long text', () => {
    const conditional = afterUnchanged({ url: '/first', headers: named });
    for (let i = 0; i < 4095; i++) {
      conditional.unchanged(requestOf({ url: `/${i}`, headers: named }), CHOICE, TAG, true);
    }
    const isKnown = (url: string): boolean =>
      conditional.known(requestOf({ url, headers: named }), CHOICE) !== undefined;
    expect(isKnown('/first')).toBe(true);
    const long = `/${'x'.repeat(600)}`;
    conditional.unchanged(requestOf({ url: long, headers: named }), CHOICE, TAG, true);
    expect([isKnown(long), isKnown('/first')]).toEqual([false, true]);
    conditional.unchanged(requestOf({ url: '/last', headers: named }), CHOICE, TAG, true);
    expect([isKnown('/first'), isKnown('/0'), isKnown('/last')]).toEqual([false, true, true]);
  });
});
