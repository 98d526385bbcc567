// Measures the sweeps of the report: CPU and waiting time of one request after another while one thing varies.
// Composition only.
import { prepareDataSet } from './dataSet.ts';
import { ask } from '../scenarios/check.ts';
import { choiceFor } from '../scenarios/choice.ts';
import type { LoadObserver, LoadOptions } from './load.ts';
import { startLoadClient, type Exchange, type LoadClient } from '../client/loadClient.ts';
import { readNaively } from '../scenarios/naive.ts';
import { startServer, type ListeningProcess } from '../processes/processes.ts';
import { costOf, summaryOf, type Cost } from './rounds.ts';
import type { Choice, Headers } from '../scenarios/scenario.ts';
import { onStage } from '../processes/stage.ts';
import { LIST } from '../scenarios/questions.ts';
import { SWEEPS, type Sweep } from '../scenarios/sweeps.ts';

/**
 * A measured point: CPU of the server in microseconds and what the client waited, both for one request, least of
 * rounds.
 */
export interface MeasuredPoint {
  readonly line: string;
  readonly x: number;
  readonly microseconds: number;
  readonly waitMs: number;
  readonly bytes: number;
}

/** A sweep with its points. */
export interface SweepReport {
  readonly sweep: Sweep;
  readonly points: readonly MeasuredPoint[];
}

/** What clients wait for at a part of what the server can do. */
export interface PacedPoint {
  readonly part: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

/** A body in one encoding. */
export interface EncodingPoint {
  readonly what: string;
  readonly encoding: string;
  readonly bytes: number;
  readonly microseconds: number;
}

/** What the sweeps of one data set gave. */
export interface SweepRun {
  readonly sweeps: readonly SweepReport[];
  readonly paced: readonly PacedPoint[];
  readonly encodings: readonly EncodingPoint[];
}

interface Track {
  readonly server: ListeningProcess;
  readonly client: LoadClient;
  readonly choice: Choice;
  readonly rounds: number;
  readonly requestsPart: number;
}

/** Runs the sweeps, the paced load and the encodings on the data set of the options. */
export function runSweeps(options: LoadOptions, observer: LoadObserver): Promise<SweepRun> {
  return onTrack(options, observer, async (track) => {
    const sweeps: SweepReport[] = [];
    for (const sweep of SWEEPS) {
      observer.onStep(`sweeping over ${sweep.name}`);
      const asked = sweep.lines.flatMap((line) =>
        line.points(track.choice).map((point) => ({ ...point, line: line.name })),
      );
      sweeps.push({ sweep, points: await measuredPoints(track, asked) });
    }
    observer.onStep('sweeping over load');
    const paced = await pacedPoints(track);
    observer.onStep('sweeping over encodings');
    return { sweeps, paced, encodings: await encodingPoints(track) };
  });
}

async function onTrack<T>(
  options: LoadOptions,
  observer: LoadObserver,
  work: (track: Track) => Promise<T>,
): Promise<T> {
  const data = await prepareDataSet(options, observer.onProgress);
  const choice = choiceFor(await readNaively(data.directory));
  return onStage(async (stage) => {
    const server = await stage.started(startServer(data.snapshot));
    const client = await stage.started(startLoadClient());
    const { rounds, requestsPart } = options;
    return work({ server, client, choice, rounds, requestsPart });
  });
}

interface Asked {
  readonly line: string;
  readonly x: number;
  readonly target: string;
  readonly requests: number;
}

/** All points in interleaved rounds, the first of which warms up. */
async function measuredPoints(track: Track, asked: readonly Asked[]): Promise<readonly MeasuredPoint[]> {
  const exchanges: Exchange[] = [];
  for (const { target } of asked) exchanges.push(await exchangeOf(track, target));
  const costs: Cost[][] = asked.map(() => []);
  for (let round = 0; round <= track.rounds; round++) {
    for (const [i, { requests }] of asked.entries()) {
      const cost = await costOf(track.client, loadOf(track, exchanges[i]!, requests));
      if (round > 0) costs[i]!.push(cost);
    }
  }
  return asked.map(({ line, x }, i) => ({
    line,
    x,
    bytes: exchanges[i]!.bytes,
    microseconds: summaryOf(costs[i]!.map(({ microseconds }) => microseconds)).least,
    waitMs: summaryOf(costs[i]!.map(({ outcome }) => outcome.p50Ms)).least,
  }));
}

function loadOf({ server, requestsPart }: Track, exchange: Exchange, requests: number) {
  return { process: server, exchanges: [exchange], requests: Math.max(1, Math.round(requests * requestsPart)) };
}

async function exchangeOf({ server }: Track, target: string, headers: Headers = {}): Promise<Exchange> {
  const { status, body } = await ask(server.port, target, headers);
  if (status !== 200) throw new Error(`${target} is answered ${status}`);
  return { target, headers, status, bytes: body.length };
}

const PACED_PARTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const PACED_CONNECTIONS = 16;
const PACED_SECONDS = 2;
const WITHIN_MS = 60_000;

/** Records asked for at parts of the rate that the same client gets as fast as it can. */
async function pacedPoints(track: Track): Promise<readonly PacedPoint[]> {
  const { client, server, choice, requestsPart } = track;
  const target = `${LIST}${choice.catalogue.rows[0]!.id}/`;
  const order = {
    port: server.port,
    exchanges: [await exchangeOf(track, target)],
    connections: PACED_CONNECTIONS,
    withinMs: WITHIN_MS,
  };
  const whole = await client.run({ ...order, requests: Math.round(20_000 * requestsPart) });
  const most = (whole.requests / whole.elapsedMs) * 1000;
  const points: PacedPoint[] = [];
  for (const part of PACED_PARTS) {
    const perSecond = most * part;
    const requests = Math.max(1, Math.round(perSecond * PACED_SECONDS * requestsPart));
    const { p50Ms, p99Ms, p999Ms } = await client.run({ ...order, requests, perSecond });
    points.push({ part, perSecond, p50Ms, p99Ms, p999Ms });
  }
  return points;
}

/** What bodies are asked for in; one that the server answers otherwise is left out. */
const ENCODINGS = ['identity', 'gzip'];
const ENCODED = [
  { what: 'a page of 100', query: '', requests: 200 },
  { what: 'a page of 100 scattered rows', query: '?publicationState=citable', requests: 200 },
  { what: 'a page of 1,000', query: '?limit=1000', requests: 20 },
];

async function encodingPoints(track: Track): Promise<readonly EncodingPoint[]> {
  const points: EncodingPoint[] = [];
  for (const { what, query, requests } of ENCODED) {
    for (const encoding of ENCODINGS) {
      const headers = { 'Accept-Encoding': encoding };
      const answer = await ask(track.server.port, `${LIST}${query}`, headers);
      if (answer.encoding !== encoding) continue;
      const exchange = await exchangeOf(track, `${LIST}${query}`, headers);
      const costs: number[] = [];
      for (let round = 0; round < track.rounds; round++) {
        costs.push((await costOf(track.client, loadOf(track, exchange, requests))).microseconds);
      }
      points.push({ what, encoding, bytes: exchange.bytes, microseconds: summaryOf(costs).least });
    }
  }
  return points;
}
