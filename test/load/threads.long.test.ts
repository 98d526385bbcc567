// Serving threads share one copy of the data: each further thread takes only its scratch memory and the runtime's,
// whatever it serves, and no burst makes it keep more. Linux only, like the rest of the bench.
import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CACHE_DIRECTORY, prepareDataSet } from '../../bench/load/dataSet.ts';
import { startServer } from '../../bench/processes/processes.ts';
import { type Client, clientOf } from '../support/client.ts';
import { holdingsOf, runCommand } from '../support/commandProcess.ts';

const OPTIONS = { observations: 100_000, seed: 1, cacheDirectory: CACHE_DIRECTORY };
const THREADS = [1, 4] as const;
const LIST = '/api/v3/observations/';
const PAGES = 200;
/** Memory of a further thread, as a fraction of the snapshot: a copy would take all of it. */
const PART_MOST = 0.15;

/**
 * Resident memory of a server with `threads` threads, after connections spread over all of them have read many pages.
 */
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

test('adds a small fraction of the served data to memory per further serving thread', async () => {
  const { snapshot } = await prepareDataSet(OPTIONS, () => {});
  const [few, many] = [await residentWith(THREADS[0], snapshot), await residentWith(THREADS[1], snapshot)];
  const perThread = (many - few) / (THREADS[1] - THREADS[0]);
  const part = perThread / statSync(snapshot).size;
  process.stderr.write(`a thread more takes ${(perThread / 1e6).toFixed(0)} MB, ${part.toFixed(2)} of the snapshot\n`);
  expect(part).toBeLessThan(PART_MOST);
});

/** Concurrent requests of every kind that allocates much for a moment. */
const BURST = 100;
const ROUNDS = 10;
const KINDS: readonly ((at: number) => string)[] = [
  (at) => `?limit=100&offset=${(at * 37) % 90_000}`,
  (at) => `?title__icontains=a${at}`,
  (at) => `?limit=300&format=csv&offset=${at}`,
  (at) => `?facets=status&offset=${at}`,
  (at) => `?ordering=-title&limit=20&offset=${at}`,
  (at) => `?uuid__in=a,b,c,d,${at}&strict=1`,
];
/** Both halves that objects move between, 4 MB each. In a thread without limits they are 4 times as large. */
const YOUNG_KB_MOST = 8192;

test('keeps no memory after a burst of requests: the heaps of young objects stay as they are', async () => {
  const { snapshot } = await prepareDataSet(OPTIONS, () => {});
  const args = ['serve', '--data', snapshot, '--port', '0', '--threads', '1', '--gzip', 'live'];
  const command = runCommand(args, { node: ['--trace-gc', '--trace-gc-verbose'] });
  const [, url] = await command.printed(/listening on (http:\S+)\n/);
  const clients = Array.from({ length: BURST }, () => clientOf(url!));
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const ask = (client: Client, at: number): Promise<unknown> =>
        client.get(LIST + KINDS[at % KINDS.length]!(round * BURST + at));
      await Promise.all(clients.map(ask));
    }
  } finally {
    for (const client of clients) client.close();
    await command.kill();
  }
  const sizes = [...command.out().matchAll(/:(0x\w+)\] New space,.* committed: +(\d+) KB/g)];
  // The first to collect is the supervisor, which reads the data alone.
  const supervisor = sizes[0]?.[1];
  const ofThreads = sizes.filter(([, heap]) => heap !== supervisor).map(([, , size]) => Number(size));
  expect(ofThreads.length).toBeGreaterThan(10);
  expect(Math.max(...ofThreads)).toBeLessThanOrEqual(YOUNG_KB_MOST);
});
