// Certificates and CRLs that expire while the server uses them: the time is known before, and each consequence is
// reported once.
import { createPublicKey } from 'node:crypto';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listExpiries, firstExpiries } from '../../../../server/authority/configuration/expiries.ts';
import { loadAuthority } from '../../../../server/authority/configuration/load.ts';
import { nameDer } from '../../../../server/authority/issuance.ts';
import { type AuthoritySupervisor, superviseAuthority } from '../../../../server/authority/supervisor.ts';
import type { ServiceEvent } from '../../../../server/observe/events.ts';
import { CONFIG_LINES, loadedData, type TestSite, testSite } from '../../../support/authorities.ts';
import { CRL_NUMBER, extension, makeCrl, pemOf, implicit, sequence } from '../../../support/certificates.ts';
import { AT, ecPair, type Holder, holderOf, person, rsaPair } from '../../../support/pki.ts';

let site: TestSite;
let supervisor: AuthoritySupervisor | undefined;
let events: ServiceEvent[];
let now: number;
let old: Holder;

beforeEach(() => {
  [events, now] = [[], AT];
  site = testSite({ site: ecPair(), partner: ecPair(), validity: { notBefore: AT - 100, notAfter: AT + 1000 } });
  mkdirSync(join(site.directory, 'crls'));
  old = holderOf('ca', nameDer(person('Old CA')), ecPair(), undefined, {
    notBefore: AT - 100,
    notAfter: AT + 500,
  });
  site.write('ca.pem', site.ca.pem + old.pem);
  writeCrl('old.crl', AT + 2000, { name: old.name, key: old.key });
  writeCrl('ca.crl', AT + 90);
  writeCrl('ca.r0', AT + 300);
  configure(['crls = "crls"']);
});
afterEach(async () => {
  await supervisor?.stop();
  site.remove();
});

function supervised(): AuthoritySupervisor {
  const hearers = {
    observe: (together: readonly ServiceEvent[]) => void events.push(...together),
    onUnwritten: () => undefined,
    onLostThread: () => undefined,
  };
  return superviseAuthority(site.config, join(site.directory, 'audit.log'), hearers, () => now);
}

function configure(lines: readonly string[]): void {
  site.write('authority.toml', [...lines, ...CONFIG_LINES].join('\n'));
}

function writeCrl(
  name: string,
  nextUpdate: number,
  { name: subject, key: privateKey }: Pick<Holder, 'name' | 'key'> = site.ca,
  thisUpdate = AT - 60,
): void {
  const crl = makeCrl({ issuer: { subject, keys: { privateKey } }, revoked: [], thisUpdate, nextUpdate });
  site.write(join('crls', name), pemOf('X509 CRL', crl));
}

/** The first expiry of each kind, or the errors of the configuration. */
function firsts(at = AT): unknown {
  const loading = loadAuthority(site.config, at);
  return loading.kind === 'loaded' ? firstExpiries(listExpiries(loading.expirySource, at)) : loading.mistakes;
}

/** The events of the periodic check, `seconds` after AT. */
async function toldAt(seconds: number): Promise<readonly string[]> {
  now = AT + seconds;
  events.length = 0;
  await supervisor!.look();
  return events.map((event) => (event.kind === 'authorityExpired' ? `${event.at - AT}: ${event.note}` : event.kind));
}

const UNLISTED = 'there is no current CRL of /O=Test/CN=CA: nobody whom it certified gets in';
const EXPIRED = 'the CA /O=Test/CN=Old CA has expired: nobody whom it certified gets in';

test('knows the first expiry of each kind: the last of several CRLs of a CA counts, and without one it is 0', () => {
  expect(firsts()).toEqual({ certificate: AT + 1000, cas: AT + 500, crls: AT + 300 });
  expect(firsts(AT + 301)).toEqual({ certificate: AT + 1000, cas: AT + 500, crls: 0 });
  configure([]);
  expect(firsts()).toEqual({ certificate: AT + 1000, cas: AT + 500 });
});

test('reports an expiry while serving once, within a minute, and shows it in the status', async () => {
  supervisor = supervised();
  expect(supervisor.status()).toEqual({
    siteName: 'Here',
    loadedAt: AT,
    users: 2,
    trustedHosts: 1,
    unusableFiles: 0,
    notes: [expect.stringMatching(/^the certificate of .* expires within 1 days$/)],
    expires: { certificate: AT + 1000, cas: AT + 500, crls: AT + 300 },
    refused: undefined,
  });
  expect([await toldAt(300), await toldAt(301), await toldAt(302)]).toEqual([[], [`301: ${UNLISTED}`], []]);
  expect([await toldAt(501), await toldAt(561)]).toEqual([[`501: ${EXPIRED}`], []]);
  expect(supervisor.status().notes.slice(1)).toEqual([UNLISTED, EXPIRED]);
  expect(await toldAt(1001)).toEqual([
    '1001: the certificate of /O=Test/CN=Here Authority has expired: nobody believes what is issued',
    '1001: the CA /O=Test/CN=CA has expired: nobody whom it certified gets in',
  ]);
});

