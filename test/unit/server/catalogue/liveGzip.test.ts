// Live compression: what it takes, and what it leaves to be sent as it is.
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { wholeBody, type Body } from '../../../../engine/page/body.ts';
import { LiveGzip } from '../../../../server/catalogue/liveGzip.ts';
import { CountedBody, countedText, newSlices, settled } from '../../../support/transports.ts';

test('a body is compressed from its pieces, each asked for once', async () => {
  const live = new LiveGzip(newSlices());
  const body = new CountedBody(100_000, 3000);
  expect(gunzipSync((await live.compressed(body))!).toString()).toBe(countedText(100_000));
  expect(body.pieces).toBe(34);
  expect(gunzipSync((await live.compressed(wholeBody(new Uint8Array(0))))!)).toHaveLength(0);
});

const zeros = (bytes: number): Body => wholeBody(new Uint8Array(bytes));
const SHORT = 1 << 16;
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a body up to 64 KiB is compressed at once, a longer one later', () => {
  const live = new LiveGzip(newSlices());
  expect(live.compressed(zeros(SHORT))).toBeInstanceOf(Uint8Array);
  expect(live.compressed(zeros(SHORT + 1))).toBeInstanceOf(Promise);
});

test('short bodies beyond 256 KiB in one turn of the event loop are left, so that none of them comes later', async () => {
  const live = new LiveGzip(newSlices());
  for (let i = 0; i < 4; i++) expect(live.compressed(zeros(SHORT))).toBeInstanceOf(Uint8Array);
  expect(live.compressed(zeros(10))).toBeUndefined();
  await nextTurn();
  expect(live.compressed(zeros(SHORT))).toBeInstanceOf(Uint8Array);
});

test('a body beyond 1 MiB is left, and so is a fifth one under way', async () => {
  const live = new LiveGzip(newSlices());
  expect(live.compressed(zeros((1 << 20) + 1))).toBeUndefined();
  const underWay = Array.from({ length: 4 }, () => live.compressed(zeros(1 << 20)));
  expect(underWay.every((one) => one instanceof Promise)).toBe(true);
  expect(live.compressed(zeros(1 << 20))).toBeUndefined();
  expect(live.compressed(zeros(SHORT))).toBeInstanceOf(Uint8Array);
  for (const one of underWay) await one;
  expect(live.compressed(zeros(1 << 20))).toBeInstanceOf(Promise);
});

describe('a long body that is slow to read', () => {
  test('is copied a piece a step, other steps between', async () => {
    const slices = newSlices();
    const body = Object.assign(new CountedBody(100_000, 3000), { isSlow: true });
    const compressed = new LiveGzip(slices).compressed(body);
    const seen = [body.pieces];
    slices.queue(() => seen.push(body.pieces) < 35);
    await settled(() => seen.length === 35);
    expect(seen).toEqual(Array.from({ length: 35 }, (_, i) => i));
    expect(gunzipSync((await compressed)!).toString()).toBe(countedText(100_000));
  });

  test('is under way from the start until a piece cannot be read', async () => {
    const live = new LiveGzip(newSlices());
    const pieceAt = (): never => {
      throw new Error('unreadable');
    };
    const unreadable = { bytes: SHORT + 1, isSlow: true, pieceAt };
    const underWay = Array.from({ length: 4 }, async () => live.compressed(unreadable));
    expect(live.compressed(unreadable)).toBeUndefined();
    const ends = await Promise.allSettled(underWay);
    expect(ends).toEqual(underWay.map(() => ({ status: 'rejected', reason: new Error('unreadable') })));
    expect(gunzipSync((await live.compressed(zeros(SHORT + 1)))!)).toHaveLength(SHORT + 1);
  });
});
