// Every bench once, small: it checks responses, measures each scenario, and prints a table. No times are asserted;
// test/load/bench.long.test.ts compares the scenarios with their budgets at full size.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { CALL_SCENARIOS } from '../../../bench/authority/callScenarios.ts';
import { runSoapBench } from '../../../bench/authority/soapBench.ts';
import { BUDGETS, MICRO_BUDGETS, placeOfBudget } from '../../../bench/budgets.ts';
import { startLoadClient } from '../../../bench/client/loadClient.ts';
import { runArrivals } from '../../../bench/load/arrivals.ts';
import { prepareDataSet } from '../../../bench/load/dataSet.ts';
import { runLoadBench, type ScenarioReport } from '../../../bench/load/load.ts';
import { runMixedBench } from '../../../bench/load/mixed.ts';
import { growthsOf, runSizes } from '../../../bench/load/sizes.ts';
import { runStartBench } from '../../../bench/load/startBench.ts';
import { libcScanner } from '../../../bench/micro/libcScan.ts';
import { runMicroBench } from '../../../bench/micro/micro.ts';
import { runImportRace } from '../../../bench/peers/importRace.ts';
import { runPeerBench } from '../../../bench/peers/peerBench.ts';
import { DJANGO_PEER } from '../../../bench/peers/peers.ts';
import { familyOf } from '../../../bench/processes/ending.ts';
import { writePage } from '../../../bench/report/page.ts';
import { loadTable, microTable, startTable, waitTable } from '../../../bench/report/report.ts';
import { checkQuestions } from '../../../bench/scenarios/check.ts';
import { choiceFor } from '../../../bench/scenarios/choice.ts';
import { readNaively } from '../../../bench/scenarios/naive.ts';
import { CATALOGUE_SCENARIOS, SCENARIOS } from '../../../bench/scenarios/scenarios.ts';
import { runProgram } from '../../support/commandProcess.ts';
import { temporaryDirectory } from '../../support/dataSets.ts';
import { hasProgram } from '../../support/debian.ts';
import { hasDjango } from '../../support/django.ts';
import { until } from '../../support/waits.ts';

const cacheDirectory = temporaryDirectory();
const DATA = { observations: 200, seed: 5, cacheDirectory };
const LOAD = { ...DATA, rounds: 1, requestsPart: 0.004, warmUp: 1, floorBytes: 1 << 20 };
const QUIET = { onProgress: () => {}, onStep: () => {} };
const BENCH = fileURLToPath(new URL('../../../bench/bench.ts', import.meta.url));

test('measures every load scenario next to its control, and writes its page after each', async () => {
  const file = join(cacheDirectory, 'report.html');
  const pages: string[] = [];
  const onReports = (measured: readonly ScenarioReport[], missing: number): void => {
    writePage(file, measured, { place: 'ci', missing });
    pages.push(readFileSync(file, 'utf8'));
  };
  const reports = await runLoadBench({ ...LOAD, rounds: 2, only: [] }, { ...QUIET, onReports });
  expect(pages).toHaveLength(2 * SCENARIOS.length);
  expect(pages[0]).toContain(`<h1>Running: ${SCENARIOS.length - 1} scenarios are missing</h1>`);
  for (const [i, { name }] of SCENARIOS.entries()) {
    expect(pages[i]).toContain(`<td>${name}</td>`);
    expect(pages[i]!.match(/<rect /g)).toHaveLength(i + 1);
  }
  writePage(file, reports, { place: 'ci', missing: 0 });
  expect(readFileSync(file, 'utf8')).toMatch(/<h1>(?:Passed|Not passed)[^]*<svg /);
  expect(readdirSync(cacheDirectory)).not.toContain('report.html.partial');
  expect(reports.map(({ scenario }) => scenario)).toEqual(SCENARIOS);
  for (const { scenario, requests, ratio, hash } of reports) {
    expect(requests).toBe(Math.max(1, Math.round(scenario.requests * LOAD.requestsPart)));
    expect(ratio).toBeGreaterThan(0);
    expect(hash).toMatch(/^[0-9a-f]{16}$/);
  }
  const notFound = createHash('sha256').update('{"detail":"Not found."}').digest('hex').slice(0, 16);
  expect(reports.find(({ scenario }) => scenario.name === 'tiny')?.hash).toBe(notFound);
  expect(loadTable(reports, 'ci')).toHaveLength(SCENARIOS.length + 1);
});

/** A tree that was not cloned has no revisions. */
const isClone = existsSync(new URL('../../../.git', import.meta.url));

