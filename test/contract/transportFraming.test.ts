// Guarantees of every transport about badly framed requests, and about bodies that the handler does not read. One suite
// runs on each transport over raw sockets.
import { describe, expect, test } from 'vitest';

import type { Handler } from '../../server/http/exchange.ts';
import { randomOf, type Random } from '../support/random.ts';
import { GET, RawSocket, requestOf, type RawAnswer } from '../support/rawSocket.ts';
import { servers, textAnswer, TRANSPORTS } from '../support/transports.ts';

describe.each(TRANSPORTS)('$name', (transport) => {
  const serve = servers(transport);

  /**
   * Sends bytes to a handler that always responds with `seen`. Resolves when the transport has closed the connection.
   */
  async function refused(
    bytes: string,
    isHead = false,
  ): Promise<{ answer: RawAnswer | undefined; rest: string; calls: number }> {
    let calls = 0;
    const { port } = await serve(() => {
      calls++;
      return textAnswer('seen');
    });
    const client = await RawSocket.open(port);
    await client.write(bytes);
    const answer = await client.answer(isHead);
    return { answer, rest: await client.ended(), calls };
  }

  test('answers HEAD with a body with 400 and closes, without calling the handler', async () => {
    const { answer, rest, calls } = await refused(requestOf('HEAD', '/', ['Content-Length: 3'], 'abc'), true);
    expect(answer?.status).toBe(400);
    expect(rest).toBe('');
    expect(calls).toBe(0);
  });

  test('answers a malformed request with JSON', async () => {
    const { answer } = await refused(requestOf('GET', '/', ['Content-Length: 3'], 'abc'));
    expect(JSON.parse(answer?.body ?? '')).toEqual({
      detail:
        'Malformed request. Blanks and characters beyond ASCII are percent-encoded in an address; GET and HEAD have no body.',
    });
    expect(answer?.headers.get('content-type')).toEqual(['application/json']);
    expect(answer?.headers.get('connection')).toEqual(['close']);
    const [date = ''] = answer?.headers.get('date') ?? [];
    expect(Math.abs(Date.parse(date) - Date.now())).toBeLessThan(60_000);
  });

  describe('a request body that the handler does not read', () => {
    const denied: Handler = ({ method }) => ({ ...textAnswer(method), status: method === 'GET' ? 200 : 405 });

    test.each([
      ['of 1 MiB', ['Content-Length: 1048576'], 'x'.repeat(1_048_576)],
      ['in chunks', ['Transfer-Encoding: Chunked'], '3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n'],
      ['of no bytes', ['Content-Length: 0'], ''],
      ['after an interim response to Expect', ['Content-Length: 3', 'Expect: 100-continue'], 'abc'],
    ])('%s is discarded, and the connection stays open', async (_, lines, body) => {
      const { port } = await serve(denied);
      const client = await RawSocket.open(port);
      await client.write(requestOf('POST', '/', lines, body) + GET);
      let answer = await client.answer();
      if (answer?.status === 100) answer = await client.answer();
      expect(answer?.status).toBe(405);
      expect((await client.answer())?.status).toBe(200);
      client.vanish();
    });

    test('beyond 1 MiB by its length gets the response at once and ends the connection', async () => {
      const { port } = await serve(denied);
      const client = await RawSocket.open(port);
      await client.write(requestOf('POST', '/', ['Content-Length: 1048577']));
      const answer = await client.answer();
      expect(answer?.status).toBe(405);
      expect(answer?.headers.get('connection')).toEqual(['close']);
      await client.ended();
    });

    test('beyond 1 MiB in chunks ends the connection', async () => {
      const { port } = await serve(denied);
      const client = await RawSocket.open(port);
      await client.write(requestOf('POST', '/', ['Transfer-Encoding: chunked']));
      for (let i = 0; i < 20; i++) await client.write(`10000\r\n${'x'.repeat(65_536)}\r\n`);
      await client.ended();
    });
  });

  test('never throws, sends anything but a refusal, or stops serving others on random bytes', async () => {
    const seed = 20_261;
    const random = randomOf(seed);
    const server = await serve(({ target }) => textAnswer(target));
    for (let i = 0; i < 300; i++) {
      const client = await RawSocket.open(server.port);
      const bytes = mutated(random, random.pick(SEEDS));
      await client.write(bytes);
      client.finish();
      const statuses = [...(await client.ended()).matchAll(/HTTP\/1\.1 (\d+)/g)].map((status) => Number(status[1]));
      const unexpected = statuses.filter((status) => ![100, 200, 400, 417, 431, 505].includes(status));
      expect(unexpected, `seed ${seed}, round ${i}: ${JSON.stringify(bytes)}`).toEqual([]);
    }
    expect(server.errors).toEqual([]);
    const last = await RawSocket.open(server.port);
    await last.write(requestOf('GET', '/alive'));
    expect((await last.answer())?.body).toBe('/alive');
    last.vanish();
  });
});

const SEEDS = [
  GET + GET,
  requestOf('POST', '/a?b=%zz', ['Content-Length: 5', 'Accept: */*'], `abcde${GET}`),
  requestOf('PUT', '/a#b', ['Transfer-Encoding: chunked'], `3\r\nabc\r\n0\r\n\r\n${GET}`),
  requestOf('HEAD', 'http://test/a', ['Connection: keep-alive', 'Expect: 100-continue']),
];

/** The text with a few bytes changed, removed or repeated. */
function mutated(random: Random, text: string): string {
  const edit = (bytes: string): string => {
    const at = random.integer(0, bytes.length);
    const end = at + random.integer(0, 8);
    const middle = random.pick([
      '',
      bytes.slice(at, end).repeat(2),
      String.fromCharCode(random.integer(0, 256)),
      '\r\n',
      '\0',
      ' ',
    ]);
    return bytes.slice(0, at) + middle + bytes.slice(end);
  };
  return random.several(1, 6, () => edit).reduce((bytes, change) => change(bytes), text);
}
