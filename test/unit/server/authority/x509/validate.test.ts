// The verdict about a user's chain: its owner and expiry, or the reason for a refusal, in the profile of the service.
// test/conformance/x509/ tests proxies by openssl and the public suites.
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { makeTrustStore } from '../../../../../server/authority/x509/search.ts';
import { type ChainRules, validateChain, type Verdict } from '../../../../../server/authority/x509/validate.ts';
import {
  AT,
  basicConstraints,
  caExtensions,
  extension,
  generalName,
  keyUsage,
  type Made,
  make,
  makeCa,
  makeProxy,
  makeUser,
  nameConstraints,
  newKeys,
  proxyCertInfo,
  oid,
  sequence,
} from '../../../../support/certificates.ts';
import { ecPair, rsaPair } from '../../../../support/pki.ts';

const CA = makeCa('CA');
const DAY = 86_400;

function judged(chain: readonly Made[], rules: Partial<ChainRules> = {}): Verdict {
  return validateChain(
    chain.map(({ certificate }) => certificate),
    {
      trust: makeTrustStore([CA.certificate]),
      at: AT,
      proxies: { full: true, limited: true, legacy: true },
      clockSkewSeconds: 0,
      allowWeak: false,
      crls: undefined,
      maxDepth: 16,
      profile: 'service',
      ...rules,
    },
  );
}

function reasonOf(chain: readonly Made[], rules: Partial<ChainRules> = {}): string {
  const verdict = judged(chain, rules);
  return verdict.accepted ? 'accepted' : verdict.reason;
}

test('does not claim that an unknown key did not sign', () => {
  const odd = makeCa('CA', { keys: ecPair('secp256k1') });
  const sentence = 'The certificate of /O=Test/CN=CA has a key of a kind that is not supported.';
  expect(reasonOf([makeUser('Ada', odd)], { trust: makeTrustStore([odd.certificate]) })).toBe(sentence);
  const user = makeUser('Bob', CA, { keys: ecPair('secp256k1') });
  expect(reasonOf([makeProxy(user), user])).toBe(
    'The certificate of /O=Test/CN=Bob has a key of a kind that is not supported.',
  );
});

test('accepts DSA below the configured CA in the strict profile, but not of a server, and none in the service (A71)', () => {
  const keys = generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 });
  const extensionsWith = (...more: readonly Uint8Array[]): readonly Uint8Array[] => [
    extension('2.5.29.35', Buffer.of(0x30, 3, 0x80, 1, 1)),
    ...more,
  ];
  const id = extension('2.5.29.14', Buffer.of(4, 1, 1));
  const trust = makeTrustStore([makeCa('CA', { keys: CA.keys, extensions: [...caExtensions(), id] }).certificate]);
  const forServers = extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1')));
  const extensions = extensionsWith();
  const user = makeUser('Ada', CA, { keys, extensions });
  const server = makeUser('Ada', CA, { keys, extensions: extensionsWith(forServers) });
  const short = makeUser('Ada', CA, { keys: rsaPair(1024), extensions });
  expect(reasonOf([user], { profile: 'strict', trust })).toBe('accepted');
  expect(reasonOf([server], { profile: 'strict', trust })).toMatch(/ has a key of a kind that is too weak/);
  expect(reasonOf([user], { trust })).toMatch(/ has a key of a kind that is too weak/);
  expect(reasonOf([short], { profile: 'strict', trust })).toMatch(/ has a key of a kind that is too weak/);
  expect(reasonOf([user], { trust, allowWeak: true })).toBe('accepted');
});

test('accepts a user alone', () => {
  const user = makeUser('Ada', CA);
  expect(judged([user])).toEqual({
    accepted: true,
    endEntity: user.certificate,
    expiresAt: Math.min(user.certificate.notAfter, CA.certificate.notAfter),
    proxy: 'none',
    isLegacy: false,
    path: [user.certificate, CA.certificate],
  });
});

test('refuses an empty chain', () => {
  expect(judged([])).toEqual({ accepted: false, reason: 'There is no certificate.' });
});

test('expires with the first certificate of the path that expires, wherever it is', () => {
  const user = makeUser('Ada', CA, { notAfter: AT + 3 * DAY });
  const proxy = makeProxy(user, { notAfter: AT + DAY });
  expect(judged([user])).toMatchObject({ expiresAt: AT + 3 * DAY });
  expect(judged([proxy, user])).toMatchObject({ expiresAt: AT + DAY, proxy: 'full', endEntity: user.certificate });
  const brief = makeCa('Brief', { issuer: CA, notAfter: AT + 60 });
  expect(judged([makeUser('Ada', brief), brief])).toMatchObject({ expiresAt: AT + 60 });
});

