// Proves that the guards work: builds with a planted defect exceed their budgets by more than the tolerance of CI.
// bench.long.test.ts checks in the same way that the unchanged tree does not. No product code contains the defects: a
// module hook injects them while the server starts (test/support/defects/).
import { expect, test } from 'vitest';
import { BUDGETS, guardedOf, noiseText, placeOfBudget, type BudgetVerdict } from '../../bench/budgets.ts';
import { CACHE_DIRECTORY } from '../../bench/load/dataSet.ts';
import { measuredRatio, runLoadBench, type ScenarioReport } from '../../bench/load/load.ts';
import { someOf } from '../support/ring.ts';

const PLANT = new URL('../support/defects/plant.ts', import.meta.url).href;
const QUIET = { onProgress: () => {}, onStep: () => {} };
const OPTIONS = {
  observations: 100_000,
  seed: 1,
  cacheDirectory: CACHE_DIRECTORY,
  rounds: 7,
  requestsPart: 0.25,
  warmUp: 20,
  floorBytes: 256 << 20,
} as const;

/** Each defect with a scenario whose budget it must exceed. */
const DEFECTS = [
  ['hop', 'first', 'a hop for every list'],
  ['copy', 'walk', 'a JavaScript copy out of shared memory'],
  ['freshBuffer', 'walk', 'a fresh buffer for every page'],
  ['recordWrites', 'walk', 'a write for every record'],
  ['stringify', 'walk', 'JSON.stringify for every request'],
] as const;

function outcomeOf(report: ScenarioReport): BudgetVerdict {
  return guardedOf(measuredRatio(report), 'ci');
}

function told({ scenario, ratio }: ScenarioReport): string {
  return `${scenario.name} at ${ratio.toFixed(2)}, at most ${BUDGETS.ratios[scenario.name]!.most} by ${placeOfBudget('ratios', scenario.name)}`;
}

// The bench does not measure again here: exceeding the budget is the expected result.
test.for(someOf(DEFECTS, 1))('detects the defect %s in the scenario %s: %s', async ([defect, name], { skip }) => {
  const [report] = await runLoadBench({ ...OPTIONS, only: [name], preload: `${PLANT}?defect=${defect}` }, QUIET);
  process.stderr.write(`${defect}: ${told(report!)}\n`);
  skip(outcomeOf(report!) === 'too noisy', `not judged: ${noiseText(measuredRatio(report!))}`);
  expect(outcomeOf(report!), told(report!)).toBe('lost');
});
