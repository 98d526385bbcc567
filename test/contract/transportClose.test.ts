// A request with `Connection: close`: the response repeats it and is complete, whatever follows, and the connection
// ends.
import { describe, expect, test } from 'vitest';

import type { Handler } from '../../server/http/exchange.ts';
import { PAGE_BYTES, RawSocket, requestOf } from '../support/rawSocket.ts';
import { CountedBody, countedText, servers, textAnswer, TRANSPORTS } from '../support/transports.ts';

/** More than a socket takes at once. */
const LONG_BYTES = 12 << 20;

const answers: Handler = ({ target }) => {
  if (target === '/long') return { ...textAnswer(''), body: new CountedBody(LONG_BYTES, 65_536) };
  if (target === '/304') return { ...textAnswer(''), status: 304 };
  if (target === '/later') return new Promise((resolve) => setImmediate(() => resolve(textAnswer('later'))));
  if (target === '/middle') return { ...textAnswer(''), body: new CountedBody(20_000, 20_000) };
  if (target === '/pieces') return { ...textAnswer(''), body: new CountedBody(4000, 1000) };
  return target === '/page' ? { ...textAnswer(''), body: new CountedBody(PAGE_BYTES, 65_536) } : textAnswer('text');
};

describe.each(TRANSPORTS)('$name', (transport) => {
  const serve = servers(transport);

  const CASES = [
    ['GET', '/', 'text'],
    ['GET', '/page', countedText(PAGE_BYTES)],
    ['GET', '/middle', countedText(20_000)],
    ['GET', '/pieces', countedText(4000)],
    ['GET', '/later', 'later'],
    ['GET', '/304', ''],
    ['GET', '/long', countedText(LONG_BYTES)],
    ['HEAD', '/', ''],
    ['POST', '/', 'text'],
  ] as const;

  /** Every way in which a list of tokens can have `close` (RFC 9110, 5.6.1 and 7.6.1), as header lines. */
  const CLOSING = [
    ['Connection: close'],
    ['Connection: CLOSE'],
    ['Connection: TE, close'],
    ['Connection: close, TE'],
    ['Connection: te,close'],
    ['Connection: te ,\tClose ,upgrade'],
    ['Connection: , ,close,'],
    ['Connection: keep-alive, close'],
    ['Connection: TE', 'Connection: close'],
    ['Connection: x-foo', 'Connection: close'],
    ['Connection: close', 'Connection: TE'],
  ] as const;

  test.each(CASES)('ends a connection that %s %s closes after its response', async (method, target, body) => {
    const { port } = await serve(answers);
    // It is the first to end: the server closes idle connections after 8 s at the earliest.
    const idle = await RawSocket.open(port);
    await idle.write(requestOf('GET', '/'));
    await idle.answer();
    for (const lines of target === '/long' ? CLOSING.slice(2, 3) : CLOSING) {
      const client = await RawSocket.open(port);
      await client.write(requestOf(method, target, lines));
      const answer = await client.answer(method === 'HEAD');
      expect(answer?.headers.get('connection'), lines.join()).toEqual(['close']);
      expect(answer?.headers.get('date'), lines.join()).toHaveLength(1);
      expect(answer?.body === body).toBe(true);
      const first = await Promise.race([client.ended(), idle.ended().then(() => 'idle')]);
      expect(first, lines.join()).toBe('');
    }
    idle.vanish();
  });

  test('sends the response despite bytes after such a request', async () => {
    const { port } = await serve(answers);
    for (let i = 0; i < 100; i++) {
      const client = await RawSocket.open(port);
      const target = i % 2 === 0 ? '/' : '/later';
      await client.write(`${requestOf('GET', target, ['Connection: close'])}bytes`);
      expect((await client.answer())?.body).toBe(i % 2 === 0 ? 'text' : 'later');
      expect(await client.ended()).toBe('');
    }
  });
});
