// What every SOAP client of others must get from the service: one suite, run on each client and each transport it speaks to.
// The clients are values of soapClients.ts; the service speaks for the authority in memory.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { granted, TRUSTED_HOSTS } from './memoryAuthority.ts';
import type { Case, Outcome, SoapClient, Value } from './soapClients.ts';
import { startSoapServer, type SoapServer } from './soapServer.ts';

const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMIIB+/=\n-----END CERTIFICATE-----\n';
const NON_ASCII = 'Ångström 日本';
const ASTRAL = `${NON_ASCII} 𝄞`;
const ODD = ` <a b="c">&amp;\t'é' ${NON_ASCII}]]> \n`;
const LONG = `${CERTIFICATE}${'Größe & <Maß> '.repeat(8000)}`;
const EMPTY_LISTS: readonly (readonly [role: string, errMsg: string])[] = [
  ['', 'No role was input'],
  ['none', ''],
  ['nobody knows', ''],
];
const LISTS = ['academic', 'one', 'many', '__proto__', NON_ASCII];

/** Declares the tests of these clients; those that are not installed are skipped. */
export function describeSoapClients(clients: readonly SoapClient[]): void {
  let server: SoapServer;
  beforeAll(async () => {
    server = await startSoapServer();
  });
  afterAll(() => server.stop());
  describe.each(clients)('$name', (client) => {
    const endpoints = client.http === '1.0' ? (['http10Url'] as const) : (['url', 'http10Url'] as const);
    describe.skipIf(!client.isInstalled).each(endpoints)('at its %s', (address) => {
      describeClient(client, () => `${server[address]}/attAuthority.wsdl`);
    });
  });
}

function describeClient(client: SoapClient, endpoint: () => string): void {
  let directory: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'soap-client-'));
    await client.build(directory, endpoint());
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const run = (cases: readonly Case[]): Promise<readonly Outcome[]> => client.run(directory, endpoint(), cases);

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

  test('gets authorisations as they are: long and odd texts, and sentences', async () => {
    const asked: readonly (readonly [string, string])[] = [
      [CERTIFICATE, ODD],
      [LONG, LONG],
      ['', ''],
      [CERTIFICATE, ''],
    ];
    expect(await run(asked.map((values) => ({ operation: 'reqAuthorisation', values })))).toEqual([
      authorisation(client, granted(CERTIFICATE, ODD), 'AccessGranted', ''),
      authorisation(client, granted(LONG, LONG), 'AccessGranted', ''),
      authorisation(client, '', 'AccessError', 'usrProxyCert holds no certificate: “é” & <x>.'),
      authorisation(client, '', 'AccessDenied', 'The user is not registered here.'),
    ]);
  });

  test('gets a fault that people can read, and goes on', async () => {
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

function authorisation(client: SoapClient, attCert: string, statCode: string, errMsg: string): Outcome {
  return {
    results: [
      ['attCert', textOf(client, attCert)],
      ['statCode', statCode],
      ['errMsg', textOf(client, errMsg)],
    ],
  };
}
