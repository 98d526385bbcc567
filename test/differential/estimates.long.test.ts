// What the planner expects against what is true: exact where it says so, bounds everywhere else, on random catalogues
// and on the sample, whose abstracts have an n-gram index. The truth is a plain loop over the rows of the condition's
// table.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openData } from '../../data/open.ts';
import { type Counters, newCounters, openSnapshot, type CollectionIndex, type Plan } from '../../engine/engine.ts';
import { textAt } from '../../engine/column/dictionary.ts';
import type { FieldIndex } from '../../engine/index/field.ts';
import type { ConditionStep } from '../../engine/find/conditionStep.ts';
import { locate, locateField, type ManyStep } from '../../engine/query/path.ts';
import { holdsForNulls } from '../../engine/find/nulls.ts';
import type { LinkNode, PlanStep, TableNode } from '../../engine/find/plan.ts';
import { viewStepsOf } from '../../engine/find/viewCost.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Collection, Field } from '../../engine/schema/types.ts';
import { planOf, stepsOf } from '../support/lists.ts';
import { randomOf, type Random } from '../support/random.ts';
import { randomCatalogue, writeCatalogue } from './catalogues.ts';
import { dataSetIn, type DataSet } from './dataset.ts';
import { collectionIn, collectionOf } from './infer.ts';
import type { Json } from './json.ts';
import { judge } from './judge.ts';
import { servedText } from './links.ts';
import { LOOKUPS } from './lookups.ts';
import { encode, pairsOf } from './query.ts';
import { fieldsBehindIn, randomFieldPath, randomValue } from './requestFilters.ts';
import { randomOperand } from './requestOperands.ts';

const BASE_URL = 'http://catalogue.test';
const SERVED = { options: { limitDefault: 1 }, form: { baseUrl: BASE_URL } };
const SAMPLE = fileURLToPath(new URL('../../data/sample', import.meta.url));
/** As many rows as the planner looks up of a condition or relation. */
const FEW = 64;
const EXACT: readonly string[] = ['nothing', 'posting list', 'code range', 'code list'];

interface Ground {
  readonly dataSet: DataSet;
  collection(name: string): CollectionIndex;
}

async function groundOf(directory: string): Promise<Ground> {
  const opened = openSnapshot(await openData(directory, { baseUrl: BASE_URL, threads: 0 }, () => undefined));
  return { dataSet: dataSetIn(directory), collection: (name) => opened.collection(name) };
}

/** The value of a row as JSON, as the oracle's tests take it. */
function valueOf({ dictionary, codeAt }: FieldIndex, row: number): Json {
  const code = codeAt(row);
  if (code >= dictionary.size) return { kind: 'null' };
  const text = Buffer.from(textAt(dictionary, code)).toString();
  if (code >= dictionary.fitting) return { kind: 'misfit', text };
  if (dictionary.type === 'boolean') return { kind: 'boolean', value: text === 'true' };
  if (dictionary.type === 'integer' || dictionary.type === 'float') return { kind: 'number', token: text };
  return { kind: 'string', value: dictionary.type === 'link' ? `{base_url}/api/v3/x/${text}/?format=api` : text };
}

/** How many rows of its table fulfil the one condition of a query, by the oracle's test. */
function truthOf(ground: Ground, name: string, query: string, step: ConditionStep): number {
  const collection = collectionIn(
    ground.dataSet,
    COLLECTIONS.find((one) => one.name === name)!,
  );
  const settings = { strict: false, filterErrors: 'fail', filters: 'all' } as const;
  const judged = judge(pairsOf(query), collection, [], settings, (other) => collectionOf(ground.dataSet, other));
  const { test: fits } = judged.conditions[0]!;
  const text = (stored: string): string => servedText(stored, { baseUrl: BASE_URL, version: 'v3', form: 'api' });
  const { index } = locateField(ground.collection(name), step.path);
  let count = 0;
  for (let row = 0; row < index.rows; row++) if (fits(valueOf(index, row), text)) count++;
  return count;
}

/** The relations from the records to the one condition of a plan, outermost first, and the condition. */
function chainOf({ node, excluded }: Plan): {
  readonly relations: readonly (TableNode | LinkNode)[];
  readonly step: ConditionStep;
} {
  const relations: (TableNode | LinkNode)[] = [];
  let step: PlanStep = (excluded[0] ?? node).steps[0]!;
  while (step.kind !== 'condition') {
    relations.push(step);
    step = step.steps[0]!;
  }
  return { relations, step };
}

