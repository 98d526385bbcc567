// What node:http leaves to its user: connections that it hands over or gives up must neither end the process nor get an
// answer out of turn.
import { afterEach, expect, test } from 'vitest';
import type { Handler } from '../../../../../server/http/exchange.ts';
import { requestOf, RawSocket } from '../../../../support/rawSocket.ts';
import { running, textAnswer, TRANSPORTS, type Running } from '../../../../support/transports.ts';

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

test('CONNECT alone is malformed, and the connection ends', async () => {
  expect(await answersTo(CONNECT)).toMatch(/^HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n[^]*Malformed request/);
});

test.each([
  ['a refused request', 'GET / HTTP/1.1\r\n\r\n'],
  ['another CONNECT', CONNECT],
])('CONNECT behind %s is no second answer and harms nobody', async (_, before) => {
  expect((await answersTo(before + CONNECT)).match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  const next = await RawSocket.open(server!.port);
  await next.write(requestOf('GET', '/still-there'));
  expect(await next.answer()).toMatchObject({ status: 200, body: '/still-there' });
  next.vanish();
});

test('CONNECT behind a request that still waits for its answer gets none before it', async () => {
  let isGone = false;
  const received = await answersTo(requestOf('GET', '/') + CONNECT, (_, disconnection) => {
    disconnection.onGone(() => (isGone = true));
    return new Promise(() => undefined);
  });
  expect({ received, isGone }).toEqual({ received: '', isGone: true });
});
