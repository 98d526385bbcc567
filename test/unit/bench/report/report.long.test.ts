// The report, measured small and drawn: every table and plot is there and holds what was measured. No times are
// asserted.
import { parseHTML } from 'linkedom';
import { beforeAll, describe, expect, test } from 'vitest';
import type { FullReport } from '../../../../bench/report/fullReport.ts';
import { htmlPage } from '../../../../bench/report/htmlPage.ts';
import { TRUSTED_HOSTS } from '../../../../bench/authority/callScenarios.ts';
import { runLoadBench } from '../../../../bench/load/load.ts';
import {
  IMPORT_PEERS,
  importRatios,
  type ImportCost,
  type ImportRaceReport,
} from '../../../../bench/peers/importRace.ts';
import type { PeerReport } from '../../../../bench/peers/peerBench.ts';
import { PEER_QUESTIONS, TARGET_PEER } from '../../../../bench/peers/peers.ts';
import { type ProxyPoint, ratiosOf, WAYS } from '../../../../bench/proxy/proxyBench.ts';
import {
  growthLines,
  growthTable,
  importTable,
  peerTable,
  proxyTable,
  soapTable,
  waitTable,
} from '../../../../bench/report/report.ts';
import type { SoapReport } from '../../../../bench/authority/soapBench.ts';
import { growthOf, type GrowthReport, GROWTHS } from '../../../../bench/scenarios/growth.ts';
import type { Growth } from '../../../../bench/scenarios/scenario.ts';
import { SCENARIOS } from '../../../../bench/scenarios/scenarios.ts';
import { growthsOf, runSizes } from '../../../../bench/load/sizes.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';
import { tableText } from '../../../../server/commands/terminal.ts';

const OPTIONS = {
  observations: 200,
  seed: 5,
  cacheDirectory: temporaryDirectory(),
  rounds: 1,
  only: ['tiny', 'list', 'offset'],
  requestsPart: 0.01,
  warmUp: 1,
  floorBytes: 1 << 20,
};
const QUIET = { onProgress: () => {}, onStep: () => {} };

let report: FullReport;

/** What a race against one peer tells, with its ratio and how far its rounds lay apart. */
function told(ratio: number, peer = 'json-server', spread = 0): readonly PeerReport[] {
  const cost = { least: 10 * ratio, spread };
  const subject = { least: 10, spread: 0.1 };
  return PEER_QUESTIONS.map((question) => ({ question, subject, peers: [{ peer, cost, ratio }] }));
}

const SOAP: SoapReport = {
  scenario: TRUSTED_HOSTS,
  beside: 'gSOAP in C',
  subject: { least: 10, spread: 0 },
  other: { least: 20, spread: 0 },
  ratio: 0.5,
  pass: 0.45,
  great: undefined,
};

/** An import of 12 s beside one of 10 s and one of 20 s. */
const IMPORTS: ImportRaceReport = {
  subject: importCost(12, 0.1),
  peers: IMPORT_PEERS.map((peer, i) => ({ peer, cost: importCost(10 * (i + 1), 0), ratio: 12 / (10 * (i + 1)) })),
};

function importCost(least: number, spread: number): ImportCost {
  const seconds = { least, spread };
  return { seconds, cpuSeconds: seconds, peakBytes: 900_000_000, fileBytes: 400_000_000 };
}

/** Two rates in each way; behind a proxy all takes twice as long. */
const PROXIED: readonly ProxyPoint[] = [0.1, 0.5].flatMap((part) =>
  WAYS.map((way, i) => ({
    way,
    part,
    perSecond: 1000 * part,
    p50Ms: i === 0 ? 1 : 2,
    p99Ms: i === 0 ? 3 : 6,
    p999Ms: i === 0 ? 4 : 8,
    errors: 0,
    cpu: { replicas: 100, proxy: i === 0 ? 0 : 50, client: 30 },
    spread: 0,
  })),
);

