// The duties that node:http leaves to its user: connections that it hands over or abandons must neither end the process
// nor get a response out of order.
import { afterEach, expect, test } from 'vitest';
import type { Handler } from '../../../../../server/http/exchange.ts';
import { formHandler } from '../../../../support/formCatalogue.ts';
import { requestOf, RawSocket } from '../../../../support/rawSocket.ts';
import {
  CountedBody,
  countedText,
  running,
  textAnswer,
  TRANSPORTS,
  type Running,
} from '../../../../support/transports.ts';
import { settled } from '../../../../support/waits.ts';
import { Slices } from '../../../../../workers/slices.ts';

const NODE = TRANSPORTS.find(({ name }) => name === 'node')!;
const CONNECT = 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n';

let server: Running | undefined;
afterEach(() => server?.stop());

async function answersTo(bytes: string, handler: Handler = ({ target }) => textAnswer(target)): Promise<string> {
  server = await running(NODE, handler);
  const socket = await RawSocket.open(server.port);
  await socket.write(bytes);
  return socket.ended();
}

test('treats CONNECT alone as malformed, and ends the connection', async () => {
  expect(await answersTo(CONNECT)).toMatch(/^HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n[^]*Malformed request/);
});

test('passes OPTIONS of the server itself to the handler, and the catalogue responds', async () => {
  const head = 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
  expect(await answersTo(head, formHandler())).toMatch(/^HTTP\/1\.1 200 [^]*\r\nAllow: GET, HEAD, OPTIONS\r\n/);
});

test.each([
  ['a refused request', 'GET / HTTP/1.1\r\n\r\n'],
  ['another CONNECT', CONNECT],
])('sends no second response to CONNECT after %s, and harms no other client', async (_, before) => {
  expect((await answersTo(before + CONNECT)).match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  const next = await RawSocket.open(server!.port);
  await next.write(requestOf('GET', '/still-there'));
  expect(await next.answer()).toMatchObject({ status: 200, body: '/still-there' });
  next.vanish();
});

test('sends no response to CONNECT before that of an earlier pending request', async () => {
  let isGone = false;
  const received = await answersTo(requestOf('GET', '/') + CONNECT, (_, disconnection) => {
    disconnection.onGone(() => (isGone = true));
    return new Promise(() => undefined);
  });
  expect({ received, isGone }).toEqual({ received: '', isGone: true });
});

/** More than the sockets between a server and a client that does not read can buffer. */
const LONG_BYTES = 12_000_000;

test('sends a slow reader its long response despite many bytes after a request that closes the connection', async () => {
  server = await running(NODE, () => ({ ...textAnswer(''), body: new CountedBody(LONG_BYTES, 65_536) }));
  const client = await RawSocket.open(server.port, false);
  await client.write(requestOf('GET', '/', ['Connection: close']));
  const written = client.write('x'.repeat(2_000_000));
  client.read();
  expect((await client.answer())?.body === countedText(LONG_BYTES)).toBe(true);
  expect(await client.ended()).toBe('');
  await written;
});

test('keeps a long response that the network already has despite later bytes', async () => {
  const body = new CountedBody(1_000_000, 65_536);
  server = await running(NODE, () => ({ ...textAnswer(''), body }));
  const client = await RawSocket.open(server.port, false);
  await client.write(requestOf('GET', '/', ['Connection: close']));
  await settled(() => body.pieces === 16);
  for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve));
  for (let i = 0; i < 100; i++) await client.write('bytes');
  for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve));
  client.read();
  expect((await client.answer())?.body.length).toBe(1_000_000);
  expect(await client.ended()).toBe('');
});

test('treats an interrupted body as malformed, and keeps nothing of it', async () => {
  let calls = 0;
  const failed = textAnswer('');
  server = await running(NODE, () => {
    calls++;
    return { bodyBytesMax: 10, tooLong: failed, busy: failed, failed, answer: () => textAnswer('whole') };
  });
  const client = await RawSocket.open(server.port);
  await client.write(requestOf('POST', '/', ['Transfer-Encoding: chunked'], '3\r\nabc\r\n'));
  await client.write('no size\r\n');
  expect(await client.ended()).toMatch(/^HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n[^]*Malformed request/);
  expect(calls).toBe(1);
  // Nothing is in flight: a drain that waited would exceed the time limit of the test.
  await server.listener.drain({ graceMs: 0, withinMs: 1_000_000 });
});

test('bounds the pending requests of all connections after one was closed for its own', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let now = 0;
  server = await running(
    NODE,
    async () => {
      now++;
      await held;
      return textAnswer('');
    },
    0,
    new Slices(() => now),
  );
  const opened = async (): Promise<RawSocket> => RawSocket.open(server!.port);
  // Each takes 4 KiB. One connection may take 4 MiB, all together 32 MiB.
  const requests = (count: number): string => requestOf('GET', '/').repeat(count);
  const flood = await opened();
  await flood.write(requests(1200));
  expect(await flood.ended()).toBe('');
  for (let turns = 0; turns < 2000; turns++) await new Promise((resolve) => setImmediate(resolve));
  const others = await Promise.all(Array.from({ length: 9 }, opened));
  for (const other of others) await other.write(requests(950));
  expect(await Promise.race(others.map((other) => other.ended()))).toBe('');
  release();
  for (const other of others) other.vanish();
});
