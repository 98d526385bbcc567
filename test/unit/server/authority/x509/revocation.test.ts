// Revocation (RFC 5280, section 6.3): every CA of a path needs a current, complete CRL that does not list the issued
// certificate. Without a CRL, no certificate of the CA is accepted.
import { describe, expect, test } from 'vitest';
import { type Crl, makeCrlStore, parseCrl } from '../../../../../server/authority/x509/certificate.ts';
import { makeTrustStore } from '../../../../../server/authority/x509/search.ts';
import { type ChainRules, validateChain, type Verdict } from '../../../../../server/authority/x509/validate.ts';
import {
  AT,
  basicConstraints,
  caExtensions,
  CRL_NUMBER,
  type CrlPlan,
  extension,
  keyUsage,
  type Made,
  makeCa,
  makeCrl,
  makeProxy,
  makeUser,
  newKeys,
  boolean,
  element,
  explicit,
  integer,
  sequence,
} from '../../../../support/certificates.ts';
import { costOf } from '../../../../support/growth.ts';
import { rsaPair } from '../../../../support/pki.ts';

const CA = makeCa('CA');
const USER = makeUser('Ada', CA, { serialNumber: 7n });
const LOWER = makeCa('Lower', { issuer: CA });
const DAY = 86_400;

function judged(chain: readonly Made[], crls: readonly Buffer[], rules: Partial<ChainRules> = {}): Verdict {
  return validateChain(
    chain.map(({ certificate }) => certificate),
    {
      trust: makeTrustStore([CA.certificate]),
      at: AT,
      proxies: { full: true, limited: true, legacy: true },
      clockSkewSeconds: 0,
      allowWeak: false,
      crls: makeCrlStore(crls.map(parseCrl)),
      maxDepth: 16,
      profile: 'service',
      ...rules,
    },
  );
}

function reasonOf(...arguments_: Parameters<typeof judged>): string {
  const verdict = judged(...arguments_);
  return verdict.accepted ? 'accepted' : verdict.reason;
}

const NONE = 'There is no current CRL of /O=Test/CN=CA.';
const REVOKED = 'The certificate of /O=Test/CN=Ada has been revoked.';
const crlOf = (plan: Partial<CrlPlan> = {}): Buffer => makeCrl({ issuer: CA, ...plan });

describe('a store with one CRL', () => {
  test.each([
    ['that lists others, the user is accepted', crlOf({ revoked: [6n, 8n, -7n] }), 'accepted'],
    ['that lists no certificate, too', crlOf(), 'accepted'],
    ['that lists the user, it is refused', crlOf({ revoked: [6n, 7n] }), REVOKED],
    ['of tomorrow, it is refused', crlOf({ thisUpdate: AT + 1 }), NONE],
    ['that is out of date', crlOf({ nextUpdate: AT - 1 }), NONE],
    ['that does not say until when it counts', crlOf({ nextUpdate: 'none' }), NONE],
    ['of another CA', makeCrl({ issuer: makeCa('Other') }), NONE],
    ['of another CA of that name', makeCrl({ issuer: makeCa('CA') }), NONE],
    ['with a critical extension', crlOf({ extensions: [CRL_NUMBER, extension('1.2.3', sequence(), true)] }), NONE],
    ['that is a delta', crlOf({ extensions: [CRL_NUMBER, extension('2.5.29.27', integer(1), true)] }), NONE],
    ['with a critical entry', crlOf({ revoked: [8n], entryExtensions: [extension('1.2.3', sequence(), true)] }), NONE],
    [
      'with a reason in an entry',
      crlOf({ revoked: [8n], entryExtensions: [extension('2.5.29.21', element(0x0a, Buffer.of(1)))] }),
      'accepted',
    ],
    ['for users', crlOf({ extensions: [CRL_NUMBER, scope(element(0x81, Buffer.of(0xff)))] }), 'accepted'],
    ['for CAs', crlOf({ extensions: [CRL_NUMBER, scope(element(0x82, Buffer.of(0xff)))] }), NONE],
    [
      'of one address',
      crlOf({ extensions: [CRL_NUMBER, scope(explicit(0, explicit(0, element(0x86, Buffer.from('a:b')))))] }),
      NONE,
    ],
    [
      'that is a delta, without marking it critical',
      crlOf({ extensions: [CRL_NUMBER, extension('2.5.29.27', integer(1))] }),
      NONE,
    ],
    [
      'with several critical entries',
      crlOf({ revoked: [8n, 9n], entryExtensions: [extension('1.2.3', sequence(), true)] }),
      NONE,
    ],
    [
      'of reasons down to the last',
      crlOf({ extensions: [CRL_NUMBER, scope(element(0x83, Buffer.of(0, 0x1f)))] }),
      NONE,
    ],
    ['of some reasons', crlOf({ extensions: [CRL_NUMBER, scope(element(0x83, Buffer.of(5, 0x60)))] }), NONE],
    ['of other issuers too', crlOf({ extensions: [CRL_NUMBER, scope(element(0x84, Buffer.of(0xff)))] }), NONE],
    [
      'with an empty scope',
      crlOf({ extensions: [CRL_NUMBER, scope(element(0x84, boolean(false).subarray(2)))] }),
      'accepted',
    ],
  ])('%s', (_, crl, reason) => {
    expect(reasonOf([USER], [crl])).toBe(reason);
  });
});

