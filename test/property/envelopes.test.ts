// The two readers of XML agree on every request: the tree that the quick one makes, the strict one makes too.
// Random requests from a printed seed, most of them broken; enough of them plain that agreement means something.
import { expect, test } from 'vitest';
import { readEnvelope } from '../../server/soap/envelopeReader.ts';
import { readPlainTree } from '../../data/xml/plainReader.ts';
import { readXml } from '../../data/xml/reader.ts';
import { floods, hostileEnvelope } from '../support/hostileEnvelopes.ts';
import { randomOf } from '../support/random.ts';

const SEED = 20_261_121;
const ROUNDS = 20_000;
const LIMITS = { depth: 32, elements: 20_000, attributes: 64, instructions: 0 };

test('the quick reader makes the tree that the strict reader makes, or none', () => {
  const random = randomOf(SEED);
  let quick = 0;
  for (let i = 0; i < ROUNDS; i++) {
    const text = hostileEnvelope(random).toString();
    const root = readPlainTree(text, LIMITS);
    if (root === undefined) continue;
    quick++;
    expect(readXml(text, LIMITS), `seed ${SEED}, round ${i}: ${text}`).toEqual({ kind: 'read', root });
  }
  expect(quick, 'requests that the quick reader took').toBeGreaterThan(ROUNDS / 10);
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
  const text = Buffer.from(bytes).toString();
  const read = readXml(text, LIMITS);
  const root = readPlainTree(text, LIMITS);
  expect(root === undefined ? read : { kind: 'read', root }).toEqual(read);
});
