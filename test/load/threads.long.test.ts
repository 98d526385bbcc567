// Serving threads share one copy of the data: a thread more takes its own scratch and the runtime's, whatever is
// served. Linux only, as the rest of the bench.
import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CACHE_DIRECTORY, prepareDataSet } from '../../bench/load/dataSet.ts';
import { startServer } from '../../bench/processes/processes.ts';
import { clientOf } from '../support/client.ts';
import { holdingsOf } from '../support/commandProcess.ts';

const OPTIONS = { observations: 100_000, seed: 1, cacheDirectory: CACHE_DIRECTORY };
const THREADS = [1, 4] as const;
const LIST = '/api/v3/observations/';
const PAGES = 200;
/** What a thread more may take of the snapshot: a copy would be all of it. */
const PART_MOST = 0.15;

/** What a server with so many threads has resident once connections, dealt to all threads, have read pages all over. */
async function residentWith(threads: number, snapshot: string): Promise<number> {
  const server = await startServer(snapshot, { threads, flags: ['--gzip', 'live'] });
  try {
    for (let page = 0; page < PAGES; page++) {
      const client = clientOf(`http://127.0.0.1:${server.port}`);
      const offset = Math.floor((OPTIONS.observations * page) / PAGES);
      for (const query of ['', 'publicationState=citable&', 'fields=title&', 'ordering=uuid&']) {
        expect((await client.get(`${LIST}?${query}offset=${offset}`)).status).toBe(200);
      }
      client.close();
    }
    return holdingsOf(server.pid).residentBytes;
  } finally {
    await server.stop();
  }
}

test('a serving thread more takes a small part of what is served', async () => {
  const { snapshot } = await prepareDataSet(OPTIONS, () => {});
  const [few, many] = [await residentWith(THREADS[0], snapshot), await residentWith(THREADS[1], snapshot)];
  const perThread = (many - few) / (THREADS[1] - THREADS[0]);
  const part = perThread / statSync(snapshot).size;
  process.stderr.write(`a thread more takes ${(perThread / 1e6).toFixed(0)} MB, ${part.toFixed(2)} of the snapshot\n`);
  expect(part).toBeLessThan(PART_MOST);
});
