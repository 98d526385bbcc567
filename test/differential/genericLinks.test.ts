// Filters that cross generic links, compared with the oracle: which records match, or that the query is refused. Other
// rings rarely draw such filters, because a path must lead to a relatedTo first.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openData } from '../../data/open.ts';
import { execute, openSnapshot } from '../../engine/engine.ts';
import { plan } from '../../engine/find/plan.ts';
import type { Collection, Field } from '../../engine/schema/types.ts';
import { parseListQuery } from '../../engine/query/parse.ts';
import { QUERY_OPTIONS } from '../support/lists.ts';
import { rowsOf } from '../support/pages.ts';
import { type Random, randomOf } from '../support/random.ts';
import { times } from '../support/ring.ts';
import { randomCatalogue, writeCatalogue } from './catalogues.ts';
import { type DataSet, dataSetOf } from './dataset.ts';
import { collectionOf } from './infer.ts';
import { oracle, type OracleSettings } from './oracle.ts';
import { SEED_MS_MAX } from './ring.ts';
import { fieldsBehindIn, randomFieldPath, randomFilters, randomSibling } from './requestFilters.ts';

const FORM = { baseUrl: 'http://h', version: 'v3', linkEnd: '/?format=api' } as const;
const SETTINGS: OracleSettings = {
  baseUrl: FORM.baseUrl,
  links: 'spec',
  limitMax: undefined,
  strict: false,
  filterErrors: 'fail',
  filters: 'all',
};
const QUERIES = times(40, 2000);
const NAMES = ['identifiers', 'rpis', 'ipps', 'acquisitions', 'migrationproperties', 'observations', 'onlineresources'];
const directory = mkdtempSync(join(tmpdir(), 'generic-'));
afterAll(() => rmSync(directory, { recursive: true }));

function crosses(path: readonly Field[]): boolean {
  return path.some(({ name }, i) => ['relatedTo', 'ob_ref'].includes(name) && i + 1 < path.length);
}

function randomQuery(random: Random, dataSet: DataSet, { name, fields }: Collection): string {
  const behind = fieldsBehindIn(dataSet);
  let path: readonly Field[] = [];
  const columns = fields.filter(({ kind }) => kind !== 'opaque');
  for (let i = 0; i < 200 && !crosses(path); i++) path = randomFieldPath(random, columns, behind);
  const others = random.several(0, 2, () => randomSibling(random, path, behind));
  const records = dataSet.get(name)!;
  const model = { json: records.length > 0 ? random.pick(records).json : undefined, dataSet };
  return [path, ...others].flatMap((one) => randomFilters(random, one, model)).join('&');
}

test.each([1, 2, 3])(
  'generic links lead filters to the records of their collections, seed %i',
  async (seed) => {
    const random = randomOf(seed);
    const texts = randomCatalogue(random);
    const data = join(directory, String(seed));
    writeCatalogue(texts, data);
    const dataSet = dataSetOf(texts);
    const catalogue = openSnapshot(await openData(data, { baseUrl: FORM.baseUrl, threads: 0 }, () => undefined));
    let matched = 0;
    for (let i = 0; i < QUERIES; i++) {
      const name = random.pick(NAMES);
      const query = randomQuery(random, dataSet, collectionOf(dataSet, name));
      const target = `/api/v3/${name}/?${query}&limit=999`;
      const expected = oracle(dataSet, SETTINGS, { method: 'GET', target, headers: {} });
      const collection = catalogue.collection(name);
      const ask = parseListQuery(collection, `${query}&limit=999`, QUERY_OPTIONS);
      expect(ask.problems.length > 0 ? 400 : 200, target).toBe(expected.status);
      if (expected.status !== 200) continue;
      const hits = execute(collection, plan(collection, ask, FORM))!;
      const ids = rowsOf(hits.rows).map((row) => collection.ids.dictionary.numbers![row]!);
      const { results } = JSON.parse(expected.body!) as { results: Record<string, number>[] };
      expect(ids, target).toEqual(results.map((record) => record[collection.declaration.idField]));
      if (ids.length > 0 && ids.length < collection.rows) matched++;
    }
    // Otherwise the draws compare nothing.
    expect(matched).toBeGreaterThan(0);
  },
  SEED_MS_MAX,
);
