// Parquet export of a large catalogue from a server: every column of the observations equals the NDJSON, there are
// several row groups, and memory stays flat however often and however slowly files are read.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generate } from '../../data/synth/generate.ts';
import { holdingsOf, runServer } from '../support/commandProcess.ts';
import { imported, temporaryDirectory } from '../support/dataSets.ts';
import { askDuckDb, hasDuckDb, readParquet } from '../support/parquetFiles.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';
import { IS_WHOLE, times } from '../support/ring.ts';

const OBSERVATIONS = times(3000, 20_000);
const NOTES = 300_000;
/** Allowed growth of resident memory; the files are 8 MB, their records 65 MB. */
const GROWTH_BYTES_MAX = 64 << 20;
const STALLED = 24;
const LIST = '/api/v3/observations/?format=parquet';

const directory = temporaryDirectory();
let server: Awaited<ReturnType<typeof runServer>>;

beforeAll(async () => {
  const data = join(directory, 'data');
  await generate({ observations: OBSERVATIONS, seed: 9, directory: data }, () => undefined);
  const notes = Array.from({ length: NOTES }, (_, i) => `{"ob_id":${i},"n":${i % 7},"text":"${i % 3}"}\n`);
  writeFileSync(join(data, 'notes.ndjson'), notes.join(''));
  rmSync(join(data, 'MANIFEST.json'));
  const { file } = await imported(data, { file: join(directory, 'large.snapshot') });
  // Makes the allocator return freed memory to the system.
  const environment = { MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '131072' };
  server = await runServer(['--data', file, '--threads', '1', '--gzip', 'off'], { environment });
});
afterAll(() => server.kill());

async function fetched(target: string, name: string): Promise<string> {
  const answer = await fetch(server.url + target);
  expect(answer.status).toBe(200);
  writeFileSync(join(directory, name), Buffer.from(await answer.arrayBuffer()));
  return join(directory, name);
}

test.skipIf(!hasDuckDb)('exports every value of the observations as in NDJSON', async () => {
  const file = await fetched(LIST, 'observations.parquet');
  const { names, rows } = await readParquet(file);
  const lines = (await (await fetch(`${server.url}${LIST.replace('parquet', 'ndjson')}`)).text()).trimEnd().split('\n');
  expect([rows.length, lines.length]).toEqual([OBSERVATIONS, OBSERVATIONS]);
  const differences: string[] = [];
  lines.forEach((line, i) => {
    const record = JSON.parse(line) as Readonly<Record<string, unknown>>;
    rows[i]!.forEach((cell, column) => {
      const value = record[names[column]!];
      const isNested = typeof value === 'object' && value !== null;
      const found = isNested ? JSON.stringify(JSON.parse(String(cell))) : cell;
      const wanted = isNested ? JSON.stringify(value) : typeof value === 'number' ? String(value) : (value ?? null);
      if (found !== wanted) differences.push(`${names[column]}: ${JSON.stringify([found, wanted])}`);
    });
  });
  expect(differences).toEqual([]);
});

test.skipIf(!hasDuckDb)('exports several row groups as one table, with the ids of each', async () => {
  const file = await fetched('/api/v3/notes.parquet', 'notes.parquet');
  const sums = await askDuckDb(
    `SELECT count(*)::INT, sum(ob_id)::BIGINT, sum(n)::BIGINT, count(DISTINCT text)::INT FROM '${file}'`,
  );
  const n = Array.from({ length: NOTES }, (_, i) => i % 7).reduce((sum, one) => sum + one, 0);
  expect(sums.rows).toEqual([[NOTES, String((NOTES * (NOTES - 1)) / 2), String(n), 3]]);
  const groups = await askDuckDb(
    `SELECT stats_min_value::INT, stats_max_value::INT FROM parquet_metadata('${file}') WHERE path_in_schema = 'ob_id'`,
  );
  expect(groups.rows.length).toBe(3);
  groups.rows.slice(1).forEach(([least], i) => expect(least).toBe((groups.rows[i]![1] as number) + 1));
});

// Only Linux makes the memory of a process easy to read.
test.runIf(IS_WHOLE && existsSync('/proc/self/status'))(
  'keeps memory flat when files are read repeatedly, and when many are not read',
  async () => {
    // Starts the thread of the pool.
    await fetched(`${LIST}&ordering=-uuid`, 'again.parquet');
    await fetched(LIST, 'again.parquet');
    const before = holdingsOf(server.pid).residentBytes;
    const sockets: RawSocket[] = [];
    for (let i = 0; i < STALLED; i++) {
      const socket = await RawSocket.open(i % 2 === 0 ? server.port : server.http10Port, false);
      await socket.write(requestOf('GET', `${LIST}&ob_id!=${i % 4}`));
      sockets.push(socket);
    }
    for (let i = 0; i < 3; i++) await fetched(`${LIST}&ordering=-uuid&offset=${i}`, 'again.parquet');
    const growth = holdingsOf(server.pid).residentBytes - before;
    for (const socket of sockets) socket.vanish();
    expect(growth).toBeLessThan(GROWTH_BYTES_MAX);
  },
);
