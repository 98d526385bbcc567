// Both transports implement the same strict HTTP: sends each row of headRows.ts and bodyRows.ts over a raw socket.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wholeBody } from '../../../engine/page/envelope.ts';
import type { Answer, Handler, Intake } from '../../../server/http/exchange.ts';
import { type RawAnswer, RawSocket, requestOf } from '../../support/rawSocket.ts';
import { running, type Running, textAnswer, TRANSPORTS } from '../../support/transports.ts';
import { BODY_ROWS } from './bodyRows.ts';
import { HEAD_ROWS } from './headRows.ts';
import type { Outcome, Row } from './row.ts';

const HTTP_ROWS = { ...HEAD_ROWS, ...BODY_ROWS };
const LAST = requestOf('GET', '/last');
const FAILED: Answer = { status: 500, headers: [], body: wholeBody(new Uint8Array(0)) };

/** Echoes the request; for POST with the body, which the other methods leave unread. */
const telling: Handler = ({ method, target, query }) => {
  const text = `${method} ${target}${query === undefined ? '' : `?${query}`}`;
  if (method !== 'POST') return textAnswer(method === 'PUT' ? `${text} ` : text);
  const answer = (body: Uint8Array): Answer => textAnswer(`${text} ${Buffer.from(body).toString()}`);
  return { bodyBytesMax: 1000, tooLong: FAILED, busy: FAILED, failed: FAILED, answer } satisfies Intake;
};

const told = ({ status, body }: RawAnswer): string => (status === 200 ? `(${body})` : String(status));

/** Sends the bytes, followed by what shows the expected end. Returns the outcome. */
async function outcomeOf(port: number, bytes: string, expected: Outcome): Promise<string> {
  const socket = await RawSocket.open(port);
  await socket.write(bytes);
  if (expected.endsWith('open')) await socket.write(LAST);
  if (expected.endsWith('silent')) socket.finish();
  const seen: string[] = [];
  for (;;) {
    const answer = await socket.answer();
    if (!answer) break;
    if (answer.status === 100) continue;
    if (answer.body === 'GET /last') return (socket.vanish(), [...seen, 'open'].join(' '));
    seen.push(told(answer));
  }
  return [...seen, expected.endsWith('silent') ? 'silent' : 'close'].join(' ');
}

describe.each(TRANSPORTS)('over $name', (transport) => {
  let server: Running;
  beforeAll(async () => (server = await running(transport, telling)));
  afterAll(async () => {
    await server.stop();
    expect(server.errors).toEqual([]);
  });

  const expectedOf = (row: Row): Outcome => row[transport.name]?.[0] ?? row.outcome;

  describe.each(Object.entries(HTTP_ROWS))('%s', (_, rows) => {
    test.each(rows)('$name', async (row) => {
      expect(await outcomeOf(server.port, row.bytes, expectedOf(row))).toBe(expectedOf(row));
    });
  });
});

test('lists a library in a row only if its outcome differs', () => {
  const rows = Object.values(HTTP_ROWS).flat();
  expect(rows.length).toBeGreaterThan(80);
  for (const { name, outcome, uws, node } of rows) {
    expect(
      [uws, node].filter((own) => own?.[0] === outcome),
      name,
    ).toEqual([]);
  }
});
