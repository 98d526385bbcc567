// The message level of the attribute authority over the wire, row by row of the design's table, on every transport.
// test/unit/server/authority/soap tests the parsing of messages; this file tests HTTP, the bytes of responses and the
// contents of faults.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Authority } from '../../server/authority/authority.ts';
import { FAULTS } from '../../server/authority/soap/faults.ts';
import { faultBytes, responseBytes } from '../../server/authority/soap/answers.ts';
import { GET_TRUSTED_HOST_INFO, REQ_AUTHORISATION } from '../../server/authority/soap/protocol.ts';
import { wsdlBytes } from '../../server/authority/soap/wsdl.ts';
import { granted, memoryAuthority, SECRET, TRUSTED_HOSTS } from '../support/authorities.ts';
import { type Client, clientOf, type Received } from '../support/client.ts';
import { call, envelope, roleCall, TOOLKIT_ENVELOPES } from '../support/envelopes.ts';
import { MESSAGE_CASES } from './soapMessages.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';
import { TRANSPORTS, SOAP_BODY_BYTES_MAX, type SoapServer, startSoapServer } from '../support/transports.ts';

const PATH = '/attAuthority.wsdl';
const XML = { 'Content-Type': 'text/xml; charset=utf-8' };
const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

let server: SoapServer;
let current: Authority;
const bugs: unknown[] = [];
beforeAll(async () => {
  server = await startSoapServer(() => current, { onBug: (error) => bugs.push(error) });
});
beforeEach(() => void (current = memoryAuthority()));
afterAll(() => server.stop());

