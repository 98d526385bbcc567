// Guarantees of every transport over time: late responses, clients that read slowly, pipeline or vanish, drains, ports.
// One suite runs on each transport over raw sockets.
import { describe, expect, test } from 'vitest';
import { wholeBody } from '../../engine/page/envelope.ts';
import type { Answer, Disconnection, Handler } from '../../server/http/exchange.ts';
import { claimPort } from '../../server/http/ports.ts';
import { GET, PAGE_BYTES, RawSocket, requestOf } from '../support/rawSocket.ts';
import {
  CountedBody,
  countedText,
  newSlices,
  running,
  servers,
  textAnswer,
  TRANSPORTS,
} from '../support/transports.ts';
import { settled } from '../support/waits.ts';

describe.each(TRANSPORTS)('$name', (transport) => {
  const serve = servers(transport);

  describe('an asynchronous response', () => {
    test('is sent when it is ready', async () => {
      const { port } = await serve(async (request) => {
        const { target } = request;
        await new Promise((resolve) => setImmediate(resolve));
        return textAnswer(target);
      });
      const client = await RawSocket.open(port);
      await client.write(requestOf('GET', '/one'));
      expect((await client.answer())?.body).toBe('/one');
      await client.write(requestOf('POST', '/two', ['Content-Length: 2'], 'xx'));
      expect((await client.answer())?.body).toBe('/two');
      client.vanish();
    });

    test('for a client that left is dropped, and the handler is notified once', async () => {
      const { gone, told, answerNow, port, calls } = await serveHeld();
      const client = await RawSocket.open(port);
      await client.write(GET);
      await calls(1);
      expect(gone()?.isGone()).toBe(false);
      client.vanish();
      await told;
      expect([gone()?.isGone(), gone()?.isComingBack()]).toEqual([true, false]);
      let isToldAtOnce = false;
      gone()?.onGone(() => (isToldAtOnce = true));
      expect(isToldAtOnce).toBe(true);
      answerNow();
      const other = await RawSocket.open(port);
      await other.write(requestOf('GET', '/free'));
      expect((await other.answer())?.body).toBe('free');
      other.vanish();
    });

    /** A server whose `/` waits for `answerNow`, and that exposes the last Disconnection. */
    async function serveHeld() {
      let last: Disconnection | undefined;
      let count = 0;
      let answerNow = (): void => undefined;
      let tell = (): void => undefined;
      let wake = (): void => undefined;
      const told = new Promise<void>((resolve) => (tell = resolve));
      const server = await serve((request, disconnection) => {
        if (request.target === '/free') return textAnswer('free');
        last = disconnection;
        disconnection.onGone(tell);
        count++;
        wake();
        return new Promise((resolve) => (answerNow = () => resolve(textAnswer('held'))));
      });
      const calls = async (wanted: number): Promise<void> => {
        while (count < wanted) await new Promise<void>((resolve) => (wake = resolve));
      };
      return { ...server, told, calls, gone: () => last, answerNow: () => answerNow() };
    }
  });

  describe('clients that read slowly, pipeline or vanish', () => {
    test('get eight pages of 400 kB completely', async () => {
      const { port } = await serve(() => ({ status: 200, headers: [], body: new CountedBody(PAGE_BYTES, 65_536) }));
      const client = await RawSocket.open(port);
      await client.write(GET.repeat(8));
      for (let i = 0; i < 8; i++) expect((await client.answer())?.body === countedText(PAGE_BYTES)).toBe(true);
      client.vanish();
    });

    test('get the responses to a hundred small requests in order', async () => {
      const { port } = await serve(({ target }) => textAnswer(target));
      const client = await RawSocket.open(port);
      await client.write(Array.from({ length: 100 }, (_, i) => requestOf('GET', `/${i}`)).join(''));
      for (let i = 0; i < 100; i++) expect((await client.answer())?.body).toBe(`/${i}`);
      client.vanish();
    });

    test('cost a body only the pieces that the socket accepts, and none after the client vanished', async () => {
      const bodies: CountedBody[] = [];
      const { port, listener } = await serve(({ target }) => {
        if (target !== '/') return textAnswer('free');
        bodies.push(new CountedBody(1e12, 65_536));
        return { status: 200, headers: [], body: bodies[bodies.length - 1] as CountedBody };
      });
      const still = isStill();
      const slow = await Promise.all(Array.from({ length: 20 }, () => RawSocket.open(port, false)));
      for (const client of slow) await client.write(GET);
      await settled(() => bodies.length === 20 && bodies.filter(still).length === 20);
      const other = await RawSocket.open(port);
      await other.write(requestOf('GET', '/free'));
      expect((await other.answer())?.body).toBe('free');
      const asked = bodies.map((body) => body.pieces);
      // A Linux socket accepts 4 MB and the client's side up to 6 MB; the rest of the terabyte is never requested.
      expect(Math.max(...asked)).toBeLessThan(400);
      for (const client of slow) client.vanish();
      other.vanish();
      // Nothing may be in flight any more: a drain that waited for a response would exceed the test's time limit.
      await listener.drain({ graceMs: 0, withinMs: 1_000_000 });
      expect(bodies.map((body) => body.pieces)).toEqual(asked);
    });
  });

  describe('a drain', () => {
    test('continues for its grace period, and asks all clients to leave, new ones included', async () => {
      const { port, listener } = await serve(() => textAnswer('text'));
      const early = await RawSocket.open(port);
      await early.write(GET);
      expect((await early.answer())?.headers.get('connection')).not.toEqual(['close']);
      const drained = listener.drain({ graceMs: 1000, withinMs: 1_000_000 });
      const late = await RawSocket.open(port);
      for (const client of [early, late]) {
        await client.write(GET);
        const answer = await client.answer();
        expect([answer?.body, answer?.headers.get('connection')]).toEqual(['text', ['close']]);
      }
      expect(await drained).toBe(0);
      await expect(RawSocket.open(port)).rejects.toThrow('ECONNREFUSED');
    });

    test('refuses new connections, announces the end on open ones and waits for requests in flight', async () => {
      let release = (): void => undefined;
      let wake = (): void => undefined;
      const asked = new Promise<void>((resolve) => (wake = resolve));
      const { port, listener } = await serve(({ target }) => {
        if (target !== '/held') return textAnswer('free');
        wake();
        return new Promise((resolve) => (release = () => resolve(textAnswer('held'))));
      });
      const held = await RawSocket.open(port);
      const idle = await RawSocket.open(port);
      await idle.write(GET);
      await idle.answer();
      await held.write(requestOf('GET', '/held'));
      await asked;
      const drained = listener.drain({ graceMs: 0, withinMs: 1_000_000 });
      await expect(RawSocket.open(port)).rejects.toThrow('ECONNREFUSED');
      await idle.write(GET);
      const last = await idle.answer();
      // node:http closes idle connections with the listening socket; then the request finds no server.
      if (transport.name === 'uws' || last !== undefined) expect(last?.headers.get('connection')).toEqual(['close']);
      release();
      const answer = await held.answer();
      expect(answer?.body).toBe('held');
      expect(answer?.headers.get('connection')).toEqual(['close']);
      await drained;
      await Promise.all([held.ended(), idle.ended()]);
    });

    test('sends a started page to its end', async () => {
      const { port, listener } = await serve(() => ({
        status: 200,
        headers: [],
        body: new CountedBody(20_000_000, 65_536),
      }));
      const client = await RawSocket.open(port, false);
      const probe = await RawSocket.open(port);
      await client.write(GET);
      await probe.write(requestOf('HEAD', '/'));
      await probe.answer(true);
      const drained = listener.drain({ graceMs: 0, withinMs: 1_000_000 });
      client.read();
      expect((await client.answer())?.body.length).toBe(20_000_000);
      await drained;
    });

    test('gives up on requests in flight after its time limit, and a second call joins the first', async () => {
      let wake = (): void => undefined;
      const asked = new Promise<void>((resolve) => (wake = resolve));
      const { port, listener } = await serve((_, disconnection) => {
        wake();
        return new Promise((resolve) => disconnection.onGone(() => resolve(textAnswer('late'))));
      });
      const client = await RawSocket.open(port);
      await client.write(GET);
      await asked;
      await Promise.all([
        listener.drain({ graceMs: 0, withinMs: 1 }),
        listener.drain({ graceMs: 0, withinMs: 1_000_000 }),
      ]);
      expect(await client.answer()).toBeUndefined();
    });
  });

  describe('a port', () => {
    const handler: Handler = () => textAnswer('');
    const onError = (): void => undefined;
    const host = '127.0.0.1';

    const freePort = async (): Promise<number> => {
      const { port, release } = await claimPort(host, 0);
      await release();
      return port;
    };

    test('is held from the claim until the release', async () => {
      const { port, release } = await claimPort(host, 0);
      const refusal = { name: 'OperationError', code: 'port' };
      const listen = () => transport.listen({ host, port, handler, onError, slices: newSlices(), exclusive: false });
      await expect(listen()).rejects.toMatchObject(refusal);
      await expect(claimPort(host, port)).rejects.toMatchObject(refusal);
      const client = await RawSocket.open(port);
      await client.write(GET);
      expect(await client.ended()).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n.*The data is being loaded/s);
      const silent = await RawSocket.open(port);
      await release();
      expect(await silent.ended()).toBe('');
      await release();
      await (await listen()).drain({ graceMs: 0, withinMs: 0 });
    });

    test('may be shared by listeners that allow it, and by no others', async () => {
      const port = await freePort();
      const first = await transport.listen({ host, port, handler, onError, slices: newSlices(), exclusive: false });
      const second = await transport.listen({ host, port, handler, onError, slices: newSlices(), exclusive: false });
      const refusal = { name: 'OperationError', code: 'port' };
      await expect(
        transport.listen({ host, port, handler, onError, slices: newSlices(), exclusive: true }),
      ).rejects.toMatchObject(refusal);
      await expect(claimPort(host, port)).rejects.toMatchObject({
        ...refusal,
        message: expect.stringContaining(`port ${port} on 127.0.0.1 is in use`),
      });
      await Promise.all([first.drain({ graceMs: 0, withinMs: 0 }), second.drain({ graceMs: 0, withinMs: 0 })]);
      await (await claimPort(host, port)).release();
    });

    test('with an exclusive listener is refused to listeners that share', async () => {
      const first = await transport.listen({ host, port: 0, handler, onError, slices: newSlices(), exclusive: true });
      const sharing = transport.listen({
        host,
        port: first.port,
        handler,
        onError,
        slices: newSlices(),
        exclusive: false,
      });
      await expect(sharing).rejects.toMatchObject({ name: 'OperationError', code: 'port' });
      await first.drain({ graceMs: 0, withinMs: 0 });
    });

    test('can be used again as soon as a drain has closed its connections', async () => {
      const port = await freePort();
      const first = await transport.listen({ host, port, handler, onError, slices: newSlices(), exclusive: false });
      const client = await RawSocket.open(port);
      await client.write(GET);
      await client.answer();
      await first.drain({ graceMs: 0, withinMs: 0 });
      await client.ended();
      await (await claimPort(host, port)).release();
    });

    test('of a foreign address is refused', async () => {
      const refusal = { name: 'OperationError', code: 'port' };
      await expect(claimPort('192.0.2.1', 0)).rejects.toMatchObject(refusal);
      const listening = transport.listen({
        host: '192.0.2.1',
        port: 0,
        handler,
        onError,
        slices: newSlices(),
        exclusive: true,
      });
      await expect(listening).rejects.toMatchObject(refusal);
    });
  });
});

