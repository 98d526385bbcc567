// The decision table: the status, the reason and the sentence for every combination of request and configuration.
import { describe, expect, test } from 'vitest';
import type { TrustedHost } from '../../../../server/authority/configuration/hosts.ts';
import {
  decide,
  type Decision,
  type Evidence,
  type Policy,
  type ProvenCertificate,
  type ProvenUser,
} from '../../../../server/authority/decide.ts';
import { contentWith } from '../../../support/attributeCertificates.ts';
import { AT } from '../../../support/pki.ts';
import { costOf } from '../../../support/growth.ts';

const USER: ProvenUser = {
  name: '/O=Test/CN=User',
  key: 'user',
  expiresAt: AT + 50_000,
  proxy: 'full',
};
const PARTNER: TrustedHost = {
  name: 'Partner',
  uri: 'https://partner.example.org/',
  signer: 'partner',
  mappings: [
    { remote: 'student', local: 'reader' },
    { remote: 'staff', local: 'editor' },
    { remote: 'staff', local: 'reader' },
    { remote: 'student', local: 'guest' },
  ],
};
const CERTIFICATE: ProvenCertificate = {
  content: contentWith({ notAfter: AT + 100_000 }),
  signer: 'partner',
  issuer: 'partner',
  holder: 'user',
};

interface Case {
  readonly roles?: readonly string[];
  readonly user?: Partial<ProvenUser>;
  readonly usrAttCert?: string;
  readonly certificate?: Partial<ProvenCertificate>;
  readonly policy?: Partial<Policy>;
}

function decided({
  roles = [],
  user = {},
  usrAttCert = '<x/>',
  certificate = {},
  policy = {},
}: Case): Decision & { readonly asked: string } {
  let asked = '';
  const evidence: Evidence = {
    userOf: (text) => {
      asked += `user(${text})`;
      return { kind: 'proven', value: { ...USER, ...user } };
    },
    certificateOf: (text) => {
      asked += `certificate(${text})`;
      return { kind: 'proven', value: { ...CERTIFICATE, ...certificate } };
    },
  };
  const whole: Policy = {
    siteName: 'Here',
    issuer: '/O=Test/CN=Here',
    issuerNotAfter: AT + 100_000,
    isIssuerRevoked: false,
    hosts: new Map([['Partner', PARTNER]]),
    at: AT,
    findRoles: (key) => (key === 'user' ? roles : []),
    lifetimeSeconds: 28_800,
    notBeforeOffsetSeconds: 0,
    clockSkewSeconds: 0,
    ...policy,
  };
  return { ...decide({ usrProxyCert: 'chain', usrAttCert }, whole, evidence), asked };
}

function outcome(decision: Decision): readonly [string, string] {
  return [decision.status, decision.status === 'AccessGranted' ? decision.content.roles.join() : decision.refusal.code];
}

describe('a user with roles of this site', () => {
  test('gets them as original, and the attribute certificate in the request is not read', () => {
    const decision = decided({ roles: ['b', 'a'], usrAttCert: 'whatever' });
    expect(decision).toEqual({
      status: 'AccessGranted',
      user: USER,
      site: '',
      content: {
        holder: '/O=Test/CN=User',
        issuer: '/O=Test/CN=Here',
        issuerName: 'Here',
        roles: ['b', 'a'],
        provenance: 'original',
        notBefore: AT,
        notAfter: AT + 28_800,
      },
      asked: 'user(chain)',
    });
  });
});

describe('a user without roles of this site', () => {
  test.for(['', ' ', '\r\n\t '])('who sends %j with the chain is not registered', (usrAttCert) => {
    expect(decided({ usrAttCert })).toEqual({
      status: 'AccessDenied',
      user: USER,
      claimed: '',
      site: '',
      refusal: { code: 'unregistered', sentence: 'The user /O=Test/CN=User is not registered at Here.' },
      asked: 'user(chain)',
    });
  });

  test('gets the mapped roles: in the order of the certificate, then of the configuration, each once', () => {
    expect(outcome(decided({}))).toEqual(['AccessGranted', 'editor,reader,guest']);
    const content = contentWith({ roles: ['student', 'unknown', 'staff', 'student'] });
    expect(outcome(decided({ certificate: { content } }))).toEqual(['AccessGranted', 'reader,guest,editor']);
  });

  test('gets all roles that a role maps to, ten times as many in about ten times the time', () => {
    const costFor = (count: number): number => {
      const mappings = Array.from({ length: count }, (_, i) => ({ remote: 'student', local: `role${i}` }));
      const policy = { hosts: new Map([['Partner', { ...PARTNER, mappings }]]) };
      return costOf(() => expect(outcome(decided({ policy }))[1].split(',')).toHaveLength(count));
    };
    expect(costFor(50_000)).toBeLessThan(40 * costFor(5000));
  });

  test('gets mapped roles marked as mapped, from this site', () => {
    const { status, ...rest } = decided({});
    expect([status, 'content' in rest && rest.content]).toMatchObject([
      'AccessGranted',
      { provenance: 'mapped', issuerName: 'Here' },
    ]);
  });
});