test.skipIf(!isClone)('races another revision in the same rounds', async () => {
  const [report] = await runLoadBench({ ...LOAD, only: ['tiny'], against: 'HEAD' }, QUIET);
  expect(report?.against?.ratio).toBeGreaterThan(0);
  const unknown = runLoadBench({ ...LOAD, only: ['tiny'], against: 'no-such-revision' }, QUIET);
  await expect(unknown).rejects.toThrow('--against: git knows no revision no-such-revision');
});

test('compares catalogues of several sizes for growth', async () => {
  const sizes = await runSizes({ ...LOAD, only: ['tiny', 'offset'] }, [200, 100], QUIET);
  expect(sizes.map(({ observations }) => observations)).toEqual([100, 200]);
  expect(growthsOf(sizes).map(({ scenario, points }) => [scenario.name, points.length])).toEqual([
    ['tiny', 2],
    ['offset', 2],
  ]);
});

test('measures waits next to a heavy client and at a fixed rate', async () => {
  const mixed = await runMixedBench({ ...DATA, rounds: 1, cheapRequests: 5000 }, QUIET);
  const arrivals = await runArrivals({ ...DATA, rounds: 1, arrivals: 300 }, QUIET);
  const names = [...mixed, ...arrivals].map(({ name }) => name);
  expect(names).toEqual(['mixedP99', 'mixedP999', 'mixedTime', 'arrivalsP50', 'arrivalsP99', 'arrivalsP999']);
  for (const name of names) expect(BUDGETS.ratios, placeOfBudget('ratios', name)).toHaveProperty(name);
  for (const { ratio } of [...mixed, ...arrivals]) expect(ratio).toBeGreaterThan(0);
  expect(waitTable(mixed, 'ci')).toHaveLength(mixed.length + 1);
});

test('starts the sample and the snapshot in the start bench', async () => {
  const reports = await runStartBench({ ...DATA, rounds: 1, threads: [1] }, () => {});
  expect(reports.map(({ what }) => what)).toEqual(['the embedded sample', 'the snapshot']);
  for (const { wallMs, cpuMs } of reports) expect([wallMs[0]! > 0, cpuMs[0]! > 0]).toEqual([true, true]);
  expect(startTable(reports)).toHaveLength(3);
});

test('compares the micro-benchmarks with their slow references, and has a budget for each', async () => {
  const reports = await runMicroBench({ ...DATA, rounds: 2, only: [], batchMs: 1, bits: 4096 }, () => {});
  for (const { ratio, hash } of reports) {
    expect(ratio).toBeGreaterThan(0);
    expect(hash).toMatch(/^[0-9a-f]{16}$/);
  }
  expect(microTable(reports, 'ci')).toHaveLength(reports.length + 1);
  const hasCompiler = libcScanner(new Uint8Array(1)) !== undefined;
  const budgets = Object.keys(MICRO_BUDGETS.ratios).filter((name) => hasCompiler || name !== 'memmem');
  expect(reports.map(({ name }) => name).toSorted(), 'micro of bench/budgets.json').toEqual(budgets.toSorted());
});

test('measures the authority next to its controls and node soap', async () => {
  const reports = await runSoapBench({ rounds: 1, warmUp: 1, requestsPart: 0.002, cacheDirectory }, QUIET);
  const compared = reports.map(({ scenario: { name }, beside }) => `${name} ${beside}`);
  expect(compared.filter((text) => !text.endsWith('gSOAP in C'))).toEqual([
    'trustedHosts bare',
    'trustedHosts node soap',
    ...CALL_SCENARIOS.slice(1).map(({ name }) => `${name} signature`),
  ]);
  for (const { ratio } of reports) expect(ratio).toBeGreaterThan(0);
});

/** Does some work without the programs of the PATH: the peers of npm cannot be installed. */
async function withoutPath<T>(work: () => Promise<T>): Promise<T> {
  const path = process.env['PATH'];
  process.env['PATH'] = temporaryDirectory();
  try {
    return await work();
  } finally {
    process.env['PATH'] = path;
  }
}

test('measures an import if no peer can be installed', async () => {
  const { subject, peers } = await withoutPath(() => runImportRace({ ...DATA, rounds: 1 }, QUIET));
  expect(peers).toEqual([]);
  expect([subject.fileBytes > 100_000, subject.peakBytes > 10_000_000]).toEqual([true, true]);
  expect(subject.cpuSeconds.least).toBeGreaterThan(0);
});

