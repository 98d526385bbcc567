// Measures how long lists occupy a serving thread, including those that move to the pool, and prints the result as
// JSON. It is a separate program because vitest transforms imports: loops that call imported functions take up to 5
// times as long. usage: node listTimes.ts SEED
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openData } from '../../data/open.ts';
import { generate } from '../../data/synth/generate.ts';
import { type CollectionIndex, type List, Meter, openSnapshot } from '../../engine/engine.ts';
import { COST, intersectRows } from '../../engine/find/passes.ts';
import { BUDGET_NS, routerOver } from '../../workers/router.ts';
import { RowSetCache } from '../../workers/rowSetCache.ts';
import { randomConjunction } from './conjunctions.ts';
import { askOf, listOf } from './lists.ts';
import { type Random, randomOf } from './random.ts';
import { STAYING } from './requests.ts';

/** A list, and the ratio of its time to that of a pass that costs the whole budget by the table of costs. */
export interface ListTime {
  readonly ratio: number;
  readonly query: string;
}

const OBSERVATIONS = 100_000;
const QUERIES = 1000;
/** The control is measured again after this many queries, because the speed of a machine changes during a run. */
const QUERIES_PER_CONTROL = 20;
const TRIES = 14;
const BASE_URL = 'http://catalogue.test';
const ORDERS = ['title', '-title', 'status,-dataPublishedTime', 'uuid', '-ob_id', 'language,title'];
const FACETS = ['status', 'language,status', 'title', 'projects', 'publicationState,dataPublishedTime'];

/** Expensive lists: many have an order or facets as well as conditions, and some a list of thousands of members. */
function randomList(observations: CollectionIndex, random: Random): string {
  const parts = random.chance(0.8) ? [randomConjunction(observations, random)] : [];
  if (random.chance(0.4)) parts.push(`ordering=${random.pick(ORDERS)}`);
  if (random.chance(0.3)) parts.push(`facets=${random.pick(FACETS)}`);
  if (random.chance(0.2)) parts.push(`offset=${random.integer(0, OBSERVATIONS)}`);
  if (random.chance(0.1)) {
    const members = Array.from({ length: random.integer(1, 2000) }, () => random.integer(1, OBSERVATIONS));
    parts.push(`ob_id__in=${members.join()}`);
  }
  return parts.join('&');
}

/** Larger than the caches of a core. */
const OTHER = new Int32Array(8 << 18);

function coolCaches(): void {
  for (let i = 0; i < OTHER.length; i += 16) OTHER[i]!++;
}

/** The least time of TRIES, in ns. */
function leastNs(work: () => unknown): number {
  let least = Infinity;
  for (let i = 0; i < TRIES; i++) {
    coolCaches();
    const start = process.hrtime.bigint();
    void work();
    least = Math.min(least, Number(process.hrtime.bigint() - start));
  }
  return least;
}

/** The time to intersect two lists of rows that cost the whole budget. */
function controlNs(): number {
  const length = BUDGET_NS / COST.row / 2;
  const rows = (step: number): Uint32Array => Uint32Array.from({ length }, (_, i) => step * i);
  const [a, b] = [2, 3].map((step) => ({ kind: 'list', rows: rows(step) }) as const);
  return leastNs(() => intersectRows(new Meter(), a!, b!));
}

function findNs(list: List): number {
  return leastNs(() => {
    const cache = new RowSetCache(16 << 20);
    const router = routerOver({ generation: 'g', cache, runHeavy: () => Promise.resolve('busy') });
    return router.find(list, STAYING);
  });
}

const seed = Number(process.argv[2]);
const directory = mkdtempSync(join(tmpdir(), 'lists-'));
try {
  await generate({ observations: OBSERVATIONS, seed, directory, gzip: false }, () => undefined);
  const opened = await openData(directory, { baseUrl: BASE_URL, threads: 2 }, () => undefined);
  const observations = openSnapshot(opened).collection('observations');
  const random = randomOf(seed);
  const times: ListTime[] = [];
  let control = 0;
  for (let i = 0; i < QUERIES; i++) {
    if (i % QUERIES_PER_CONTROL === 0) control = controlNs();
    const query = randomList(observations, random);
    if (askOf(observations, query).problems.length > 0) continue;
    times.push({ ratio: findNs(listOf(observations, query, { form: { baseUrl: BASE_URL } })) / control, query });
  }
  process.stdout.write(JSON.stringify(times.sort((a, b) => b.ratio - a.ratio)));
} finally {
  rmSync(directory, { recursive: true });
}