function scope(point: Uint8Array): Buffer {
  return extension('2.5.29.28', sequence(point), true);
}

test('refuses everything with an empty store, and checks nothing without a store', () => {
  expect(reasonOf([USER], [])).toBe(NONE);
  expect(reasonOf([USER], [], { crls: undefined })).toBe('accepted');
});

test('requires one current and correct CRL of several, and a certificate that none of those lists', () => {
  const wrong = makeCrl({ issuer: { subject: CA.subject, keys: newKeys() }, revoked: [7n] });
  const old = crlOf({ nextUpdate: AT - 1, revoked: [7n] });
  expect(reasonOf([USER], [wrong, old, crlOf()])).toBe('accepted');
  expect(reasonOf([USER], [wrong, old])).toBe(NONE);
  expect(reasonOf([USER], [crlOf(), crlOf({ revoked: [7n] })])).toBe(REVOKED);
});

test('applies the clock tolerance to CRLs too', () => {
  expect(reasonOf([USER], [crlOf({ nextUpdate: AT - 60 })], { clockSkewSeconds: 60 })).toBe('accepted');
  expect(reasonOf([USER], [crlOf({ thisUpdate: AT + 60 })], { clockSkewSeconds: 60 })).toBe('accepted');
});

test('requires a CRL of every CA of the path, and none for proxies', () => {
  const lower = makeCa('Lower', { issuer: CA, serialNumber: 9n });
  const user = makeUser('Ada', lower, { serialNumber: 7n });
  const chain = [makeProxy(user), user, lower];
  const lowerCrl = makeCrl({ issuer: lower });
  expect(reasonOf(chain, [crlOf(), lowerCrl])).toBe('accepted');
  expect(reasonOf(chain, [crlOf()])).toBe('There is no current CRL of /O=Test/CN=Lower.');
  expect(reasonOf(chain, [lowerCrl])).toBe(NONE);
  expect(reasonOf(chain, [crlOf({ revoked: [9n] }), lowerCrl])).toMatch(/CN=Lower has been revoked\.$/);
  expect(reasonOf(chain, [crlOf({ revoked: [7n] }), lowerCrl])).toBe('accepted');
});

describe('a CRL signed with another key of the CA', () => {
  const keys = newKeys();
  const signer = (plan: Parameters<typeof makeCa>[1] = {}): Made =>
    makeCa('CA', { keys, issuer: CA, extensions: [keyUsage(6)], serialNumber: 11n, ...plan });
  const crl = makeCrl({ issuer: { subject: CA.subject, keys } });

  test('counts if the CA certified that key for it, and a CRL of the CA itself does not revoke it', () => {
    expect(reasonOf([USER, signer()], [crl])).toBe(NONE);
    expect(reasonOf([USER, signer()], [crl, crlOf()])).toBe('accepted');
    expect(
      reasonOf([USER, signer()], [makeCrl({ issuer: { subject: CA.subject, keys }, revoked: [7n] }), crlOf()]),
    ).toBe(REVOKED);
  });

  test('does not count if the key is for another use, or if another CA certified it', () => {
    const own = makeCrl({ issuer: CA, extensions: [CRL_NUMBER, scope(element(0x82, Buffer.of(0xff)))] });
    for (const wrong of [
      signer({ extensions: [keyUsage(0)] }),
      signer({ extensions: [] }),
      signer({ issuer: makeCa('CA') }),
      signer({ notAfter: AT - DAY }),
      signer({ issuer: LOWER }),
    ]) {
      expect(reasonOf([USER, wrong, LOWER], [crl, own, makeCrl({ issuer: LOWER })])).toBe(NONE);
    }
  });
});