const hasDjangoPeer = hasDjango && hasProgram('gunicorn');

test.skipIf(!hasDjangoPeer)('measures Django REST Framework, whose records equal those of the replica', async () => {
  const reports = await withoutPath(() => runPeerBench({ ...LOAD, only: [] }, QUIET));
  const measured = reports.filter(({ peers }) => peers.some(({ peer, ratio }) => peer === DJANGO_PEER && ratio > 1));
  expect(measured.map(({ question }) => question.name)).toEqual(['list', 'offset', 'record', 'equality']);
});

/** A server whose body depends on the path and on the number of earlier requests for it. */
async function withServer(
  respond: (path: string, times: number) => readonly [status: number, body: string],
  work: (port: number) => Promise<void>,
): Promise<void> {
  const times = new Map<string, number>();
  const server = createServer(({ url = '' }, response) => {
    times.set(url, (times.get(url) ?? 0) + 1);
    const [status, body] = respond(url, times.get(url)!);
    response.writeHead(status, { 'Content-Length': Buffer.byteLength(body) }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}

test.each([
  ['tiny', 'the status of', () => [200, '{"detail":"Not found."}'] as const],
  ['record', 'is another record', () => [200, '{"ob_id":1}'] as const],
  ['list', 'holds other records', () => [200, '{"count":200,"next":"x","previous":null,"results":[]}'] as const],
  [
    'tiny',
    'has a second answer',
    (_: string, times: number) => [404, `{"detail":"${times === 1 ? 'Not found.' : '?'}"}`] as const,
  ],
])('refuses a wrong response to the scenario %s before measuring: %s', async (name, message, respond) => {
  const { directory } = await prepareDataSet(DATA, () => {});
  const choice = choiceFor(await readNaively(directory));
  const questions = CATALOGUE_SCENARIOS.find((scenario) => scenario.name === name)!.questions(choice);
  await withServer(respond, (port) =>
    expect(checkQuestions(port, questions, choice.catalogue)).rejects.toThrow(message),
  );
});

test('stops the load client at a response of another status, length or digest', async () => {
  const client = startLoadClient();
  const respond = (path: string, times: number) =>
    [path === '/b' ? 500 : 200, path === '/c' && times > 3 ? 'more' : 'four'] as const;
  try {
    await withServer(respond, async (port) => {
      const run = (target: string, expected: { readonly bytes: number; readonly digest?: string }) =>
        client.run({
          port,
          requests: 8,
          connections: 2,
          withinMs: 10_000,
          exchanges: [{ target, status: 200, ...expected }],
        });
      const digest = createHash('sha256').update('four').digest('hex');
      await expect(run('/a', { bytes: 4, digest })).resolves.toMatchObject({ requests: 8, bodyBytes: 32 });
      await expect(run('/a', { bytes: 5 })).rejects.toThrow('/a: got status 200 and 4 bytes, expected 200 and 5');
      await expect(run('/b', { bytes: 4 })).rejects.toThrow('got status 500');
      await expect(run('/c', { bytes: 4, digest })).rejects.toThrow(/^\/c: another body, of digest [0-9a-f]{64}$/);
    });
  } finally {
    await client.stop();
  }
});

test('reports flags without effect on a run as a usage error', async () => {
  const { ended, err } = runProgram(process.execPath, [BENCH, '--peers', '--only', 'tiny']);
  expect((await ended).code).toBe(2);
  expect(err()).toContain("option '--peers' cannot be used with option '--only <name>'");
});

test('leaves no process and no folder if a signal ends a bench', async () => {
  const { directory, snapshot } = await prepareDataSet(DATA, () => {});
  const folders = temporaryDirectory();
  const words = [BENCH, '--data-set', directory, '--snapshot', snapshot, '--rounds', '1000000'];
  const only = ['--only', 'tiny', '--only', 'trustedHosts'];
  const running = runProgram(process.execPath, [...words, ...only], { environment: { TMPDIR: folders } });
  await running.printed(/measuring, round 1 /);
  const [, ...children] = familyOf(running.pid);
  expect(readdirSync(folders)).not.toEqual([]);
  running.signal('SIGTERM');
  expect(await running.ended).toEqual({ code: 143, signal: null });
  // A server, the control and the load client.
  expect(children.length).toBeGreaterThanOrEqual(3);
  await until(() => children.every((pid) => !existsSync(`/proc/${pid}/exe`)));
  expect(readdirSync(folders)).toEqual([]);
});