beforeAll(async () => {
  const load = await runLoadBench(OPTIONS, QUIET);
  const sizes = await runSizes([{ ...OPTIONS, observations: 100 }, OPTIONS], QUIET, load);
  report = {
    machine: 'a <machine>',
    revision: 'abc',
    observations: 200,
    load,
    waits: [
      { name: 'mixedP99', what: 'beside a <heavy> client', ratio: 2.4, spread: 0.1, pass: 3, great: 1.5 },
      { name: 'arrivalsP50', what: 'of arrivals', ratio: 1.2, spread: 0.1 },
    ],
    peers: told(40),
    imports: IMPORTS,
    soap: [SOAP],
    proxied: PROXIED,
    sizes,
    failures: ['not measured: soap, <why>'],
  };
});

describe('a report', () => {
  test('measures what the size of a catalogue could change, and the memory that it takes', () => {
    const size = report.sizes.at(-1);
    expect(report.sizes.map(({ observations }) => observations)).toEqual([100, 200]);
    expect(size?.load).toBe(report.load);
    expect(size?.memory.residentBytes).toBeGreaterThan(size!.memory.snapshotBytes);
    expect(size?.memory.ndjsonBytes).toBeGreaterThan(100_000);
  });

  test('shows how each scenario grows, in a table and a plot for each way in which it may', () => {
    const growths = growthsOf(report.sizes);
    expect(growths.map(({ scenario: { name }, points }) => [name, points.length])).toEqual([
      ['tiny', 2],
      ['list', 2],
      ['offset', 2],
    ]);
    const html = htmlPage(report, 'hand');
    const titles = [...parseHTML(html).document.querySelectorAll('figure h2')].map(({ textContent }) => textContent);
    for (const how of ['not at all', 'with the bytes of the page'])
      expect(titles).toContain(`CPU against the number of records: what may grow ${how}`);
    expect(html).toContain('<td>tiny</td><td>not at all</td>');
  });

  test('is one page with its tables and a plot for each question, and asks for no other file', () => {
    const html = htmlPage(report, 'hand');
    const { document } = parseHTML(html);
    const titles = [...document.querySelectorAll('figure h2')].map(({ textContent }) => textContent);
    const some = ['Memory against the number of records', 'Waiting time through proxies against offered load'];
    expect(titles).toEqual(expect.arrayContaining(some));
    expect(document.querySelectorAll('figure svg')).toHaveLength(titles.length);
    expect(document.querySelectorAll('table')[0]?.querySelectorAll('tbody tr')).toHaveLength(3);
    const waits = [...document.querySelectorAll('table')[1]!.querySelectorAll('tbody tr')];
    expect(waits.map((row) => [...row.querySelectorAll('td')].map(({ textContent }) => textContent))).toEqual(
      waitTable(report.waits, 'hand').slice(1),
    );
    // What is wider than the window scrolls by itself, in place of being cut off.
    for (const wide of document.querySelectorAll('table, figure > div > svg')) {
      expect(wide.parentElement?.className).toBe('box');
    }
    expect(html).not.toMatch(/<script|<link|(?:src|href)=/);
    expect(html).toContain('a &lt;machine&gt;');
    expect(html).toContain('<p class="short">not measured: soap, &lt;why&gt;</p>');
  });

  test('compares what goes through a proxy with what goes directly under the same load', () => {
    expect(ratiosOf(PROXIED[4]!, PROXIED)).toEqual({ p50: 2, p99: 2, p999: 2, replicas: 1, cpu: 1.5 });
    const [, , , , , row] = tableText(proxyTable(PROXIED)).split('\n');
    expect(row).toMatch(/^nginx +open loop, 50 % +500 .* 2\.00 +2\.00 +2\.00 +1\.00 +1\.50$/);
    const html = htmlPage(report, 'hand');
    for (const cells of proxyTable(PROXIED))
      for (const cell of cells) expect(html).toMatch(new RegExp(`<t[hd]>${cell}</t[hd]>`));
  });

  test('draws a line for each name, through each of its points', () => {
    const { document } = parseHTML(htmlPage(report, 'hand'));
    const figures = [...document.querySelectorAll('figure')];
    const figure = figures.find(({ textContent }) => textContent?.startsWith('Memory against the number of records'));
    const lines = [...figure!.querySelectorAll('g[aria-label="line"] path')];
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line.getAttribute('d')?.split('L')).toHaveLength(report.sizes.length);
  });
});