test('counts a CRL that was made in advance from its start', async () => {
  writeCrl('ca.next.crl', AT + 600, site.ca, AT + 290);
  writeCrl('ca.later.crl', AT + 900, site.ca, AT + 700);
  supervisor = supervised();
  expect([await toldAt(301), supervisor.status().expires.crls]).toEqual([[], AT + 600]);
  // Old CA has expired by then.
  expect([await toldAt(501), await toldAt(601)]).toEqual([[`501: ${EXPIRED}`], [`601: ${UNLISTED}`]]);
  expect(supervisor.status()).toMatchObject({
    notes: expect.arrayContaining([UNLISTED]) as unknown,
    expires: { crls: 0 },
  });
  expect(await toldAt(701)).toEqual([]);
  expect(supervisor.status().notes.slice(1)).toEqual([EXPIRED]);
  expect(await toldAt(901)).toEqual([`901: ${UNLISTED}`]);
});

test('removes the note about a missing CRL when one becomes valid after the load, and reports its expiry', async () => {
  for (const name of ['ca.crl', 'ca.r0']) writeCrl(name, AT + 300, site.ca, AT + 120);
  supervisor = supervised();
  expect(supervisor.status().notes.slice(1)).toEqual([UNLISTED]);
  expect(await toldAt(121)).toEqual([]);
  expect(supervisor.status().notes.slice(1)).toEqual([]);
  expect(await toldAt(301)).toEqual([`301: ${UNLISTED}`]);
});

test('notes earlier expiries without an event, and reports no repaired ones', async () => {
  now = AT + 301;
  supervisor = supervised();
  expect(supervisor.status().notes.slice(1)).toEqual([UNLISTED]);
  expect(await toldAt(302)).toEqual([]);
  writeCrl('ca.newer.crl', AT + 400);
  expect(await toldAt(303)).toEqual(['authorityLoaded']);
  expect(supervisor.status()).toMatchObject({ loadedAt: AT + 303, expires: { crls: AT + 400 } });
  expect(supervisor.status().notes.slice(1)).toEqual([]);
  expect(await toldAt(401)).toEqual([`401: ${UNLISTED}`]);
});

test('ignores a CRL that does not cover users, and reports why', () => {
  const note = 'the CRL of /O=Test/CN=CA is not signed by a CA of that name here: nobody whom it certified gets in';
  for (const name of ['ca.crl', 'ca.r0']) writeCrl(name, AT + 300, { name: site.ca.name, key: ecPair().privateKey });
  expect(firsts()).toEqual({ certificate: AT + 1000, cas: AT + 500, crls: 0 });
  supervisor = supervised();
  expect(supervisor.status().notes).toContain(note);
  writeCrl('ca.good.crl', AT + 200);
  expect(firsts()).toMatchObject({ crls: AT + 200 });
});

test('ignores and reports a CRL signed by the weak key of a CA of that name, unless weak ones are allowed', () => {
  const weak = holderOf('ca', site.ca.name, rsaPair(1024), undefined, { notBefore: AT - 100, notAfter: AT + 1000 });
  site.write('ca.pem', site.ca.pem + weak.pem);
  for (const name of ['ca.crl', 'ca.r0']) writeCrl(name, AT + 300, weak);
  const problem = 'is signed by a key that is weak (allowWeak is off)';
  expect(firsts()).toEqual({ certificate: AT + 1000, cas: AT + 1000, crls: 0 });
  supervisor = supervised();
  expect(supervisor.status().notes).toContain(`the CRL of /O=Test/CN=CA ${problem}: nobody whom it certified gets in`);
  writeCrl('ca.good.crl', AT + 200);
  expect(firsts()).toMatchObject({ crls: AT + 200 });
  configure(['crls = "crls"', 'allowWeak = true']);
  expect(firsts()).toMatchObject({ crls: AT + 300 });
});

test('uses a CRL about CAs alone until there is one about users', async () => {
  for (const name of ['ca.crl', 'ca.r0', 'old.crl']) rmSync(join(site.directory, 'crls', name));
  configure(['crls = "crls"']);
  const ofCas = extension('2.5.29.28', sequence(implicit(2, Buffer.of(0xff))), true);
  for (const [name, { name: subject, key: privateKey }] of [
    ['ca.crl', site.ca],
    ['old.crl', old],
  ] as const) {
    const extensions = [CRL_NUMBER, ofCas];
    const crl = makeCrl({ issuer: { subject, keys: { privateKey } }, nextUpdate: AT + 300, extensions });
    site.write(join('crls', name), pemOf('X509 CRL', crl));
  }
  expect(firsts()).toMatchObject({ crls: AT + 300 });
  supervisor = supervised();
  writeCrl('ca.users.crl', AT + 200);
  expect(await toldAt(60)).toEqual(['authorityLoaded']);
  // Users need the CRL about users, however long the one about CAs lasts.
  expect(supervisor.status().expires).toMatchObject({ crls: AT + 200 });
  expect(await toldAt(201)).toEqual([`201: ${UNLISTED}`]);
});

