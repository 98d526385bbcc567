// Third-party SOAP clients against the running service: those of Node, PHP, Python and Perl, and gSOAP and Apache Axis,
// which are compiled from the served WSDL first.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judged } from '../support/attributeCertificates.ts';
import { partnersCertificate, TRUSTED_HOSTS } from '../support/authorities.ts';
import { MANY, MANY_ROLES, type ServedSite, startServedSite, STRANGER } from '../support/servedSite.ts';
import { type Case, type Outcome, SOAP_CLIENTS, type SoapClient, type Value } from './clients.ts';

const NON_ASCII = 'Ångström 日本';
const ASTRAL = `${NON_ASCII} 𝄞`;
const ODD = ` <a b="c">&amp;\t'é' ${NON_ASCII}]]> \n`;
const LONG = 'Größe & <Maß> '.repeat(8000);
const EMPTY_LISTS: readonly (readonly [role: string, errMsg: string])[] = [
  ['', 'No role was input'],
  ['none', ''],
  ['nobody knows', ''],
];
const LISTS = ['academic', 'one', 'many', '__proto__', NON_ASCII];

/** Declares the tests of these clients; those that are not installed are skipped. */
function describeSoapClients(clients: readonly SoapClient[]): void {
  let served: ServedSite;
  beforeAll(async () => {
    served = await startServedSite('brokenAuthority');
  });
  afterAll(() => served.stop());
  describe.each(clients)('$name', (client) => {
    const ports = client.http === '1.0' ? (['http10Port'] as const) : (['port', 'http10Port'] as const);
    describe.skipIf(!client.isInstalled).each(ports)('at its %s', (port) => {
      describeClient(client, () => served, `http://127.0.0.1:${port}/attAuthority.wsdl`);
    });
  });
}

function describeClient(client: SoapClient, served: () => ServedSite, address: string): void {
  let directory: string;
  let endpoint: string;
  beforeAll(async () => {
    const { port, http10Port } = served().server;
    endpoint = address.replace(':http10Port', `:${http10Port}`).replace(':port', `:${port}`);
    directory = mkdtempSync(join(tmpdir(), 'soap-client-'));
    await client.build(directory, endpoint);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const run: Run = (cases) => client.run(directory, endpoint, cases);
  describeLists(client, run);
  describeAuthorisations(client, run, served, address);
}

type Run = (cases: readonly Case[]) => Promise<readonly Outcome[]>;

function describeLists(client: SoapClient, run: Run): void {
  test('gets lists of many, one and no texts, of non-ASCII roles too', async () => {
    const roles = client.hasAstral ? [...LISTS, ASTRAL] : LISTS;
    const cases = [...roles, ...EMPTY_LISTS.map(([role]) => role)].map((role): Case => ({
      operation: 'getTrustedHostInfo',
      values: [role],
    }));
    expect(await run(cases)).toEqual([
      ...roles.map((role) => hostList(client, TRUSTED_HOSTS.get(role) ?? [], '')),
      ...EMPTY_LISTS.map(([, errMsg]) => hostList(client, [], errMsg)),
    ]);
  });

  test('gets a human-readable fault, and continues', async () => {
    const [fault, next] = await run([
      { operation: 'reqAuthorisation', values: ['break', ''] },
      { operation: 'getTrustedHostInfo', values: ['one'] },
    ]);
    expect(fault).toEqual({
      code: expect.stringMatching(/^(SOAP-ENV:)?Server$/),
      text: 'The service met an error of its own; the request was not carried out.',
    });
    expect(next).toEqual(hostList(client, TRUSTED_HOSTS.get('one')!, ''));
  });
}

/** `address` distinguishes the values sent to the two ports. */
function describeAuthorisations(client: SoapClient, run: Run, served: () => ServedSite, address: string): void {
  const authorise = (...asked: readonly (readonly [string, string])[]): Promise<readonly Outcome[]> =>
    run(asked.map((values) => ({ operation: 'reqAuthorisation', values })));

  test('gets attribute certificates as they were signed, for texts that are long, odd or non-ASCII', async () => {
    const { site, manyRoles, now, seen } = served();
    const odd = `${ODD}${client.name} ${address}${site.staff.pem}${ODD}`;
    const long = `${manyRoles.pem}${LONG}${client.name} ${address}`;
    const window = { notBefore: now - 100, notAfter: now + 3600 };
    const outcomes = await authorise(
      [odd, ODD],
      [long, LONG],
      [site.visitor.pem, partnersCertificate(site, { ...window, roles: ['student', LONG.trim(), NON_ASCII, 'staff'] })],
    );
    expect(outcomes.map((outcome) => grantOf(client, outcome))).toMatchObject([
      { holder: '/O=Test/CN=Staff', roles: ['staff', 'reader'], provenance: 'original' },
      { holder: `/O=Test/CN=${MANY_ROLES}`, roles: MANY, provenance: 'original' },
      { holder: '/O=Test/CN=Visitor', roles: ['reader', 'editor'], provenance: 'mapped' },
    ]);
    await seen(odd);
    await seen(long);
  });

  test('gets refusals with their messages', async () => {
    const { site, stranger } = served();
    expect(await authorise(['', ''], [stranger.pem, ''], [site.visitor.pem, LONG])).toEqual([
      refusal(
        client,
        'AccessError',
        "The user's certificates (usrProxyCert) cannot be read: The text holds no certificate in PEM form.",
      ),
      refusal(client, 'AccessDenied', `The user /O=Test/CN=${STRANGER} is not registered at Here.`),
      refusal(client, 'AccessError', expect.stringMatching(/^The user's attribute certificate \(usrAttCert\) .+\.$/)),
    ]);
  });
}

function textOf({ empty }: SoapClient, value: string): Value {
  return value === '' ? empty : value;
}

function hostList(client: SoapClient, hosts: readonly string[], errMsg: string): Outcome {
  return {
    results: [
      ['trustedHostInfo', hosts],
      ['errMsg', textOf(client, errMsg)],
    ],
  };
}

function refusal(client: SoapClient, statCode: string, errMsg: string): Outcome {
  return {
    results: [
      ['attCert', textOf(client, '')],
      ['statCode', statCode],
      ['errMsg', errMsg],
    ],
  };
}

/**
 * The contents of a grant's attribute certificate, after verifying its signature; the outcome itself if it is not a
 * grant.
 */
function grantOf(client: SoapClient, outcome: Outcome): unknown {
  if (!('results' in outcome)) return outcome;
  const [attCert, statCode, errMsg] = outcome.results;
  expect([statCode, errMsg]).toEqual([
    ['statCode', 'AccessGranted'],
    ['errMsg', textOf(client, '')],
  ]);
  return typeof attCert?.[1] === 'string'
    ? judged(attCert[1], { algorithms: ['ecdsa-sha256'], allowWeak: false })
    : outcome;
}

describeSoapClients(SOAP_CLIENTS);
