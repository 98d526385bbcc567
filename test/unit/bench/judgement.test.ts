// The verdicts of bench runs: every budget that a bench measured is checked, and a run that checked
// nothing fails. Nothing is measured here.
import { describe, expect, test } from 'vitest';
import { TRUSTED_HOSTS } from '../../../bench/authority/callScenarios.ts';
import type { SoapReport } from '../../../bench/authority/soapBench.ts';
import type { ScenarioReport } from '../../../bench/load/load.ts';
import type { SizeReport } from '../../../bench/load/sizes.ts';
import type { MicroReport } from '../../../bench/micro/micro.ts';
import { IMPORT_PEERS, importRatios, type ImportCost, type ImportRaceReport } from '../../../bench/peers/importRace.ts';
import type { PeerReport } from '../../../bench/peers/peerBench.ts';
import { BARE, KEEPING_REPLICA, PEER_QUESTIONS, TARGET_PEER } from '../../../bench/peers/peers.ts';
import { WAYS, type ProxyPoint } from '../../../bench/proxy/proxyBench.ts';
import {
  growthJudgement,
  importJudgement,
  microJudgement,
  peerJudgement,
  proxyJudgement,
  soapJudgement,
} from '../../../bench/report/judgement.ts';
import { growthLines, peerTable } from '../../../bench/report/report.ts';
import { growthOf, type GrowthReport, GROWTHS } from '../../../bench/scenarios/growth.ts';
import type { Growth } from '../../../bench/scenarios/scenario.ts';
import { CATALOGUE_SCENARIOS, SCENARIOS } from '../../../bench/scenarios/scenarios.ts';

const steady = (least: number) => ({ least, spread: 0 });

/** The first question, with costs in multiples of nginx's cost. */
function besideNginx(costs: { ours: number; kept: number; bare: number }): readonly PeerReport[] {
  const peerOf = (peer: string, least: number) => ({ peer, cost: steady(least), ratio: least / costs.ours });
  const peers = [peerOf(KEEPING_REPLICA, costs.kept), peerOf('nginx', 1), peerOf(BARE, costs.bare)];
  return [{ question: PEER_QUESTIONS[0]!, subject: steady(costs.ours), peers }];
}

function importsOf(...ratios: readonly number[]): ImportRaceReport {
  const costOf = (least: number): ImportCost => {
    return { seconds: steady(least), cpuSeconds: steady(least), peakBytes: 1, fileBytes: 1 };
  };
  const peers = ratios.map((ratio, i) => ({ peer: IMPORT_PEERS[i]!, cost: costOf(1 / ratio), ratio }));
  return { subject: costOf(1), peers };
}

function soapOf(beside: string, ratio: number): SoapReport {
  const targets = { pass: undefined, great: undefined };
  return { scenario: TRUSTED_HOSTS, beside, subject: steady(ratio), other: steady(1), ratio, ...targets };
}

/** Points at full speed. Behind a proxy, replicas take `times` the CPU. */
function proxied(times: number, errors = 0): readonly ProxyPoint[] {
  return WAYS.map((way) => {
    const cpu = { replicas: way === 'direct' ? 1 : times, proxy: 1, client: 1 };
    return { way, part: undefined, perSecond: 1, p50Ms: 1, p99Ms: 1, p999Ms: 1, errors, cpu, spread: 0 };
  });
}

/** Sizes at which the scenarios of these names were measured, each with the same cost at every size. */
function sizesOf(...names: readonly (readonly string[])[]): readonly SizeReport[] {
  return names.map((measured, i) => {
    const scenarios = CATALOGUE_SCENARIOS.filter(({ name }) => measured.includes(name));
    const rest = { requests: 1, bytes: 1, control: steady(1), ratio: 1, hash: '', against: undefined };
    const load = scenarios.map((scenario): ScenarioReport => ({ scenario, subject: steady(1), ...rest }));
    return { observations: 1000 * 10 ** i, load };
  });
}

describe('the race with peers', () => {
  test.each([
    ['nginx', { ours: 9, kept: 1, bare: 1 }],
    ['nginxKept', { ours: 1, kept: 9, bare: 1 }],
  ])('loses by the budget %s', (name, costs) => {
    const { text, isGood } = peerJudgement(besideNginx(costs), 'hand');
    expect(isGood).toBe(false);
    expect(text).toContain(`\n${name}: LOST, 9.00 is more than `);
  });

  test('has no verdict against nginx if a bare copy alone is that much more expensive', () => {
    const { text, isGood } = peerJudgement(besideNginx({ ours: 9, kept: 9, bare: 2 }), 'hand');
    expect(isGood).toBe(true);
    expect(text).toContain('nginx: not judged, bare uWebSockets.js alone needs 2.00 times as much here');
  });

  test('loses nothing on a machine without peers, or over a catalogue of another size', () => {
    expect(peerJudgement([{ ...besideNginx({ ours: 1, kept: 1, bare: 1 })[0]!, peers: [] }], 'hand').isGood).toBe(true);
    expect(peerJudgement(besideNginx({ ours: 9, kept: 9, bare: 1 }), undefined).isGood).toBe(true);
    expect(importJudgement(importsOf(), 'hand').isGood).toBe(true);
    expect(soapJudgement([], 'hand').isGood).toBe(true);
  });
});

