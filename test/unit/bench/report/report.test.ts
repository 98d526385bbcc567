// The report, measured small and drawn: every table and plot is there and holds what was measured. No times are
// asserted.
import { parseHTML } from 'linkedom';
import { beforeAll, describe, expect, test } from 'vitest';
import type { FullReport } from '../../../../bench/report/fullReport.ts';
import { htmlPage, markdownTable } from '../../../../bench/report/htmlPage.ts';
import { TRUSTED_HOSTS } from '../../../../bench/authority/callScenarios.ts';
import { runLoadBench } from '../../../../bench/load/load.ts';
import type { PeerReport } from '../../../../bench/peers/peerBench.ts';
import { PEER_QUESTIONS, TARGET_PEER } from '../../../../bench/peers/peers.ts';
import { type ProxyPoint, ratiosOf, WAYS } from '../../../../bench/proxy/proxyBench.ts';
import { peerTable, proxyTable, soapTable } from '../../../../bench/report/report.ts';
import type { SoapReport } from '../../../../bench/authority/soapBench.ts';
import { SIZE_LINES, SWEEPS } from '../../../../bench/scenarios/sweeps.ts';
import { runSizes, runSweeps } from '../../../../bench/load/sweepRun.ts';
import { temporaryDirectory } from '../../../support/dataSets.ts';

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
  const sweepRun = await runSweeps(OPTIONS, QUIET);
  const sizes = await runSizes(OPTIONS, [], QUIET);
  report = {
    machine: 'a <machine>',
    revision: 'abc',
    observations: 200,
    load,
    mixed: [],
    peers: told(40),
    soap: [SOAP],
    proxied: PROXIED,
    sizes,
    ...sweepRun,
  };
});

describe('a report', () => {
  test('measures every line of every sweep, at every point', () => {
    for (const { sweep, points } of report.sweeps) {
      expect(points.map(({ line }) => line)).toEqual(expect.arrayContaining(sweep.lines.map(({ name }) => name)));
      for (const { microseconds, bytes } of points) expect([microseconds > 0, bytes > 0]).toEqual([true, true]);
    }
    expect(report.sweeps.map(({ sweep }) => sweep)).toEqual(SWEEPS);
  });

  test('measures what the size of a catalogue could change, and the memory that it takes', () => {
    const [size] = report.sizes;
    expect(size?.points.map(({ line }) => line)).toEqual(SIZE_LINES.map(({ name }) => name));
    expect(size?.memory.residentBytes).toBeGreaterThan(size!.memory.snapshotBytes);
    expect(size?.memory.ndjsonBytes).toBeGreaterThan(100_000);
  });

  test('tells what clients wait for at each load, the slowest of a thousand last', () => {
    expect(report.paced).toHaveLength(9);
    for (const { p50Ms, p99Ms, p999Ms } of report.paced) {
      expect(p50Ms).toBeGreaterThan(0);
      expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
      expect(p999Ms).toBeGreaterThanOrEqual(p99Ms);
    }
  });

  test('is one page with its tables and a plot for each question, and asks for no other file', () => {
    const html = htmlPage(report);
    const { document } = parseHTML(html);
    const titles = [...document.querySelectorAll('figure h2')].map(({ textContent }) => textContent);
    for (const { title } of SWEEPS) expect(titles).toContain(`${title}: CPU`);
    const others = ['Memory against the number of records', 'Bytes by encoding'];
    expect(titles).toEqual(expect.arrayContaining([...others, 'Waiting time through proxies against offered load']));
    expect(document.querySelectorAll('figure svg')).toHaveLength(titles.length);
    expect(document.querySelectorAll('table')[0]?.querySelectorAll('tbody tr')).toHaveLength(3);
    // What is wider than the window scrolls by itself, in place of being cut off.
    for (const wide of document.querySelectorAll('table, figure > div > svg')) {
      expect(wide.parentElement?.className).toBe('box');
    }
    expect(html).not.toMatch(/<script|<link|(?:src|href)=/);
    expect(html).toContain('a &lt;machine&gt;');
  });

  test('compares what goes through a proxy with what goes directly under the same load', () => {
    expect(ratiosOf(PROXIED[4]!, PROXIED)).toEqual({ p50: 2, p99: 2, p999: 2, replicas: 1, cpu: 1.5 });
    const [, , , , , row] = proxyTable(PROXIED).split('\n');
    expect(row).toMatch(/^nginx +open loop, 50 % +500 .* 2\.00 +2\.00 +2\.00 +1\.00 +1\.50$/);
  });

  test('draws a line for each name, through each of its points', () => {
    const { document } = parseHTML(htmlPage(report));
    const figures = [...document.querySelectorAll('figure')];
    const [sweep] = report.sweeps;
    const figure = figures.find(({ textContent }) => textContent?.startsWith(`${sweep!.sweep.title}: CPU`));
    const lines = [...figure!.querySelectorAll('g[aria-label="line"] path')];
    expect(lines).toHaveLength(sweep!.sweep.lines.length);
    for (const line of lines) expect(line.getAttribute('d')?.split('L')).toHaveLength(9);
  });
});

describe('the table of peers', () => {
  test('has a column for each peer that was raced, in Markdown too', () => {
    expect(
      markdownTable({ peers: told(40) })
        .split('\n')
        .slice(0, 3),
    ).toEqual([
      '| CPU per request, times this replica | json-server | spread | pass | great | verdict |',
      '| --- | ---: | ---: | ---: | ---: | ---: |',
      '| the first page of 100 | 40 | 10 % | 6 | 13 | - |',
    ]);
    expect(peerTable(told(2.54)).split('\n')[1]).toMatch(/^the first page of 100 +10\.0 +2\.5 /);
  });

  test.each([
    [13, 0, '10 % | 6 | 13 | great'],
    [12.9, 0.3, '30 % | 6 | 13 | pass'],
    [5.9, 0, '10 % | 6 | 13 | short'],
    [40, 0.5, '50 % | 6 | 13 | too noisy'],
  ])('judges by what Fastify over SQLite needs: %d times, with a spread of %d', (ratio, spread, cells) => {
    const peers = told(ratio, TARGET_PEER, spread);
    expect(markdownTable({ peers }).split('\n')[2]).toMatch(new RegExp(`${cells.replaceAll('|', '\\|')} \\|$`));
    expect(peerTable(peers).split('\n')[1]).toMatch(new RegExp(`${cells.replaceAll(' | ', ' +')}$`));
    expect(htmlPage({ ...report, peers })).toContain(`<td>${cells.split(' | ')[0]!}</td>`);
  });
});

test('the table of the authority judges by what a peer has as its target, where there is only one', () => {
  const lines = [SOAP, { ...SOAP, ratio: 0.4 }, { ...SOAP, pass: undefined }].map((one) => soapTable([one]));
  expect(lines.map((line) => /(\S+)\s*$/.exec(line)?.[1])).toEqual(['short', 'pass', '-']);
});
