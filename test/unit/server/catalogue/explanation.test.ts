// `explain=1` through the handler: its output, when it has an effect, and that it refuses what a list would (A68).
import { describe, expect, test } from 'vitest';
import { newCounters } from '../../../../engine/find/counters.ts';
import type { RunHeavy } from '../../../../workers/pool.ts';
import { requestOf, STAYING } from '../../../support/requests.ts';
import { ask, GENERATION, handlerWith, HEAVY, LONG, replyOf, served } from '../../../support/smallCatalogue.ts';

describe('a list that is explained', () => {
  const settings = { explain: true };

  test('is one object with plan, estimates, results and durations', async () => {
    const url =
      '/api/v3/observations/?explain=1&title=land&procedureComputation__title!=x&limit=3&ordering=-title&facets=title';
    const { status, headers, text } = await ask(url, settings);
    expect([status, headers['Content-Type'], headers['Cache-Control']]).toEqual([200, 'application/json', 'no-store']);
    expect(JSON.parse(text)).toEqual({
      generation: GENERATION,
      plan: {
        collection: 'observations',
        estimate: 4,
        isEmpty: false,
        steps: [
          {
            kind: 'condition',
            field: 'title',
            lookup: 'exact',
            values: ['land'],
            valueCount: 1,
            estimate: 4,
          },
        ],
        except: [
          [
            expect.objectContaining({
              kind: 'relation',
              relation: 'procedureComputation',
              to: 'computations',
              estimate: 0,
              steps: [expect.objectContaining({ field: 'procedureComputation__title', estimate: 0 })],
            }),
          ],
        ],
        ordering: ['-title'],
        after: null,
        offset: 0,
        limit: 3,
        facets: ['title'],
      },
      count: 4,
      shown: 3,
      ran: {
        place: 'inline',
        isKept: false,
        isShared: false,
        microseconds: expect.any(Number),
        ranOutAt: null,
        rowsTouched: expect.any(Number),
        postingsVisited: 0,
        joinSteps: 0,
        bytesScanned: 0,
        rowsOrdered: 4,
        rowsCounted: 4,
      },
      thread: { inline: 1, pooled: 0, joined: 0, hits: 0, misses: 0, sets: 0, bytes: 0, bytesMax: 0 },
    });
  });

  test.each(['explain=true', 'explain=1&format=csv', 'explain=0&explain=1', 'explain=1&strict=1'])(
    'is explained for %s too',
    async (query) => {
      expect(JSON.parse((await ask(`/api/v3/observations/?${query}`, settings)).text)).toMatchObject({ count: 8 });
    },
  );

  test('is the usual list if explain is off, and is refused if the list would be', async () => {
    for (const value of ['0', '', 'False', '1&explain=false']) {
      const { text, headers } = await ask(`/api/v3/observations/?explain=${value}`, settings);
      const ignored = value.includes('&') ? 'explain' : undefined;
      expect([text.slice(0, 10), headers['X-Ignored-Params']]).toEqual(['{"count":8', ignored]);
    }
    expect((await ask('/api/v3/observations/?explain=1&ob_id=x', settings)).status).toBe(400);
    expect((await ask('/api/v3/observations/?explain=1&format=xml', settings)).status).toBe(404);
  });

  test('is the list without the setting, with explain as an unknown parameter, which records ignore too', async () => {
    const { text, headers } = await ask('/api/v3/observations/?explain=1');
    expect([text.slice(0, 10), headers['X-Ignored-Params']]).toEqual(['{"count":8', 'explain']);
    expect((await ask('/api/v3/observations/?explain=1&strict=1')).status).toBe(400);
    const record = await ask('/api/v3/observations/3/?explain=1', settings);
    expect([record.text, record.headers['X-Ignored-Params']]).toEqual([served(3, 'ocean'), 'explain']);
  });

  test('shows an id to start from that is not a number of JSON', async () => {
    const { text } = await ask(`/api/v3/observations/?explain=1&after=${'9'.repeat(400)}`, settings);
    expect(JSON.parse(text)).toMatchObject({ plan: { after: 'Infinity' }, count: 8, shown: 0 });
  });

  test('is explained in the pool, with the work that it took there', async () => {
    const counters = { ...newCounters(), bytesScanned: 7 };
    const runHeavy: RunHeavy = async () => {
      const rows = { kind: 'list', rows: Uint32Array.of(5, 9) } as const;
      return { kind: 'page', page: { count: 3, rows, offset: 1, facets: [] }, counters, spentNs: 1_234_000 };
    };
    const handler = handlerWith(runHeavy, settings, () => HEAVY);
    const url = `/api/v3/observations/?title__contains=${LONG}&limit=2&offset=1`;
    const { text } = replyOf(await handler(requestOf({ url: `${url}&explain=1` }), STAYING));
    expect(JSON.parse(text)).toMatchObject({
      plan: { steps: [{ values: [`${'x'.repeat(60)}...`] }] },
      count: 3,
      shown: 2,
      ran: { place: 'pool', microseconds: 1234, ranOutAt: 'title__contains', bytesScanned: 7 },
      thread: { pooled: 1 },
    });
    const busy = handlerWith(
      async () => 'busy',
      settings,
      () => HEAVY,
    );
    expect((await busy(requestOf({ url: `${url}&explain=1` }), STAYING)).status).toBe(503);
  });
});
