// What every transport makes of a request that asks for the end of its connection: it is told so, gets its whole answer
// whatever stands behind, and the connection ends. One suite, run on each of them over raw sockets.
import { describe, expect, test } from 'vitest';

import type { Handler } from '../../server/http/exchange.ts';
import { PAGE_BYTES, RawSocket, requestOf } from '../support/rawSocket.ts';
import { CountedBody, countedText, servers, textAnswer, TRANSPORTS } from '../support/transports.ts';

const answers: Handler = ({ target }) => {
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
    ['HEAD', '/', ''],
    ['POST', '/', 'text'],
  ] as const;

  test.each(CASES)('a connection that %s %s closes ends after its answer', async (method, target, body) => {
    const { port } = await serve(answers);
    const asked = async (options: string): Promise<RawSocket> => {
      const client = await RawSocket.open(port);
      await client.write(requestOf(method, target, [`Connection: ${options}`]));
      const answer = await client.answer(method === 'HEAD');
      expect(answer?.headers.get('connection'), options).toEqual(['close']);
      expect(answer?.body === body).toBe(true);
      return client;
    };
    expect(await (await asked('close')).ended()).toBe('');
    (await asked('te, close')).vanish();
  });

  test('bytes behind such a request never cost its answer', async () => {
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
