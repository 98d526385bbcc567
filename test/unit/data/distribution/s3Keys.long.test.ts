// Keys of S3 from the endpoint of a container and from an STS server, by the variables of the environment.
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openPublishingTarget } from '../../../../data/distribution/openTarget.ts';
import { readSettings } from '../../../../server/settings/declarations.ts';
import { targetAccessOf } from '../../../../server/settings/replicaSettings.ts';
import { AUTHORITY } from '../../../support/certificates.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { s3Server, type S3Server } from '../../../support/s3Servers.ts';

const directory = temporaryDirectory();
const ca = join(directory, 'ca.pem');
writeFileSync(ca, AUTHORITY.pem);
const tokenFile = join(directory, 'token');
const START = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;

let bucket: S3Server;
/** The id and the session token of the keys in each request to the bucket. */
let signed: string[] = [];
let issuer: Server;
/** Requests to the service, as their method, path, authorization and body. */
let asked: string[] = [];
/** The number of keys that the service has issued. */
let issued = 0;
let isBroken = false;
let lifeMs = HOUR;
let form: 'json' | 'xml' = 'json';

function keysText(): string {
  const end = new Date(Date.now() + lifeMs).toISOString();
  const keys = { AccessKeyId: `id${++issued}`, SecretAccessKey: 'hunter2', Expiration: end };
  if (form === 'json') return JSON.stringify({ ...keys, Token: `token${issued}` });
  const members = Object.entries({ ...keys, SessionToken: `token${issued}` });
  const texts = members.map(([name, value]) => `<${name}>${value}</${name}>`).join('');
  return `<R xmlns="urn:sts"><S><Credentials>${texts}</Credentials></S><Metadata><Id>1</Id></Metadata></R>`;
}

async function note(request: IncomingMessage): Promise<void> {
  asked.push([request.method, request.url, request.headers.authorization, await text(request)].join(' ').trim());
}

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: START });
  [signed, asked, issued, isBroken, lifeMs, form] = [[], [], 0, false, HOUR, 'json'];
  bucket = await s3Server();
  bucket.misbehave = ({ headers }) => {
    const id = /Credential=(\w+)\//.exec(headers.authorization ?? '')?.[1];
    signed.push(`${id} ${String(headers['x-amz-security-token'])}`);
    return false;
  };
  issuer = createServer((request, response) => {
    void note(request).then(() => (isBroken ? response.writeHead(500).end() : response.end(keysText())));
  });
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  vi.useRealTimers();
  bucket.close();
  issuer.closeAllConnections();
  issuer.close();
});

/** Opens the bucket with the variables of an environment. `ISSUER` in them is the address of the service. */
async function open(environment: Readonly<Record<string, string>>) {
  const url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
  const replaced = Object.entries(environment).map(([name, value]) => [name, value.replace('ISSUER', url)]);
  const settings = readSettings({ ca, s3Endpoint: bucket.origin }, {});
  return openPublishingTarget('s3://bucket/folder', targetAccessOf(settings, Object.fromEntries(replaced)));
}

const CONTAINER = { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'ISSUER/keys?a=1' };
const IDENTITY = {
  AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
  AWS_ROLE_ARN: 'arn:aws:iam::1:role/replica',
  AWS_ENDPOINT_URL_STS: 'ISSUER',
};

test.each([
  [CONTAINER, 'GET /keys?a=1'],
  [{ ...CONTAINER, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile }, 'GET /keys?a=1 of-a-file'],
  [
    IDENTITY,
    'POST /  Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Freplica' +
      '&RoleSessionName=catalogue-replica&WebIdentityToken=of-a-file',
  ],
])('signs with keys of the service in %j, and requests them once', async (environment, request) => {
  form = 'AWS_ROLE_ARN' in environment ? 'xml' : 'json';
  writeFileSync(tokenFile, 'of-a-file\n');
  const target = await open(environment);
  for (let i = 0; i < 3; i++) await target.list();
  expect(new Set(signed)).toEqual(new Set(['id1 token1']));
  expect(asked).toEqual([request]);
  await target.close();
});

test('renews keys before they expire, and uses them until then if that fails', async () => {
  const target = await open(CONTAINER);
  const keysAt = async (minutes: number): Promise<string | undefined> => {
    vi.setSystemTime(START + minutes * 60_000);
    await target.list();
    return signed.at(-1);
  };
  expect(await keysAt(0)).toBe('id1 token1');
  expect(await keysAt(54)).toBe('id1 token1');
  isBroken = true;
  expect(await keysAt(59)).toBe('id1 token1');
  isBroken = false;
  expect(await keysAt(59.5)).toBe('id2 token2');
  isBroken = true;
  await expect(keysAt(180)).rejects.toThrow(/^http:\/\/127\.0\.0\.1:\d+: answered 500 to a request for keys$/);
  await target.close();
});

test('prefers keys in the environment', async () => {
  const target = await open({ ...CONTAINER, AWS_ACCESS_KEY_ID: 'own', AWS_SECRET_ACCESS_KEY: 'hunter2' });
  await target.list();
  expect([signed[0], asked]).toEqual(['own undefined', []]);
  await target.close();
});

test.each(['http://keys.example.org/', 'file:///keys', 'nothing'])('sends no token to %s', async (url) => {
  await expect(open({ AWS_CONTAINER_CREDENTIALS_FULL_URI: url })).rejects.toMatchObject({
    code: 'usage',
    message: 'AWS_CONTAINER_CREDENTIALS_FULL_URI: want an https URL or one of this machine',
  });
});

test('refuses an STS server that is not a URL', async () => {
  await expect(open({ ...IDENTITY, AWS_ENDPOINT_URL_STS: 'sts' })).rejects.toThrow(/_STS: want an http or https URL$/);
});

test('names what is missing: the file of a token, or the keys in a response', async () => {
  const nowhere = join(directory, 'nowhere');
  const without = await open({ ...CONTAINER, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: nowhere });
  await expect(without.list()).rejects.toMatchObject({ code: 'file' });
  form = 'xml';
  const unreadable = await open(CONTAINER);
  await expect(unreadable.list()).rejects.toThrow(/the response to a request for keys has none$/);
  form = 'json';
  writeFileSync(tokenFile, 'of-a-file');
  const empty = await open(IDENTITY);
  await expect(empty.list()).rejects.toThrow(/the response to a request for keys has none$/);
  await Promise.all([without, unreadable, empty].map((target) => target.close()));
});
