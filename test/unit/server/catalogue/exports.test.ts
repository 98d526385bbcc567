// Whole exports: the number of measurements, the requests that share one, and the remembered lengths. A scheduler that
// takes one step a turn counts them.
import { expect, test } from 'vitest';
import type { Answer, Handler } from '../../../../server/http/exchange.ts';
import { WAITING_LIMITS } from '../../../../workers/pool.ts';
import { SLICED_RUNNING_MAX, Slices } from '../../../../workers/slices.ts';
import { recordBlocksOf, collectionOf } from '../../../support/records.ts';
import { requestOf, type RequestParts, STAYING, LeavingClient } from '../../../support/requests.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY, replyOf } from '../../../support/smallCatalogue.ts';

const RECORDS = 1000;
const OBSERVATIONS = collectionOf(
  'observations',
  Array.from(
    { length: RECORDS },
    (_, i) =>
      `{"ob_id":${i + 1},"status":"${i % 2 ? 'completed' : 'ongoing'}","title":"t${i} ${'text, '.repeat(400)}"}`,
  ),
  BASE_URL,
);
const BLOCKS = recordBlocksOf(OBSERVATIONS.records);
const LIST = '/api/v3/observations/';
const CSV = `${LIST}?format=csv`;
const PARQUET = `${LIST}?format=parquet`;

/** A handler whose clock advances by a millisecond with each reading, so that a turn takes one step. */
function newServed(): { handler: Handler<Answer | Promise<Answer>>; slices: Slices } {
  let now = 0;
  const slices = new Slices(() => now++);
  return { handler: handlerWith(NEVER_HEAVY, {}, () => OBSERVATIONS, { slices, blocks: () => BLOCKS }), slices };
}

const asked = (url: string, method = 'GET', more: Partial<RequestParts> = {}) => requestOf({ url, method, ...more });
const gzip = { headers: { 'accept-encoding': 'gzip' } };

test.each([
  ['csv', CSV, {}],
  ['csv, in gzip', CSV, gzip],
  ['ndjson of scattered records', `${LIST}?format=ndjson&status=completed`, {}],
  ['ndjson of scattered records, in gzip', `${LIST}?format=ndjson&status=completed`, gzip],
  ['Parquet', PARQUET, {}],
  ['Parquet, in gzip', PARQUET, gzip],
])('measures the length of an export once, whoever requests it first: %s', async (_, url, more) => {
  for (const first of ['HEAD', 'GET']) {
    const { handler, slices } = newServed();
    const whole = await handler(asked(url, first, more), STAYING);
    const taken = slices.queuedSteps;
    const spent = slices.now();
    const again = handler(asked(url, 'HEAD', more), STAYING);
    expect(again).not.toBeInstanceOf(Promise);
    expect({ ...(await again), body: 0 }).toEqual({ ...whole, body: 0 });
    expect((await again).body.bytes).toBe(whole.body.bytes);
    expect([slices.queuedSteps, slices.now() - spent]).toEqual([taken, 1]);
    expect(replyOf(await handler(asked(url, 'GET', more), STAYING)).text.length).toBeGreaterThan(1 << 14);
  }
});

test('shares one length among spellings of a filter, and with no other filter, page, format, members or base URL', async () => {
  const { handler } = newServed();
  const bytes = async (query: string): Promise<number> =>
    (await handler(asked(`${LIST}?${query}`, 'HEAD'), STAYING)).body.bytes;
  const known = await bytes('format=csv&ob_id__gt=5&status=completed');
  const isKnown = (query: string): boolean => !(handler(asked(`${LIST}?${query}`, 'HEAD'), STAYING) instanceof Promise);
  expect(isKnown('status=completed&format=csv&ob_id__gt=05')).toBe(true);
  expect(await bytes('status=completed&format=csv&ob_id__gt=05')).toBe(known);
  for (const other of [
    'format=csv&ob_id__gt=6&status=completed',
    'format=csv&ob_id__gt=5&status=completed&limit=900',
    'format=csv&ob_id__gt=5&status=completed&offset=7',
    'format=csv&ob_id__gt=5&status=completed&fields=title',
    'format=csv&ob_id__gt=5&status=completed&ordering=-ob_id',
  ]) {
    const measured = (await newServed().handler(asked(`${LIST}?${other}`), STAYING)).body.bytes;
    expect([other, await bytes(other)]).toEqual([other, measured]);
  }
});

