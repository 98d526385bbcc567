// Waiting times of clients, checked against the budgets as ratios of interleaved rounds within one run: cheap requests
// during a heavy one, and requests at a fixed rate. Skipped with a message if the control varies too much.
import { beforeAll, expect, test } from 'vitest';
import { guardedOf, noiseText, placeOfBudget } from '../../bench/budgets.ts';
import { CACHE_DIRECTORY } from '../../bench/load/dataSet.ts';
import { runArrivals } from '../../bench/load/arrivals.ts';
import { runMixedBench } from '../../bench/load/mixed.ts';
import type { WaitReport } from '../../bench/load/waits.ts';

const OPTIONS = {
  observations: 100_000,
  seed: 1,
  cacheDirectory: CACHE_DIRECTORY,
  rounds: 7,
  cheapRequests: 16_000,
  arrivals: 5000,
};

let reports: readonly WaitReport[] = [];

beforeAll(async () => {
  const onStep = (line: string): void => void process.stderr.write(`${line}\n`);
  const observer = { onProgress: () => {}, onStep };
  reports = [...(await runMixedBench(OPTIONS, observer)), ...(await runArrivals(OPTIONS, observer))];
});

test.for([
  ['mixedP99', '99 of 100 cheap responses during a heavy client'],
  ['mixedP999', '999 of 1,000 cheap responses there'],
  ['mixedTime', 'all cheap responses during a heavy client'],
  ['arrivalsP50', 'half of the responses at 70 % of the peak'],
  ['arrivalsP99', '99 of 100 responses there'],
  ['arrivalsP999', '999 of 1,000 responses there'],
] as const)('%s: holds the waits of %s to their budget', ([name], { skip }) => {
  const { ratio, spread, what } = reports.find((report) => report.name === name)!;
  const told = `${what}: ${ratio.toFixed(2)}, the control's middle round is ${(spread * 100).toFixed(0)} % above the least`;
  process.stderr.write(`${told}\n`);
  const guarded = guardedOf({ name, ratio, spread }, 'ci');
  skip(guarded === 'too noisy', `not judged: ${noiseText({ spread })}`);
  expect(guarded, `${told}; beyond ${placeOfBudget('ratios', name)}`).toBe('held');
});
