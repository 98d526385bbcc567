// Takes about 10 s, because the limit of the transports cannot be shortened.
import { expect, test } from 'vitest';
import type { Answer } from '../../server/http/exchange.ts';
import { dribble } from '../support/fuzz.ts';
import { requestOf } from '../support/rawSocket.ts';
import { running, textAnswer, TRANSPORTS } from '../support/transports.ts';

const HEAD = requestOf('POST', '/', ['Content-Length: 100000']);
const ANSWER: Answer = textAnswer('never');
const INTAKE = { bodyBytesMax: 100_000, tooLong: ANSWER, busy: ANSWER, failed: ANSWER, answer: () => ANSWER };

test.each(TRANSPORTS)('ends a body that arrives byte by byte without end, over $name', async (transport) => {
  const server = await running(transport, () => INTAKE);
  expect(await dribble(server.port, { head: HEAD, bytes: 'x' })).toBe(true);
  expect(server.errors).toEqual([]);
  await server.listener.drain({ graceMs: 0, withinMs: 1_000_000 });
});
