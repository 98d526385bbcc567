// Every lookup on every declared field of every collection, plain and negated, against the oracle's plain loops.
// One generated test a collection and field, in process: no server, so that there can be thousands of queries.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openData } from '../../data/open.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Collection, Field } from '../../engine/schema/types.ts';
import { openSnapshot, type CollectionIndex } from '../../engine/engine.ts';
import { lookupNamed } from '../../engine/query/lookups.ts';
import type { Members } from '../../engine/index/table.ts';
import { idsIn, stepsOf } from '../support/lists.ts';
import { randomOf, type Random } from '../support/random.ts';
import { randomCatalogue, writeCatalogue } from './catalogues.ts';
import { dataSetOf, linkedRecord } from './dataset.ts';
import { matches, type World } from './filters.ts';
import { collectionIn, collectionOf } from './infer.ts';
import { judge } from './judge.ts';
import { servedText } from './links.ts';
import { LOOKUPS } from './lookups.ts';
import { encode, pairsOf } from './query.ts';
import { fieldsBehindIn, randomValue } from './requestFilters.ts';
import { randomOperand } from './requestOperands.ts';

const SEED = 41;
const BASE_URL = 'http://catalogue.test';
const SERVED = { options: { limitDefault: 100_000 }, form: { baseUrl: BASE_URL } };
/** Operands drawn for each lookup: one that hits, mostly, and one more. */
const OPERANDS = 3;

const random = randomOf(SEED);
const catalogue = randomCatalogue(random);
const dataSet = dataSetOf(catalogue);
const directory = mkdtempSync(join(tmpdir(), 'lookups-'));
let collections: (name: string) => CollectionIndex;

beforeAll(async () => {
  writeCatalogue(catalogue, directory);
  const opened = openSnapshot(await openData(directory, { baseUrl: BASE_URL, threads: 0 }, () => undefined));
  collections = (name) => opened.collection(name);
});

afterAll(() => rmSync(directory, { recursive: true }));

/** What a query finds: the ids in order, or what is wrong with it. */
type Found = { readonly ids: readonly string[] } | { readonly problems: readonly (readonly [string, string])[] };

function foundByReplica(name: string, query: string): Found {
  const collection = collections(name);
  const { ask, hits } = stepsOf(collection, query, SERVED);
  if (!hits) return { problems: ask.problems.map(({ key, messages }) => [key, messages[0]!]) };
  const ids = idsIn(collection, hits).map(String);
  expect(hits.count).toBe(ids.length);
  return { ids };
}

function foundByOracle(collection: Collection, query: string): Found {
  const settings = { strict: false, filterErrors: 'fail', filters: 'all' } as const;
  const judgement = judge(pairsOf(query), collection, [], settings, (name) => collectionOf(dataSet, name));
  if (judgement.errors.length > 0) return { problems: judgement.errors.map(([key, messages]) => [key, messages[0]!]) };
  const world: World = {
    text: (stored) => servedText(stored, { baseUrl: BASE_URL, version: 'v3', form: 'api' }),
    linked: (to, link) => linkedRecord(dataSet, to, link),
  };
  const records = dataSet.get(collection.name) ?? [];
  const found = records.filter(({ json }) => matches(json, judgement.conditions, world));
  return { ids: found.map(({ id }) => String(id)) };
}

/** Every walk from the collection to a value or a relation, over at most so many links. */
function pathsOf(fields: readonly Field[], links = 1): readonly (readonly Field[])[] {
  return fields
    .filter(({ kind }) => kind !== 'opaque')
    .flatMap((field) => {
      const isLink = field.kind === 'link' || field.kind === 'links';
      const behind = fieldsBehindIn(dataSet)(field);
      const inner = !isLink || links > 0 ? pathsOf(behind, isLink ? links - 1 : links) : [];
      return [[field], ...inner.map((path) => [field, ...path])];
    });
}

function queriesOf(draws: Random, collection: Collection, path: readonly Field[]): readonly string[] {
  const records = dataSet.get(collection.name) ?? [];
  const name = path.map((field) => field.name).join('__');
  const draw = (): string => {
    const model = records.length > 0 ? draws.pick(records).json : undefined;
    return randomValue(draws, path, { json: model, dataSet });
  };
  return LOOKUPS.flatMap((lookup) =>
    Array.from({ length: OPERANDS }, () => encode(randomOperand(draws, lookup, draw).toWellFormed(), '+')).flatMap(
      (operand) => ['', '!'].map((negation) => `${name}__${lookup}${negation}=${operand}`),
    ),
  );
}

/** Every name that a filter on the opened collection can walk to without a link. */
function namesIn(members: Members, before = ''): readonly string[] {
  return [...members.values()].flatMap((node) => {
    const name = before + node.name;
    return node.kind === 'values' ? [name] : [name, ...namesIn(node.members, `${name}__`)];
  });
}

test.each(COLLECTIONS.map(({ name }) => name))(
  'the fields tested of %s are all that it has, inferred ones too',
  (name) => {
    const declared = COLLECTIONS.find((one) => one.name === name)!;
    const tested = pathsOf(collectionIn(dataSet, declared).fields, 0).map((path) =>
      path.map((field) => field.name).join('__'),
    );
    expect([...tested].sort()).toEqual([...namesIn(collections(name).members)].sort());
  },
);

test('open collections and links are among what is tested, and every lookup is one of the replica', () => {
  const paths = COLLECTIONS.flatMap((one) => pathsOf(collectionIn(dataSet, one).fields).map((path) => ({ one, path })));
  const isLink = ({ kind }: Field): boolean => kind === 'link' || kind === 'links';
  expect(paths.filter(({ one }) => one.open).length).toBeGreaterThan(200);
  expect(paths.filter(({ path }) => path.slice(0, -1).some(isLink)).length).toBeGreaterThan(1000);
  expect(LOOKUPS.filter((lookup) => lookupNamed(lookup)?.name !== lookup)).toEqual([]);
});

describe.each(COLLECTIONS.map(({ name }) => name))(
  'every lookup on every field of %s agrees with plain loops:',
  (name) => {
    const collection = collectionIn(
      dataSet,
      COLLECTIONS.find((one) => one.name === name)!,
    );
    const paths = pathsOf(collection.fields).map((path) => [path.map((field) => field.name).join('__'), path] as const);

    test.each(paths)('%s', (_, path) => {
      for (const query of queriesOf(random, collection, path)) {
        expect(foundByReplica(name, query), `seed ${SEED}: ${query}`).toEqual(foundByOracle(collection, query));
      }
    });
  },
);
