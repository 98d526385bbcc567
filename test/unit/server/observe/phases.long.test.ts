// Responses of the admin port of a real server before it accepts requests, and while it drains.
import { expect, test } from 'vitest';
import { clientOf } from '../../../support/client.ts';
import { runCommand } from '../../../support/commandProcess.ts';
import { dataSetOf, temporaryDirectory } from '../../../support/dataSets.ts';
import { longProperties } from '../../../support/longProperties.ts';
import { RawSocket, requestOf } from '../../../support/rawSocket.ts';

/** Records of 10 MB, more than the buffers of a loopback connection hold. */
const MANY = dataSetOf(temporaryDirectory(), { 'migrationproperties.ndjson': longProperties(400) });

test('reports that it loads, and that it drains, before it accepts requests and after it stops', async () => {
  const one = runCommand(['serve', '--port', '0', '--threads', '1', '--admin-port', '0', '--data', MANY]);
  const words: string[] = [];
  try {
    const [, origin] = await one.printed(/admin on (http:\/\/127\.0\.0\.1:\d+)\/status\n/);
    const client = clientOf(origin!);
    const word = async (): Promise<string> => {
      const { status, body } = await client.get('/readyz');
      const { status: said } = JSON.parse(body) as { readonly status: string };
      if (words.at(-1) !== said) words.push(said);
      expect([said, status]).toEqual([said, said === 'ready' ? 200 : 503]);
      return said;
    };
    await word();
    const { body: metrics } = await client.get('/metrics');
    expect(metrics).toContain('catalogue_replica_ready 0\n');
    expect(metrics).not.toContain('data_info{');
    // A reload request comes too early, but its path is known.
    const order = await client.send({ method: 'POST', target: '/reload', headers: {}, body: '' });
    expect([order.status, order.headers['retry-after'], JSON.parse(order.body)]).toEqual([
      503,
      '1',
      { status: 'loading' },
    ]);
    const [, port] = await one.printed(/listening on http:\/\/\S+:(\d+)\n/);
    await expect.poll(word, { timeout: 10_000 }).toBe('ready');
    // A client that does not read prolongs the drain.
    const reader = await RawSocket.open(Number(port), false);
    await reader.write(requestOf('GET', '/api/v3/migrationproperties/?limit=1000'));
    const probe = await RawSocket.open(Number(port));
    await probe.write(requestOf('GET', '/api/v3/ipps/', ['X-Ready-Only: 1']));
    expect((await probe.answer())?.status).toBe(200);
    one.signal('SIGTERM');
    await expect.poll(word, { timeout: 10_000 }).toBe('draining');
    // The threads are notified a moment later than the admin port.
    const asked = async (...words: Parameters<typeof requestOf>): Promise<number | undefined> => {
      await probe.write(requestOf(...words));
      return (await probe.answer())?.status;
    };
    expect(await asked('GET', '/api/v3/ipps/')).toBe(200);
    await expect.poll(() => asked('GET', '/healthz'), { timeout: 10_000 }).toBe(503);
    // Requests for ready servers only are refused, so that a proxy tries the next replica; all others are served.
    expect(await asked('GET', '/api/v3/ipps/', ['X-Ready-Only: 1'])).toBe(502);
    expect(await asked('GET', '/api/v3/ipps/')).toBe(200);
    reader.vanish();
    client.close();
    expect(await one.ended).toEqual({ code: 0, signal: null });
    expect(words).toEqual(['loading', 'ready', 'draining']);
  } finally {
    await one.kill();
  }
});
