// Attacks the whole program with hostile authorisation requests: chains and attribute certificates mutated from a
// printed seed, over both ports. All are answered, none crashes it, hangs it or fills its memory, and no client gets
// more than it is entitled to.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { REQ_AUTHORISATION } from '../../server/authority/soap/protocol.ts';
import { readAnswer, requestBytes } from '../../server/authority/soap/requests.ts';
import { judged } from '../support/attributeCertificates.ts';
import { partnersCertificate } from '../support/authorities.ts';
import { mutated } from '../support/certificateFuzz.ts';
import { pemOf } from '../support/certificates.ts';
import { type Client, clientOf } from '../support/client.ts';
import { holdingsOf } from '../support/commandProcess.ts';
import { proxyOf } from '../support/pki.ts';
import { type Random, randomOf } from '../support/random.ts';
import { type ServedSite, startServedSite } from '../support/servedSite.ts';

const SEED = 20_261_122;
const ROUNDS = 1500;
const AT_ONCE = 8;
/** Memory that such requests may keep for a while: 68 MB in practice, including caches and compiled code. */
const GROWTH_BYTES_MAX = 300_000_000;

let served: ServedSite;
let clients: readonly Client[];
beforeAll(async () => {
  served = await startServedSite();
  const { port, http10Port } = served.server;
  clients = [port, http10Port].map((one) => clientOf(`http://127.0.0.1:${one}`));
});
afterAll(async () => {
  for (const client of clients) client.close();
  await served.stop();
});

/** Sends a request. Returns the status, the kind of fault, or the contents of a granted certificate. */
async function asked(client: Client, values: readonly string[]): Promise<string> {
  const body = requestBytes(REQ_AUTHORISATION, values);
  const headers = { 'Content-Type': 'text/xml; charset=utf-8' };
  const received = await client.send({ method: 'POST', target: '/attAuthority.wsdl', headers, body });
  const answer = readAnswer(REQ_AUTHORISATION, Buffer.from(received.body));
  if (answer.kind !== 'answered') return `${received.status} ${answer.kind === 'fault' ? answer.code : 'unreadable'}`;
  const [attCert = '', status] = answer.results as readonly string[];
  if (status !== 'AccessGranted') return `${received.status} ${String(status)}`;
  const content = judged(attCert, { algorithms: ['ecdsa-sha256'], allowWeak: false });
  if (typeof content === 'string') return `a certificate that ${content}`;
  return `${content.holder}: ${content.roles.join(', ')} (${content.provenance})`;
}

/** A chain as text with its DER or its text mutated, or with blocks moved, repeated or removed. */
function hostileChain(random: Random, blocks: readonly Buffer[]): string {
  const chosen = random.chance(0.2) ? random.several(0, 9, () => random.pick(blocks)) : blocks;
  const ders = chosen.map((der) => (random.chance(0.4) ? mutated(der, random.pick(blocks), random) : der));
  const text = ders.map((der) => pemOf('CERTIFICATE', der)).join('');
  return random.chance(0.3) ? mutatedText(text, random) : text;
}

function mutatedText(text: string, random: Random): string {
  return mutated(Buffer.from(text), Buffer.from(text), random).toString('utf8');
}

test(`grants nothing on mutated chains and attribute certificates, and keeps no memory (seed ${SEED})`, async () => {
  const random = randomOf(SEED);
  const { site, now, server } = served;
  const window = { notBefore: now - 100, notAfter: now + 3600 };
  const certificate = partnersCertificate(site, window);
  const derOf = (pem: string): readonly Buffer[] =>
    pem.split(/(?=-----BEGIN)/).map((block) => Buffer.from(block.replace(/-----[A-Z ]+-----/g, ''), 'base64'));
  const chains = [site.staff, site.visitor, proxyOf(site.staff), proxyOf(site.visitor)].map(({ pem }) => derOf(pem));
  const allowed = new Set([
    '200 AccessError',
    '200 AccessDenied',
    '/O=Test/CN=Staff: staff, reader (original)',
    '/O=Test/CN=Visitor: reader (mapped)',
  ]);
  const before = holdingsOf(server.pid).residentBytes;
  const met = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round += AT_ONCE) {
    const requests = Array.from({ length: AT_ONCE }, () => [
      random.chance(0.7)
        ? hostileChain(random, random.pick(chains))
        : random.pick([site.staff.pem, site.visitor.pem, site.visitor.pem]),
      random.chance(0.8) ? mutatedText(certificate, random) : random.pick([certificate, certificate, '']),
    ]);
    const outcomes = await Promise.all(requests.map((values, i) => asked(clients[i % 2]!, values)));
    outcomes.forEach((outcome, i) => {
      expect(allowed, `seed ${SEED}, round ${round + i}: ${outcome} to ${JSON.stringify(requests[i])}`).toContain(
        outcome,
      );
      met.set(outcome, (met.get(outcome) ?? 0) + 1);
    });
  }
  // If a kind did not occur, the mutations miss their purpose.
  expect([...met.keys()].toSorted()).toEqual([...allowed].toSorted());
  expect(holdingsOf(server.pid).residentBytes - before).toBeLessThan(GROWTH_BYTES_MAX);
  expect(await asked(clients[0]!, [site.visitor.pem, certificate])).toBe('/O=Test/CN=Visitor: reader (mapped)');
  expect(server.out() + server.err()).not.toMatch(/met a bug|Error:/);
});

test('refuses parts of the maximum size and beyond within a moment', async () => {
  const { site } = served;
  const block = site.staff.pem;
  const many = block.repeat(8).padEnd(256 * 1024);
  expect(await asked(clients[0]!, [many, ''])).toBe('/O=Test/CN=Staff: staff, reader (original)');
  for (const values of [
    [`${many} `, ''],
    [block.repeat(9), ''],
    [`-----BEGIN CERTIFICATE-----${'A'.repeat(256 * 1024 - 80)}`, ''],
    [site.visitor.pem, '<a>'.repeat(80_000)],
    [site.visitor.pem, `<attributeCertificate ${'a="" '.repeat(50_000)}>`],
    [site.visitor.pem, `<!DOCTYPE a [<!ENTITY a "${'x'.repeat(1000)}">]>${'&a;'.repeat(80_000)}`],
  ]) {
    for (const client of clients) expect(await asked(client, values)).toBe('200 AccessError');
  }
});
