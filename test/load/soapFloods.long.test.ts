// What hostile requests cost: no attack by size may take much more of the serving thread than a plain request as long.
// CPU time as a ratio within one run, least of several rounds.
import { expect, test } from 'vitest';
import { readEnvelope } from '../../server/soap/envelopeReader.ts';
import { scanEnvelope } from '../../server/soap/envelopeScanner.ts';
import { roleCall } from '../support/envelopes.ts';
import { floods, hostileEnvelope } from '../support/hostileEnvelopes.ts';
import { randomOf } from '../support/random.ts';

const BYTES = 1 << 20;
const ROUNDS = 5;
/** A megabyte of carriage returns costs 6 times a megabyte of letters; a quadratic reader would cost thousands. */
const RATIO_MAX = 12;

function leastMicroseconds(bytes: Uint8Array): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    if (scanEnvelope(bytes) === undefined) readEnvelope(bytes, undefined);
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
    const bytes = hostileEnvelope(random);
    const call = scanEnvelope(bytes);
    if (call === undefined) continue;
    const read = readEnvelope(bytes, undefined);
    const isSame =
      typeof read !== 'string' &&
      read.operation === call.operation &&
      read.values.join('\0') === call.values.join('\0');
    expect(isSame, `seed ${seed}, round ${i}: ${bytes.toString('latin1')}`).toBe(true);
  }
});
