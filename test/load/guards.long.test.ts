// The guards bite: builds with a planted defect pass their budgets, by the tolerance of CI; that the tree as it is does
// not is what bench.long.test.ts judges, in the same way. No product code knows of the defects: a module hook puts them
// in place while the server starts (test/support/defects/).
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

/** Each defect with a scenario whose budget it must pass. */
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

// What is lost on purpose is not measured again to see whether it is.
test.for(someOf(DEFECTS, 1))('%s is caught by %s: %s', async ([defect, name], { skip }) => {
  const [report] = await runLoadBench({ ...OPTIONS, only: [name], preload: `${PLANT}?defect=${defect}` }, QUIET);
  process.stderr.write(`${defect}: ${told(report!)}\n`);
  skip(outcomeOf(report!) === 'too noisy', `not judged: ${noiseText(measuredRatio(report!))}`);
  expect(outcomeOf(report!), told(report!)).toBe('lost');
});
