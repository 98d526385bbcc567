// Path building under attack: many CAs of one name, loops, long chains, many issuers of a proxy. The cost is counted in
// signatures and steps, never in time.
import { describe, expect, test } from 'vitest';
import type { Certificate } from '../../../../../server/authority/x509/certificate.ts';
import { findPath, validateChain } from '../../../../../server/authority/x509/validate.ts';
import {
  BUDGET,
  groupByName,
  PathSearch,
  type SearchRules,
  makeTrustStore,
} from '../../../../../server/authority/x509/search.ts';
import { AT, type Made, makeCa, makeProxy, makeUser, newKeys } from '../../../../support/certificates.ts';

const CA = makeCa('CA');
const RULES: SearchRules = {
  trust: makeTrustStore([CA.certificate]),
  at: AT,
  clockSkewSeconds: 0,
  allowWeak: false,
  crls: undefined,
  maxDepth: 16,
  profile: 'service',
};

/** The cost of a search for a path. */
function costOf(user: Made, pool: readonly Made[]): { found: boolean; signatures: number; steps: number } {
  const certificates = pool.map(({ certificate }) => certificate);
  const search = new PathSearch(RULES, groupByName(certificates));
  const found = findPath(user.certificate, search) !== undefined;
  const { signatures, steps } = search.budget;
  return { found, signatures: BUDGET.signatures - signatures, steps: BUDGET.steps - steps };
}

test('costs a signature and a step for each certificate of a chain, whatever else the text contains', () => {
  let last = CA;
  const pool: Made[] = [];
  for (let i = 0; i < 10; i++) pool.push((last = makeCa(`CA ${i}`, { issuer: last })));
  const user = makeUser('Ada', last);
  const others = Array.from({ length: 50 }, (_, i) => makeCa(`Other ${i}`));
  expect(costOf(user, [...others, ...pool])).toEqual({ found: true, signatures: 11, steps: 11 });
  expect(costOf(user, [...pool.toReversed(), ...others])).toEqual({ found: true, signatures: 11, steps: 11 });
});

describe('a hostile text', () => {
  test('costs no more than the budget with a hundred CAs of one name, none of which signed', () => {
    const pool = Array.from({ length: 100 }, () => makeCa('Twin', { keys: CA.keys }));
    const user = makeUser('Ada', makeCa('Twin'));
    expect(costOf(user, pool)).toEqual({ found: false, signatures: 100, steps: 1 });
  });

  test('costs no more than the budget with forty CAs of one name that all signed each other', () => {
    const keys = newKeys();
    const twin = makeCa('Twin', { keys });
    // One key, so that every signature verifies; different bytes, so that all certificates differ.
    const pool = Array.from({ length: 40 }, () => makeCa('Twin', { keys, issuer: twin }));
    expect(costOf(makeUser('Ada', twin), pool)).toEqual({ found: false, signatures: 40, steps: 41 });
  });

  test('costs no more than the budget with layers of CAs that all signed each other, each with its own key', () => {
    const layers: Made[][] = [];
    for (let depth = 0; depth < 6; depth++) {
      const keys = newKeys();
      const above = layers.at(-1)?.[0] ?? makeCa('Nobody');
      layers.push(Array.from({ length: 6 }, () => makeCa(`Layer ${depth}`, { keys, issuer: above })));
    }
    // 6 ^ 6 paths, all of them dead ends.
    const cost = costOf(makeUser('Ada', layers.at(-1)![0]!), layers.flat());
    expect(cost.found).toBe(false);
    expect(cost.signatures).toBeLessThanOrEqual(BUDGET.signatures);
    expect(cost.steps).toBeLessThanOrEqual(BUDGET.steps);
  });

  test('costs no more than the budget with more certificates than signatures may be checked', () => {
    const pool = Array.from({ length: BUDGET.signatures + 50 }, () => makeCa('Twin', { keys: CA.keys }));
    const user = makeUser('Ada', makeCa('Twin'));
    expect(costOf(user, pool)).toMatchObject({ found: false, signatures: BUDGET.signatures });
  });

  test('costs no more than the budget with CAs that form a loop', () => {
    const [a, b] = [newKeys(), newKeys()];
    const first = makeCa('First', { keys: a, issuer: makeCa('Second', { keys: b }) });
    const second = makeCa('Second', { keys: b, issuer: makeCa('First', { keys: a }) });
    expect(costOf(makeUser('Ada', first), [first, second])).toEqual({ found: false, signatures: 2, steps: 3 });
  });

  test('costs no more than the budget with an endless chain', () => {
    let last = makeCa('Top');
    const pool = Array.from({ length: 60 }, (_, i) => (last = makeCa(`CA ${i}`, { issuer: last })));
    const { found, signatures } = costOf(makeUser('Ada', last), pool);
    expect([found, signatures]).toEqual([false, RULES.maxDepth]);
  });

  test('costs no more than the budget with proxies that form a loop, or have many issuers', () => {
    const keys = newKeys();
    const owner = makeUser('Ada', makeCa('Nobody'), { keys });
    const owners = Array.from({ length: 60 }, () => makeUser('Ada', makeCa('Nobody'), { keys }));
    const proxy = makeProxy(owner);
    const judged = (pool: readonly Made[]): unknown =>
      validateChain([proxy, ...pool].map(certificateOf), {
        ...RULES,
        proxies: { full: true, limited: true, legacy: true },
      });
    expect(judged(owners)).toMatchObject({ accepted: false });
    expect(judged([proxy, proxy])).toMatchObject({ accepted: false });
  });
});

test('reports a spent budget in the reason', () => {
  const rules = { ...RULES, proxies: { full: true, limited: true, legacy: true } };
  const twins = Array.from({ length: 200 }, () => makeCa('Twin', { keys: CA.keys }));
  const users = [makeUser('Ada', makeCa('Twin')), makeProxy(makeUser('Twin', makeCa('Nobody')))];
  for (const user of users) {
    expect(validateChain([user, ...twins].map(certificateOf), rules)).toEqual({
      accepted: false,
      reason: 'The certificates offer more paths than are tried.',
    });
  }
});

function certificateOf({ certificate }: Made): Certificate {
  return certificate;
}
