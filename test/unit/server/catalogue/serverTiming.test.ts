// What answers say of the time that they took: on a clock of the test's own, and through the catalogue's handler.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { wholeBody } from '../../../../engine/page/body.ts';
import { newCounters } from '../../../../engine/find/counters.ts';
import type { CatalogueSettings } from '../../../../server/catalogue/catalogue.ts';
import type { Answer } from '../../../../server/http/exchange.ts';
import { timedHandler, withTiming } from '../../../../server/catalogue/serverTiming.ts';
import type { RunHeavy } from '../../../../workers/pool.ts';
import { requestOf, STAYING } from '../../../support/requests.ts';
import { ask, handlerWith, HEAVY, LONG, replyOf, type Reply } from '../../../support/smallCatalogue.ts';

const ANSWER: Answer = {
  status: 200,
  headers: [['Allow', 'GET']],
  etag: '"a"',
  body: wholeBody(new Uint8Array(0)),
};

/** A clock that shows these times, one after the other. */
function clockOf(...times: readonly number[]): () => number {
  let next = 0;
  return () => times[next++]!;
}

describe('an answer', () => {
  test('says what took how long behind its other headers, and is else the same', () => {
    const told = withTiming(ANSWER, 'pool', 12.345);
    expect(told).toEqual({ ...ANSWER, headers: [...ANSWER.headers, ['Server-Timing', 'pool;dur=12.3']] });
    expect(withTiming(told, 'total', 20).headers.at(-1)).toEqual(['Server-Timing', 'pool;dur=12.3, total;dur=20.0']);
    expect(ANSWER.headers).toHaveLength(1);
  });

  test('of a timed handler says how long it took, at once or later', async () => {
    const now = timedHandler(() => ANSWER, clockOf(1, 3));
    expect(await now(requestOf({ url: '/' }), STAYING)).toEqual(withTiming(ANSWER, 'total', 2));
    const later = timedHandler(async () => withTiming(ANSWER, 'pool', 5), clockOf(1, 8));
    const { headers } = await later(requestOf({ url: '/' }), STAYING);
    expect(headers.at(-1)).toEqual(['Server-Timing', 'pool;dur=5.0, total;dur=7.0']);
  });
});

describe('a catalogue', () => {
  afterEach(() => void vi.useRealTimers());

  const url = `/api/v3/observations/?title__contains=${LONG}&limit=2`;
  const found: RunHeavy = async () => ({
    kind: 'page',
    page: { count: 0, rows: { kind: 'list', rows: new Uint32Array(0) }, offset: 0, facets: [] },
    counters: newCounters(),
    spentNs: 0,
  });

  async function askHeavy(
    runHeavy: RunHeavy,
    settings: Partial<CatalogueSettings> = {},
    query = '',
    collection = HEAVY,
  ): Promise<Reply> {
    const handler = handlerWith(runHeavy, settings, () => collection);
    return replyOf(await handler(requestOf({ url: url + query }), STAYING));
  }

  test('tells the time of answers from the pool, refusals and explanations too', async () => {
    const pooled = /^pool;dur=\d+\.\d$/;
    const page = await askHeavy(found);
    expect([page.status, page.headers['Server-Timing']]).toEqual([200, expect.stringMatching(pooled)]);
    const busy = await askHeavy(async () => 'busy');
    expect([busy.status, busy.headers['Server-Timing']]).toEqual([503, expect.stringMatching(pooled)]);
    const explained = await askHeavy(found, { explain: true }, '&explain=1');
    expect([explained.status, explained.headers['Server-Timing']]).toEqual([200, expect.stringMatching(pooled)]);
  });

  test('tells of the pool how long it was waited for, not how long the page then took', async () => {
    vi.useFakeTimers({ toFake: ['hrtime'] });
    const slow: RunHeavy = async (...asked) => {
      await Promise.resolve();
      vi.advanceTimersByTime(40.5);
      return found(...asked);
    };
    const collection = {
      ...HEAVY,
      get records() {
        vi.advanceTimersByTime(1000);
        return HEAVY.records;
      },
    };
    const page = await askHeavy(slow, { serverTiming: true }, '', collection);
    expect(page.text).toBe('{"count":0,"next":null,"previous":null,"results":[]}');
    expect(page.headers['Server-Timing']).toBe('pool;dur=40.5, total;dur=1040.5');
    vi.useFakeTimers({ toFake: ['hrtime'] });
    const plain = await askHeavy(slow, {}, '', collection);
    expect(plain.headers['Server-Timing']).toBe('pool;dur=40.5');
  });

  test('tells no time of other answers unless that is set', async () => {
    for (const path of ['/', '/api/v3/', '/api/v3/observations/', '/api/v3/observations/1/', '/x', url]) {
      const isPooled = path === url;
      const set = { serverTiming: true };
      if (!isPooled) expect((await ask(path)).headers['Server-Timing'], path).toBeUndefined();
      const told = isPooled ? await askHeavy(found, set) : await ask(path, set);
      const wanted = isPooled ? /^pool;dur=\d+\.\d, total;dur=\d+\.\d$/ : /^total;dur=\d+\.\d$/;
      expect(told.headers['Server-Timing'], path).toMatch(wanted);
    }
  });

  test('gives an answer the same tag with and without its time', async () => {
    const [plain, told] = [
      await ask('/api/v3/observations/'),
      await ask('/api/v3/observations/', { serverTiming: true }),
    ];
    expect(told.etag).toBe(plain.etag);
  });
});
