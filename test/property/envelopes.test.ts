import { expect, test } from 'vitest';
import { readEnvelope } from '../../server/authority/soap/requests.ts';
import { hostileEnvelope } from '../support/hostileEnvelopes.ts';
import { randomOf } from '../support/random.ts';

const SEED = 20_261_121;
const ROUNDS = 5000;

test('reads any bytes as a call or a fault', () => {
  const random = randomOf(SEED);
  const outcomes = new Map<string, number>();
  for (let i = 0; i < ROUNDS; i++) {
    const read = readEnvelope(
      hostileEnvelope(random),
      random.chance(0.9) ? undefined : random.pick(['utf-16', 'iso-8859-1']),
    );
    const outcome = typeof read === 'string' ? read : 'call';
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  // The draws reach most of the fault table; the other faults need more than a few changes.
  expect([...outcomes.keys()].length, JSON.stringify([...outcomes])).toBeGreaterThan(12);
});
