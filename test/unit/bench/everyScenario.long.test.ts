// The load bench run small with all its scenarios: that it checks answers, measures each, and says what it did. No
// times are asserted; test/load/bench.long.test.ts holds them to their budgets at full size.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { runLoadBench } from '../../../bench/load/load.ts';
import { loadTable } from '../../../bench/report/report.ts';
import { SCENARIOS } from '../../../bench/scenarios/scenarios.ts';
import { temporaryDirectory } from '../../support/dataSets.ts';
import { tableText } from '../../../server/commands/terminal.ts';

const DATA = { observations: 200, seed: 5, cacheDirectory: temporaryDirectory() };
const QUIET = { onProgress: () => {}, onStep: () => {} };

test('the load bench checks and measures every scenario beside its control, on a small catalogue', async () => {
  const options = { ...DATA, rounds: 2, only: [], requestsPart: 0.004, warmUp: 1, floorBytes: 1 << 20 };
  const reports = await runLoadBench(options, QUIET);
  expect(reports.map(({ scenario }) => scenario)).toEqual(SCENARIOS);
  for (const { scenario, requests, subject, control, ratio, hash } of reports) {
    expect(requests).toBe(Math.max(1, Math.round(scenario.requests * options.requestsPart)));
    expect(subject.least).toBeGreaterThan(0);
    expect(control.least).toBeGreaterThan(0);
    expect(ratio).toBeGreaterThan(0);
    expect(hash).toMatch(/^[0-9a-f]{16}$/);
  }
  const notFound = createHash('sha256').update('{"detail":"Not found."}').digest('hex').slice(0, 16);
  expect(reports.find(({ scenario }) => scenario.name === 'tiny')?.hash).toBe(notFound);
  const lines = tableText(loadTable(reports, 'ci')).split('\n');
  expect(lines).toHaveLength(SCENARIOS.length + 1);
  expect(lines[0]).toMatch(/^scenario .* ratio .* verdict +budget +guard +hash$/);
});
