// The cost of hostile requests: no attack by size may take much more of the serving thread than a plain request of the
// same length. CPU time as a ratio within one run, minimum of several rounds.
import { expect, test } from 'vitest';
import { readEnvelope } from '../../server/authority/soap/requests.ts';
import { roleCall } from '../support/envelopes.ts';
import { floods } from '../support/hostileEnvelopes.ts';

const BYTES = 1 << 20;
const ROUNDS = 5;
/** A megabyte of carriage returns costs 6 times a megabyte of letters; a quadratic reader would cost thousands. */
const RATIO_MAX = 12;
/** Content that both readers read to its end costs the same whether it is refused there or not: measured 0.9 to 1.1. */
const REFUSED_RATIO_MAX = 1.3;

/** Minimum CPU time of reading a request this many times. */
function leastMicroseconds(bytes: Uint8Array, times = 1): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    for (let i = 0; i < times; i++) readEnvelope(bytes, undefined);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...rounds);
}

test('spends at most a dozen times the cost of a plain request on a flood of the same length', () => {
  const plain = Buffer.from(roleCall('é'.repeat(BYTES / 2 - 200)));
  const least = new Map<string, number>();
  const measure = (name: string, bytes: Uint8Array): void =>
    void least.set(name, Math.min(least.get(name) ?? Infinity, leastMicroseconds(bytes)));
  let dear: readonly string[] = [];
  // More turns bring the minimum closer to the true cost if the machine is busy for a while.
  for (let turn = 0; turn < 5; turn++) {
    for (const [name, bytes] of Object.entries({ plain, ...floods(BYTES) })) measure(name, bytes);
    dear = [...least.keys()].filter((name) => least.get(name)! > RATIO_MAX * least.get('plain')!);
    if (dear.length === 0) break;
  }
  expect(dear).toEqual([]);
});

test('spends no more on a refused request than on the most expensive accepted one of the same length', () => {
  const short = 16_384;
  const requests = Object.values(floods(short)).map((bytes) => ({
    bytes,
    isRefused: typeof readEnvelope(bytes, undefined) === 'string',
    microseconds: Infinity,
  }));
  // All take turns, so that neither other processes nor a reader that is not compiled yet decides which one is the most
  // expensive.
  const dearest = (isRefused: boolean): number =>
    Math.max(...requests.filter((one) => one.isRefused === isRefused).map(({ microseconds }) => microseconds));
  // More turns bring each minimum closer to the true cost if the machine is busy for long.
  for (let turn = 0; turn < 40; turn++) {
    for (const one of requests) one.microseconds = Math.min(one.microseconds, leastMicroseconds(one.bytes, 5));
    if (turn >= 7 && dearest(true) < REFUSED_RATIO_MAX * dearest(false)) break;
  }
  expect(dearest(true)).toBeLessThan(REFUSED_RATIO_MAX * dearest(false));
});
