// The benches run small, each once: that they measure every scenario and say what they did. No times are asserted.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { CALL_SCENARIOS } from '../../../bench/authority/callScenarios.ts';
import { runSoapBench } from '../../../bench/authority/soapBench.ts';
import { BUDGETS, MICRO_BUDGETS, placeOfBudget } from '../../../bench/budgets.ts';
import { runLoadBench } from '../../../bench/load/load.ts';
import { PART_OF_PEAK, runArrivals } from '../../../bench/load/arrivals.ts';
import { runMixedBench } from '../../../bench/load/mixed.ts';
import { runStartBench } from '../../../bench/load/startBench.ts';
import { libcScanner } from '../../../bench/micro/libcScan.ts';
import { prepareDataSet } from '../../../bench/load/dataSet.ts';
import { runMicroBench } from '../../../bench/micro/micro.ts';
import { familyOf } from '../../../bench/processes/ending.ts';
import { runProxyBench } from '../../../bench/proxy/proxyBench.ts';
import { runProgram } from '../../support/commandProcess.ts';
import { microTable, startTable, waitTable } from '../../../bench/report/report.ts';
import { temporaryDirectory } from '../../support/dataSets.ts';
import { hasProgram } from '../../support/debian.ts';
import { tableText } from '../../../server/commands/terminal.ts';

afterEach(() => void vi.unstubAllEnvs());

const cacheDirectory = temporaryDirectory();
const DATA = { observations: 200, seed: 5, cacheDirectory };
const QUIET = { onProgress: () => {}, onStep: () => {} };

