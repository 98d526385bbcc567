// Attacks the service end to end on both transports: hostile requests from a printed seed, and floods of a megabyte.
// Every one is answered, with a response, a refusal or a fault; none crashes it, hangs it, fills its memory or changes
// its later responses.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAULTS } from '../../server/authority/soap/faults.ts';
import { faultBytes } from '../../server/authority/soap/answers.ts';
import { type Client, clientOf, type Received } from '../support/client.ts';
import { roleCall } from '../support/envelopes.ts';
import { floods, hostileEnvelope } from '../support/hostileEnvelopes.ts';
import { type Random, randomOf } from '../support/random.ts';
import { SOAP_BODY_BYTES_MAX, type SoapServer, startSoapServer } from '../support/transports.ts';

const SEED = 20_261_122;
const ROUNDS = 1500;
const PATH = '/attAuthority.wsdl';
const TYPES = [
  'text/xml',
  'text/xml; charset=utf-8',
  'TEXT/XML;charset="UTF-16"',
  'text/xml; charset=x-none',
  'text/plain',
  '',
];
const KNOWN_FAULTS = new Set(Object.values(FAULTS).map((fault) => Buffer.from(faultBytes(fault)).toString()));

let server: SoapServer;
let clients: readonly Client[] = [];
let before: string;
beforeAll(async () => {
  server = await startSoapServer();
  openClients();
  before = await testimony();
});
afterAll(async () => {
  for (const client of clients) client.close();
  await server.stop();
});

function openClients(): void {
  for (const client of clients) client.close();
  clients = [server.url, server.http10Url].map((url) => clientOf(url));
}

/** Sends one request to both transports. */
function ask(body: Uint8Array, headers: Readonly<Record<string, string>>): Promise<readonly Received[]> {
  return Promise.all(clients.map((client) => client.send({ method: 'POST', target: PATH, headers, body })));
}

/** The responses of the service to requests that never change. */
async function testimony(): Promise<string> {
  const answers = await Promise.all([
    ask(Buffer.from(roleCall('academic')), {}),
    ask(Buffer.from(roleCall('é')), {}),
    ask(Buffer.from('x'), {}),
    Promise.all(clients.map((client) => client.get('/nowhere'))),
  ]);
  return JSON.stringify(answers.flat().map(({ status, body }) => [status, body]));
}

/** Returns the faults in the two responses to one request. */
function faultsIn([uws, node]: readonly Received[]): readonly string[] {
  const wrong: string[] = [];
  if (uws?.status !== node?.status || uws?.body !== node?.body) wrong.push('the transports differ');
  if (![200, 413, 415, 500].includes(uws?.status ?? 0)) wrong.push(`status ${uws?.status}`);
  if (uws?.status === 500 && !KNOWN_FAULTS.has(uws.body)) wrong.push(`an unknown fault ${uws.body}`);
  if (uws?.status === 500 && uws.body.includes('SOAP-ENV:Server')) wrong.push('a bug of ours');
  return wrong;
}

function hostileHeaders(random: Random): Readonly<Record<string, string>> {
  const type = random.pick(TYPES);
  return {
    ...(type === '' ? {} : { 'Content-Type': type }),
    ...(random.chance(0.3) ? { SOAPAction: random.pick(['""', 'x', '"urn:attAuthority#reqAuthorisation"']) } : {}),
    ...(random.chance(0.1) ? { 'Transfer-Encoding': 'chunked' } : {}),
    ...(random.chance(0.05) ? { 'Content-Encoding': random.pick(['gzip', 'identity', '']) } : {}),
  };
}

test('answers all hostile requests, alike by both transports', async () => {
  const random = randomOf(SEED);
  const statuses = new Map<number, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const body = hostileEnvelope(random);
    const answers = await ask(body, hostileHeaders(random));
    const where = `seed ${SEED}, round ${round}: ${JSON.stringify(body.toString('latin1'))}`;
    expect(faultsIn(answers), where).toEqual([]);
    statuses.set(answers[0]!.status, (statuses.get(answers[0]!.status) ?? 0) + 1);
  }
  expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([200, 415, 500]);
});

describe('a flood of a megabyte is answered and leaves nothing behind:', () => {
  test.each(Object.entries(floods(SOAP_BODY_BYTES_MAX)))('%s', async (_, body) => {
    expect(faultsIn(await ask(body, { 'Content-Type': 'text/xml' }))).toEqual([]);
  });
});

test('answers a hundred large requests, one per connection at a time, within bounded memory', async () => {
  const body = Buffer.from(roleCall('x'.repeat(SOAP_BODY_BYTES_MAX - 400)));
  const heldBefore = process.memoryUsage().rss;
  // New clients, because the server may close connections that were idle since an earlier test.
  openClients();
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(body, { 'Transfer-Encoding': 'chunked' })));
  for (const pair of answers) expect(faultsIn(pair)).toEqual([]);
  // 40 MB in practice: each body is received into a buffer that grows to its length, and read as a text or two.
  expect(process.memoryUsage().rss - heldBefore).toBeLessThan(300 * SOAP_BODY_BYTES_MAX);
});

test('responds as before after all that, and met no bug', async () => {
  expect(await testimony()).toBe(before);
  expect(server.servers.flatMap(({ errors }) => errors)).toEqual([]);
});
