// Live compression: what it takes, and what it leaves to be sent as it is.
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { wholeBody } from '../../../../engine/page/body.ts';
import { LiveGzip } from '../../../../server/http/liveGzip.ts';
import { CountedBody, countedText } from '../../../support/transports.ts';

test('a body is compressed from its pieces, each asked for once', async () => {
  const body = new CountedBody(100_000, 3000);
  const bytes = await new LiveGzip().compressed(body);
  expect(gunzipSync(bytes!).toString()).toBe(countedText(100_000));
  expect(body.pieces).toBe(34);
  expect(gunzipSync((await new LiveGzip().compressed(wholeBody(new Uint8Array(0))))!)).toHaveLength(0);
});

test('a body beyond 1 MiB is left, and so is a fifth one while four are under way', async () => {
  const live = new LiveGzip();
  expect(live.compressed(wholeBody(new Uint8Array((1 << 20) + 1)))).toBeUndefined();
  const whole = wholeBody(new Uint8Array(1 << 20));
  const underWay = Array.from({ length: 4 }, () => live.compressed(whole));
  expect(underWay).not.toContain(undefined);
  expect(live.compressed(whole)).toBeUndefined();
  await Promise.all(underWay);
  expect(await live.compressed(whole)).toBeInstanceOf(Uint8Array);
});
