// The two readers of requests agree on every input: what the fast one answers, the strict one answers too.
// Random requests from a printed seed, most of them broken; enough of them plain that agreement means something.
import { expect, test } from 'vitest';
import { readEnvelope } from '../../server/soap/envelopeReader.ts';
import { scanEnvelope } from '../../server/soap/envelopeScanner.ts';
import { floods, hostileEnvelope } from '../support/hostileEnvelopes.ts';
import { randomOf } from '../support/random.ts';

const SEED = 20_261_121;
const ROUNDS = 20_000;

test('the scanner answers what the strict reader answers, or nothing', () => {
  const random = randomOf(SEED);
  let scanned = 0;
  for (let i = 0; i < ROUNDS; i++) {
    const bytes = hostileEnvelope(random);
    const call = scanEnvelope(bytes);
    if (call === undefined) continue;
    scanned++;
    expect(readEnvelope(bytes, undefined), `seed ${SEED}, round ${i}: ${bytes.toString('latin1')}`).toEqual(call);
    expect(readEnvelope(bytes, 'utf-8')).toEqual(call);
  }
  expect(scanned, 'requests that the scanner answered').toBeGreaterThan(ROUNDS / 10);
});

test('the strict reader answers a call or a fault, whatever the bytes', () => {
  const random = randomOf(SEED + 1);
  const outcomes = new Map<string, number>();
  for (let i = 0; i < ROUNDS / 4; i++) {
    const read = readEnvelope(
      hostileEnvelope(random),
      random.chance(0.9) ? undefined : random.pick(['utf-16', 'iso-8859-1']),
    );
    const outcome = typeof read === 'string' ? read : 'call';
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  // The draws reach most of the fault table: what they do not reach needs more than a few changes.
  expect([...outcomes.keys()].length, JSON.stringify([...outcomes])).toBeGreaterThan(12);
});

test.each(Object.entries(floods(65_536)))('both readers agree on %s', (_, bytes) => {
  const read = readEnvelope(bytes, undefined);
  expect(scanEnvelope(bytes) ?? read).toEqual(read);
});
