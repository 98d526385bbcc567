// Live compression: which bodies are compressed, and which are sent unchanged.
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Body, wholeBody } from '../../../../engine/page/envelope.ts';
import { LiveGzip } from '../../../../server/catalogue/liveGzip.ts';
import { Slices } from '../../../../workers/slices.ts';
import { STAYING, LeavingClient } from '../../../support/requests.ts';
import { CountedBody, countedText, newSlices } from '../../../support/transports.ts';
import { settled } from '../../../support/waits.ts';

test('compresses a body from its pieces, each read once', async () => {
  const live = new LiveGzip(newSlices());
  const body = new CountedBody(100_000, 3000);
  expect(gunzipSync((await live.compressed(body, STAYING))!).toString()).toBe(countedText(100_000));
  expect(body.pieces).toBe(34);
  expect(gunzipSync((await live.compressed(wholeBody(new Uint8Array(0)), STAYING))!)).toHaveLength(0);
});

const zeros = (bytes: number): Body => wholeBody(new Uint8Array(bytes));
const SHORT = 1 << 16;
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('compresses a body up to 64 KiB at once, and a longer one later', () => {
  const live = new LiveGzip(newSlices());
  expect(live.compressed(zeros(SHORT), STAYING)).toBeInstanceOf(Uint8Array);
  expect(live.compressed(zeros(SHORT + 1), STAYING)).toBeInstanceOf(Promise);
});

test('leaves short bodies beyond 256 KiB in one turn of the event loop uncompressed, so that none of them is delayed', async () => {
  const live = new LiveGzip(newSlices());
  for (let i = 0; i < 4; i++) expect(live.compressed(zeros(SHORT), STAYING)).toBeInstanceOf(Uint8Array);
  expect(live.compressed(zeros(10), STAYING)).toBeUndefined();
  await nextTurn();
  expect(live.compressed(zeros(SHORT), STAYING)).toBeInstanceOf(Uint8Array);
});

test('leaves a body beyond 1 MiB uncompressed, and so a fifth one in progress', async () => {
  const live = new LiveGzip(newSlices());
  expect(live.compressed(zeros((1 << 20) + 1), STAYING)).toBeUndefined();
  const underWay = Array.from({ length: 4 }, () => live.compressed(zeros(1 << 20), STAYING));
  expect(underWay.every((one) => one instanceof Promise)).toBe(true);
  expect(live.compressed(zeros(1 << 20), STAYING)).toBeUndefined();
  expect(live.compressed(zeros(SHORT), STAYING)).toBeInstanceOf(Uint8Array);
  for (const one of underWay) await one;
  expect(live.compressed(zeros(1 << 20), STAYING)).toBeInstanceOf(Promise);
});

describe('a long body that is slow to read', () => {
  test('is copied one piece a step, with other steps in between', async () => {
    const slices = newSlices();
    const body = Object.assign(new CountedBody(100_000, 3000), { isSlow: true });
    const compressed = new LiveGzip(slices).compressed(body, STAYING);
    await Promise.resolve();
    const seen = [body.pieces];
    slices.queue(() => seen.push(body.pieces) < 35);
    await settled(() => seen.length === 35);
    expect(seen).toEqual(Array.from({ length: 35 }, (_, i) => i));
    expect(gunzipSync((await compressed)!).toString()).toBe(countedText(100_000));
  });

  test('occupies no slot while it is read, and ends with its client', async () => {
    // One step a turn.
    let now = 0;
    const live = new LiveGzip(new Slices(() => now++));
    const bodies = Array.from({ length: 8 }, () => Object.assign(new CountedBody(100_000, 3000), { isSlow: true }));
    const clients = bodies.map(() => new LeavingClient());
    const underWay = bodies.map(async (body, i) => live.compressed(body, clients[i]!));
    expect(live.compressed(zeros(SHORT + 1), STAYING)).toBeInstanceOf(Promise);
    await settled(() => bodies.every(({ pieces }) => pieces > 0));
    for (const client of clients) client.leave();
    const pieces = bodies.map((body) => body.pieces);
    expect(await Promise.all(underWay)).toEqual(bodies.map(() => undefined));
    await nextTurn();
    expect(bodies.map((body) => body.pieces)).toEqual(pieces);
    expect(Math.max(...pieces)).toBeLessThan(34);
  });

  test('rejects if a piece cannot be read', async () => {
    const live = new LiveGzip(newSlices());
    const pieceAt = (): never => {
      throw new Error('unreadable');
    };
    const unreadable = { bytes: SHORT + 1, isSlow: true, pieceAt };
    await expect(live.compressed(unreadable, STAYING)).rejects.toThrow('unreadable');
  });
});
