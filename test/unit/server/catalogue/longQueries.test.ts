// Long queries, and queries with patterns, are parsed one a turn and get the same responses as others. The clock is a
// function of the test.
import { expect, test } from 'vitest';
import { WAITING_LIMITS } from '../../../../workers/pool.ts';
import { SLICED_RUNNING_MAX, Slices } from '../../../../workers/slices.ts';
import { collectionOf } from '../../../support/records.ts';
import { requestOf, type RequestParts, STAYING, LeavingClient } from '../../../support/requests.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY, replyOf } from '../../../support/smallCatalogue.ts';

const RECORDS = Array.from({ length: 9 }, (_, i) => `{"ob_id":${i + 1},"title":"t${i}"}`);
const collections = (name: string): ReturnType<typeof collectionOf> =>
  collectionOf(name, name === 'observations' ? RECORDS : [], BASE_URL);

const IDS = Array.from({ length: 2000 }, (_, i) => i + 3).join();
const LONG: readonly RequestParts[] = [
  { url: `/api/v3/observations/?ob_id__gt=3&x=${IDS}` },
  { url: `/api/v3/observations/?ob_id__gt=3&x=${IDS}`, headers: { accept: 'text/csv' } },
  { url: `/api/v3/observations/?ob_id__gt=3&x=${IDS}`, headers: { accept: 'image/png' } },
  { url: `/api/v2/observations/3/?fields=${IDS}`, headers: { 'if-none-match': '"x"' } },
  { url: `/api/v3/?x=${IDS}` },
  { url: '/api/v3/observations/?ob_id__gt=3&x__regex=t[34]', headers: { accept: 'application/json' } },
  { url: '/api/v3/observations/?ob_id__gt=3&x__ireg%65x=T3', headers: { accept: '*/*' } },
];

test.each(LONG)('responds in a later turn as at once: $url $headers', async (parts) => {
  const [busy, idle] = [new Slices(() => 0), new Slices(() => 0)];
  busy.spend(-10);
  const [later, atOnce] = [busy, idle].map((slices) =>
    handlerWith(NEVER_HEAVY, {}, collections, { slices })(requestOf(parts), STAYING),
  );
  expect([later instanceof Promise, atOnce instanceof Promise]).toEqual([true, false]);
  expect(replyOf(await later!)).toEqual(replyOf(await atOnce!));
});

test('takes a turn for each of many long queries, and none for others', async () => {
  // Each reading of the clock is 5 ms later: there is time for one at once.
  let now = 0;
  const turns: number[] = [];
  const slices: Slices = new Slices(
    () => (now += 5),
    (turn) =>
      setImmediate(() => {
        const { queuedSteps: taken } = slices;
        turn();
        turns.push(slices.queuedSteps - taken);
      }),
  );
  const handler = handlerWith(NEVER_HEAVY, {}, collections, { slices });
  const many = Array.from({ length: 20 }, async (_, i) =>
    handler(requestOf({ url: `/api/v3/observations/?x${i}=1&y=${IDS}` }), new LeavingClient()),
  );
  expect(handler(requestOf({ url: '/api/v3/observations/?limit=1' }), new LeavingClient())).not.toBeInstanceOf(Promise);
  expect(new Set((await Promise.all(many)).map(({ status }) => status))).toEqual(new Set([200]));
  expect(turns.filter((steps) => steps > 0)).toEqual(Array.from({ length: 19 }, () => 1));
});

test('refuses a list in its form while too many queries wait, and a browser page as a page', async () => {
  const slices = new Slices(() => 0);
  slices.spend(-10);
  const handler = handlerWith(NEVER_HEAVY, {}, collections, { slices });
  const waiting = Array.from({ length: SLICED_RUNNING_MAX + WAITING_LIMITS.waitingMax }, async (_, i) =>
    handler(requestOf({ url: `/api/v3/observations/?x${i}__regex=t` }), new LeavingClient()),
  );
  const [list, page] = await Promise.all(
    ['/api/v3', '/browse'].map(async (room) =>
      replyOf(await handler(requestOf({ url: `${room}/observations/?title__regex=t` }), new LeavingClient())),
    ),
  );
  const headers = { 'Retry-After': '1', 'Cache-Control': 'no-store' };
  expect(list).toMatchObject({ status: 503, headers: { ...headers, 'Content-Type': 'application/json' } });
  expect(page).toMatchObject({ status: 503, headers: { ...headers, 'Content-Type': 'text/html; charset=utf-8' } });
  expect(page!.text).toContain('<h1>Too busy at the moment</h1>');
  expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
});
