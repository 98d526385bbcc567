// Names that a CA may certify: the configuration of namespaces, the refused users, and the results of a check.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeAuthoriser } from '../../../../server/authority/authorise.ts';
import { loadAuthority } from '../../../../server/authority/configuration/load.ts';
import { nameDer } from '../../../../server/authority/issuance.ts';
import {
  CONFIG_LINES,
  loadedData,
  partnersCertificate,
  type TestSite,
  testSite,
} from '../../../support/authorities.ts';
import { AT, caOf, ecPair, type Holder, holderOf, person, proxyOf, rsaPair } from '../../../support/pki.ts';

/** Another configured CA, besides that of the site. */
let other: Holder;
let site: TestSite;
beforeAll(() => {
  site = testSite({ site: ecPair() });
  other = caOf('Other CA');
  site.write('ca.pem', site.ca.pem + other.pem);
});
afterAll(() => site.remove());

const OWN = '"/O=Test/CN=CA" = ["/O=Test/CN=*"]';

function configure(...namespaces: readonly string[]): void {
  site.write('authority.toml', [...CONFIG_LINES, '[namespaces]', ...namespaces].join('\n'));
}

/** Status, code and sentence. Response and audit must agree. */
function outcome(usrProxyCert: string, usrAttCert = ''): readonly string[] {
  const { answer, record } = makeAuthoriser(loadedData(site))({ usrProxyCert, usrAttCert }, AT);
  expect(record.sentence).toBe(answer.errMsg);
  return [answer.statCode, record.reason, answer.errMsg].filter(Boolean);
}

describe('a CA that certifies a name of another CA', () => {
  const forged = (): string => proxyOf(holderOf('user', nameDer(person('Staff')), ecPair(), other)).pem;

  test('is trusted if no namespaces are set', () => {
    site.write('authority.toml', CONFIG_LINES.join('\n'));
    expect(outcome(forged())).toEqual(['AccessGranted']);
  });

  test('is refused if the name is outside of its namespaces, and users of the other CA are accepted as before', () => {
    configure(OWN, '"/O=Test/CN=Other CA" = "/O=Elsewhere/*"');
    expect(outcome(forged())).toEqual([
      'AccessError',
      'userChain',
      "The user's certificates (usrProxyCert) are refused: The certificate of /O=Test/CN=Staff is outside of the namespaces of /O=Test/CN=Other CA, which issued it.",
    ]);
    expect(outcome(proxyOf(site.staff).pem)).toEqual(['AccessGranted']);
    const elsewhere = holderOf(
      'user',
      nameDer([
        ['O', 'Elsewhere'],
        ['CN', 'A'],
      ]),
      ecPair(),
      other,
    );
    expect(outcome(elsewhere.pem)).toEqual(['AccessDenied', 'unregistered', expect.any(String)]);
  });

  test('is refused if it has no namespaces at all', () => {
    configure(OWN);
    expect(outcome(forged())[2]).toContain(
      'The certificate of /O=Test/CN=Staff was issued by /O=Test/CN=Other CA, which has no namespaces.',
    );
  });

  test('is refused if it signs for a trusted host', () => {
    const partner = holderOf('signer', site.partner.name, rsaPair(), other);
    configure(OWN, '"/O=Test/CN=Other CA" = ["/O=Elsewhere/*"]');
    expect(outcome(site.visitor.pem, partnersCertificate(site))).toEqual(['AccessGranted']);
    expect(outcome(site.visitor.pem, partnersCertificate(site, {}, partner)).slice(0, 2)).toEqual([
      'AccessError',
      'externalSigner',
    ]);
  });

  test('is refused through a CA below it, whose name and users both count', () => {
    const below = holderOf('ca', nameDer(person('Below')), ecPair(), other);
    const user = holderOf('user', nameDer(person('Staff')), ecPair(), below).pem + below.pem;
    const all = '"/O=Test/CN=Below" = "*"';
    configure(OWN, all, '"/O=Test/CN=Other CA" = ["/O=Elsewhere/*"]');
    expect(outcome(user)[2]).toContain('The certificate of /O=Test/CN=Below is outside');
    configure(OWN, '"/O=Test/CN=Other CA" = ["/O=Test/CN=Below"]');
    expect(outcome(user)[2]).toContain('The certificate of /O=Test/CN=Staff was issued by /O=Test/CN=Below');
    configure(OWN, all, '"/O=Test/CN=Other CA" = ["/O=Test/CN=Below"]');
    expect(outcome(user)).toEqual(['AccessGranted']);
  });

  test('is refused with parts of the name, or of the other CA, in an order within its own namespaces', () => {
    const named = (kind: 'user' | 'ca', from: Holder, ...types: readonly [string, string][]): Holder =>
      holderOf(kind, nameDer(types), ecPair(), from);
    configure(OWN, '"/O=Test/CN=Other CA" = ["/CN=*"]', '"/C=FR/O=Grid/CN=A" = ["/O=Test/*"]');
    const shuffled = named('user', other, ['CN', 'Staff'], ['O', 'Test']);
    expect(outcome(shuffled.pem).slice(0, 2)).toEqual(['AccessDenied', 'unregistered']);
    site.write('users', '"/CN=Staff/O=Test" staff\n');
    expect(outcome(shuffled.pem)).toEqual(['AccessGranted']);
    site.write('users', '"/O=Test/CN=Staff" staff, reader\n');
    const below = named('ca', other, ['CN', 'A'], ['O', 'Grid'], ['C', 'FR']);
    const staff = named('user', below, ['O', 'Test'], ['CN', 'Staff']);
    expect(outcome(staff.pem + below.pem)[2]).toContain('CN=A/O=Grid/C=FR, which has no namespaces');
  });

  test('may renew its own certificate', () => {
    const anew = holderOf('ca', other.name, ecPair(), other);
    const user = holderOf('user', nameDer(person('Staff')), ecPair(), anew);
    configure(OWN, '"/O=Test/CN=Other CA" = ["/O=Test/CN=St*"]');
    expect(outcome(user.pem + anew.pem)).toEqual(['AccessGranted']);
  });

  test('is refused with a name that only looks like one within', () => {
    const name = nameDer([['O', 'Elsewhere/CN=x']]);
    configure(OWN, '"/O=Test/CN=Other CA" = ["/O=Elsewhere/*"]');
    expect(outcome(holderOf('user', name, ecPair(), other).pem)[2]).toContain('is outside of the namespaces');
  });
});