describe('the validity of a certificate', () => {
  const user = makeUser('Ada', CA, { notBefore: AT, notAfter: AT + 10 });

  test.each([
    [AT - 1, 0, 'is not valid before 2025-06-01 00:00:00 UTC.'],
    [AT - 0.5, 0, 'is not valid before 2025-06-01 00:00:00 UTC.'],
    [AT, 0, 'accepted'],
    [AT + 10, 0, 'accepted'],
    [AT + 10.9, 0, 'accepted'],
    [AT + 11, 0, 'expired on 2025-06-01 00:00:10 UTC.'],
    [AT - 60, 60, 'accepted'],
    [AT - 61, 60, 'is not valid before 2025-06-01 00:00:00 UTC.'],
    [AT + 70, 60, 'accepted'],
    [AT + 71, 60, 'expired on 2025-06-01 00:00:10 UTC.'],
  ])('is checked at %d with a tolerance of %d seconds: %s', (at, clockSkewSeconds, end) => {
    expect(reasonOf([user], { at, clockSkewSeconds })).toMatch(new RegExp(`${end.replaceAll('.', '\\.')}$`));
  });
});

describe('the text of a chain', () => {
  const lower = makeCa('Lower', { issuer: CA });
  const user = makeUser('Ada', lower);
  const unrelated = makeCa('Unrelated');

  test.each([
    ['intermediates in any order', [user, makeCa('Other', { issuer: CA }), lower]],
    ['the configured CA', [user, CA, lower]],
    ['the same certificate several times', [user, lower, user, lower]],
    ['certificates outside of the path', [user, unrelated, lower]],
    ['another CA of the same name', [user, makeCa('Lower'), makeCa('Lower', { issuer: CA }), lower]],
  ])('may contain %s', (_, chain) => {
    expect(reasonOf(chain)).toBe('accepted');
  });

  test('must have the user at the first place', () => {
    expect(reasonOf([lower, user])).toMatch(/CN=Lower is that of a CA, which is no user\.$/);
  });
});

test('names a missing intermediate in the reason', () => {
  const lower = makeCa('Lower', { issuer: CA });
  expect(reasonOf([makeUser('Ada', lower)])).toBe(
    'No configured CA, and no other certificate given, is /O=Test/CN=Lower, the issuer of /O=Test/CN=Ada.',
  );
});

describe('an issuer', () => {
  const user = (issuer: Made): readonly Made[] => [makeUser('Ada', issuer), issuer];

  test.each([
    ['that is no CA', makeUser('Bob', CA), /CN=Bob is not that of a CA, and cannot issue others\.$/],
    ['that says so', makeCa('L', { issuer: CA, extensions: [basicConstraints(false)] }), /is not that of a CA/],
    [
      'that may not sign',
      makeCa('L', { issuer: CA, extensions: [basicConstraints(true), keyUsage(6)] }),
      /may not sign certificates by its key usage\.$/,
    ],
    [
      'with an unknown critical extension',
      makeCa('L', { issuer: CA, extensions: [...caExtensions(), extension('1.2.3', sequence(), true)] }),
      /cannot be processed \(1\.2\.3\)\.$/,
    ],
    [
      'that asks for policies, of a user who has none',
      makeCa('L', {
        issuer: CA,
        extensions: [...caExtensions(), extension('2.5.29.36', Buffer.from('3003800100', 'hex'), true)],
      }),
      /CN=Ada is under none of the certificate policies that a CA above asks for\.$/,
    ],
    ['that is a proxy', makeProxy(makeUser('Bob', CA), { extensions: [proxyCertInfo(), ...caExtensions()] }), /./],
  ])('is refused: %s', (_, issuer, reason) => {
    expect(reasonOf(user(issuer))).toMatch(reason);
    expect(reasonOf(user(issuer))).not.toBe('accepted');
  });

  test('is refused with more CAs below it than it allows', () => {
    const upper = makeCa('Upper', { issuer: CA, extensions: caExtensions(0) });
    const lower = makeCa('Lower', { issuer: upper });
    expect(reasonOf([makeUser('Ada', upper), upper])).toBe('accepted');
    expect(reasonOf([makeUser('Ada', lower), upper, lower])).toMatch(
      /CN=Upper allows 0 CAs below it, and there are 1\.$/,
    );
  });

  test('is refused with more CAs than the depth allows', () => {
    const lower = makeCa('Lower', { issuer: CA });
    expect(reasonOf(user(lower), { maxDepth: 1 })).toBe('accepted');
    expect(reasonOf(user(lower), { maxDepth: 0 })).toBe(
      'The path to a configured CA has more than 0 intermediate CAs.',
    );
  });

  test('is refused if it names what it may not, also through the configured CA', () => {
    const extensions = [
      ...caExtensions(),
      nameConstraints({ excluded: [generalName.directory(makeUser('x', CA).subject)] }),
    ];
    const strict = makeCa('CA', { keys: CA.keys, extensions });
    const trust = makeTrustStore([strict.certificate]);
    expect(reasonOf([makeUser('x', CA)], { trust })).toMatch(/has a name that its CA may not give\.$/);
    expect(reasonOf([makeUser('y', CA)], { trust })).toBe('accepted');
  });
});

