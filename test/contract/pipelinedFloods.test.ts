// Clients that pipeline thousands of requests in one write: no turn of the event loop serves them for long, other
// clients are answered meanwhile, and exceeding the limits ends only the client's own connection. The clock advances
// only in the handler, which takes a millisecond, so that the speed of the machine does not matter.
import { describe, expect, test } from 'vitest';
import type { Handler } from '../../server/http/exchange.ts';
import { CONNECTION_REQUESTS, SPARE_REQUESTS } from '../../server/http/listener.ts';
import { Slices } from '../../workers/slices.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';
import { servers, textAnswer, TRANSPORTS } from '../support/transports.ts';
import { settled } from '../support/waits.ts';

const FLOOD = 8000;

describe.each(TRANSPORTS)('$name', (transport) => {
  const serve = servers(transport);

  /** A server that takes a millisecond for each response. Counts the responses, and the maximum in one turn. */
  async function serveSlowly() {
    const seen = { asked: 0, turnMax: 0 };
    let now = 0;
    let inTurn = 0;
    const handler: Handler = ({ target }) => {
      now++;
      if (target !== '/other') seen.asked++;
      if (inTurn++ === 0) setImmediate(() => (inTurn = 0));
      seen.turnMax = Math.max(seen.turnMax, inTurn);
      return textAnswer(target);
    };
    return { server: await serve(handler, new Slices(() => now)), seen };
  }

  test.each([
    ['GET', requestOf('GET', '/')],
    ['HEAD', requestOf('HEAD', '/')],
    ['POST with a body', requestOf('POST', '/', ['Content-Length: 1'], 'x')],
  ])(`serves few of ${FLOOD} requests in one write per turn, and other clients in between: %s`, async (_, request) => {
    const { server, seen } = await serveSlowly();
    const [flood, other] = [await RawSocket.open(server.port), await RawSocket.open(server.port)];
    const written = flood.write(request.repeat(FLOOD));
    for (let i = 0; i < 3; i++) {
      await other.write(requestOf('GET', '/other'));
      expect((await other.answer())?.body).toBe('/other');
    }
    // The remaining requests end the connection, or take their turns.
    expect(seen.asked).toBeLessThan(FLOOD / 4);
    await Promise.race([written.then(() => flood.ended()), settled(() => seen.asked === FLOOD)]);
    flood.vanish();
    expect(seen.turnMax).toBeLessThanOrEqual(SPARE_REQUESTS + 3 * CONNECTION_REQUESTS + 3);
    await other.write(requestOf('GET', '/other'));
    expect((await other.answer())?.status).toBe(200);
    other.vanish();
    expect(server.errors).toEqual([]);
  });

  const many = transport.name === 'node' ? 1000 : 64;
  test(`answers all of ${many} requests in order`, async () => {
    const { server, seen } = await serveSlowly();
    const client = await RawSocket.open(server.port);
    const targets = Array.from({ length: many }, (_, i) => `/${i}`);
    await client.write(targets.map((target) => requestOf('GET', target)).join(''));
    for (const target of targets) expect((await client.answer())?.body).toBe(target);
    client.vanish();
    // The second transport handles a few per turn.
    expect(seen.turnMax).toBeLessThan(transport.name === 'node' ? 20 : many + 1);
  });
});