describe('the check of namespaces', () => {
  /** The errors of a configuration with these namespaces, with their lines, or its notes about names. */
  function saidOf(...namespaces: readonly string[]): readonly string[] {
    configure(...namespaces);
    const loading = loadAuthority(site.config, AT);
    if (loading.kind === 'loaded') return loading.notes.filter((note) => /namespaces|speak/.test(note));
    return loading.mistakes.map(({ line, message }) => `${line}: ${message}`);
  }

  test('finds CAs that may certify no name, and namespaces of unknown CAs', () => {
    expect(saidOf(OWN, '"/O=Test/CN=Other CA" = []', '"/O=Else/CN=CA" = "/O=Else/*"')).toEqual([
      'the CA /O=Test/CN=Other CA has no namespaces: nobody whom it certified gets in',
      'the namespaces of "/O=Else/CN=CA" are of no configured CA, but of one below them',
    ]);
  });

  test('refuses the certificate of an authority that no CA may certify', () => {
    expect(saidOf('"/O=Test/CN=CA" = ["/O=Else/*"]', '"/O=Test/CN=Other CA" = "*"')).toEqual([
      'undefined: The certificate of /O=Test/CN=Here Authority is outside of the namespaces of /O=Test/CN=CA, which issued it.',
    ]);
  });

  test('finds every error in them', () => {
    const first = CONFIG_LINES.length + 2;
    const lines = ['"CA" = "*"', OWN, '"/o=Test/cn=CA" = "*"', '"/O=A/CN=B" = ["O=A", 7]', '"/O=A/CN=C" = "/0=A/*"'];
    expect(saidOf(...lines).filter((one) => !one.startsWith('undefined'))).toEqual([
      `${first}: the CA "CA" is not of the form /TYPE=value/TYPE=value`,
      `${first + 2}: the namespaces of "/o=Test/cn=CA" are there twice`,
      `${first + 3}: the namespaces of "/O=A/CN=B": got "O=A", want patterns such as "/O=Site/*"`,
      `${first + 3}: the namespaces of "/O=A/CN=B": got 7, want patterns such as "/O=Site/*"`,
      `${first + 4}: the namespaces of "/O=A/CN=C": "/0=A/*": there is no type 0 of names`,
    ]);
    site.write('authority.toml', ['namespaces = "/O=Test/*"', ...CONFIG_LINES].join('\n'));
    const loading = loadAuthority(site.config, AT);
    expect(loading.kind === 'refused' && loading.mistakes.map(({ message }) => message)).toContain(
      'namespaces: want a table, "/O=Site/CN=CA" = ["/O=Site/*"]',
    );
  });
});
