// Answers that are kept: by all that they depend on, when they come again, within a limit.
import { expect, test } from 'vitest';
import { wholeBody } from '../../../../engine/engine.ts';
import type { BaseUrlChoice } from '../../../../server/catalogue/baseUrl.ts';
import type { Coding } from '../../../../server/catalogue/coding.ts';
import type { Answer } from '../../../../server/http/exchange.ts';
import { KnownAnswers } from '../../../../server/catalogue/knownAnswers.ts';
import { requestOf, type RequestParts } from '../../../support/requests.ts';

const CHOICE: BaseUrlChoice = { baseUrl: 'http://a.test', varies: [] };
const MEGABYTE = 1 << 20;

/** A memory of requests whose Accept-Encoding is the coding itself. */
function memoryOf(bytes: number): KnownAnswers {
  return new KnownAnswers(bytes, (request) => (request.header('accept-encoding') ?? 'identity') as Coding);
}

const answerOf = (text: string): Answer => ({ status: 200, headers: [], body: wholeBody(Buffer.from(text)) });
/** A tag as hashes make them. */
const tagOf = (i: number): string => `0123456789abcdef-${hexOf(i, 0x9e3779b1)}${hexOf(i, 0x85ebca77)}`;
const hexOf = (i: number, multiplier: number): string =>
  (Math.imul(i + 1, multiplier) >>> 0).toString(16).padStart(8, '0');

interface Kept extends RequestParts {
  readonly choice?: BaseUrlChoice;
  readonly coding?: Coding;
  readonly heedsAccept?: boolean;
  readonly ownBytes?: number;
}

function keep(known: KnownAnswers, { choice = CHOICE, coding = 'identity', ownBytes = 0, ...parts }: Kept): Answer {
  const answer = answerOf(parts.url ?? '');
  known.keep({ request: requestOf(parts), choice, coding, heedsAccept: parts.heedsAccept ?? false }, answer, ownBytes);
  return answer;
}

function find(known: KnownAnswers, { choice = CHOICE, coding, ...parts }: Kept): Answer | undefined {
  const headers = coding === undefined ? {} : { 'accept-encoding': coding };
  return known.find(requestOf({ ...parts, headers }), choice);
}

test('an answer is found by method, path, query, base URL and coding, and by nothing less', () => {
  const known = memoryOf(MEGABYTE);
  const answer = keep(known, { url: '/a?b' });
  expect(find(known, { url: '/a?b' })).toBe(answer);
  expect(find(known, { url: '/a?b', method: 'HEAD' })).toBe(answer);
  for (const method of ['OPTIONS', 'POST', 'get']) expect(find(known, { url: '/a?b', method }), method).toBeUndefined();
  for (const url of ['/a', '/a?', '/a?b=', '/a%3Fb', '/A?b']) expect(find(known, { url }), url).toBeUndefined();
  for (const coding of ['gzip', 'gzipOnly'] as const) expect(find(known, { url: '/a?b', coding })).toBeUndefined();
  expect(find(known, { url: '/a?b', choice: { ...CHOICE } })).toBeUndefined();
});

test('the answers to one text under several codings and base URLs are kept beside each other', () => {
  const known = memoryOf(MEGABYTE);
  const other: BaseUrlChoice = { baseUrl: 'http://b.test', varies: [] };
  const kept = [{ coding: 'gzip' as const }, {}, { choice: other }, { choice: other, coding: 'gzipOnly' as const }];
  const answers = kept.map((parts) => keep(known, { url: '/a', ...parts }));
  expect(kept.map((parts) => find(known, { url: '/a', ...parts }))).toEqual(answers);
  expect(find(known, { url: '/a', choice: other, coding: 'gzip' })).toBeUndefined();
});

test('Accept is judged each time, unless path or format override it', () => {
  const known = memoryOf(MEGABYTE);
  keep(known, { url: '/a', heedsAccept: true });
  keep(known, { url: '/a.json' });
  const isFound = (url: string, accept: string): boolean =>
    known.find(requestOf({ url, headers: { accept } }), CHOICE) !== undefined;
  expect([isFound('/a', '*/*'), isFound('/a', 'text/html'), isFound('/a.json', 'text/html')]).toEqual([
    true,
    false,
    true,
  ]);
});

/** How many of so many times a tag is due. */
function timesDue(known: KnownAnswers, tag: string, times: number): number {
  return Array.from({ length: times }, () => known.isDue(tag)).filter(Boolean).length;
}

test('of the answers that come again one in eight is due, and of those that do not none', () => {
  const known = memoryOf(MEGABYTE);
  expect(timesDue(known, tagOf(7), 1 + 8 * 5)).toBe(5);
  for (let i = 0; i < 100_000; i++) expect(known.isDue(tagOf(1000 + i))).toBe(false);
});

test('of answers that come in circles each is due once the others are kept', () => {
  const known = memoryOf(MEGABYTE);
  const left = new Set(Array.from({ length: 64 }, (_, i) => tagOf(i)));
  for (let round = 0; round < 60; round++) for (const tag of left) if (known.isDue(tag)) left.delete(tag);
  expect(left.size).toBeLessThan(2);
});

test('in a memory of no bytes none is due', () => {
  expect(timesDue(memoryOf(0), tagOf(7), 50)).toBe(0);
});

/** How many of some texts are known; asking makes what is known younger. */
function countKnown(known: KnownAnswers, urls: readonly string[]): number {
  return urls.filter((url) => find(known, { url })).length;
}

test('no more is kept than there is memory for, and what is asked for stays', () => {
  const known = memoryOf(MEGABYTE);
  const urls = Array.from({ length: 10_000 }, (_, i) => `/page?offset=${i}`);
  keep(known, { url: '/beside' });
  for (const url of urls) {
    keep(known, { url });
    expect(find(known, { url: '/beside' })).toBeDefined();
  }
  expect(countKnown(known, urls.toReversed())).toBeLessThan(MEGABYTE / 1024);
});

test('answers under many texts, codings and base URLs are counted all', () => {
  const known = memoryOf(MEGABYTE);
  const choices = Array.from({ length: 40 }, (_, i): BaseUrlChoice => ({ baseUrl: `http://${i}.test`, varies: [] }));
  const urls = Array.from({ length: 200 }, (_, i) => `/${i}`);
  for (const url of urls) for (const choice of choices) keep(known, { url, choice });
  let count = 0;
  for (const url of urls.toReversed()) for (const choice of choices) if (find(known, { url, choice })) count++;
  expect(count).toBeGreaterThan(choices.length);
  expect(count).toBeLessThan(MEGABYTE / 1024);
});

test('what holds much by itself, or has a long text, is not kept', () => {
  const known = memoryOf(MEGABYTE);
  const long = `/a?${'x'.repeat(600)}`;
  keep(known, { url: long });
  keep(known, { url: '/fat', ownBytes: 5000 });
  keep(known, { url: '/lean', ownBytes: 4000 });
  expect([long, '/fat', '/lean'].map((url) => find(known, { url }) !== undefined)).toEqual([false, false, true]);
});
