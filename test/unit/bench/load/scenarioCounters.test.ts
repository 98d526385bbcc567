// The scenarios of the load bench as counts, held to bench/budgets.json: the guards without noise. No clock, no
// sockets.
import { beforeAll, describe, expect, test } from 'vitest';
import { BUDGETS, placeOfBudget } from '../../../../bench/budgets.ts';
import { choiceFor } from '../../../../bench/scenarios/choice.ts';
import { prepareDataSet } from '../../../../bench/load/dataSet.ts';
import { readNaively } from '../../../../bench/scenarios/naive.ts';
import { BENCH_BASE_URL } from '../../../../bench/processes/processes.ts';
import { CATALOGUE_SCENARIOS } from '../../../../bench/scenarios/scenarios.ts';
import { loadSnapshot } from '../../../../data/store/load.ts';
import { openSnapshot } from '../../../../engine/engine.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { countsOf, type Counts } from '../../../support/scenarioCounts.ts';

const cacheDirectory = temporaryDirectory();
const counts = new Map<string, Counts>();

/**
 * Those that ask the engine for rows in the plain form; 304 and gzip are counted by tests of their own, and pages for
 * people are none of the engine.
 */
const COUNTED = CATALOGUE_SCENARIOS.filter(({ name }) => !/^(?:304$|gzip|table$)/.test(name));
const NAMES = COUNTED.map(({ name }) => name);

beforeAll(async () => {
  const data = await prepareDataSet({ observations: 1000, seed: 5, cacheDirectory }, () => {});
  const choice = choiceFor(await readNaively(data.directory));
  const loaded = await loadSnapshot(data.snapshot, { baseUrl: BENCH_BASE_URL }, () => {});
  const observations = openSnapshot(loaded).collection('observations');
  for (const { name, questions } of COUNTED) {
    const [question] = questions(choice);
    counts.set(name, countsOf(observations, question!));
  }
});

test('every scenario in the plain form has a budget of counts, and every such budget a scenario', () => {
  expect(Object.keys(BUDGETS.counters).toSorted(), 'counters of bench/budgets.json').toEqual(NAMES.toSorted());
});

describe.each(NAMES)('one request of %s', (name) => {
  const { most, reason } = BUDGETS.counters[name] ?? { most: {}, reason: '' };
  test.each(Object.entries(most))(`counts, as %s, at most %d: ${reason}`, (counter, limit) => {
    expect(counts.get(name)).toHaveProperty(counter);
    const place = placeOfBudget('counters', name);
    expect(counts.get(name)![counter as keyof Counts], `${counter} is beyond ${place}`).toBeLessThanOrEqual(limit);
  });
});

test.each([
  ['offset', 'list'],
  ['deep', 'first'],
  ['orderedDeep', 'ordered'],
])('%s does the work of %s: the same rows, postings, copies and hops', (deep, near) => {
  const workOf = ({ rowsTouched, postingsVisited, rowsOrdered, hops }: Counts) => {
    return { rowsTouched, postingsVisited, rowsOrdered, hops };
  };
  expect(workOf(counts.get(deep)!)).toEqual(workOf(counts.get(near)!));
});
