// Behaviour of uWebSockets.js that its wrapper relies on, over raw sockets. If a new version of the library changes
// one, its test fails and names the part of server/http/ to check.
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';

import { GET, RawSocket, requestOf } from '../../../../support/rawSocket.ts';
import { CountedBody, servers, textAnswer, TRANSPORTS } from '../../../../support/transports.ts';

const [uws] = TRANSPORTS;
if (uws?.name !== 'uws') throw new Error('the first transport is uWebSockets.js');
const serve = servers(uws);

/** The status of the first response to these bytes. */
async function statusOf(...writes: string[]): Promise<number | undefined> {
  const { port } = await serve(() => textAnswer('seen'));
  const client = await RawSocket.open(port);
  for (const bytes of writes) await client.write(bytes);
  const answer = await client.answer();
  client.vanish();
  return answer?.status;
}

describe('uWebSockets.js itself', () => {
  test('refuses 99 header lines with 431', async () => {
    expect(await statusOf(`GET / HTTP/1.1\r\nHost: x\r\n${'X: 1\r\n'.repeat(97)}\r\n`)).toBe(200);
    expect(await statusOf(`GET / HTTP/1.1\r\nHost: x\r\n${'X: 1\r\n'.repeat(98)}\r\n`)).toBe(431);
  });

  test('refuses an invalid chunk with 400, and abandons the pending response', async () => {
    const server = await serve(() => textAnswer('seen'));
    const client = await RawSocket.open(server.port);
    await client.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
    expect((await client.answer())?.status).toBe(400);
    await client.ended();
    expect(server.errors).toEqual([]);
  });
});

describe('a request line that arrives in parts', () => {
  test('is read if it was cut in its target or after its last line break', async () => {
    expect(await statusOf('GET /a', '?q=1 HTTP/1.1\r\nHost: x\r\n\r\n')).toBe(200);
    expect(await statusOf('GET / HTTP/1.1\r\n', 'Host: x\r\n\r\n')).toBe(200);
  });
});

describe('a pipelined request', () => {
  test('loses both responses after an asynchronous one, ends the connection and is not served', async () => {
    const { server, seen, comingBack } = await serveLate();
    const client = await RawSocket.open(server.port);
    await client.write(requestOf('GET', '/late') + requestOf('GET', '/2'));
    expect(await client.ended()).toBe('');
    expect(seen).toEqual(['/late']);
    expect(server.errors).toEqual([]);
    expect(comingBack).toEqual([true]);
  });

  test('after an asynchronous response also loses the earlier short ones, which the library still buffers', async () => {
    const { server, seen } = await serveLate();
    const client = await RawSocket.open(server.port);
    await client.write(requestOf('GET', '/1') + requestOf('GET', '/late') + requestOf('GET', '/3'));
    expect(await client.ended()).toBe('');
    expect(seen).toEqual(['/1', '/late']);
  });

  test('that follows a request with an asynchronous response later also ends the connection', async () => {
    const { server, seen, comingBack } = await serveLate();
    const client = await RawSocket.open(server.port);
    await client.write(requestOf('GET', '/late'));
    while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await client.write(GET);
    expect(await client.ended()).toBe('');
    expect(comingBack).toEqual([false]);
  });

  /**
   * A server that responds to `/late` after the client has disconnected. It notes the requests, and the clients that it
   * expects back.
   */
  async function serveLate() {
    const seen: string[] = [];
    const comingBack: boolean[] = [];
    const server = await serve(({ target }, disconnection) => {
      seen.push(target);
      if (target !== '/late') return textAnswer(target);
      return new Promise((resolve) => {
        disconnection.onGone(() => {
          comingBack.push(disconnection.isComingBack());
          resolve(textAnswer('late'));
        });
      });
    });
    return { server, seen, comingBack };
  }

  test('is served after a response that a promise delays, but no turn of the event loop', async () => {
    const { port } = await serve(({ target }) => Promise.resolve(textAnswer(target)));
    const client = await RawSocket.open(port);
    await client.write('GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await client.answer())?.body).toBe('/1');
    expect((await client.answer())?.body).toBe('/2');
    client.vanish();
  });

  test('after a page that does not fit the socket ends the connection: too short, never with wrong bytes', async () => {
    const { port } = await serve(() => ({ status: 200, headers: [], body: new CountedBody(50_000_000, 65_536) }));
    const client = await RawSocket.open(port, false);
    await client.write(GET + GET);
    const came = await client.ended();
    expect(came.split('HTTP/1.1').length).toBe(2);
    expect(came.length).toBeLessThan(50_000_000);
  });
});

describe('the limit of request heads in a worker thread', () => {
  const library = new URL('../../../../../server/http/uws/library.ts', import.meta.url).href;
  const transport = new URL('../../../../../server/http/uws/transport.ts', import.meta.url).href;
  const slices = new URL('../../../../../workers/slices.ts', import.meta.url).href;

  /** Runs a module in a new thread. Resolves with its message, or with its error. */
  function inThread(source: string, env: NodeJS.ProcessEnv = process.env): Promise<unknown> {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), { env });
    return new Promise((resolve) => {
      worker.once('message', resolve);
      worker.once('error', (error: unknown) => resolve(String(error)));
    });
  }

  test('is not lost: the library does not load if the main thread has not raised it', async () => {
    const source = `import { loadUws } from '${library}'; await loadUws();`;
    expect(await inThread(source, {})).toContain('call raiseHeadLimit() on the main thread');
  });

  test('is 64 kB once the main thread has raised it; the thread drains and exits by itself', async () => {
    await serve(() => textAnswer('raises it'));
    const source = `
      import { parentPort } from 'node:worker_threads';
      import { listenUws } from '${transport}';
      import { Slices } from '${slices}';
      const body = { bytes: 2, pieceAt: (offset) => new Uint8Array([111, 107]).subarray(offset) };
      const listener = await listenUws({
        host: '127.0.0.1', port: 0, exclusive: true, onError: () => undefined, slices: new Slices(() => 0),
        handler: () => ({ status: 200, headers: [], body }),
      });
      parentPort.postMessage(listener.port);
      parentPort.once('message', () => listener.drain({ graceMs: 0, withinMs: 1000 }));`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    const port = await new Promise<number>((resolve) => worker.once('message', resolve));
    const client = await RawSocket.open(port);
    await client.write(`GET /?${'a'.repeat(60_000)} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect((await client.answer())?.body).toBe('ok');
    worker.postMessage('drain');
    expect(await ended).toBe(0);
    await client.ended();
  });
});
