// The work budget: every pass pays before it runs, and a list within a budget is the same list as without one, or
// nothing. Random lists of random catalogues and of the sample, whose titles and abstracts have n-grams.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openData } from '../../data/open.ts';
import {
  type CollectionIndex,
  type Counters,
  countSelected,
  execute,
  type Hits,
  Meter,
  openSnapshot,
} from '../../engine/engine.ts';
import { COST } from '../../engine/find/passes.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Collection, Field } from '../../engine/schema/types.ts';
import { randomCatalogue, writeCatalogue } from '../differential/catalogues.ts';
import { type DataSet, dataSetIn } from '../differential/dataset.ts';
import { collectionIn } from '../differential/infer.ts';
import { LOOKUPS } from '../differential/lookups.ts';
import { encode } from '../differential/query.ts';
import { fieldsBehindIn, randomFieldPath, randomValue } from '../differential/requestFilters.ts';
import { randomOperand } from '../differential/requestOperands.ts';
import { askOf, listOf } from '../support/lists.ts';
import { rowsOf } from '../support/pages.ts';
import { type Random, randomOf } from '../support/random.ts';
import { times } from '../support/ring.ts';
import { SAMPLE, sampleSnapshot } from '../support/sampleSnapshot.ts';

const BASE_URL = 'http://catalogue.test';
const LISTS = times(75, 3000);

const isShown = ({ kind }: Field): boolean => kind !== 'opaque';

function randomCondition(random: Random, dataSet: DataSet, collection: Collection): string {
  const path = randomFieldPath(random, collection.fields.filter(isShown), fieldsBehindIn(dataSet));
  const records = dataSet.get(collection.name) ?? [];
  const lookup = random.pick([...LOOKUPS.filter((name) => !name.endsWith('regex')), 'exact', 'in', 'contains']);
  const operand = randomOperand(random, lookup, () => {
    const model = records.length > 0 ? random.pick(records).json : undefined;
    return randomValue(random, path, { json: model, dataSet });
  });
  const key = path.map(({ name }) => name).join('__');
  return `${key}__${lookup}${random.chance(0.2) ? '!' : ''}=${encode(operand.toWellFormed(), '+')}`;
}

function randomQuery(random: Random, dataSet: DataSet, collection: Collection): string {
  const names = collection.fields.filter(({ kind }) => kind === 'scalar' || kind === 'link').map(({ name }) => name);
  const several = (): string => random.several(1, 3, () => random.pick(names)).join();
  const members = random.several(0, 4, () => randomCondition(random, dataSet, collection));
  if (random.chance(0.3)) members.push(`ordering=${random.chance(0.5) ? '-' : ''}${several()}`);
  if (random.chance(0.3)) members.push(`facets=${several()}`);
  if (random.chance(0.3)) members.push(`offset=${random.integer(0, 200)}`);
  return members.join('&');
}

/** The minimum of nanoseconds to be paid for the counted work. The rows of a range are counted, but cost nothing. */
function leastNs({ bytesScanned, ...others }: Counters, hits: Hits | undefined): number {
  const elements = Object.values(others).reduce((sum, count) => sum + count, 0);
  const free = hits?.rows.kind === 'range' ? countSelected(hits.rows) : 0;
  return elements - free + bytesScanned * COST.byte.plain;
}

function shown(hits: Hits | undefined): unknown {
  return hits && { ...hits, rows: rowsOf(hits.rows) };
}

interface Ground {
  readonly dataSet: DataSet;
  collection(name: string): CollectionIndex;
}

/** `data` is what is served: the directory, or a snapshot of it. */
async function groundOf(directory: string, data = directory): Promise<Ground> {
  const opened = openSnapshot(await openData(data, { baseUrl: BASE_URL, threads: 0 }, () => undefined));
  return { dataSet: dataSetIn(directory), collection: (name) => opened.collection(name) };
}

function checkLists(random: Random, { dataSet, collection }: Ground, pick: () => string): void {
  for (let i = 0; i < LISTS; i++) {
    const name = pick();
    const index = collection(name);
    const declared = collectionIn(
      dataSet,
      COLLECTIONS.find((one) => one.name === name)!,
    );
    const query = randomQuery(random, dataSet, declared);
    if (askOf(index, query).problems.length > 0) continue;
    const { plan } = listOf(index, query, { form: { baseUrl: BASE_URL }, mayIgnore: true });
    const full = new Meter();
    const found = execute(index, plan, full);
    const expected = shown(found);
    expect(full.spent, `${name} ${query}`).toBeGreaterThanOrEqual(leastNs(full.counters, found));
    for (const part of [0, 2, random.integer(0, 100) / 100, random.integer(0, 100) / 100]) {
      const meter = new Meter(full.spent * part);
      const hits = execute(index, plan, meter);
      if (hits) expect(shown(hits), `${name} ${query} within ${part}`).toEqual(expected);
      expect(meter.spent, `${name} ${query} within ${part}`).toBeLessThanOrEqual(full.spent * part);
      expect(leastNs(meter.counters, hits), `${name} ${query} within ${part}`).toBeLessThanOrEqual(meter.spent);
    }
    expect(execute(index, plan, new Meter(Infinity, undefined, () => full.spent > 0)) === undefined).toBe(
      full.spent > 0,
    );
  }
}

describe.each([61, 62])('on the random catalogue of seed %i', (seed) => {
  const directory = mkdtempSync(join(tmpdir(), 'budget-'));
  const random = randomOf(seed);
  let ground: Ground;
  beforeAll(async () => {
    writeCatalogue(randomCatalogue(random), directory);
    ground = await groundOf(directory);
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  test('each pass pays before it runs, and no budget changes what a list shows', () => {
    checkLists(random, ground, () => random.pick(COLLECTIONS).name);
  });
});

test('on the sample each pass pays before it runs, and no budget changes what a list shows', async () => {
  const random = randomOf(63);
  const ground = await groundOf(SAMPLE, await sampleSnapshot());
  checkLists(random, ground, () => random.pick(['observations', random.pick(COLLECTIONS).name]));
});
