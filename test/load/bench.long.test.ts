// The load bench at 100,000 observations as guards: ratios within one run, with tolerance for a shared machine.
// A scenario is skipped, and says so, where its control was too noisy; the count of scenarios is asserted.
import { beforeAll, expect, test } from 'vitest';
import { CACHE_DIRECTORY } from '../../bench/dataSet.ts';
import { runLoadBench, type ScenarioReport } from '../../bench/load.ts';
import { loadTable } from '../../bench/report.ts';
import { SCENARIOS } from '../../bench/scenarios.ts';
import { guardOf, verdictOf } from '../../bench/verdict.ts';

const OPTIONS = {
  observations: 100_000,
  seed: 1,
  cacheDirectory: CACHE_DIRECTORY,
  rounds: 7,
  only: [],
  requestsPart: 0.25,
  floorBytes: 256 << 20,
};

let reports: readonly ScenarioReport[] = [];

beforeAll(async () => {
  reports = await runLoadBench(OPTIONS, { onProgress: () => {}, onStep: () => {} });
  process.stderr.write(`${loadTable(reports)}\n`);
});

test('every scenario was measured', () => {
  expect(reports.map(({ scenario }) => scenario.name)).toEqual(SCENARIOS.map(({ name }) => name));
});

test.for(SCENARIOS.map((scenario) => [scenario.name, guardOf(scenario)] as const))(
  'scenario %s costs at most %d of its control',
  ([name, most], { skip }) => {
    const { ratio, scenario, control } = reports.find((report) => report.scenario.name === name)!;
    const isNoisy = verdictOf({ ...scenario, ratio, spread: control.spread }) === 'too noisy';
    skip(isNoisy, `not judged: the control spreads by ${(control.spread * 100).toFixed(0)} %`);
    expect(ratio).toBeLessThanOrEqual(most);
  },
);
