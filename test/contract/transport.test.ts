// Guarantees of every transport to handlers: requests arrive as sent, responses leave as given, bugs become a 500. One
// suite runs on each transport over raw sockets. It continues in transportFraming and transportClients.
import { describe, expect, test } from 'vitest';

import type { Answer, Handler, Request } from '../../server/http/exchange.ts';
import { GET, PAGE_BYTES, RawSocket, requestOf, type RawAnswer } from '../support/rawSocket.ts';
import { CountedBody, countedText, servers, textAnswer, TRANSPORTS } from '../support/transports.ts';
import { settled } from '../support/waits.ts';

type Seen = Pick<Request, 'method' | 'target' | 'query'>;

describe.each(TRANSPORTS)('$name', (transport) => {
  const serve = servers(transport);

  /** Serves one request. Returns what the handler saw of it, and the response. */
  async function exchanged(bytes: string, isHead = false): Promise<{ seen: Seen[]; answer: RawAnswer | undefined }> {
    const seen: Seen[] = [];
    const { port } = await serve(({ method, target, query }) => {
      seen.push({ method, target, query });
      return textAnswer('seen');
    });
    const client = await RawSocket.open(port);
    await client.write(bytes);
    const answer = await client.answer(isHead);
    client.vanish();
    return { seen, answer };
  }

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
  describe('a response', () => {
    test('has its status, headers in the given order, one Content-Length and the body', async () => {
      const headers = [
        ['Content-Type', 'application/json'],
        ['X-Odd', 'a:b, "c"; é'],
      ] as const;
      const { port } = await serve(() => ({ ...textAnswer('{"a":1}', headers), status: 404 }));
      const client = await RawSocket.open(port);
      await client.write(GET);
      const answer = await client.answer();
      expect(answer?.status).toBe(404);
      expect([...(answer?.headers.keys() ?? [])].filter((name) => name === 'content-type' || name === 'x-odd')).toEqual(
        ['content-type', 'x-odd'],
      );
      expect(answer?.headers.get('x-odd')).toEqual([Buffer.from('a:b, "c"; é').toString('latin1')]);
      expect(answer?.headers.get('content-length')).toEqual(['7']);
      expect(answer?.headers.get('transfer-encoding')).toBeUndefined();
      expect(answer?.headers.get('date')).toHaveLength(1);
      expect(answer?.body).toBe('{"a":1}');
      client.vanish();
    });

    test('without bytes has Content-Length 0 and keeps the connection', async () => {
      const { port } = await serve(() => textAnswer(''));
      const client = await RawSocket.open(port);
      await client.write(GET + GET);
      expect((await client.answer())?.headers.get('content-length')).toEqual(['0']);
      expect((await client.answer())?.status).toBe(200);
      client.vanish();
    });

    test('to HEAD has the headers of GET, its length and no body, and never reads the body', async () => {
      const body = new CountedBody(PAGE_BYTES, 1000);
      const { port } = await serve((request) =>
        request.method === 'HEAD' ? { status: 200, headers: [['ETag', '"x"']], body } : textAnswer('next'),
      );
      const client = await RawSocket.open(port);
      await client.write(requestOf('HEAD', '/') + GET);
      const answer = await client.answer(true);
      expect(answer?.headers.get('content-length')).toEqual([String(PAGE_BYTES)]);
      expect(answer?.headers.get('etag')).toEqual(['"x"']);
      expect(body.pieces).toBe(0);
      expect((await client.answer())?.body).toBe('next');
      client.vanish();
    });

    test('has its entity tag, with other headers or alone, for HEAD and 304 too', async () => {
      const lines = [['Vary', 'Accept']] as const;
      const { port } = await serve(({ target }) => ({
        ...textAnswer('x', target === '/alone' ? [] : lines),
        status: target === '/304' ? 304 : 200,
        etag: `"${target}é"`,
      }));
      const client = await RawSocket.open(port);
      for (const [method, target] of [
        ['GET', '/a'],
        ['HEAD', '/a'],
        ['GET', '/alone'],
        ['GET', '/304'],
        ['GET', '/a'],
      ] as const) {
        await client.write(requestOf(method, target));
        const answer = await client.answer(method === 'HEAD');
        expect(answer?.headers.get('etag')).toEqual([Buffer.from(`"${target}é"`).toString('latin1')]);
        expect(answer?.headers.get('vary')).toEqual(target === '/alone' ? undefined : ['Accept']);
      }
      client.vanish();
    });

    test('with 304 has neither a length nor a body', async () => {
      const { port } = await serve(({ target }) => ({
        ...textAnswer(target === '/' ? '' : 'next'),
        status: target === '/' ? 304 : 200,
      }));
      const client = await RawSocket.open(port);
      await client.write(GET + requestOf('GET', '/next'));
      const answer = await client.answer();
      expect(answer?.status).toBe(304);
      expect(answer?.headers.get('content-length')).toBeUndefined();
      expect((await client.answer())?.body).toBe('next');
      client.vanish();
    });

    test('with close says so and ends the connection', async () => {
      const { port } = await serve(() => ({ ...textAnswer('bye'), close: true }));
      const client = await RawSocket.open(port);
      await client.write(GET);
      const answer = await client.answer();
      expect(answer?.headers.get('connection')).toEqual(['close']);
      expect(answer?.body).toBe('bye');
      expect(await client.ended()).toBe('');
    });

    test('may be views of shared memory, in pieces of any size', async () => {
      const shared = new Uint8Array(new SharedArrayBuffer(100_000));
      shared.set(Buffer.from(countedText(100_000)));
      const pieceAt = (offset: number): Uint8Array =>
        shared.subarray(offset, Math.min(shared.length, offset + (offset < 7 ? 7 : 60_001)));
      const { port } = await serve(() => ({ status: 200, headers: [], body: { bytes: shared.length, pieceAt } }));
      const client = await RawSocket.open(port);
      await client.write(GET);
      expect((await client.answer())?.body).toBe(countedText(100_000));
      client.vanish();
    });

    test.each([1, 16_383, 16_384, 65_536, 1_000_000])(
      'larger than the socket arrives whole in pieces of %i bytes, and another one after it',
      async (pieceBytes) => {
        const bytes = pieceBytes === 1 ? 20_000 : 9_000_000;
        const { port } = await serve(({ target }) =>
          target === '/'
            ? { status: 200, headers: [], body: new CountedBody(bytes, pieceBytes) }
            : textAnswer('another'),
        );
        const client = await RawSocket.open(port, false);
        await client.write(GET);
        client.read();
        expect((await client.answer())?.body === countedText(bytes)).toBe(true);
        await client.write(requestOf('GET', '/another'));
        expect((await client.answer())?.body).toBe('another');
        client.vanish();
      },
    );
  });

  describe('a request', () => {
    test.each([
      ['/api/v3/', '/api/v3/', undefined],
      ['/a?', '/a', ''],
      ['/a?b?c=%zz+&d', '/a', 'b?c=%zz+&d'],
      ['//a//b', '//a//b', undefined],
      ['/%2e%2E/%00?%', '/%2e%2E/%00', '%'],
      ['/a#b?c', '/a#b', 'c'],
      ['/a?b#c', '/a', 'b#c'],
    ])('for target %s reaches the handler as sent', async (sent, target, query) => {
      const { seen } = await exchanged(requestOf('GET', sent));
      expect(seen).toMatchObject([{ method: 'GET', target }]);
      expect(seen[0]?.query).toBe(query);
    });

    test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'])(
      'with method %s reaches the handler',
      async (method) => {
        const { seen } = await exchanged(requestOf(method, '/'), method === 'HEAD');
        expect(seen).toMatchObject([{ method }]);
      },
    );

    test('has its headers by lower-case name, undefined for missing and empty ones', async () => {
      const seen: (string | undefined)[] = [];
      const { port } = await serve((request) => {
        for (const name of ['accept', 'x-empty', 'x-none', 'x-twice', '__proto__']) seen.push(request.header(name));
        seen.push(request.peer());
        return textAnswer('');
      });
      const client = await RawSocket.open(port);
      await client.write(requestOf('GET', '/', ['ACCEPT:  */* ', 'X-Empty:', 'X-Twice: 1', 'x-twice: 2']));
      await client.answer();
      expect(seen).toEqual(['*/*', undefined, undefined, '1', undefined, '127.0.0.1']);
      client.vanish();
    });

    test('joins the lines that proxies add to a forwarded header, in order', async () => {
      let forwarded: string | undefined;
      const { port } = await serve((request) => {
        forwarded = request.header('x-forwarded-for');
        return textAnswer('');
      });
      const client = await RawSocket.open(port);
      await client.write(requestOf('GET', '/', ['X-Forwarded-For: 6.6.6.6', 'X-Forwarded-For: 10.0.0.1']));
      await client.answer();
      expect(forwarded).toBe('6.6.6.6, 10.0.0.1');
      client.vanish();
    });

    test('is invalid after its handler returned: reading it is reported as a bug and answered with 500', async () => {
      const late: Handler = async (request) => {
        await Promise.resolve();
        await new Promise((resolve) => setImmediate(resolve));
        return textAnswer(request.header('accept') ?? request.peer());
      };
      const server = await serve(late);
      const client = await RawSocket.open(server.port);
      await client.write(requestOf('GET', '/', ['Accept: x']));
      const answer = await client.answer();
      expect(answer?.status).toBe(500);
      await settled(() => server.errors.length > 0);
      expect(server.errors.map(String)).toEqual([
        expect.stringContaining('a request is dead once its handler returned'),
      ]);
      client.vanish();
    });

    test('may have a head of 60 kB', async () => {
      const { answer, seen } = await exchanged(requestOf('GET', `/?ob_id__in=${'1234567,'.repeat(7500)}`));
      expect(answer?.status).toBe(200);
      expect(seen[0]?.query?.length).toBe(60_010);
    });

    test('with a head beyond 64 kB gets 431 and the connection ends', async () => {
      const { answer, calls } = await refused(requestOf('GET', `/?${'1234567,'.repeat(9000)}`));
      expect(answer?.status).toBe(431);
      expect(calls).toBe(0);
    });

    test('with 98 header lines is served, with more than 100 gets 431', async () => {
      const lines = Array.from({ length: 101 }, (_, i) => `X-${i}: 1`);
      expect((await exchanged(requestOf('GET', '/', lines.slice(0, 97)))).answer?.status).toBe(200);
      expect((await refused(requestOf('GET', '/', lines.slice(0, 100)))).answer?.status).toBe(431);
    });
  });

  describe('a bug in a handler', () => {
    const broken: Record<string, Handler> = {
      'a throwing handler': () => {
        throw new Error('secret');
      },
      'a rejecting handler': () => Promise.reject(new Error('secret')),
      'a rejecting handler after a while': async () => {
        await new Promise((resolve) => setImmediate(resolve));
        throw new Error('secret');
      },
      'a line break in a header value': () => textAnswer('', [['X-Secret', 'a\r\nb: c']]),
      'a line break in an entity tag': () => ({ ...textAnswer(''), etag: '"a\r\nb: c"' }),
      'a body that throws': () => ({
        ...textAnswer(''),
        body: {
          bytes: 5,
          pieceAt: () => {
            throw new Error('secret');
          },
        },
      }),
      'a body that gives more than it has': () => ({
        ...textAnswer(''),
        body: { bytes: 5, pieceAt: () => new Uint8Array(6) },
      }),
      'a body that gives nothing': () => ({ ...textAnswer(''), body: { bytes: 5, pieceAt: () => new Uint8Array(0) } }),
    };

    test.each(Object.keys(broken))(
      'is reported and answered with 500 without a stack, and the connection stays open: %s',
      async (name) => {
        const server = await serve((request, gone) =>
          request.target === '/next' ? textAnswer('next') : (broken[name] as Handler)(request, gone),
        );
        const client = await RawSocket.open(server.port);
        await client.write(GET);
        const answer = await client.answer();
        expect(answer?.status).toBe(500);
        expect(answer?.body).toBe('{"detail":"Internal server error."}');
        expect(answer?.headers.get('content-type')).toEqual(['application/json']);
        await client.write(requestOf('GET', '/next'));
        expect((await client.answer())?.body).toBe('next');
        expect(server.errors).toHaveLength(1);
        client.vanish();
      },
    );

    test('after the head of a response ends the connection short of its length, and others continue', async () => {
      const fails: Answer['body'] = {
        bytes: 5_000_000,
        pieceAt: (offset) => {
          if (offset > 0) throw new Error('secret');
          return new Uint8Array(300_000);
        },
      };
      const server = await serve(({ target }) =>
        target === '/' ? { ...textAnswer(''), body: fails } : textAnswer('next'),
      );
      const client = await RawSocket.open(server.port);
      await client.write(GET);
      expect(await client.answer()).toBeUndefined();
      expect(await client.ended()).not.toContain('secret');
      await settled(() => server.errors.length > 0);
      expect(server.errors).toHaveLength(1);
      const other = await RawSocket.open(server.port);
      await other.write(requestOf('GET', '/next'));
      expect((await other.answer())?.body).toBe('next');
      other.vanish();
    });
  });
});