describe('a scenario over several sizes', () => {
  /** Ten times as many records cost `times` as much, in as many bytes unless said otherwise. */
  function grown(grows: Growth, times: number, how: { spread?: number; bytes?: number } = {}): GrowthReport {
    const { spread = 0, bytes = 1000 } = how;
    const points = [0, 1, 2].map((i) => {
      return { observations: 1000 * 10 ** i, microseconds: 7 * times ** i, spread, bytes: i === 2 ? bytes : 1000 };
    });
    return growthOf({ name: 'this one', what: '', grows }, points);
  }

  test('has as its slope how the cost follows the records', () => {
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
  ] as const)('which is %s, and costs %d times as much for ten times the records: %s', (grows, times, verdict) => {
    expect(grown(grows, times).verdict).toBe(verdict);
    const { lines, isGood } = growthLines([grown(grows, times)]);
    expect(isGood).toBe(verdict === 'held');
    if (!isGood) expect(lines[0]).toContain('this one costs ');
  });

  test('is judged by the byte where it is about pages, and not at all where its rounds disagree', () => {
    expect(grown('page', 2, { bytes: 4000 }).verdict).toBe('held');
    expect(grown('constant', 2, { spread: 1 }).verdict).toBe('too noisy');
    expect(grown('constant', 1, { spread: 1 }).verdict).toBe('held');
  });

  test('may be any of those that are declared, and each says how it may grow', () => {
    expect(new Set(SCENARIOS.map(({ grows }) => grows))).toEqual(new Set(Object.keys(GROWTHS)));
    const [, row] = tableText(growthTable([grown('scan', 10)])).split('\n');
    expect(row).toMatch(/^this one +with what is scanned +7\.0 +70\.0 +700\.0 +1\.00 +100\.00 +150\.00 +held$/);
  });
});

describe('the table of peers', () => {
  test('has a column for each peer that was raced', () => {
    expect(peerTable(told(2.54)).slice(0, 2)).toEqual([
      ['question', 'replica us', 'json-server', 'spread', 'pass', 'great', 'verdict'],
      ['the first page of 100', '10.0', '2.5', '10 %', '6', '13', '-'],
    ]);
  });

  test.each([
    [13, 0, '10 %', 'great'],
    [12.9, 0.3, '30 %', 'pass'],
    [5.9, 0, '10 %', 'short'],
    [40, 0.5, '50 %', 'too noisy'],
  ])('judges by what Fastify over SQLite needs: %d times, with a spread of %d', (ratio, spread, percent, verdict) => {
    const peers = told(ratio, TARGET_PEER, spread);
    const cells = [percent, '6', '13', verdict];
    expect(peerTable(peers)[1]?.slice(-4)).toEqual(cells);
    expect(htmlPage({ ...report, peers }, 'hand')).toContain(`<td>${percent}</td><td>6</td><td>13</td>`);
  });
});

test('the table of the authority judges by what a peer has as its target, where there is only one', () => {
  const lines = [SOAP, { ...SOAP, ratio: 0.4 }, { ...SOAP, pass: undefined }].map((one) => tableText(soapTable([one])));
  expect(lines.map((line) => /(\S+)\s*$/.exec(line)?.[1])).toEqual(['short', 'pass', '-']);
});

test('the table of imports has ours first, and judges the others by how much of their wall time it takes', () => {
  const [, ours, sqlite, duckDb] = tableText(importTable(IMPORTS)).split('\n');
  expect(ours).toMatch(/^this program +12\.0 +12\.0 +900\.0 MB +400\.0 MB +- +10 % +- +- +-$/);
  expect(sqlite).toMatch(/^better-sqlite3 +10\.0 .* 1\.20 +0 % +0\.6 +0\.4 +short$/);
  expect(duckDb).toMatch(/^DuckDB +20\.0 .* 0\.60 +0 % +1\.3 +0\.9 +great$/);
  expect(htmlPage({ ...report, imports: IMPORTS }, 'hand')).toContain('<h2>Loading all of it</h2>');
  expect(importRatios(IMPORTS).map(({ name, ratio }) => [name, ratio])).toEqual([
    ['importSqlite', 1.2],
    ['importDuckDb', 0.6],
  ]);
});
