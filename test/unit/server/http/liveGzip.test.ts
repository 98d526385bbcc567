// Live compression: what it takes, and what it leaves to be sent as it is.
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { wholeBody } from '../../../../engine/page/body.ts';
import { LiveGzip } from '../../../../server/http/liveGzip.ts';
import { CountedBody, countedText } from '../../../support/transports.ts';

test('a body is compressed from its pieces, each asked for once', () => {
  const live = new LiveGzip();
  const body = new CountedBody(100_000, 3000);
  expect(gunzipSync(live.compressed(body)!).toString()).toBe(countedText(100_000));
  expect(body.pieces).toBe(34);
  expect(gunzipSync(live.compressed(wholeBody(new Uint8Array(0)))!)).toHaveLength(0);
});

test('a short body behind a long one has nothing of it', () => {
  const live = new LiveGzip();
  for (const bytes of [50_000, 10, 60_000]) {
    expect(gunzipSync(live.compressed(new CountedBody(bytes, 3000))!).toString()).toBe(countedText(bytes));
  }
});

test('a body beyond 1 MiB is left, and so is what passes 512 KiB in one turn of the event loop', async () => {
  const live = new LiveGzip();
  const [page, whole] = [wholeBody(new Uint8Array(300 << 10)), wholeBody(new Uint8Array(1 << 20))];
  expect(live.compressed(wholeBody(new Uint8Array((1 << 20) + 1)))).toBeUndefined();
  expect(live.compressed(page)).toBeDefined();
  expect(live.compressed(page)).toBeUndefined();
  expect(live.compressed(wholeBody(new Uint8Array(200 << 10)))).toBeDefined();
  await new Promise((resolve) => setImmediate(resolve));
  expect(live.compressed(whole)).toBeDefined();
  expect(live.compressed(wholeBody(new Uint8Array(1)))).toBeUndefined();
});