test.each(['GET', 'HEAD'])(
  'makes no Parquet file that its client has, whatever codings that accepts: %s',
  async (method) => {
    const { etag } = await newServed().handler(asked(PARQUET, 'GET', gzip), STAYING);
    const { handler, slices } = newServed();
    const headers = { ...gzip.headers, 'if-none-match': etag! };
    for (let i = 0; i < 2; i++) {
      const known = handler(asked(PARQUET, method, { headers }), STAYING);
      expect(known).not.toBeInstanceOf(Promise);
      expect([(await known).status, (await known).etag, slices.queuedSteps]).toEqual([304, etag, 0]);
    }
  },
);

test.each([CSV, PARQUET])(
  'shares the measuring among clients that want one export at once, and sends each all of it: %s',
  async (url) => {
    const alone = newServed();
    const whole = replyOf(await alone.handler(asked(url), STAYING));
    const { handler, slices } = newServed();
    const answers = await Promise.all(Array.from({ length: 60 }, async () => handler(asked(url), STAYING)));
    expect(slices.queuedSteps).toBe(alone.slices.queuedSteps);
    for (const answer of answers.slice(0, 3)) expect(replyOf(answer)).toEqual(whole);
  },
);

test.each([CSV, PARQUET])(
  'measures an export for the remaining clients, and not at all once all have disconnected: %s',
  async (url) => {
    const { handler, slices } = newServed();
    const clients = Array.from({ length: 3 }, () => new LeavingClient());
    const answers = clients.map((client) => handler(asked(url), client));
    clients[0]!.leave();
    expect((await answers[1]!).status).toBe(200);
    const taken = slices.queuedSteps;
    const leaving = new LeavingClient();
    const left = handler(asked(`${url}&ob_id__gt=9`), leaving);
    leaving.leave();
    expect((await left).status).toBe(503);
    await new Promise((resolve) => setImmediate(resolve));
    expect(slices.queuedSteps).toBe(taken);
  },
);

test('gives each of many requested Parquet files of few rows, or of none, its turn', async () => {
  const { handler, slices } = newServed();
  await handler(asked(PARQUET), STAYING);
  const taken = slices.queuedSteps;
  const files = Array.from({ length: 20 }, (_, i) => handler(asked(`${PARQUET}&limit=1&offset=${990 + i}`), STAYING));
  expect(files.filter((file) => file instanceof Promise).length).toBeGreaterThan(15);
  expect(new Set((await Promise.all(files.map(async (file) => file))).map(({ status }) => status))).toEqual(
    new Set([200]),
  );
  expect(slices.queuedSteps - taken).toBeGreaterThan(15);
});

test('responds to exports beyond the running and queued ones with 503 and Retry-After', async () => {
  const { handler } = newServed();
  const clients = Array.from({ length: SLICED_RUNNING_MAX + WAITING_LIMITS.waitingMax + 5 }, () => new LeavingClient());
  const answers = clients.map(async (client, i) => handler(asked(`${CSV}&ob_id!=${i}`), client));
  const refused = replyOf(await answers[answers.length - 1]!);
  expect([refused.status, refused.headers['Retry-After']]).toEqual([503, '1']);
  expect((await answers[0]!).status).toBe(200);
  for (const client of clients) client.leave();
  await Promise.all(answers);
});

test.each([CSV, PARQUET])('measures an export once for its ranges, and for ranges after a HEAD: %s', async (url) => {
  const whole = replyOf(await newServed().handler(asked(url), STAYING));
  for (const method of ['GET', 'HEAD']) {
    const { handler, slices } = newServed();
    const range = (text: string): RequestParts => ({ url, headers: { range: text } });
    const first = await handler(
      method === 'HEAD' ? asked(url, 'HEAD') : asked(url, 'GET', range('bytes=0-9')),
      STAYING,
    );
    expect(first.status).toBe(method === 'HEAD' ? 200 : 206);
    const taken = slices.queuedSteps;
    for (const [start, end] of [
      [0, 9],
      [5000, 5999],
      [whole.text.length - 9, whole.text.length - 1],
    ]) {
      const part = handler(requestOf(range(`bytes=${start}-${end}`)), STAYING);
      expect(part).not.toBeInstanceOf(Promise);
      expect((await part).body.bytes).toBe(end! - start! + 1);
    }
    expect(slices.queuedSteps).toBe(taken);
  }
});
