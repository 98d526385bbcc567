// The load bench at 100,000 observations, checked against bench/budgets.json: ratios within one run, with the tolerance
// of CI. A scenario over its budget is measured again, up to eight times: more rounds average out other processes. A
// scenario is skipped with a message if it or its control was too noisy. The number of scenarios is asserted.
import { beforeAll, expect, test } from 'vitest';
import { CACHE_DIRECTORY } from '../../bench/load/dataSet.ts';
import { measuredRatio, runLoadBench, type ScenarioReport } from '../../bench/load/load.ts';
import { loadTable } from '../../bench/report/report.ts';
import { WARM_UP } from '../../bench/load/rounds.ts';
import { BUDGETS, guardedOf, mostOf, noiseText, placeOfBudget } from '../../bench/budgets.ts';
import { SCENARIOS } from '../../bench/scenarios/scenarios.ts';
import { IS_WHOLE } from '../support/ring.ts';
import { tableText } from '../../server/commands/terminal.ts';

/** The scenarios of CI, one per hot path. The nightly run has all. */
const HOT = ['304', 'record', 'walk', 'gzip', 'first', 'equality', 'contains', 'ordered'];
const MEASURED = SCENARIOS.map(({ name }) => name).filter((name) => IS_WHOLE || HOT.includes(name));
const OPTIONS = {
  observations: 100_000,
  seed: 1,
  cacheDirectory: CACHE_DIRECTORY,
  rounds: 7,
  only: MEASURED,
  requestsPart: 0.25,
  warmUp: WARM_UP / 0.25,
  floorBytes: 256 << 20,
  place: 'ci',
} as const;

let reports: readonly ScenarioReport[] = [];

/** Repeated measurements are logged. */
const onStep = (line: string): void => void (line.startsWith('measuring again') && process.stderr.write(`${line}\n`));

beforeAll(async () => {
  reports = await runLoadBench(OPTIONS, { onProgress: () => {}, onStep });
  process.stderr.write(`${tableText(loadTable(reports, 'ci'))}\n`);
});

test('measures every scenario of this run', () => {
  expect(reports.map(({ scenario }) => scenario.name)).toEqual(MEASURED);
});

test('finds the machine quiet enough for some scenarios', () => {
  const judged = reports.filter(({ control }) => control.spread <= BUDGETS.spreadMax);
  expect(judged.length).toBeGreaterThan(0);
});

test.for(MEASURED.map((name) => [name, mostOf(BUDGETS.ratios[name]!, 'ci')] as const))(
  'holds scenario %s to at most %d times its control',
  ([name], { skip }) => {
    const report = reports.find(({ scenario }) => scenario.name === name)!;
    const measured = measuredRatio(report);
    const guarded = guardedOf(measured, 'ci');
    skip(guarded === 'too noisy', `not judged: ${noiseText(measured)}`);
    expect(guarded, `${measured.ratio.toFixed(2)} is beyond ${placeOfBudget('ratios', name)}`).toBe('held');
  },
);
