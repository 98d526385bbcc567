// Compares every lookup on every declared field of every collection, plain, negated and repeated, with the oracle's
// plain loops. Runs in process without a server, which allows thousands of queries. Each lookup has its own test, so
// that a wrong one fails one test. A failure prints the seed and at most ten queries.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
import { DisagreementReport, partingLines, refusalLine, type Disagreement } from './disagreements.ts';
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

const catalogue = randomCatalogue(randomOf(SEED));
const dataSet = dataSetOf(catalogue);
const directory = mkdtempSync(join(tmpdir(), 'lookups-'));
let collections: (name: string) => CollectionIndex;

beforeAll(async () => {
  writeCatalogue(catalogue, directory);
  const opened = openSnapshot(await openData(directory, { baseUrl: BASE_URL, threads: 0 }, () => undefined));
  collections = (name) => opened.collection(name);
});

afterAll(() => rmSync(directory, { recursive: true }));

/** The result of a query as text to compare: the ids in order, or the error. */
interface Found {
  readonly isRefused: boolean;
  readonly text: string;
}

function foundOf(ids: readonly unknown[]): Found {
  return { isRefused: false, text: `ids ${ids.join(' ')}, ${ids.length} in all` };
}

/** A refusal, with the first message of each key. */
function refusalOf(problems: readonly (readonly [key: string, message: string])[]): Found {
  return { isRefused: true, text: `refused: ${JSON.stringify(problems)}` };
}

function foundByReplica(name: string, query: string): Found {
  const collection = collections(name);
  const { ask, hits } = stepsOf(collection, query, SERVED);
  if (!hits) return refusalOf(ask.problems.map(({ key, messages }) => [key, messages[0]!]));
  const ids = idsIn(collection, hits);
  if (hits.count !== ids.length) return { isRefused: false, text: `${ids.length} ids, counted as ${hits.count}` };
  return foundOf(ids);
}

function foundByOracle(collection: Collection, query: string): Found {
  const settings = { strict: false, filterErrors: 'fail', filters: 'all' } as const;
  const judgement = judge(pairsOf(query), collection, { fields: [], keys: [] }, settings, (name) =>
    collectionOf(dataSet, name),
  );
  if (judgement.errors.length > 0) return refusalOf(judgement.errors.map(([key, messages]) => [key, messages[0]!]));
  const world: World = {
    text: (stored) => servedText(stored, { baseUrl: BASE_URL, version: 'v3', form: 'api' }),
    linked: (to, link) => linkedRecord(dataSet, to, link),
  };
  const records = dataSet.get(collection.name) ?? [];
  return foundOf(records.filter(({ fitted }) => matches(fitted, judgement.conditions, world)).map(({ id }) => id));
}

/** Every walk from the collection to a value or a relation, over at most `links` links. */
function pathsOf(fields: readonly Field[], links = 1): readonly (readonly Field[])[] {
  return fields
    .filter(({ kind }) => kind !== 'opaque')
    .flatMap((field) => {
      // genericLinks.test.ts has filters across generic links.
      const behind = isLink(field) ? fieldsBehindIn(dataSet)(field) : 'fields' in field ? field.fields : [];
      const inner = !isLink(field) || links > 0 ? pathsOf(behind, isLink(field) ? links - 1 : links) : [];
      return [[field], ...inner.map((path) => [field, ...path])];
    });
}

/** A lookup on a field with drawn operands, plain and negated, and twice in one query. */
function queriesOf(draws: Random, lookup: string, { collection, path }: Place, operands: number): readonly string[] {
  const records = dataSet.get(collection.name) ?? [];
  const draw = (): string => {
    const model = records.length > 0 ? draws.pick(records).json : undefined;
    return randomValue(draws, path, { json: model, dataSet });
  };
  const drawn = (): string => encode(randomOperand(draws, lookup, draw).toWellFormed(), '+');
  const first = drawn();
  const others = Array.from({ length: operands }, drawn);
  return ['', '!'].flatMap((negation) => {
    const condition = (operand: string): string => `${nameOf(path)}__${lookup}${negation}=${operand}`;
    return [...others.map(condition), `${condition(first)}&${condition(others[0]!)}`];
  });
}

/** Every name that a filter on the opened collection can walk to without a link. */
function namesIn(members: Members, before = ''): readonly string[] {
  return [...members.values()].flatMap((node) => {
    const name = before + node.name;
    return node.kind === 'values' ? [name] : [name, ...namesIn(node.members, `${name}__`)];
  });
}

/** A field of a collection, possibly of a linked record. */
interface Place {
  readonly collection: Collection;
  readonly path: readonly Field[];
}

const PLACES: readonly Place[] = COLLECTIONS.flatMap((declared) => {
  const collection = collectionIn(dataSet, declared);
  return pathsOf(collection.fields).map((path) => ({ collection, path }));
});

function nameOf(path: readonly Field[]): string {
  return path.map((field) => field.name).join('__');
}

const report = new DisagreementReport();

/**
 * Tests every lookup on every field, each with this many drawn operands. With steps, each lookup is tested on every
 * `steps.own`-th field, shifted from lookup to lookup, and on every `steps.linked`-th field of linked records. Cost: 10
 * s per operand on all fields, for 150,000 queries.
 */
export function testEveryLookup(operands: number, steps: Readonly<Record<'own' | 'linked', number>>): void {
  const askedBy = (lookup: number): readonly Place[] =>
    PLACES.filter(({ path }, i) =>
      path.slice(0, -1).some(isLink) ? i % steps.linked === 0 : (i + lookup) % steps.own === 0,
    );

  test.each(COLLECTIONS.map(({ name }) => name))(
    'the fields tested of %s are all that it has, inferred ones too',
    (name) => {
      const own = PLACES.filter(({ collection, path }) => collection.name === name && !path.slice(0, -1).some(isLink));
      const tested = own.map(({ path }) => nameOf(path));
      expect(tested.sort()).toEqual([...namesIn(collections(name).members)].sort());
    },
  );

  test('open collections and links are among what is tested, and every lookup is one of the replica', () => {
    expect(PLACES.filter(({ collection }) => collection.open).length).toBeGreaterThan(200);
    expect(PLACES.filter(({ path }) => path.slice(0, -1).some(isLink)).length).toBeGreaterThan(1000);
    expect(LOOKUPS.filter((lookup) => lookupNamed(lookup)?.name !== lookup)).toEqual([]);
  });

  test.each(LOOKUPS)('%s agrees with plain loops on every field of every collection', (lookup) => {
    const draws = randomOf(SEED);
    const disagreements: Disagreement[] = [];
    let queries = 0;
    for (const place of askedBy(LOOKUPS.indexOf(lookup))) {
      for (const query of queriesOf(draws, lookup, place, operands)) {
        queries++;
        const got = foundByReplica(place.collection.name, query);
        const expected = foundByOracle(place.collection, query);
        if (got.text !== expected.text) disagreements.push(disagreementOf(place, query, expected, got));
      }
    }
    const total = disagreements.length;
    if (total > 0) expect.fail(report.text(`seed ${SEED}`, disagreements, { total, asked: queries }));
  });
}

function disagreementOf({ collection }: Place, query: string, expected: Found, got: Found): Disagreement {
  const lines = [refusalLine(expected.isRefused, got.isRefused), ...partingLines(expected.text, got.text)];
  return { request: `/api/v3/${collection.name}/?${query}`, lines };
}

function isLink({ kind }: Field): boolean {
  return kind === 'link' || kind === 'links';
}