describe('an attribute certificate of another site', () => {
  const expired = contentWith({ notAfter: AT - 1 });
  const early = contentWith({ notBefore: AT + 1 });
  const elsewhere = contentWith({ issuerName: 'Elsewhere' });
  test.for<[what: string, given: Case, outcome: readonly [string, string]]>([
    [
      'that names another issuer than its signer',
      { certificate: { issuer: 'other' } },
      ['AccessError', 'externalIssuer'],
    ],
    ['whose issuer is no name', { certificate: { issuer: undefined } }, ['AccessError', 'externalIssuer']],
    ['that has expired', { certificate: { content: expired } }, ['AccessError', 'externalTime']],
    ['that is not valid yet', { certificate: { content: early } }, ['AccessError', 'externalTime']],
    ['of another holder', { certificate: { holder: 'other' } }, ['AccessError', 'externalHolder']],
    ['whose holder is no name', { certificate: { holder: undefined } }, ['AccessError', 'externalHolder']],
    ['of a site that is not trusted', { certificate: { content: elsewhere } }, ['AccessDenied', 'untrustedHost']],
    [
      'signed by another key than that of its site',
      { certificate: { signer: 'x', issuer: 'x' } },
      ['AccessError', 'externalHost'],
    ],
    [
      'whose roles have no mapping',
      { certificate: { content: contentWith({ roles: ['root'] }) } },
      ['AccessDenied', 'unmapped'],
    ],
    ['without roles', { certificate: { content: contentWith({ roles: [] }) } }, ['AccessDenied', 'unmapped']],
    [
      'that expired within the tolerance leaves no time',
      { certificate: { content: expired }, policy: { clockSkewSeconds: 1 } },
      ['AccessError', 'window'],
    ],
    [
      'valid within the tolerance',
      { certificate: { content: early }, policy: { clockSkewSeconds: 1 } },
      ['AccessGranted', 'editor,reader,guest'],
    ],
  ])('%s gets the right decision', ([, given, expected]) => {
    expect(outcome(decided(given))).toEqual(expected);
  });

  test('is refused for the first reason in the order of the design', () => {
    const all = {
      issuer: 'other',
      holder: 'other',
      content: contentWith({ issuerName: 'Elsewhere', notAfter: AT - 1 }),
    };
    expect(outcome(decided({ certificate: all }))[1]).toBe('externalIssuer');
    expect(outcome(decided({ certificate: { ...all, issuer: 'partner' } }))[1]).toBe('externalTime');
    const inTime = { ...all, issuer: 'partner', content: elsewhere };
    expect(outcome(decided({ certificate: inTime }))[1]).toBe('externalHolder');
    expect(outcome(decided({ certificate: { ...inTime, holder: 'user' } }))[1]).toBe('untrustedHost');
  });

  test('names its site in the sentence, cut and without control characters', () => {
    const content = contentWith({ issuerName: `${'x'.repeat(199)}\n${'x'.repeat(101)}` });
    const decision = decided({ certificate: { content } });
    const sentence = decision.status === 'AccessGranted' ? '' : decision.refusal.sentence;
    expect(sentence).toBe(
      `The site ${'x'.repeat(199)}?..., which issued the user's attribute certificate, is not trusted by Here.`,
    );
  });
});

describe('the validity of an issued attribute certificate', () => {
  const windowOf = (given: Case): readonly number[] | string => {
    const decision = decided({ roles: ['r'], ...given });
    if (decision.status !== 'AccessGranted') return decision.refusal.code;
    return [decision.content.notBefore - AT, decision.content.notAfter - AT];
  };
  test.for<[what: string, given: Case, window: readonly number[] | string]>([
    ['begins now and lasts as long as configured', {}, [0, 28_800]],
    ['begins earlier where configured, and lasts as long', { policy: { notBeforeOffsetSeconds: -60 } }, [-60, 28_740]],
    ['ends with the chain', { user: { expiresAt: AT + 10 } }, [0, 10]],
    ['ends with the chain at a whole second', { user: { expiresAt: AT + 10.9 } }, [0, 10]],
    [
      'ends with the certificate it is mapped from',
      { roles: [], certificate: { content: contentWith({ notAfter: AT + 7 }) } },
      [0, 7],
    ],
    ['ends with the chain before the certificate', { roles: [], user: { expiresAt: AT + 5 } }, [0, 5]],
    ['is never empty', { user: { expiresAt: AT } }, 'window'],
    ['ends once the certificate of this site has expired', { policy: { issuerNotAfter: AT - 1 } }, 'window'],
    ['ends once that was revoked', { policy: { isIssuerRevoked: true } }, 'window'],
    ['but for clocks that differ', { policy: { issuerNotAfter: AT - 1, clockSkewSeconds: 1 } }, [0, 28_800]],
    [
      'is never over already, were it by an earlier begin',
      { user: { expiresAt: AT - 10 }, policy: { notBeforeOffsetSeconds: -300, clockSkewSeconds: 60 } },
      'window',
    ],
    [
      'is never empty, were it by a later begin',
      { user: { expiresAt: AT + 60 }, policy: { notBeforeOffsetSeconds: 60 } },
      'window',
    ],
  ])('%s', ([, given, window]) => {
    expect(windowOf(given)).toEqual(window);
  });
});

test('reports a chain that proves no user as an error, and checks nothing else', () => {
  const refusal = { code: 'userChain', sentence: 'No.' } as const;
  const never = (): never => {
    throw new Error('was asked');
  };
  const policy: Policy = {
    siteName: 'Here',
    issuer: '',
    issuerNotAfter: AT,
    isIssuerRevoked: false,
    hosts: new Map(),
    at: AT,
    findRoles: never,
    lifetimeSeconds: 1,
    notBeforeOffsetSeconds: 0,
    clockSkewSeconds: 0,
  };
  const evidence: Evidence = { userOf: () => ({ kind: 'refused', refusal, claimed: '/CN=Who' }), certificateOf: never };
  expect(decide({ usrProxyCert: '', usrAttCert: '' }, policy, evidence)).toEqual({
    status: 'AccessError',
    user: undefined,
    claimed: '/CN=Who',
    site: '',
    refusal,
  });
});