test.each([
  ['gSOAP in C', 'gsoap'],
  ['node soap', 'nodeSoap'],
])('lets the authority lose against %s by the budget %s', (peer, name) => {
  const { text, isGood } = soapJudgement([soapOf('bare', 1), soapOf(peer, 9)], 'hand');
  expect(isGood).toBe(false);
  expect(text).toContain(`\n${name}: LOST, 9.00 is more than `);
  expect(soapJudgement([soapOf('bare', 9), soapOf(peer, 0.1)], 'hand').isGood).toBe(true);
});

test('lets a mix through proxies lose by the work of the replicas, and by each failed request', () => {
  expect(proxyJudgement(proxied(1), 'hand').isGood).toBe(true);
  expect(proxyJudgement(proxied(9), 'hand').text).toContain('haproxyReplicas: LOST');
  const { text, isGood } = proxyJudgement(proxied(1, 2), 'hand');
  expect([isGood, text.split('\n').at(-1)]).toEqual([false, '6 requests failed']);
});

test('does not let a micro-benchmark lose if its own rounds disagree', () => {
  const terms = { calibration: 'a copy', nanoseconds: 1, spread: 0, pass: undefined, great: undefined, hash: '' };
  const report: MicroReport = { name: 'gather', ratio: 4, ownSpread: 0.6, ...terms };
  const { text } = microJudgement([report], 'hand', []);
  expect(text).toContain('too noisy');
  expect(text).toContain('gather: not judged, it spreads by 60 %');
  const lost = microJudgement([{ ...report, ownSpread: 0 }], 'hand', ['memmem was skipped']);
  expect(lost.isGood).toBe(false);
  expect(lost.text).toMatch(/gather: LOST.*\n.*\nmemmem was skipped$/);
});

describe('growth', () => {
  test('reports what was not measured at every size, which is no loss', () => {
    const { text, isGood } = growthJudgement(sizesOf(['tiny', 'table'], ['tiny']));
    expect(isGood).toBe(true);
    expect(text).toContain('\ntable: left out, it was not measured at every size\n1 of 1 grow as they may');
  });

  test('fails if nothing has a verdict', () => {
    const { text, isGood } = growthJudgement(sizesOf(['table'], ['tiny']));
    expect(isGood).toBe(false);
    expect(text).toMatch(/0 of 0 grow as they may$/);
  });
});

describe('a scenario over several sizes', () => {
  /** Ten times as many records cost `times` as much, in as many bytes unless `how` has others. */
  function grown(grows: Growth, times: number, how: { spread?: number; bytes?: number } = {}): GrowthReport {
    const { spread = 0, bytes = 1000 } = how;
    const points = [0, 1, 2].map((i) => {
      return { observations: 1000 * 10 ** i, microseconds: 7 * times ** i, spread, bytes: i === 2 ? bytes : 1000 };
    });
    return growthOf({ name: 'this one', what: '', grows }, points);
  }

  test('has as its slope the growth of the cost with the records', () => {
    expect(grown('constant', 1).slope).toBeCloseTo(0);
    expect(grown('scan', 10).slope).toBeCloseTo(1);
    expect(grown('page', Math.sqrt(10)).slope).toBeCloseTo(0.5);
  });

  test.each([
    ['constant', 1.2, 'held'],
    ['constant', 1.3, 'lost'],
    ['logarithmic', 1.5, 'held'],
    ['logarithmic', 1.6, 'lost'],
    ['page', 1.2, 'held'],
    ['page', 1.3, 'lost'],
    ['scan', 12, 'held'],
    ['scan', 12.3, 'lost'],
  ] as const)(
    'has a verdict if it is %s and costs %d times as much for ten times the records: %s',
    (grows, times, verdict) => {
      expect(grown(grows, times).verdict).toBe(verdict);
      const { lines, isGood } = growthLines([grown(grows, times)]);
      expect(isGood).toBe(verdict === 'held');
      if (!isGood) expect(lines[0]).toContain('this one costs ');
    },
  );

  test('is measured per byte if it is about pages, and has no verdict if its rounds disagree', () => {
    expect(grown('page', 2, { bytes: 4000 }).verdict).toBe('held');
    expect(grown('constant', 2, { spread: 1 }).verdict).toBe('too noisy');
    expect(grown('constant', 1, { spread: 1 }).verdict).toBe('held');
  });

  test('declares its growth', () => {
    expect(new Set(SCENARIOS.map(({ grows }) => grows))).toEqual(new Set(Object.keys(GROWTHS)));
  });
});

test.each([
  [13, 0, '10 %', 'great'],
  [12.9, 0.3, '30 %', 'pass'],
  [5.9, 0, '10 %', 'short'],
  [40, 0.5, '50 %', 'too noisy'],
])('gives Fastify over SQLite at %d times the CPU, with a spread of %d, %s and %s', (ratio, spread, text, verdict) => {
  const peers = [{ peer: TARGET_PEER, cost: { least: 10 * ratio, spread }, ratio }];
  const report = { question: PEER_QUESTIONS[0]!, subject: { least: 10, spread: 0.1 }, peers };
  expect(peerTable([report])[1]?.slice(-4)).toEqual([text, '6', '13', verdict]);
});

test('compares an import by its wall time with each peer', () => {
  expect(importRatios(importsOf(1.2, 0.6)).map(({ name, ratio }) => [name, ratio])).toEqual([
    ['importSqlite', 1.2],
    ['importDuckDb', 0.6],
  ]);
});