describe('the load bench', () => {
  test('measures the scenarios that are named, with those that they are compared with', async () => {
    const options = { ...DATA, rounds: 1, only: ['offset'], requestsPart: 0.004, warmUp: 1, floorBytes: 1 << 20 };
    const [report, ...others] = await runLoadBench(options, QUIET);
    expect(report?.scenario.control).toEqual({ scenario: 'list', per: 'byte' });
    expect(others).toEqual([]);
  });

  test.each([
    ['tiny', []],
    ['trustedHosts', ['--authority', '--audit-log']],
  ])('asks %s of a server whose flags for an authority are %j', async (name, expected) => {
    const options = { ...DATA, rounds: 1, only: [name], requestsPart: 0.004, warmUp: 1, floorBytes: 1 << 20 };
    const commands: string[] = [];
    const onStep = (line: string) => {
      if (!line.startsWith('checking')) return;
      commands.push(...familyOf(process.pid).map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8')));
    };
    await runLoadBench(options, { ...QUIET, onStep });
    const servers = commands.filter((text) => text.includes(cacheDirectory));
    const flags = servers.map((text) => text.split('\0').filter((word) => /^--(authority|audit-log)$/.test(word)));
    expect(flags).toEqual([expected]);
  });
});

test('a bench that is told to end by a signal leaves no process and no folder', async () => {
  const { directory, snapshot } = await prepareDataSet(DATA, () => {});
  const folders = temporaryDirectory();
  const bench = fileURLToPath(new URL('../../../bench/bench.ts', import.meta.url));
  const words = [bench, '--data-set', directory, '--snapshot', snapshot, '--rounds', '1000000'];
  const only = ['--only', 'tiny', '--only', 'trustedHosts'];
  const running = runProgram(process.execPath, [...words, ...only], { environment: { TMPDIR: folders } });
  await running.printed(/measuring, round 1 /);
  const [, ...children] = familyOf(running.pid);
  const made = readdirSync(folders).filter((name) => name.startsWith('catalogue-'));
  running.signal('SIGTERM');
  expect(await running.ended).toEqual({ code: 143, signal: null });
  // A server, the control and the load client; and the files of the authority.
  expect(children.length).toBeGreaterThanOrEqual(3);
  expect(made).not.toEqual([]);
  expect(children.filter((pid) => existsSync(`/proc/${pid}/exe`))).toEqual([]);
  expect(readdirSync(folders)).toEqual([]);
  expect(running.err()).not.toMatch(/^ +at /m);
});

test.skipIf(!hasProgram('openssl'))('a proxy that a signal ends while it starts is not waited for', async () => {
  const programs = temporaryDirectory();
  writeFileSync(join(programs, 'nginx'), '#!/bin/sh\nkill -9 $$\n', { mode: 0o755 });
  vi.stubEnv('PATH', `${programs}${delimiter}${process.env['PATH']}`);
  const options = { ...DATA, rounds: 1, requests: 1, seconds: 1, parts: [] };
  await expect(runProxyBench(options, QUIET)).rejects.toThrow('nginx of deploy/ does not start');
});

describe('the start bench', () => {
  test('starts a server each way, and tells the time to the first answer', async () => {
    const reports = await runStartBench({ ...DATA, rounds: 1, threads: [1] }, () => {});
    expect(reports.map(({ what, threads }) => [what, threads])).toEqual([
      ['the embedded sample', 1],
      ['the snapshot', 1],
    ]);
    for (const { wallMs, cpuMs } of reports) {
      expect([wallMs.length, cpuMs.length]).toEqual([1, 1]);
      expect(wallMs[0]).toBeGreaterThan(0);
      expect(cpuMs[0]).toBeGreaterThan(0);
    }
    expect(tableText(startTable(reports))).toMatch(/^start from +threads +least ms .*\nthe embedded sample +1 /);
  });
});

describe('the mixed bench', () => {
  test('tells how cheap clients fare beside a heavy one, against their targets', async () => {
    const lines: string[] = [];
    const observer = { onProgress: () => {}, onStep: (line: string) => void lines.push(line) };
    const reports = await runMixedBench({ ...DATA, rounds: 1, cheapRequests: 5000 }, observer);
    expect(reports.map(({ name }) => name)).toEqual(['mixedP99', 'mixedP999', 'mixedTime']);
    for (const { name, ratio, pass, great } of reports) {
      expect(ratio).toBeGreaterThan(0);
      expect(great).toBeLessThan(pass!);
      expect(BUDGETS.ratios, placeOfBudget('ratios', name)).toHaveProperty(name);
    }
    expect(lines.at(-1)).toMatch(/^[1-9]\d* heavy lists were answered beside the cheap ones$/);
    expect(waitTable(reports, 'ci')).toHaveLength(reports.length + 1);
  });
});

describe('the bench of arrivals', () => {
  test('tells what those wait for that come at a fixed rate, beside a bare server', async () => {
    const lines: string[] = [];
    const observer = { onProgress: () => {}, onStep: (line: string) => void lines.push(line) };
    const reports = await runArrivals({ ...DATA, rounds: 1, arrivals: 300 }, observer);
    expect(reports.map(({ name }) => name)).toEqual(['arrivalsP50', 'arrivalsP99', 'arrivalsP999']);
    for (const { name, ratio, what } of reports) {
      expect(ratio).toBeGreaterThan(0);
      expect(what).toContain(`${PART_OF_PEAK * 100} %`);
      expect(BUDGETS.ratios, placeOfBudget('ratios', name)).toHaveProperty(name);
    }
    expect(lines).toEqual([expect.stringMatching(/^measuring at [1-9]\d* arrivals a second, round 1 of 1$/)]);
    expect(waitTable(reports, 'ci')).toHaveLength(reports.length + 1);
  });
});

describe('the micro-benchmarks', () => {
  test('match their slow twins and are told as ratios', async () => {
    const options = { ...DATA, rounds: 2, only: [], batchMs: 1, bits: 4096 };
    const hasCompiler = libcScanner(new Uint8Array(1)) !== undefined;
    const reports = await runMicroBench(options, () => {});
    expect(reports.map(({ name }) => name)).toEqual(
      [
        'and gather patch splice scan',
        hasCompiler ? 'memmem load' : 'load',
        'refresh-observations refresh-record counting',
        'authorise-original authorise-mapped',
      ].flatMap((names) => names.split(' ')),
    );
    for (const { ratio, ownSpread, hash } of reports) {
      expect(ratio).toBeGreaterThan(0);
      expect(ownSpread).toBeGreaterThanOrEqual(0);
      expect(hash).toMatch(/^[0-9a-f]{16}$/);
    }
    expect(microTable(reports, 'ci')).toHaveLength(reports.length + 1);
    const named = reports.map(({ name }) => name).toSorted();
    expect(named, 'micro of bench/budgets.json').toEqual(Object.keys(MICRO_BUDGETS.ratios).toSorted());
  });
});

test('the authority is raced against node soap, which answers the same, and each call against its control', async () => {
  // Without a compiler on the path.
  vi.stubEnv('PATH', temporaryDirectory());
  const left: string[] = [];
  const options = { rounds: 1, warmUp: 1, requestsPart: 0.002, cacheDirectory };
  const reports = await runSoapBench(options, {
    onStep: (line) => void (line.startsWith('left out') && left.push(line)),
  });
  expect(left).toEqual([expect.stringMatching(/^left out gSOAP in C: .*ENOENT/)]);
  expect(reports.map(({ scenario: { name }, beside }) => `${name} ${beside}`)).toEqual([
    'trustedHosts bare',
    'trustedHosts node soap',
    ...CALL_SCENARIOS.slice(1).map(({ name }) => `${name} signature`),
  ]);
  for (const { ratio } of reports) expect(ratio).toBeGreaterThan(0);
});