test('accepts a CRL of a CA with a new key for what the old key issued, if both are configured', () => {
  const recent = makeCa('CA');
  const expired = makeCa('CA', { notAfter: AT - DAY });
  const both = (other: Made): ChainRules['trust'] => makeTrustStore([CA.certificate, other.certificate]);
  const crl = (issuer: Made): Buffer => makeCrl({ issuer });
  expect(reasonOf([USER], [crl(recent)])).toBe(NONE);
  expect(reasonOf([USER], [crl(recent)], { trust: both(recent) })).toBe('accepted');
  expect(reasonOf([USER], [crl(expired)], { trust: both(expired) })).toBe(NONE);
});

test('accepts signatures by the weak key of another configured CA of that name only if weak ones are allowed', () => {
  const weak = makeCa('CA', { keys: rsaPair(1024) });
  const trust = makeTrustStore([CA.certificate, weak.certificate]);
  const [empty, revoking] = [makeCrl({ issuer: weak }), makeCrl({ issuer: weak, revoked: [7n] })];
  expect(reasonOf([USER], [empty], { trust, allowWeak: true })).toBe('accepted');
  expect(reasonOf([USER], [empty], { trust })).toBe(NONE);
  expect(reasonOf([USER], [revoking, crlOf()], { trust, allowWeak: true })).toBe(REVOKED);
  expect(reasonOf([USER], [revoking, crlOf()], { trust })).toBe('accepted');
});

test('accepts no CRL of a CA that may not sign CRLs by its key usage', () => {
  const lower = makeCa('Lower', { issuer: CA, extensions: [basicConstraints(true), keyUsage(5)] });
  const chain = [makeUser('Ada', lower), lower];
  expect(reasonOf(chain, [crlOf(), makeCrl({ issuer: lower })])).toBe('There is no current CRL of /O=Test/CN=Lower.');
});

test('requires the number of a CRL in the strict profile, but not in the service', () => {
  const id = extension('2.5.29.14', Buffer.of(4, 1, 1));
  const trust = makeTrustStore([makeCa('CA', { keys: CA.keys, extensions: [...caExtensions(), id] }).certificate]);
  const user = makeUser('Ada', CA, { extensions: [extension('2.5.29.35', Buffer.of(0x30, 3, 0x80, 1, 1))] });
  const bare = crlOf({ extensions: [] });
  expect(reasonOf([user], [crlOf()], { profile: 'strict', trust })).toBe('accepted');
  expect(reasonOf([user], [bare], { profile: 'strict', trust })).toBe(NONE);
  expect(reasonOf([user], [bare], { trust })).toBe('accepted');
});

test('hashes a CRL once for a key, however many chains rely on it', () => {
  const crl = parseCrl(crlOf());
  const { signed } = crl;
  let reads = 0;
  const counting: Crl = {
    ...crl,
    signed: {
      ...signed,
      get bytes() {
        reads++;
        return signed.bytes;
      },
    },
  };
  const crls = makeCrlStore([counting]);
  for (let i = 0; i < 5; i++) expect(judged([makeUser('Ada', CA)], [], { crls })).toMatchObject({ accepted: true });
  expect(reads).toBe(1);
});

test('reads a list equally quickly whatever its serial numbers, also if they differ above 64 bits', () => {
  const listOf = (shift: bigint): Buffer =>
    makeCrl({ issuer: CA, revoked: Array.from({ length: 20_000 }, (_, i) => (BigInt(i + 1) << shift) + (1n << 130n)) });
  const read = (list: Buffer): void => expect(parseCrl(list).revoked.size).toBe(20_000);
  const [low, high] = [listOf(0n), listOf(64n)];
  expect(costOf(() => read(high))).toBeLessThan(5 * costOf(() => read(low)));
});
