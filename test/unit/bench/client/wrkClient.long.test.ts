// wrk as a load client: it asks what the built-in one asks, counts alike, and refuses answers that are not as they must
// be. Against a plain server in this process; skipped where wrk is not installed.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startLoadClient, type LoadClient } from '../../../../bench/client/loadClient.ts';
import { startWrkClient } from '../../../../bench/client/wrkClient.ts';
import { hasProgram } from '../../../support/debian.ts';

let server: Server;
let client: LoadClient;
let asked: string[];

/** Answers what the path says, `/STATUS/LENGTH`, and notes method, path, one header and body. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  let body = '';
  request.on('data', (piece: Buffer) => (body += piece.toString()));
  request.once('end', () => {
    const { method, url = '', headers } = request;
    asked.push([method, url, headers['x-odd'], body].join(' '));
    const [, status, length] = url.split('/').map(Number);
    response.writeHead(status!, status === 304 ? {} : { 'Content-Length': length! }).end('.'.repeat(length!));
  });
}

beforeEach(async () => {
  asked = [];
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = startWrkClient();
});

afterEach(async () => {
  await client.stop();
  server.close();
  server.closeAllConnections();
});

function orderOf(requests: number, targets: readonly string[]) {
  const { port } = server.address() as AddressInfo;
  const exchanges = targets.map((target) => {
    const [, status, bytes] = target.split('/').map(Number);
    return { target, status: status!, bytes: bytes! };
  });
  return { port, exchanges, requests, connections: 2, withinMs: 20_000 };
}

describe.skipIf(!hasProgram('wrk'))('wrk', () => {
  test('asks all exchanges in turn, and sums up what came', async () => {
    const outcome = await client.run(orderOf(300, ['/200/1', '/404/4', '/304/0']));
    expect(outcome.fault).toBeUndefined();
    expect(outcome.requests).toBeGreaterThanOrEqual(300);
    expect(outcome.bodyBytes / outcome.requests).toBeCloseTo(5 / 3, 0);
    expect(outcome.p50Ms).toBeGreaterThan(0);
    expect(outcome.p999Ms).toBeGreaterThanOrEqual(outcome.p99Ms);
    expect(outcome.elapsedMs).toBeGreaterThan(0);
    const counts = ['/200/1', '/404/4', '/304/0'].map((path) => asked.filter((one) => one.includes(path)).length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
  });

  test('sends the same headers and bodies with odd bytes as the built-in client', async () => {
    const builtIn = startLoadClient();
    try {
      const { exchanges, ...order } = orderOf(4, ['/200/1']);
      const odd = {
        ...exchanges[0]!,
        headers: { 'X-Odd': '"quoted\\back"' },
        body: '\u00e9"\\n\0 text.',
      };
      const filling = { ...order, exchanges: [odd] };
      await client.run(filling);
      const sent = new Set(asked.splice(0));
      await builtIn.run(filling);
      expect(new Set(asked.splice(0))).toEqual(sent);
      expect(sent.size).toBe(1);
    } finally {
      await builtIn.stop();
    }
  });

  test.for([
    ['a status', '/200/4', '/500/4', 'got status 500 and 4 bytes'],
    ['a length', '/200/4', '/200/5', 'got status 200 and 5 bytes'],
  ])('refuses %s that no exchange expects', async ([, expected, target, message]) => {
    const { exchanges, ...order } = orderOf(100, [expected!]);
    await expect(client.run({ ...order, exchanges: [{ ...exchanges[0]!, target: target! }] })).rejects.toThrow(message);
  });

  test('says when nobody listens, or the end does not come in time', async () => {
    const order = orderOf(1e9, ['/200/4']);
    await expect(client.run({ ...order, withinMs: 1000 })).rejects.toThrow('no end in time');
    server.close();
    server.closeAllConnections();
    await expect(client.run({ ...order, requests: 8, withinMs: 1000 })).rejects.toThrow(/refused|connect/);
  });

  test('ends soon, however early it has had enough', async () => {
    for (let i = 0; i < 40; i++) await client.run(orderOf(4, ['/200/1']));
    expect(asked.length).toBeGreaterThanOrEqual(160);
  });

  test('knows no pace', async () => {
    await expect(client.run({ ...orderOf(8, ['/200/4']), perSecond: 10 })).rejects.toThrow('wrk knows no pace');
  });
});

test('without wrk the client says so', async () => {
  const path = process.env['PATH'];
  process.env['PATH'] = '';
  try {
    await expect(client.run(orderOf(8, ['/200/4']))).rejects.toThrow('wrk is not installed');
  } finally {
    process.env['PATH'] = path;
  }
});