describe.each(TRANSPORTS)('$name', ({ name }) => {
  let client: Client;
  beforeAll(() => void (client = clientOf(name === 'uws' ? server.url : server.http10Url)));
  afterAll(() => client.close());

  const baseUrl = (): string => (name === 'uws' ? server.url : server.http10Url);
  const port = (): number => Number(new URL(baseUrl()).port);
  const post = (body: string | Uint8Array, headers: Readonly<Record<string, string>> = XML): Promise<Received> =>
    client.send({ method: 'POST', target: PATH, headers, body });

  describe('GET and HEAD', () => {
    test.each(['', '?wsdl', '?WSDL', '?x=%zz&y'])('of the path with query %j return the WSDL', async (query) => {
      const expected = Buffer.from(wsdlBytes(baseUrl())).toString();
      const { status, headers, body } = await client.get(PATH + query, { Host: 'evil.example.org' });
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('text/xml; charset=utf-8');
      expect(body).toBe(expected);
      const head = await client.send({ method: 'HEAD', target: PATH + query });
      expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': String(expected.length) } });
    });

    test.each([
      '/%61ttAuthority.wsdl',
      '/att%41uthority%2Ewsdl',
      '/%2561ttAuthority.wsdl',
      `${PATH}/`,
      '/attauthority.wsdl',
      '/attAuthority.wsd%zz',
      '//attAuthority.wsdl',
      '/attAuthority%2fwsdl',
    ])('of %s are left to other handlers', async (target) => {
      expect(await client.get(target)).toMatchObject({ status: 404, body: 'other' });
    });
  });

  test('leaves a POST to another spelling of the path to other handlers', async () => {
    const sent = { method: 'POST', target: '/%61ttAuthority.wsdl', headers: XML, body: roleCall('academic') };
    expect(await client.send(sent)).toMatchObject({ status: 404, body: 'other' });
  });

  test.each(['OPTIONS', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'])('answers %s with 405 and Allow', async (method) => {
    const { status, headers, body } = await client.send({ method, target: PATH });
    expect(status).toBe(405);
    expect(headers['allow']).toBe('GET, HEAD, POST');
    expect(body).toMatch(/^[A-Z].*\.\n$/);
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ['JSON', { 'Content-Type': 'application/json' }],
    ['SOAP 1.2', { 'Content-Type': 'application/soap+xml; charset=utf-8' }],
    ['compressed', { ...XML, 'Content-Encoding': 'gzip' }],
  ])('answers a request that is %s with 415', async (_, headers) => {
    const answer = await post(roleCall('academic'), headers);
    expect(answer.status).toBe(415);
    expect(answer.body).toMatch(/^The attribute authority takes .*\.\n$/);
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ['without a type', {}],
    ['of another charset name', { 'Content-Type': 'text/xml;charset="UTF-8"' }],
    ['that says it is not compressed', { ...XML, 'Content-Encoding': 'identity' }],
    ['with its SOAPAction', { ...XML, SOAPAction: '"urn:attAuthority#getTrustedHostInfo"' }],
    ['with an empty SOAPAction', { ...XML, SOAPAction: '""' }],
    ['with a SOAPAction of no value', { ...XML, Soapaction: '' }],
    ['that could take gzip', { ...XML, 'Accept-Encoding': 'gzip, deflate' }],
  ])('accepts a request %s', async (_, headers) => {
    const { status, headers: received, body } = await post(roleCall('academic'), headers);
    expect(status).toBe(200);
    expect(received).toMatchObject({
      'content-type': 'text/xml; charset=utf-8',
      'content-length': String(body.length),
    });
    expect(received['content-encoding']).toBeUndefined();
  });

  describe('a body beyond the limit gets 413', () => {
    test('at once by its Content-Length, and the connection ends', async () => {
      const raw = await RawSocket.open(port());
      await raw.write(requestOf('POST', PATH, [`Content-Length: ${SOAP_BODY_BYTES_MAX + 1}`]));
      const answer = await raw.answer();
      expect(answer?.status).toBe(413);
      expect(answer?.headers.get('connection')).toEqual(['close']);
      await raw.ended();
    });

    test('in chunks as soon as it is passed', async () => {
      const raw = await RawSocket.open(port());
      await raw.write(requestOf('POST', PATH, ['Transfer-Encoding: chunked']));
      for (let i = 0; i < 17; i++) await raw.write(`10000\r\n${' '.repeat(65_536)}\r\n`);
      expect((await raw.answer())?.status).toBe(413);
      raw.vanish();
    });

    test('but not one of exactly the limit', async () => {
      expect((await post(roleCall('academic').padEnd(SOAP_BODY_BYTES_MAX))).status).toBe(200);
    });
  });

  test('answers unfinished requests beyond the reserved memory with a fault, and serves later ones', async () => {
    const roomy = await startSoapServer(() => memoryAuthority(), { soapBodyBytesMax: 64 << 20 });
    const { port: to } = roomy.servers[name === 'uws' ? 0 : 1]!;
    const piece = Buffer.alloc(1 << 20, ' ');
    const held = await Promise.all([RawSocket.open(to), RawSocket.open(to)]);
    for (const raw of held) await raw.write(requestOf('POST', PATH, [`Content-Length: ${64 << 20}`]));
    for (let i = 0; i < 64; i++) await held[i % 2]!.write(piece);
    // One byte too many for the connection that is read last. No bytes stay unread, which would cost the response.
    await held[0].write('x');
    const answer = await Promise.race(held.map((raw) => raw.answer()));
    const lines = ['retry-after', 'connection'].map((line) => answer?.headers.get(line));
    expect([answer?.status, ...lines]).toEqual([503, ['1'], ['close']]);
    expect(answer?.body).toBe(Buffer.from(faultBytes(FAULTS.busy)).toString());
    for (const raw of held) raw.vanish();
    const next = clientOf(`http://127.0.0.1:${to}`);
    const headers = { 'Transfer-Encoding': 'chunked' };
    const body = roleCall('one').padEnd(2 << 20);
    const sent = async (): Promise<number> => (await next.send({ method: 'POST', target: PATH, headers, body })).status;
    await expect.poll(sent, { timeout: 20_000 }).toBe(200);
    next.close();
    await roomy.stop();
  });

  describe('getTrustedHostInfo', () => {
    test.each([...TRUSTED_HOSTS])('returns the list of the authority for %s', async (role, hosts) => {
      const { status, body } = await post(roleCall(role));
      expect(status).toBe(200);
      expect(body).toBe(Buffer.from(responseBytes(GET_TRUSTED_HOST_INFO, [hosts, ''])).toString());
    });

    test.each(['unknown', 'Academic', 'academic ', 'toString', 'hasOwnProperty', 'undefined'])(
      'returns an empty list for the unknown role %j',
      async (role) => {
        const { body } = await post(roleCall(role));
        expect(body).toBe(Buffer.from(responseBytes(GET_TRUSTED_HOST_INFO, [[], ''])).toString());
      },
    );

    test('returns an empty list for no role and says so', async () => {
      const { body } = await post(roleCall(''));
      expect(body).toBe(Buffer.from(responseBytes(GET_TRUSTED_HOST_INFO, [[], 'No role was input'])).toString());
    });

    test('uses a new configuration immediately', async () => {
      const before = (await post(roleCall('academic'))).body;
      current = memoryAuthority(new Map([['academic', ['New:http://new.example.org/:x']]]));
      const after = (await post(roleCall('academic'))).body;
      expect(before).not.toBe(after);
      expect(after).toContain('New:http://new.example.org/:x');
    });

    test.each(Object.entries(TOOLKIT_ENVELOPES))('accepts the message of %s', async (_, text) => {
      expect((await post(text)).body).toBe((await post(roleCall('academic'))).body);
    });
  });

  describe('reqAuthorisation', () => {
    const ask = (certificate: string, attributeCertificate: string): Promise<Received> =>
      post(
        call(
          'reqAuthorisation',
          `<usrProxyCert>${certificate}</usrProxyCert><usrAttCert>${attributeCertificate}</usrAttCert>`,
        ),
      );
    test('returns the decision of the authority, text for text', async () => {
      const long = `${CERTIFICATE}${'Größe 𝄞 '.repeat(20_000)}`;
      const { status, body } = await ask(long, '&lt;a>\r\n&amp;&#xD;');
      expect(status).toBe(200);
      const expected = responseBytes(REQ_AUTHORISATION, [granted(long, '<a>\n&\r'), 'AccessGranted', '']);
      expect(body === Buffer.from(expected).toString()).toBe(true);
    });

    test.each([
      ['', '', 'AccessError', 'usrProxyCert holds no certificate: “é” & <x>.'],
      [CERTIFICATE, '', 'AccessDenied', 'The user is not registered here.'],
    ])('returns 200 for %j and %j, with %s', async (certificate, attributeCertificate, statCode, errMsg) => {
      const { status, body } = await ask(certificate, attributeCertificate);
      expect(status).toBe(200);
      expect(body).toBe(Buffer.from(responseBytes(REQ_AUTHORISATION, ['', statCode, errMsg])).toString());
    });

    test('returns a Server fault without details on a bug, and reports the bug', async () => {
      const { status, headers, body } = await ask('break', '');
      expect(status).toBe(500);
      expect(headers['content-type']).toBe('text/xml; charset=utf-8');
      expect(body).toBe(Buffer.from(faultBytes(FAULTS.bug)).toString());
      expect(bugs.splice(0).map(String)).toEqual([`Error: ${SECRET}`]);
      expect((await ask(CERTIFICATE, '')).status).toBe(200);
    });

    test('returns the right response to each of many concurrent requests', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => ask(CERTIFICATE, `no ${i}`)));
      answers.forEach(({ body }, i) => expect(body).toContain(`|no ${i}&lt;`));
    });
  });

  describe.each(Object.entries(MESSAGE_CASES))('%s', (_, cases) => {
    test.for(cases)('%s', async ([, bytes, read, charset]) => {
      const type = charset === undefined ? 'text/xml' : `text/xml; charset=${charset}`;
      const { status, headers, body } = await post(bytes, { 'Content-Type': type });
      const expected = typeof read === 'string' ? faultBytes(FAULTS[read]) : answerTo(read);
      expect([status, headers['content-type']]).toEqual([
        typeof read === 'string' ? 500 : 200,
        'text/xml; charset=utf-8',
      ]);
      expect(body).toBe(Buffer.from(expected).toString());
    });
  });

  test('fetches nothing that a message refers to', async () => {
    let connections = 0;
    const bait = createServer(() => connections++).listen(0, '127.0.0.1');
    await once(bait, 'listening');
    const url = `http://127.0.0.1:${(bait.address() as AddressInfo).port}/x`;
    const bodies = [
      `<!DOCTYPE a SYSTEM "${url}">${roleCall('x')}`,
      `<!DOCTYPE a [<!ENTITY e SYSTEM "${url}">]>${roleCall('&e;')}`,
      `<!DOCTYPE a [<!ENTITY % e SYSTEM "${url}">%e;]>${roleCall('x')}`,
      `<?xml-stylesheet href="${url}"?>${roleCall('x')}`,
      call('getTrustedHostInfo', `<usrRole href="${url}"/>`),
      call(
        'getTrustedHostInfo',
        `<usrRole xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="${url}"/></usrRole>`,
      ),
      envelope('', { attributes: `xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:schemaLocation="u:1 ${url}"` }),
    ];
    for (const body of bodies) expect((await post(body)).status).toBe(500);
    bait.close();
    expect(connections).toBe(0);
  });

  test('accepts a request byte by byte, in chunks, or with Expect, like any other', async () => {
    const text = roleCall('academic');
    const expected = (await post(text)).body;
    const raw = await RawSocket.open(port());
    await raw.write(requestOf('POST', PATH, [`Content-Length: ${text.length}`, 'Expect: 100-continue']));
    expect((await raw.answer())?.status).toBe(100);
    for (const byte of text) await raw.write(byte);
    expect((await raw.answer())?.body).toBe(expected);
    const chunks = text.match(/[^]{1,50}/g)!.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
    await raw.write(requestOf('POST', PATH, ['Transfer-Encoding: chunked'], `${chunks.join('')}0\r\n\r\n`));
    expect((await raw.answer())?.body).toBe(expected);
    raw.vanish();
  });
});

/** The in-memory response of the authority to an operation and its values. */
function answerTo([operation, ...values]: readonly string[]): Uint8Array {
  const [first = '', second = ''] = values;
  const authority = memoryAuthority();
  if (operation === 'getTrustedHostInfo')
    return responseBytes(GET_TRUSTED_HOST_INFO, [
      authority.trustedHosts.get(first) ?? [],
      first === '' ? 'No role was input' : '',
    ]);
  const { attCert, statCode, errMsg } = authority.authorise({ usrProxyCert: first, usrAttCert: second });
  return responseBytes(REQ_AUTHORISATION, [attCert, statCode, errMsg]);
}

test('answers HTTP/1.0 over node:http', async () => {
  const text = roleCall('academic');
  const raw = await RawSocket.open(Number(new URL(server.http10Url).port));
  await raw.write(
    `POST ${PATH} HTTP/1.0\r\nContent-Type: text/xml; charset=utf-8\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
  const answer = await raw.answer();
  expect(answer?.status).toBe(200);
  expect(answer?.body).toBe(
    Buffer.from(responseBytes(GET_TRUSTED_HOST_INFO, [TRUSTED_HOSTS.get('academic')!, ''])).toString(),
  );
  await raw.ended();
});