describe('both transports', () => {
  const stalls: Record<string, { bytes: string; isReading?: boolean }> = {
    'that says nothing': { bytes: '' },
    'cut in its request line': { bytes: 'GET /a' },
    'cut in its headers': { bytes: 'GET / HTTP/1.1\r\nHost: x\r\nX-' },
    'without Host': { bytes: 'GET / HTTP/1.1\r\n\r\n' },
    'with a folded header line': { bytes: 'GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n' },
    'with a NUL in a header': { bytes: 'GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n' },
    'idle after an answer': { bytes: GET },
    'that never sends its body': { bytes: requestOf('POST', '/', ['Content-Length: 5'], 'a') },
    'that never reads its page': { bytes: requestOf('GET', '/page'), isReading: false },
  };

  // Takes about 12 s: the library's limit cannot be set, and the promise is about the real limit.
  test('end all kinds of stalled connections', { timeout: 60_000 }, async () => {
    const page: Answer = { status: 200, headers: [], body: new CountedBody(1e12, 65_536) };
    const handler: Handler = ({ target }) =>
      target === '/page' ? page : { ...textAnswer(''), body: wholeBody(new Uint8Array(3)) };
    await Promise.all(
      TRANSPORTS.map(async (transport) => {
        const server = await running(transport, handler);
        await Promise.all(Object.values(stalls).map((stall) => stalled(server.port, stall)));
        await server.listener.drain({ graceMs: 0, withinMs: 1_000_000 });
      }),
    );
  });

  async function stalled(
    port: number,
    { bytes, isReading = true }: { bytes: string; isReading?: boolean },
  ): Promise<void> {
    const client = await RawSocket.open(port, isReading);
    await client.write(bytes);
    if (isReading) await client.ended();
  }
});

/** Returns whether a body has not been asked for a piece in the last 1,000 checks. */
function isStill(): (body: CountedBody) => boolean {
  const seen = new Map<CountedBody, { pieces: number; looks: number }>();
  return (body) => {
    const last = seen.get(body);
    const looks = last?.pieces === body.pieces ? last.looks + 1 : 0;
    seen.set(body, { pieces: body.pieces, looks });
    return looks >= 1000;
  };
}
