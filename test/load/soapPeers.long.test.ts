// The attribute authority beside its controls, gSOAP's server in C and node soap: the ratios of the design, and
// budgets. A peer that cannot be had is left out, which is said.
import { beforeAll, expect, test } from 'vitest';
import { guardedOf, noiseText, placeOfBudget } from '../../bench/budgets.ts';
import { CALL_SCENARIOS } from '../../bench/authority/callScenarios.ts';
import { CACHE_DIRECTORY } from '../../bench/load/dataSet.ts';
import { soapTable } from '../../bench/report/report.ts';
import { WARM_UP } from '../../bench/load/rounds.ts';
import { runSoapBench, type SoapReport } from '../../bench/authority/soapBench.ts';
import { tableText } from '../../server/commands/terminal.ts';

const OPTIONS = { cacheDirectory: CACHE_DIRECTORY, rounds: 7, requestsPart: 0.5, warmUp: WARM_UP / 0.5 };
const BUDGET_NAMES = [
  ['gSOAP in C', 'gsoap'],
  ['node soap', 'nodeSoap'],
] as const;

let reports: readonly SoapReport[] = [];

beforeAll(async () => {
  const onStep = (line: string): void => void (line.startsWith('left out') && process.stderr.write(`${line}\n`));
  reports = await runSoapBench(OPTIONS, { onStep });
  process.stderr.write(`${tableText(soapTable(reports))}\n`);
});

test('every call was measured beside its control', () => {
  const controls = reports.filter(({ beside }) => beside === 'bare' || beside === 'signature');
  expect(controls.map(({ scenario }) => scenario)).toEqual(CALL_SCENARIOS);
});

test.for(BUDGET_NAMES)('getTrustedHostInfo keeps its budget beside %s', ([peer, name], { skip }) => {
  const report = reports.find(({ beside }) => beside === peer);
  skip(report === undefined, 'not raced: see above');
  const { ratio, subject, other } = report!;
  const spreads = { spread: other.spread, ownSpread: subject.spread };
  const guarded = guardedOf({ name, ratio, ...spreads }, 'ci');
  skip(guarded === 'too noisy', `not judged: ${noiseText(spreads)}`);
  expect(guarded, `${ratio.toFixed(2)} is beyond ${placeOfBudget('ratios', name)}`).toBe('held');
});
