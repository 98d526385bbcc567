// The cache of repeated requests: its key, when it is used, and its limit.
import { describe, expect, test } from 'vitest';
import { wholeBody } from '../../../../engine/engine.ts';
import type { BaseUrlChoice } from '../../../../server/catalogue/baseUrl.ts';
import type { Coding } from '../../../../server/catalogue/negotiate.ts';
import type { Answer } from '../../../../server/http/exchange.ts';
import { type KnownRequest, RequestMemory } from '../../../../server/catalogue/requestMemory.ts';
import { requestOf, type RequestParts } from '../../../support/requests.ts';

const CHOICE: BaseUrlChoice = { baseUrl: 'http://a.test', path: '', varies: [] };
const BYTES = 4 << 20;

const TAG = 'abc-def';
const answerOf = (text: string): Answer => ({ status: 200, headers: [], body: wholeBody(Buffer.from(text)) });
interface Kept extends RequestParts {
  readonly choice?: BaseUrlChoice;
  readonly coding?: Coding;
  readonly heedsAccept?: boolean;
  readonly ownBytes?: number;
}

function keep(known: RequestMemory, { choice = CHOICE, coding = 'identity', ownBytes = 0, ...parts }: Kept): Answer {
  const answer = answerOf(parts.url ?? '');
  const heedsAccept = parts.heedsAccept ?? false;
  known.keep(
    { request: requestOf(parts), choice, coding },
    { tag: TAG, dependsOnAccept: heedsAccept, answer },
    ownBytes,
  );
  return answer;
}

function find(known: RequestMemory, { choice = CHOICE, coding = 'identity', ...parts }: Kept): Answer | undefined {
  return known.find({ request: requestOf(parts), choice, coding })?.answer;
}

/** The number of these responses that are due for the cache. */
function timesDue(known: RequestMemory, times: number): number {
  return Array.from({ length: times }, () => known.isDue()).filter(Boolean).length;
}

test('makes one in eight of the responses due', () => {
  expect(timesDue(new RequestMemory(BYTES), 8 * 5)).toBe(5);
});

test('makes no response due with a cache of no bytes', () => {
  expect(timesDue(new RequestMemory(0), 50)).toBe(0);
});

test('counts responses under many texts, codings and base URLs together', () => {
  const known = new RequestMemory(BYTES);
  const choices = Array.from({ length: 40 }, (_, i): BaseUrlChoice => ({
    baseUrl: `http://${i}.test`,
    path: '',
    varies: [],
  }));
  const urls = Array.from({ length: 800 }, (_, i) => `/${i}`);
  for (const url of urls) for (const choice of choices) keep(known, { url, choice });
  let count = 0;
  for (const url of urls.toReversed()) for (const choice of choices) if (find(known, { url, choice })) count++;
  expect(count).toBeGreaterThan(choices.length);
  expect(count).toBeLessThan(BYTES / 1024);
});

test('does not cache what is large, or has a long text', () => {
  const known = new RequestMemory(BYTES);
  const long = `/a?${'x'.repeat(600)}`;
  keep(known, { url: long });
  keep(known, { url: '/fat', ownBytes: 5000 });
  keep(known, { url: '/lean', ownBytes: 4000 });
  expect([long, '/fat', '/lean'].map((url) => find(known, { url }) !== undefined)).toEqual([false, false, true]);
});

describe('a tag without a response', () => {
  const asked = (parts: RequestParts): Parameters<RequestMemory['find']>[0] => {
    return { request: requestOf(parts), choice: CHOICE, coding: 'identity' };
  };
  const known: KnownRequest = { tag: TAG, dependsOnAccept: false };

  test('makes room for others if no responses are cached: unused ones are forgotten', () => {
    const memory = new RequestMemory(0);
    const texts = Array.from({ length: 20_000 }, (_, i) => `/${i}`);
    for (const url of ['/first', '/asked', ...texts]) {
      memory.keep(asked({ url }), known);
      expect(memory.find(asked({ url: '/asked' })) !== undefined).toBe(url !== '/first');
    }
    const count = texts.filter((url) => memory.find(asked({ url }))).length;
    expect(memory.find(asked({ url: '/first' }))).toBeUndefined();
    expect(count).toBeGreaterThan(2000);
    expect(count).toBeLessThan((2 << 20) / 256);
  });
});
