// Compares the attribute authority with its controls, gSOAP's server in C and node soap: the targeted ratios, and
// budgets. An unavailable peer is skipped with a message.
import { beforeAll, expect, test } from 'vitest';
import { guardedOf, noiseText, placeOfBudget } from '../../bench/budgets.ts';
import { CALL_SCENARIOS } from '../../bench/authority/callScenarios.ts';
import { SOAP_PEERS } from '../../bench/authority/soapPeers.ts';
import { CACHE_DIRECTORY } from '../../bench/load/dataSet.ts';
import { soapTable } from '../../bench/report/report.ts';
import { WARM_UP } from '../../bench/load/rounds.ts';
import { runSoapBench, soapRatios, type SoapReport } from '../../bench/authority/soapBench.ts';
import { tableText } from '../../server/commands/terminal.ts';

const OPTIONS = { cacheDirectory: CACHE_DIRECTORY, rounds: 7, requestsPart: 0.5, warmUp: WARM_UP / 0.5 };
const BUDGET_NAMES = SOAP_PEERS.map(({ name, budget }) => [name, budget] as const);

let reports: readonly SoapReport[] = [];

beforeAll(async () => {
  const onStep = (line: string): void => void (line.startsWith('left out') && process.stderr.write(`${line}\n`));
  reports = await runSoapBench(OPTIONS, { onStep });
  process.stderr.write(`${tableText(soapTable(reports))}\n`);
});

test('measures every call next to its control', () => {
  const controls = reports.filter(({ beside }) => beside === 'bare' || beside === 'signature');
  expect(controls.map(({ scenario }) => scenario)).toEqual(CALL_SCENARIOS);
});

test.for(BUDGET_NAMES)('keeps the budget of getTrustedHostInfo compared with %s', ([, budget], { skip }) => {
  const measured = soapRatios(reports).find(({ name }) => name === budget);
  skip(measured === undefined, 'not raced: see above');
  const guarded = guardedOf(measured!, 'ci');
  skip(guarded === 'too noisy', `not judged: ${noiseText(measured!)}`);
  expect(guarded, `${measured!.ratio.toFixed(2)} is beyond ${placeOfBudget('ratios', budget)}`).toBe('held');
});