/** Compares the plan of a query with one condition to the truth. */
function judgeEstimates(ground: Ground, name: string, query: string): void {
  const collection = ground.collection(name);
  const counters = newCounters();
  const { plan: planned, hits } = stepsOf(collection, query, { ...SERVED, counters });
  if (!planned) return;
  const { count } = hits!;
  const { relations, step } = chainOf(planned);
  const truth = truthOf(ground, name, query, step);
  // A row check is about the rows that are left.
  if (step.access !== 'row check') expect(step.estimate, `${query}: rows`).toBeGreaterThanOrEqual(truth);
  if (EXACT.includes(step.access) && step.operand.values.length <= FEW) expect(step.estimate, query).toBe(truth);
  const [tree] = planned.excluded.length > 0 ? planned.excluded : [planned.node];
  const found = planned.excluded.length > 0 ? collection.rows - count : count;
  expect(tree!.estimate, `${query}: records`).toBeGreaterThanOrEqual(found);
  const isNullSearch = step.lookup === 'isnull' && step.operand.values[0] === 'true';
  const isFew = relations.slice(1).every(({ reaches }) => reaches <= FEW);
  if (relations.length > 0 && step.estimate <= FEW && EXACT.includes(step.access) && isFew && !isNullSearch) {
    expect(tree!.estimate, `${query}: records that few rows lead to`).toBe(found);
  }
  expect(counters.joinSteps, `${query}: join steps`).toBeLessThanOrEqual(tree!.joinSteps);
  expect(counters.bytesScanned, `${query}: text`).toBeLessThanOrEqual(tree!.scanBytes);
}

const roots = ({ fields }: Collection): readonly Field[] => fields.filter(({ kind }) => kind !== 'opaque');

function randomCondition(random: Random, { dataSet }: Ground, name: string): string {
  const collection = collectionIn(
    dataSet,
    COLLECTIONS.find((one) => one.name === name)!,
  );
  const path = randomFieldPath(random, roots(collection), fieldsBehindIn(dataSet));
  const records = dataSet.get(name) ?? [];
  const draw = (): string => {
    const model = records.length > 0 ? random.pick(records).json : undefined;
    return randomValue(random, path, { json: model, dataSet });
  };
  const key = path.map((field) => field.name).join('__');
  const lookup = random.pick([...LOOKUPS, 'exact', 'exact', 'in', 'contains']);
  return `${key}__${lookup}${random.chance(0.2) ? '!' : ''}=${encode(randomOperand(random, lookup, draw).toWellFormed(), '+')}`;
}

type Most = Pick<Counters, 'bytesScanned' | 'joinSteps' | 'rowsTouched'>;

/** What a plan says that finding its page costs at most: the sums of its tree and of each that is excluded. */
function mostWork(collection: CollectionIndex, { node, excluded, page }: Plan): Most {
  const trees = [node, ...excluded];
  const touched = trees.map((tree, i) => mostTouched(collection, tree, i === 0 ? collection.rows : node.estimate));
  return {
    bytesScanned: trees.reduce((sum, { scanBytes }) => sum + scanBytes, 0),
    joinSteps: trees.reduce((sum, { joinSteps }) => sum + joinSteps, 0),
    rowsTouched: touched.reduce((sum, one) => sum + one, page.limit),
  };
}

/** The rows that the steps on one table make sets of or check one by one at most; `left` of its rows are asked. */
function mostTouched(collection: CollectionIndex, { steps }: TableNode | LinkNode, left: number): number {
  let sum = 0;
  for (const step of steps) {
    if (step.kind === 'condition')
      sum += step.access === 'row check' ? left : Math.max(step.estimate, step.rowsGathered);
    else {
      const many = step.kind === 'table' && (locate(collection, step.table)!.steps.at(-1) as ManyStep).table;
      // Rows without a related row are looked for among all that are around.
      if (many && holdsForNulls(step)) sum += many.starts!.length - 1;
      const related = many ? many.rows : locateField(collection, (step as LinkNode).link).link!.to().rows;
      sum += step.estimate + mostTouched(collection, step, related);
    }
    left = Math.min(left, step.kind === 'condition' ? step.estimate : step.reaches);
  }
  return sum;
}

/** Compares what a query does with what its plan says that it does at most. */
function judgeWork(ground: Ground, name: string, query: string): void {
  const collection = ground.collection(name);
  const counters = newCounters();
  const { plan: planned, hits } = stepsOf(collection, query, { ...SERVED, counters, mayIgnore: true });
  if (!planned) return;
  expect(planned.node.estimate, `${name}?${query}: records`).toBeGreaterThanOrEqual(hits!.count);
  const most = mostWork(collection, planned);
  for (const part of Object.keys(most) as (keyof Most)[])
    expect(counters[part], `${name}?${query}: ${part}`).toBeLessThanOrEqual(most[part]);
}

/** Names to order by, or to count by, fewer than there may be. */
function randomNames(random: Random, { members }: CollectionIndex): string {
  const names = [...members].filter(([, { kind }]) => kind === 'values').map(([name]) => name);
  return random.several(1, 5, () => (random.chance(0.3) ? '-' : '') + random.pick(names)).join();
}

/** Compares what an order and facets look at with what they are priced at before. */
function judgeView(ground: Ground, name: string, query: string): void {
  const collection = ground.collection(name);
  const counters = newCounters();
  const { plan: planned } = stepsOf(collection, query, { ...SERVED, counters, mayIgnore: true });
  if (!planned) return;
  const { node, excluded, page, form } = planned;
  const estimate = node.steps.length + excluded.length > 0 ? node.estimate : undefined;
  const steps = viewStepsOf(collection, page, form, estimate);
  // Of all records those of each value are known.
  const counted = estimate === undefined ? 0 : counters.rowsCounted;
  expect(counters.rowsOrdered + counted, `${name}?${query}: view`).toBeLessThanOrEqual(steps);
}

