// Guarantees of every transport to handlers that read the request's body: it is complete, bounded, and read no further
// than needed. One suite runs on each transport over raw sockets.
import { describe, expect, test, vi } from 'vitest';

import { type Answer, type Handler, type Intake } from '../../server/http/exchange.ts';
import { GET, RawSocket, requestOf, type RawAnswer } from '../support/rawSocket.ts';
import { servers, textAnswer, TRANSPORTS } from '../support/transports.ts';
import { settled } from '../support/waits.ts';

const BODY_BYTES_MAX = 100_000;
const FAILED: Answer = { ...textAnswer('failed'), status: 500 };

/** Asks for the body, and responds with what arrived. */
function intake(answer: Intake['answer'] = echo): Intake {
  const tooLong: Answer = { ...textAnswer('too long'), status: 413 };
  const busy: Answer = { ...textAnswer('busy', [['Retry-After', '1']]), status: 503 };
  return { bodyBytesMax: BODY_BYTES_MAX, tooLong, busy, failed: FAILED, answer };
}

function echo(body: Uint8Array): Answer {
  return textAnswer(Buffer.from(body).toString('latin1'));
}

/** Responds to GET at once, to everything else from its body. */
const echoing: Handler = ({ method, target }) => (method === 'GET' ? textAnswer(target) : intake());

function chunked(pieces: readonly string[]): string {
  const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  return requestOf('POST', '/', ['Transfer-Encoding: chunked'], `${chunks.join('')}0\r\n\r\n`);
}

function sized(body: string, lines: readonly string[] = []): string {
  return requestOf('POST', '/', [`Content-Length: ${body.length}`, ...lines], body);
}

/** The head in one piece, the rest in many: uWebSockets.js refuses a request line that arrives in two. */
function cutBehindHead(request: string, pieceBytes: number): readonly string[] {
  const end = request.indexOf('\r\n\r\n') + 4;
  const pieces = request.slice(end).match(new RegExp(`[^]{1,${pieceBytes}}`, 'g')) ?? [];
  return [request.slice(0, end), ...pieces];
}

const LONG = Array.from({ length: BODY_BYTES_MAX }, (_, i) => String.fromCharCode(33 + (i % 90))).join('');

