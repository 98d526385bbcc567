// Live traffic of a server, from the metrics of its admin port: a table that is refreshed in place on a terminal, or
// one table. Asks nothing but that address, and changes nothing.
import { OperationError, reasonOf } from '../../data/operationError.ts';
import { steadyMs } from '../observe/clock.ts';
import { bytesText, countText } from '../observe/quantities.ts';
import { type Sample, scrapedSamples } from '../observe/scrape.ts';
import { METRIC_PREFIX } from '../observe/tally.ts';
import type { Outputs } from './parts.ts';
import { askServer } from './question.ts';
import { tableText } from './terminal.ts';

const EVERY_MS = 2000;
const ANSWER_MS_MAX = 5000;
/** Ours are 100 kB. */
const ANSWER_BYTES_MAX = 4 << 20;
const CURE = 'name the admin port of a running server (--admin-port), such as http://127.0.0.1:9090';
/** Moves to the first place of a terminal, and clears what is behind it. */
const HOME = '\u001b[H\u001b[J';

type Samples = ReadonlyMap<string, readonly Sample[]>;

interface Scrape {
  readonly samples: Samples;
  readonly atMs: number;
}

/**
 * Shows traffic until Ctrl-C; once where that is asked for or the output is no terminal. A server that answered once
 * and does not any more is asked again. Throws OperationError `usage` for what is no http URL, `network` where no
 * server of ours tells its metrics there at first.
 */
export async function runTop(
  url: string,
  isOnce: boolean,
  { stdout }: Outputs,
  pause: () => Promise<unknown> = untilNext,
): Promise<void> {
  const address = metricsUrl(url);
  let last: Scrape = { samples: await samplesAt(address), atMs: steadyMs() };
  let text = trafficText(address.host, last, undefined);
  if (isOnce || stdout.isTTY !== true) return void stdout.write(`${text}\n`);
  for (;;) {
    stdout.write(`${HOME}${text}\n`);
    await pause();
    const samples = await samplesAt(address).catch((): undefined => undefined);
    if (!samples) {
      text = `${address.host}: no answer, trying again`;
      continue;
    }
    const now: Scrape = { samples, atMs: steadyMs() };
    text = trafficText(address.host, now, isReset(now, last) ? undefined : last);
    last = now;
  }
}

function untilNext(): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}

/** Whether the counts of requests began anew, as those of a server do that was started again. */
function isReset(now: Scrape, last: Scrape): boolean {
  const sumOf = ({ samples }: Scrape): number => valueOf(samples, 'requests_total', {});
  return sumOf(now) < sumOf(last);
}

function metricsUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:') {
    throw new OperationError('usage', `got ${JSON.stringify(text)}; want the http URL of an admin port (--admin-port)`);
  }
  return new URL('/metrics', url);
}

async function samplesAt(url: URL): Promise<Samples> {
  const question = { signal: AbortSignal.timeout(ANSWER_MS_MAX), bytesMax: ANSWER_BYTES_MAX };
  const { status, body } = await askServer(url, question).catch((cause: unknown) => {
    throw new OperationError('network', `${url.href} cannot be asked (${reasonOf(cause)}): ${CURE}`, cause);
  });
  const samples = status === 200 && body ? scrapedSamples(body.toString()) : undefined;
  // Others come with the first request that can be answered.
  if (samples?.has(`${METRIC_PREFIX}ready`)) return samples;
  throw new OperationError('network', `${url.href} has no metrics of a catalogue replica: ${CURE}`);
}

/** The traffic since the scrape before, or since the server's start. */
function trafficText(host: string, now: Scrape, before: Scrape | undefined): string {
  const seconds = before ? (now.atMs - before.atMs) / 1000 : undefined;
  const since = (name: string, labels: Sample['labels']): number =>
    valueOf(now.samples, name, labels) - (before ? valueOf(before.samples, name, labels) : 0);
  const routes = [
    ...new Set((now.samples.get(`${METRIC_PREFIX}requests_total`) ?? []).map(({ labels }) => labels['route']!)),
  ];
  const rows = routes.flatMap((route) => {
    const requests = since('requests_total', { route });
    if (requests === 0) return [];
    const failed = ['500', '502', '503'].reduce((sum, status) => sum + since('requests_total', { route, status }), 0);
    const rate = seconds === undefined ? countText(requests) : (requests / seconds).toFixed(1);
    const bytes = since('answer_bytes_total', { route }) / (seconds ?? 1);
    const quantile = (part: number): string =>
      quantileText(part, requests, (le) => since('answer_seconds_bucket', { route, le }), now);
    return [[route, rate, bytesText(Math.round(bytes)), quantile(0.5), quantile(0.99), countText(failed)]];
  });
  const per = seconds === undefined ? '' : '/s';
  const gauge = (name: string): number => valueOf(now.samples, name, {});
  const generation = now.samples.get(`${METRIC_PREFIX}data_info`)?.[0]?.labels['generation']?.slice(0, 12) ?? 'none';
  const state = gauge('ready') === 1 ? 'ready' : 'not ready';
  const open = gauge('connections');
  const connections = `${countText(open)} connection${open === 1 ? '' : 's'}`;
  const memory = bytesText(gauge('process_resident_memory_bytes'));
  return [
    `${host}: ${state}, generation ${generation}, ${connections}, ${memory} resident`,
    seconds === undefined ? 'since its start:' : `in the last ${seconds.toFixed(1)} s:`,
    rows.length === 0
      ? 'no requests'
      : tableText([['route', `requests${per}`, `bytes${per}`, 'p50', 'p99', '5xx'], ...rows]),
  ].join('\n');
}

/** The sum of the samples with these labels, whatever their others. */
function valueOf(samples: Samples, name: string, labels: Sample['labels']): number {
  const matching = (samples.get(METRIC_PREFIX + name) ?? []).filter((sample) =>
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  return matching.reduce((sum, { value }) => sum + value, 0);
}

/** The end of the bucket in which a part of all lies. */
function quantileText(part: number, all: number, below: (le: string) => number, { samples }: Scrape): string {
  const ends = new Set((samples.get(`${METRIC_PREFIX}answer_seconds_bucket`) ?? []).map(({ labels }) => labels['le']!));
  const end = [...ends].find((le) => below(le) >= part * all);
  return end === undefined || end === '+Inf' ? '> 10 s' : `${Number(end) * 1000} ms`;
}