function judgeRandomView(random: Random, ground: Ground, name: string): void {
  const collection = ground.collection(name);
  const view = [`limit=${random.pick([1, 100, 5000])}`, `offset=${random.integer(0, collection.rows)}`];
  if (random.chance(0.8)) view.push(`ordering=${randomNames(random, collection)}`);
  if (random.chance(0.5)) view.push(`facets=${randomNames(random, collection).replaceAll('-', '')}`);
  if (random.chance(0.6)) view.push(randomCondition(random, ground, name));
  judgeView(ground, name, view.join('&'));
}

const SEEDS = [51, 52, 53];
const CONDITIONS = 1500;

describe.each(SEEDS)('on the random catalogue of seed %i', (seed) => {
  const directory = mkdtempSync(join(tmpdir(), 'estimates-'));
  const random = randomOf(seed);
  let ground: Ground;
  beforeAll(async () => {
    writeCatalogue(randomCatalogue(random), directory);
    ground = await groundOf(directory);
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  test('estimates are exact where the codes are known, and bounds where they are not', () => {
    for (let i = 0; i < CONDITIONS; i++) {
      const { name } = random.pick(COLLECTIONS);
      judgeEstimates(ground, name, randomCondition(random, ground, name));
    }
  });

  test('no list does more than its plan says', () => {
    for (let i = 0; i < CONDITIONS; i++) {
      const { name } = random.pick(COLLECTIONS);
      const conditions = random.several(1, 5, () => randomCondition(random, ground, name));
      judgeWork(ground, name, conditions.join('&'));
    }
  });

  test('no order and no facet looks at more than it is priced at', () => {
    for (let i = 0; i < CONDITIONS; i++) judgeRandomView(random, ground, random.pick(COLLECTIONS).name);
  });

  test('the rows of more values than are counted are bounded', () => {
    for (const { name } of COLLECTIONS) {
      const collection = ground.collection(name);
      for (const [field, node] of collection.members) {
        if (node.kind !== 'values') continue;
        const { dictionary } = node.index;
        const own = Array.from({ length: dictionary.size }, (_, code) =>
          Buffer.from(textAt(dictionary, code)).toString(),
        );
        const others = Array.from({ length: FEW + 1 }, (_, i) => String(i));
        const values = [...own.filter((text) => !/[,{\0]/.test(text)), ...others].map((text) => encode(text, '+'));
        judgeEstimates(ground, name, `${field}__in=${values.join(',')}`);
      }
    }
  });
});

describe('on the sample', () => {
  const SEED = 54;
  let ground: Ground;
  beforeAll(async () => {
    ground = await groundOf(SAMPLE);
  });

  test('estimates are exact or bounds', () => {
    const random = randomOf(SEED);
    for (let i = 0; i < CONDITIONS / 3; i++) {
      const { name } = random.chance(0.7)
        ? COLLECTIONS.find((one) => one.name === 'observations')!
        : random.pick(COLLECTIONS);
      judgeEstimates(ground, name, randomCondition(random, ground, name));
    }
  });

  test('no list does more than its plan says', () => {
    const random = randomOf(SEED + 1);
    for (let i = 0; i < CONDITIONS; i++) {
      const { name } = random.chance(0.7)
        ? COLLECTIONS.find((one) => one.name === 'observations')!
        : random.pick(COLLECTIONS);
      const conditions = random.several(1, 5, () => randomCondition(random, ground, name));
      judgeWork(ground, name, conditions.join('&'));
    }
  });

  test('no order and no facet looks at more than it is priced at', () => {
    const random = randomOf(SEED + 2);
    for (let i = 0; i < CONDITIONS; i++) judgeRandomView(random, ground, 'observations');
  });

  test('the longest texts are what a check of rows through links may meet', () => {
    judgeWork(ground, 'observations', 'procedureComputation__identifier_set__url__contains=xyz');
  });

  test.each(['wind', 'Saharan', 'xyz', 'the', 'é', 'ocean temperature', 'a', 'zzzz'])(
    'n-grams of %s bound the rows and the text that a search has to look at',
    (needle) => {
      for (const lookup of ['contains', 'icontains', 'endswith', 'iexact', 'istartswith']) {
        judgeEstimates(ground, 'observations', `abstract__${lookup}=${encode(needle, '+')}`);
      }
    },
  );

  test('rare n-grams are told from common ones', () => {
    const collection = ground.collection('observations');
    const estimateOf = (needle: string): ConditionStep =>
      chainOf(planOf(collection, `abstract__contains=${needle}`, SERVED)).step;
    expect(estimateOf('wind').access).toBe('n-gram');
    expect(estimateOf('qqq').estimate).toBe(0);
    expect(estimateOf('wind').estimate).toBeLessThanOrEqual(collection.rows);
  });
});