test('grants nothing once a certificate above the one of the authority has expired', async () => {
  const validity = { notBefore: AT - 100, notAfter: AT + 200 };
  const between = holderOf('ca', nameDer(person('Between')), ecPair(), site.ca, validity);
  const own = holderOf('signer', site.site.name, rsaPair(), between, { ...validity, notAfter: AT + 1000 });
  site.write('site.pem', own.pem + between.pem);
  site.write('site.key', own.key.export({ type: 'pkcs8', format: 'pem' }));
  expect(firsts()).toMatchObject({ certificate: AT + 200 });
  expect(loadedData(site).issuerNotAfter).toBe(AT + 200);
  supervisor = supervised();
  expect(await toldAt(201)).toEqual([
    '201: what certified /O=Test/CN=Here Authority has expired: nobody believes what is issued',
  ]);
});

test('accepts a renewed CA certificate after the old one expires', () => {
  const pair = { publicKey: createPublicKey(site.ca.key), privateKey: site.ca.key };
  const anew = holderOf('ca', site.ca.name, pair, undefined, { notBefore: AT - 100, notAfter: AT + 5000 });
  const own = holderOf('signer', site.site.name, rsaPair(), site.ca, { notBefore: AT - 100, notAfter: AT + 3000 });
  site.write('site.pem', own.pem);
  site.write('site.key', own.key.export({ type: 'pkcs8', format: 'pem' }));
  expect(loadedData(site).issuerNotAfter).toBe(AT + 1000);
  site.write('ca.pem', site.ca.pem + anew.pem);
  expect(loadedData(site).issuerNotAfter).toBe(AT + 3000);
});

test('grants nothing if a CRL lists the certificate of the authority itself, and reports it', () => {
  expect(loadedData(site).isIssuerRevoked).toBe(false);
  const { name: subject, key: privateKey } = site.ca;
  const revoked = [site.site.certificate.serialNumber];
  const crl = makeCrl({ issuer: { subject, keys: { privateKey } }, revoked, nextUpdate: AT + 300 });
  site.write(join('crls', 'ca.revoked.crl'), pemOf('X509 CRL', crl));
  expect(loadedData(site).isIssuerRevoked).toBe(true);
  supervisor = supervised();
  const note = 'the certificate of /O=Test/CN=Here Authority has been revoked: nothing is granted';
  expect(supervisor.status().notes).toContain(note);
  // A stale CRL counts as long as no newer one exists.
  const stale = makeCrl({ issuer: { subject, keys: { privateKey } }, revoked, nextUpdate: AT - 10 });
  site.write(join('crls', 'ca.revoked.crl'), pemOf('X509 CRL', stale));
  expect(loadedData(site).isIssuerRevoked).toBe(false);
  for (const name of ['ca.crl', 'ca.r0']) rmSync(join(site.directory, 'crls', name));
  expect(loadedData(site).isIssuerRevoked).toBe(true);
  // A CRL with the signature of another key does not count.
  const other = makeCrl({ issuer: { subject, keys: ecPair() }, revoked, nextUpdate: AT + 300 });
  site.write(join('crls', 'ca.revoked.crl'), pemOf('X509 CRL', other));
  expect(loadedData(site).isIssuerRevoked).toBe(false);
});

test('loads new CRLs despite a dangling link next to them', async () => {
  symlinkSync('/nowhere', join(site.directory, 'crls', 'old.signing_policy'));
  supervisor = supervised();
  writeCrl('ca.newer.crl', AT + 400);
  expect(await toldAt(60)).toEqual(['authorityLoaded']);
  expect(supervisor.status()).toMatchObject({ expires: { crls: AT + 400 } });
});

test('allows clocks to differ by the configured skew', async () => {
  configure(['crls = "crls"', 'clockSkewSeconds = 60']);
  supervisor = supervised();
  expect([await toldAt(360), await toldAt(361)]).toEqual([[], [`361: ${UNLISTED}`]]);
});

test('shows the errors of unused files in the status until they are repaired', async () => {
  supervisor = supervised();
  configure(['mistake = 1']);
  expect(await supervisor.reload()).toBe(false);
  expect(supervisor.status()).toMatchObject({
    loadedAt: AT,
    refused: { at: AT, mistakes: [expect.stringMatching(/authority\.toml:1:1: unknown key "mistake"/)] },
  });
  configure([]);
  expect(await supervisor.reload()).toBe(true);
  expect(supervisor.status().refused).toBeUndefined();
});
