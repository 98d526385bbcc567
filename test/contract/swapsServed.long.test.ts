// New data without a restart, under load on both ports, and of a directory. The rest is in swap.test.ts; many swaps,
// with memory, are in test/load/swaps.long.test.ts.
import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clientOf } from '../support/client.ts';
import { openFilesOf, runServer } from '../support/commandProcess.ts';
import { dataSetOf, temporaryDirectory } from '../support/dataSets.ts';
import { swappedServer, swapsUnderLoad, versionOf } from '../support/swaps.ts';

const directory = temporaryDirectory();
const LIST = '/api/v3/migrationproperties/';

test('under load, on both ports: no answer is lost, late or of two generations', async () => {
  const [a, b] = [await versionOf(directory, 'a', 80), await versionOf(directory, 'b', 81)];
  const server = await swappedServer(directory, a, ['--threads', '2']);
  try {
    const { faults, seen, waits } = await swapsUnderLoad(server, [a, b], { swaps: 6, clients: 4 });
    expect(faults).toEqual([]);
    expect([...seen].toSorted()).toEqual(['a', 'b']);
    expect(waits.length).toBeGreaterThan(20);
    const client = clientOf(server.url);
    const { headers } = await client.send({ method: 'HEAD', target: `${LIST}?limit=1` });
    client.close();
    expect(headers['x-generation']).toBe(a.generation.slice(0, 12));
  } finally {
    server.admin.close();
    await server.kill();
  }
});

test('of a directory too, and goes back to what was there', async () => {
  const data = dataSetOf(directory, { 'migrationproperties.ndjson': '{"id":1,"key":"a"}\n' });
  const one = await runServer(['--data', data, '--admin-port', '0', '--base-url', 'http://x.test', '--gzip', 'stored']);
  const [, origin] = await one.printed(/admin on (http:\/\/127\.0\.0\.1:\d+)\/status\n/);
  const [admin, client] = [clientOf(origin!), clientOf(one.url)];
  const ordered = async (path: string): Promise<unknown> =>
    (JSON.parse((await admin.send({ method: 'POST', target: path })).body) as { status: string }).status;
  const count = async (): Promise<unknown> =>
    (JSON.parse((await client.get(`${LIST}?limit=1`)).body) as { count: number }).count;
  expect([await ordered('/rollback'), await ordered('/reload')]).toEqual(['refused', 'unchanged']);
  appendFileSync(join(data, 'migrationproperties.ndjson'), '{"id":2,"key":"b"}\n');
  expect([await ordered('/reload'), await count()]).toEqual(['swapped', 2]);
  for (const left of [1, 2, 1]) expect([await ordered('/rollback'), await count()]).toEqual(['swapped', left]);
  // What is served, and what may be gone back to.
  expect(openFilesOf(one.pid, 'imported.snapshot')).toHaveLength(2);
  expect(readdirSync(data)).toEqual(['migrationproperties.ndjson']);
  admin.close();
  client.close();
  await one.kill();
});
