// What was seen before changes no answer: random chains, times, CRLs and CAs, judged with certificates that are known
// from all chains before, and with none. Prints its seed.
import { expect, test } from 'vitest';
import { readChain } from '../../server/authority/x509/chain.ts';
import { crlStoreOf, parseCrl } from '../../server/authority/x509/crl.ts';
import { KnownCertificates } from '../../server/authority/x509/knownCertificates.ts';
import { trustStoreOf } from '../../server/authority/x509/trust.ts';
import { type ChainRules, validateChain } from '../../server/authority/x509/validate.ts';
import { AT, type Made, makeCa, makeCrl, makeProxy, makeUser, newKeys, pemOf } from '../support/certificates.ts';
import { randomOf, type Random } from '../support/random.ts';

const SEED = 20_261_122;
const ROUNDS = 3000;
const DAY = 86_400;
/** Little enough that certificates make room for others all the time. */
const BYTES_MAX = 1500;

const CA = makeCa('CA');
/** Of the same name, once with another key and once with the same. */
const CAS = [CA, makeCa('CA'), makeCa('CA', { keys: CA.keys }), makeCa('Other')];
const LOWER = makeCa('Lower', { issuer: CA });
const ADA = newKeys();
const USERS = [
  ...CAS.flatMap((ca) => [makeUser('Ada', ca), makeUser('Ada', ca, { keys: ADA })]),
  makeUser('Ada', LOWER, { keys: ADA, notAfter: AT + DAY }),
  makeUser('Bob', CA, { serialNumber: 7n }),
  makeUser('Old', CA, { notAfter: AT - DAY }),
];
const PROXIES = USERS.flatMap((user) => [makeProxy(user), makeProxy(user, { notAfter: AT + DAY })]);
/** A proxy by a key that is not its issuer's, and one below another. */
const ODD = [makeProxy({ ...USERS[0]!, keys: newKeys() }), makeProxy(PROXIES[0]!)];
const CRLS = [
  [makeCrl({ issuer: CA })],
  [makeCrl({ issuer: CA, revoked: [7n] })],
  [makeCrl({ issuer: CA, nextUpdate: AT + DAY }), makeCrl({ issuer: LOWER })],
].map((files) => crlStoreOf(files.map(parseCrl)));
const TRUST = [[CA], CAS, [CAS[1]!], [CAS[2]!, CAS[3]!]].map((cas) =>
  trustStoreOf(cas.map(({ certificate }) => certificate)),
);

function drawnText(random: Random): string {
  const all: readonly Made[] = [...PROXIES, ...PROXIES, ...USERS, ...ODD, LOWER, ...CAS];
  const proxy = random.integer(0, PROXIES.length);
  const fitting = [PROXIES[proxy]!, USERS[proxy >> 1]!, LOWER];
  const chosen = random.chance(0.7)
    ? fitting.slice(random.integer(0, 2))
    : random.several(1, 6, () => random.pick(all));
  return chosen.map(({ der }) => pemOf('CERTIFICATE', random.chance(0.1) ? changed(der, random) : der)).join('');
}

function changed(der: Uint8Array, random: Random): Buffer {
  const copy = Buffer.from(der);
  copy[random.integer(0, copy.length)]! ^= 1 << random.integer(0, 8);
  return copy;
}

/** Everything that an answer could depend on. */
function verdictOf(text: string, rules: ChainRules, known?: KnownCertificates): string {
  const reading = readChain(text, undefined, known && ((der) => known.read(der)));
  if (reading.kind === 'unreadable') return reading.reason;
  const verdict = validateChain(reading.all, known ? { ...rules, signatures: known } : rules);
  if (!verdict.accepted) return verdict.reason;
  known?.keep(verdict.path.slice(verdict.path.indexOf(verdict.endEntity)));
  const { path, endEntity, expiresAt, holdsUntil, proxy } = verdict;
  const ders = [endEntity, ...path].map(({ der }) => Buffer.from(der).toString('hex'));
  return `accepted ${JSON.stringify([expiresAt, holdsUntil, proxy, ders])}`;
}

test(`a chain gets the answer that it would get if no other had come before (seed ${SEED})`, () => {
  const random = randomOf(SEED);
  const known = TRUST.map(() => new KnownCertificates(BYTES_MAX));
  const met = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const text = drawnText(random);
    const trust = random.integer(0, TRUST.length);
    const rules: ChainRules = {
      trust: TRUST[trust]!,
      at: AT + random.pick([0, 0, 0, -2 * DAY, 2 * DAY, 400 * DAY]),
      proxies: { full: random.chance(0.9), limited: true, legacy: true },
      clockSkewSeconds: 0,
      allowWeak: false,
      crls: random.chance(0.6) ? undefined : random.pick(CRLS),
      maxDepth: 7,
      profile: 'service',
    };
    // The configuration of a thread never changes; here its CRLs and rules do besides, which is harder.
    const verdict = verdictOf(text, rules, known[trust]);
    expect(verdict, `round ${round}`).toBe(verdictOf(text, rules));
    const kind = verdict.replace(/^accepted.*/, 'accepted').replace(/\/O=\S+/g, '');
    met.set(kind, (met.get(kind) ?? 0) + 1);
    expect(known[trust]!.bytes).toBeLessThanOrEqual(BYTES_MAX);
  }
  expect(met.get('accepted'), 'accepted').toBeGreaterThan(ROUNDS / 10);
  for (const word of ['revoked', 'expired', 'not signed by', 'no current CRL']) {
    expect(
      [...met.keys()].filter((kind) => kind.includes(word)),
      word,
    ).not.toEqual([]);
  }
});