describe('a user', () => {
  test.each([
    ['that is a CA', makeCa('Ada', { issuer: CA }), /is that of a CA, which is no user\.$/],
    ['without a name', make({ subject: [], issuer: CA }), /names nobody\.$/],
    [
      'that could sign certificates',
      makeUser('Ada', CA, { extensions: [keyUsage(0, 5)] }),
      /by its key usage, but is no CA\.$/,
    ],
    [
      'with an unknown critical extension',
      makeUser('Ada', CA, { extensions: [extension('1.2.3', sequence(), true)] }),
      /cannot be processed/,
    ],
    [
      'that another CA of the same name issued',
      makeUser('Ada', makeCa('CA')),
      /was not signed by \/O=Test\/CN=CA, whom it names as its issuer\.$/,
    ],
    ['that issued itself', makeUser('Ada', CA, { issuer: makeUser('Ada', CA) }), /is \/O=Test\/CN=Ada, the issuer of/],
  ])('is refused: %s', (_, user, reason) => {
    expect(reasonOf([user])).toMatch(reason);
  });

  test('is refused if it is the configured CA itself', () => {
    expect(reasonOf([CA])).toMatch(/is that of a CA, which is no user\.$/);
  });
});

test('does not trust a self-signed CA in the text, and reports where the path ends', () => {
  const rogue = makeCa('Rogue');
  expect(reasonOf([makeUser('Ada', rogue), rogue])).toBe(
    'The path of issuers ends at /O=Test/CN=Rogue, which is no configured CA.',
  );
});

test('uses key identifiers to choose between CAs of one name, but never to refuse', () => {
  const id = (mark: number): Buffer => extension('2.5.29.14', Buffer.of(4, 1, mark));
  const points = (mark: number): Buffer => extension('2.5.29.35', Buffer.of(0x30, 3, 0x80, 1, mark));
  const old = makeCa('CA', { extensions: [...caExtensions(), id(1)] });
  const recent = makeCa('CA', { extensions: [...caExtensions(), id(2)] });
  const trust = makeTrustStore([old.certificate, recent.certificate]);
  for (const mark of [1, 2, 3]) {
    for (const issuer of [old, recent]) {
      const user = makeUser('Ada', issuer, { extensions: [points(mark)] });
      expect(judged([user], { trust })).toMatchObject({ accepted: true, path: [user.certificate, issuer.certificate] });
    }
  }
});

test('finds, of several certificates of a proxy issuer, the one that leads to a configured CA', () => {
  const keys = newKeys();
  const foreign = makeUser('Ada', makeCa('Foreign'), { keys });
  const expired = makeUser('Ada', CA, { keys, notAfter: AT - DAY });
  const user = makeUser('Ada', CA, { keys });
  const proxy = makeProxy(user);
  expect(judged([proxy, foreign, expired, user])).toMatchObject({ accepted: true, endEntity: user.certificate });
});

test('cuts names in reasons, and removes control characters', () => {
  const user = makeUser(`Ada\n\u001b[31m${'x'.repeat(1000)}`, makeCa('Rogue'));
  const reason = reasonOf([user]);
  expect(reason).toMatch(/CN=Ada\?\?\[31mx+\.\.\.\.$/);
  expect(reason.length).toBeLessThan(400);
});
