// The durations that responses of the catalogue's handler report.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { newCounters } from '../../../../engine/find/counters.ts';
import type { CatalogueSettings } from '../../../../server/catalogue/catalogue.ts';
import type { RunHeavy } from '../../../../workers/pool.ts';
import { requestOf, STAYING } from '../../../support/requests.ts';
import { ask, handlerWith, HEAVY, LONG, type Reply, replyOf } from '../../../support/smallCatalogue.ts';

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

  test('reports the time of responses from the pool, refusals and explanations too', async () => {
    const pooled = /^pool;dur=\d+\.\d$/;
    const page = await askHeavy(found);
    expect([page.status, page.headers['Server-Timing']]).toEqual([200, expect.stringMatching(pooled)]);
    const busy = await askHeavy(async () => 'busy');
    expect([busy.status, busy.headers['Server-Timing']]).toEqual([503, expect.stringMatching(pooled)]);
    const explained = await askHeavy(found, { explain: true }, '&explain=1');
    expect([explained.status, explained.headers['Server-Timing']]).toEqual([200, expect.stringMatching(pooled)]);
  });

  test('reports the wait for the pool, not the time that the page then took', async () => {
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

  test('gives a response the same tag with and without its time', async () => {
    const [plain, told] = [
      await ask('/api/v3/observations/'),
      await ask('/api/v3/observations/', { serverTiming: true }),
    ];
    expect(told.etag).toBe(plain.etag);
  });
});
