// A snapshot spread over many memories gives the same responses as in one memory: pages of rows anywhere, in every
// form, and filters.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { loadSnapshot } from '../../data/store/load.ts';
import { type ServedForm, SPEC_LINK_END } from '../../engine/column/served.ts';
import type { Selection } from '../../engine/index/rowset.ts';
import type { CollectionIndex } from '../../engine/index/table.ts';
import { jsonRows, measured, ndjsonRows } from '../../engine/page/rows.ts';
import { openSnapshot } from '../../engine/snapshot/open.ts';
import { temporaryDirectory } from '../support/dataSets.ts';
import { hitsOf } from '../support/lists.ts';
import { textOf } from '../support/pages.ts';
import { randomOf } from '../support/random.ts';
import { snapshotOf } from '../support/snapshots.ts';

const SAMPLE = fileURLToPath(new URL('../../data/sample/observations.ndjson', import.meta.url));
const STORED = 'http://catalogue.example.org';
const SEED = 77;
const ROUNDS = 60;
/**
 * Bytes of a run of records and of a memory: a memory holds several runs, and the positions of links are in another
 * memory than their bytes.
 */
const RUN_BYTES = 30_000;
const MEMORY_BYTES = 65_536;

const directory = temporaryDirectory();
let whole: CollectionIndex;
let parted: CollectionIndex;

beforeAll(async () => {
  const file = join(directory, 'parted.snapshot');
  await snapshotOf(file, { observations: readFileSync(SAMPLE, 'utf8') }, RUN_BYTES);
  whole = openSnapshot(await loadSnapshot(file, { baseUrl: STORED })).collection('observations');
  const loaded = await loadSnapshot(file, { baseUrl: STORED, memoryBytesMax: MEMORY_BYTES });
  expect(loaded.memories.length).toBeGreaterThan(10);
  parted = openSnapshot(loaded).collection('observations');
});

test('returns the same pages of rows from many memories as from one, anywhere and in every form', () => {
  const forms: readonly ServedForm[] = [STORED, 'https://elsewhere.example/catalogue'].flatMap((baseUrl) =>
    (['v2', 'v3'] as const).flatMap((version) =>
      [SPEC_LINK_END, '.json?format=json'].map((linkEnd) => ({ baseUrl, version, linkEnd })),
    ),
  );
  for (let round = 0; round < ROUNDS; round++) {
    const random = randomOf(SEED + round);
    const start = random.integer(0, whole.rows);
    const some = random.several(1, 80, () => random.integer(0, whole.rows));
    const rows: Selection = random.chance(0.4)
      ? { kind: 'range', start, end: random.integer(start, whole.rows + 1) }
      : { kind: 'sequence', rows: Uint32Array.from(some) };
    const keys = random.chance(0.3) ? new Set(['title', 'procedureComputation', 'projects', 'ob_id']) : undefined;
    const served = { rows, form: random.pick(forms), keys };
    for (const read of [jsonRows, ndjsonRows]) {
      const [one, other] = [whole, parted].map(({ records }) => textOf(measured(read({ records, ...served }))));
      expect(other === one, `seed ${SEED + round}`).toBe(true);
    }
  }
});

test.each([
  'title__contains=a',
  'abstract__contains=data',
  'abstract__icontains=The',
  'status=completed&publicationState=citable',
  'status=completed&publicationState!=citable&title__contains=e',
])('finds the same rows in many memories as in one: %s', (query) => {
  const [one, other] = [whole, parted].map((collection) => {
    const { count, rows } = hitsOf(collection, query, { options: { limitDefault: 50 }, form: { baseUrl: STORED } });
    return { count, rows };
  });
  expect(one!.count).toBeGreaterThan(0);
  expect(other).toEqual(one);
});