describe.each(TRANSPORTS)('$name', (transport) => {
  const serve = servers(transport);

  /**
   * Sends the pieces, each after the transport has had a turn. Returns the response and whether the connection stays
   * open.
   */
  async function exchanged(pieces: readonly string[], handler: Handler = echoing) {
    const server = await serve(handler);
    const client = await RawSocket.open(server.port);
    for (const piece of pieces) {
      await client.write(piece);
      for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
    }
    let answer = await client.answer();
    if (answer?.status === 100) answer = await client.answer();
    await client.write(requestOf('GET', '/next'));
    const goesOn = answer !== undefined && (await client.answer())?.body === '/next';
    client.vanish();
    return { answer, goesOn, server };
  }

  describe('a body reaches the handler whole', () => {
    test.each<[string, readonly string[], string]>([
      ['in one piece with its head', [sized('<a/>')], '<a/>'],
      ['after its head', [sized('<a/>').slice(0, -4), '<a/>'], '<a/>'],
      ['byte by byte', cutBehindHead(sized('<hello/>'), 1), '<hello/>'],
      ['in one chunk', [chunked(['<a/>'])], '<a/>'],
      ['in chunks of one byte', [chunked('<hello/>'.split(''))], '<hello/>'],
      [
        'in chunks cut anywhere',
        cutBehindHead(chunked(['<he', 'llo/>', 'x'.repeat(70)]), 7),
        `<hello/>${'x'.repeat(70)}`,
      ],
      ['of the maximum length', [sized(LONG)], LONG],
      ['of the maximum length, in chunks', [chunked([LONG.slice(0, 33_333), LONG.slice(33_333)])], LONG],
      ['of the maximum length, in pieces', [sized(LONG).slice(0, 20_000), sized(LONG).slice(20_000)], LONG],
      ['of no bytes', [sized('')], ''],
      ['of no chunks', [chunked([])], ''],
      ['of a request without any length', [requestOf('POST', '/')], ''],
      ['after an interim response to Expect', [sized('<a/>', ['Expect: 100-continue']).slice(0, -4), '<a/>'], '<a/>'],
    ])('%s', async (_, pieces, body) => {
      const { answer, goesOn, server } = await exchanged(pieces);
      expect(answer?.status).toBe(200);
      expect(answer?.body === body, `${answer?.body.length} bytes came`).toBe(true);
      expect(goesOn).toBe(true);
      expect(server.errors).toEqual([]);
    });

    test('and requests pipelined after it are answered in order', async () => {
      const { port } = await serve(echoing);
      const client = await RawSocket.open(port);
      await client.write(sized('one') + chunked(['t', 'wo']) + GET + sized('three'));
      const bodies: (string | undefined)[] = [];
      for (let i = 0; i < 4; i++) bodies.push((await client.answer())?.body);
      expect(bodies).toEqual(['one', 'two', '/', 'three']);
      client.vanish();
    });

    test('for a late response', async () => {
      const later = (body: Uint8Array): Promise<Answer> => {
        const text = Buffer.from(body).toString('latin1');
        return new Promise((resolve) => setImmediate(() => resolve(textAnswer(`later ${text}`))));
      };
      const { answer, goesOn } = await exchanged([sized('<a/>')], (request) =>
        request.method === 'GET' ? textAnswer(request.target) : intake(later),
      );
      expect(answer?.body).toBe('later <a/>');
      expect(goesOn).toBe(true);
    });
  });

  describe('a body beyond the limit of its handler gets 413 and ends the connection', () => {
    async function refused(bytes: string): Promise<{ answer: RawAnswer | undefined; calls: number }> {
      let calls = 0;
      const { port } = await serve(() => intake((body) => (calls++, echo(body))));
      const client = await RawSocket.open(port);
      await client.write(bytes);
      const answer = await client.answer();
      await client.ended();
      return { answer, calls };
    }

    test('at once if Content-Length says so', async () => {
      const { answer, calls } = await refused(requestOf('POST', '/', [`Content-Length: ${BODY_BYTES_MAX + 1}`]));
      expect(answer?.status).toBe(413);
      expect(answer?.headers.get('connection')).toEqual(['close']);
      expect(calls).toBe(0);
    });

    test('as soon as its chunks exceed it', async () => {
      const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
      const { answer, calls } = await refused(requestOf('POST', '/', ['Transfer-Encoding: chunked'], chunk.repeat(4)));
      expect(answer?.status).toBe(413);
      expect(calls).toBe(0);
    });
  });

  test('answers unfinished bodies beyond the reserved memory as the handler says, and frees the memory', async () => {
    const { port } = await serve(() => ({ ...intake(), bodyBytesMax: 100 << 20 }));
    const held = await RawSocket.open(port);
    await held.write(requestOf('POST', '/', [`Content-Length: ${100 << 20}`]));
    const piece = Buffer.alloc(1 << 20);
    for (let i = 0; i < 65; i++) await held.write(piece);
    const answer = await held.answer();
    expect([answer?.status, answer?.body]).toEqual([503, 'busy']);
    expect(answer?.headers.get('retry-after')).toEqual(['1']);
    expect(answer?.headers.get('connection')).toEqual(['close']);
    held.vanish();
    const next = await RawSocket.open(port);
    // More than the remaining last piece of the first body.
    const large = 'a'.repeat(1 << 20);
    await next.write(chunked([large, 'b']));
    expect((await next.answer())?.body === `${large}b`).toBe(true);
    next.vanish();
  });

  test('lets at most eight bodies of one connection wait, and answers the next as the handler says', async () => {
    const answering = Promise.withResolvers<void>();
    let calls = 0;
    const later = async (): Promise<Answer> => {
      calls++;
      await answering.promise;
      return textAnswer('later');
    };
    const { port } = await serve(() => intake(later));
    const client = await RawSocket.open(port);
    await client.write(sized('<a/>').repeat(12));
    await settled(() => calls > 0);
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
    // uWebSockets.js reads one request of a connection at a time.
    expect(calls).toBe(transport.name === 'node' ? 8 : 1);
    answering.resolve();
    await client.ended();
    const statuses: (number | undefined)[] = [];
    for (let i = 0; i < calls + 1; i++) statuses.push((await client.answer())?.status);
    // With uWebSockets.js, a request pipelined after a waiting one ends the connection.
    const expected = transport.name === 'node' ? [200, 200, 200, 200, 200, 200, 200, 200, 503] : [undefined, undefined];
    expect(statuses).toEqual(expected);
  });

  test('accepts requests again on a connection that had eight responses', async () => {
    const { port } = await serve(() => intake(async (body) => Promise.resolve(echo(body))));
    const client = await RawSocket.open(port);
    for (let i = 0; i < 20; i++) {
      await client.write(i % 2 ? sized(`${i}`) : chunked([`${i}`]));
      expect((await client.answer())?.body).toBe(`${i}`);
    }
    client.vanish();
  });

  test('does not call the handler for a client that leaves in the middle of its body, and does not wait for it', async () => {
    let calls = 0;
    const { port, listener, errors } = await serve(({ method }) => {
      calls++;
      return method === 'GET' ? textAnswer('') : intake(() => textAnswer('never'));
    });
    const client = await RawSocket.open(port);
    await client.write(requestOf('POST', '/', ['Content-Length: 1000'], 'x'));
    await settled(() => calls === 1);
    client.vanish();
    await listener.drain({ graceMs: 0, withinMs: 1_000_000 });
    expect(errors).toEqual([]);
  });

  test.each<[string, Intake['answer']]>([
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret'))],
    [
      'gives a body that throws',
      () => ({
        ...textAnswer(''),
        body: {
          bytes: 5,
          pieceAt: () => {
            throw new Error('secret');
          },
        },
      }),
    ],
  ])(
    'reports a handler that %s over a body as a bug, and sends the response that it has for failures',
    async (_, answer) => {
      const {
        answer: received,
        goesOn,
        server,
      } = await exchanged([sized('<a/>')], ({ method, target }) =>
        method === 'GET' ? textAnswer(target) : intake(answer),
      );
      expect(received?.status).toBe(500);
      expect(received?.body).toBe('failed');
      expect(goesOn).toBe(true);
      expect(server.errors.map(String)).toEqual(['Error: secret']);
    },
  );

  test('sends the same response if the memory for a body cannot be allocated', async () => {
    const { port, errors } = await serve(echoing);
    const client = await RawSocket.open(port);
    await client.write(requestOf('POST', '/', ['Content-Length: 30001']));
    // Fails only the allocation for this body; the process makes others too.
    const take = Buffer.allocUnsafeSlow.bind(Buffer);
    const allocate = vi.spyOn(Buffer, 'allocUnsafeSlow').mockImplementation((bytes) => {
      if (bytes === 30_001) throw new RangeError('secret');
      return take(bytes);
    });
    await client.write('x'.repeat(20_000));
    const answer = await client.answer();
    allocate.mockRestore();
    expect([answer?.status, answer?.body]).toEqual([500, 'failed']);
    await client.write('x'.repeat(10_001) + requestOf('GET', '/next'));
    expect((await client.answer())?.body).toBe('/next');
    expect(errors.map(String)).toEqual(['RangeError: secret']);
    client.vanish();
  });
});
