// What hostile requests cost: no attack by size may take much more of the serving thread than a plain request as long.
// CPU time as a ratio within one run, least of several rounds.
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { readEnvelope } from '../../server/soap/envelopeReader.ts';
import { readPlainTree } from '../../server/xml/plainReader.ts';
import { readXml } from '../../server/xml/reader.ts';
import { roleCall } from '../support/envelopes.ts';
import { floods, hostileEnvelope } from '../support/hostileEnvelopes.ts';
import { randomOf } from '../support/random.ts';

const BYTES = 1 << 20;
const LIMITS = { depth: 32, elements: 20_000, attributes: 64, instructions: 0 };
const ROUNDS = 5;
/** A megabyte of carriage returns costs 6 times a megabyte of letters; a quadratic reader would cost thousands. */
const RATIO_MAX = 12;

function leastMicroseconds(bytes: Uint8Array): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    readEnvelope(bytes, undefined);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...rounds);
}

test('no flood costs more than a dozen times a plain request of its length', () => {
  const plain = leastMicroseconds(Buffer.from(roleCall('é'.repeat(BYTES / 2 - 200))));
  const ratios = Object.entries(floods(BYTES)).map(
    ([name, bytes]) => [name, leastMicroseconds(bytes) / plain] as const,
  );
  expect(ratios.filter(([, ratio]) => ratio > RATIO_MAX)).toEqual([]);
});

test('both readers agree on half a million hostile requests', () => {
  const seed = 20_261_123;
  const random = randomOf(seed);
  for (let i = 0; i < 500_000; i++) {
    const text = hostileEnvelope(random).toString();
    const root = readPlainTree(text, LIMITS);
    if (root === undefined) continue;
    const isSame = isDeepStrictEqual(readXml(text, LIMITS), { kind: 'read', root });
    expect(isSame, `seed ${seed}, round ${i}: ${text}`).toBe(true);
  }
});
