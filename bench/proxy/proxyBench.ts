// Sends one mix of requests to two replicas: directly, through the shipped nginx and through the shipped HAProxy, next
// to an expensive client; at maximum speed and at fixed rates. Each proxy is compared with the direct way in the same
// run.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { OperationError } from '../../data/operationError.ts';
import { startLoadClient, type Exchange, type LoadOrder, type LoadOutcome } from '../client/loadClient.ts';
import { prepareDataSet, type DataSetOptions } from '../load/dataSet.ts';
import type { LoadObserver } from '../load/load.ts';
import { HEAVY_LISTS } from '../load/mixed.ts';
import { summaryOf } from '../load/rounds.ts';
import { cpuMicroseconds, cpuTimesOf } from '../processes/cpuTime.ts';
import { familyOf, temporaryFolder } from '../processes/ending.ts';
import { KEEPING_ANSWERS, startServer, stopped, type ListeningProcess } from '../processes/processes.ts';
import { onStage, type BenchStage } from '../processes/stage.ts';
import { ask } from '../scenarios/check.ts';
import { choiceFor } from '../scenarios/choice.ts';
import { readNaively } from '../scenarios/naive.ts';
import { deepOffset, LIMIT, LIST } from '../scenarios/questions.ts';
import type { Choice, Headers } from '../scenarios/scenario.ts';
import { adaptedProxy, steadyPort, type ProxyName } from './shippedProxies.ts';

/** The ways from client to replicas. */
export const WAYS = ['direct', 'nginx', 'haproxy'] as const;
export type Way = (typeof WAYS)[number];

/**
 * `requests` at maximum speed, then `seconds` at each of these fractions of the direct maximum. Each is measured
 * `rounds` times and the minimum counts, but errors are added up.
 */
export interface ProxyOptions extends DataSetOptions {
  readonly rounds: number;
  readonly requests: number;
  readonly seconds: number;
  readonly parts: readonly number[];
}

/** CPU microseconds of each process for one request of the mix, including the work for the expensive client. */
export interface CpuOfWay {
  readonly replicas: number;
  readonly proxy: number;
  readonly client: number;
}

/**
 * One way under one load: `part` of the direct rate, or undefined at maximum speed. Times are from when a request was
 * sent, or was due if no connection was idle then, to its last byte.
 */
export interface ProxyPoint {
  readonly way: Way;
  readonly part: number | undefined;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly errors: number;
  readonly cpu: CpuOfWay;
  /** How far the median CPU of the replicas exceeds the minimum. */
  readonly spread: number;
}

/** A point relative to the direct one under the same load. */
export interface ProxyRatios {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** CPU of the replicas: what a proxy costs or saves them. */
  readonly replicas: number;
  /** CPU of replicas and proxy. */
  readonly cpu: number;
}

/** The figures of a way relative to the direct one. */
export function ratiosOf(point: ProxyPoint, points: readonly ProxyPoint[]): ProxyRatios {
  const direct = points.find(({ way, part }) => way === 'direct' && part === point.part)!;
  return {
    p50: point.p50Ms / direct.p50Ms,
    p99: point.p99Ms / direct.p99Ms,
    p999: point.p999Ms / direct.p999Ms,
    replicas: point.cpu.replicas / direct.cpu.replicas,
    cpu: (point.cpu.replicas + point.cpu.proxy) / direct.cpu.replicas,
  };
}

/** The figure of each proxy that has a budget: the CPU of its replicas at maximum speed, relative to direct. */
export function proxyFigures(
  points: readonly ProxyPoint[],
): readonly { name: string; ratio: number; spread: number }[] {
  const direct = points.find(({ way, part }) => way === 'direct' && part === undefined);
  return points
    .filter(({ way, part }) => way !== 'direct' && part === undefined)
    .map((point) => ({
      name: `${point.way}Replicas`,
      ratio: ratiosOf(point, points).replicas,
      spread: direct?.spread ?? 0,
    }));
}

const CONNECTIONS = 16;
const REPLICAS = 2;
const WITHIN_MS = 120_000;
/** Few enough to end the run of a broken way soon, many enough to count errors of another. */
const ERRORS_MAX = 1000;
const HEAVY_REQUESTS = 1_000_000;
/**
 * A fixed rate, so that every way has the same expensive work. No way benefits from rows that another one has cached.
 */
const HEAVY_PER_SECOND = 10;
/** One request: a target, its headers, and whether the client already has the response. */
interface Asked {
  readonly target: string;
  readonly headers?: Headers;
  readonly isKept?: boolean;
}

/** The mix, in an order that spreads each kind evenly. */
function mixOf({ catalogue: { rows }, word }: Choice): readonly Asked[] {
  const deep = deepOffset(rows.length, 4 * LIMIT);
  const record = (i: number): string => `${LIST}${rows[Math.floor((rows.length * i) / 8)]!.id}/`;
  const times = <T>(count: number, of: (i: number) => T): readonly T[] =>
    Array.from({ length: count }, (_, i) => of(i));
  const groups: readonly (readonly Asked[])[] = [
    times(8, (i) => ({ target: record(i) })),
    times(6, (i) => ({ target: i % 2 === 0 ? record(i) : `${LIST}?offset=${i * LIMIT}`, isKept: true })),
    times(4, (i) => ({ target: `${LIST}?offset=${i * LIMIT}` })),
    times(2, (i) => ({ target: `${LIST}?offset=${deep + i * LIMIT}` })),
    [`title__contains=${word}`, 'publicationState=citable&offset=100', 'status!=planned&limit=20'].map((query) => ({
      target: `${LIST}?${query}`,
    })),
    times(4, (i) => ({ target: `${LIST}?offset=${i * LIMIT}`, headers: { 'Accept-Encoding': 'gzip' } })),
    [{ target: `${LIST}?format=ndjson&limit=1000` }, { target: `${LIST}?format=csv&limit=1000` }],
  ];
  const placed = groups.flatMap((group) => group.map((asked, i) => ({ asked, place: (i + 0.5) / group.length })));
  return placed.toSorted((a, b) => a.place - b.place).map(({ asked }) => asked);
}

/** The expected responses of every way: the bytes of the first replica. */
async function exchangesOf(ports: readonly number[], mix: readonly Asked[]): Promise<readonly Exchange[]> {
  const exchanges: Exchange[] = [];
  for (const { target, headers = {}, isKept = false } of mix) {
    const [first, ...others] = await Promise.all(ports.map((port) => ask(port, target, headers)));
    assert(first!.status === 200, `${target} is answered ${first!.status}`);
    assert(
      others.every(({ status, body, etag }) => status === 200 && body.equals(first!.body) && etag === first!.etag),
      `${target} has several answers`,
    );
    exchanges.push(
      isKept
        ? { target, headers: { ...headers, 'If-None-Match': first!.etag! }, status: 304, bytes: 0 }
        : { target, headers, status: 200, bytes: first!.body.length },
    );
  }
  return exchanges;
}

/** Starts a proxy that listens. Its processes are listed again for each measurement. */
async function startShipped(
  name: ProxyName,
  folder: string,
  replicas: readonly { readonly port: number; readonly http10Port: number }[],
): Promise<ListeningProcess> {
  const { kind, at, words } = await adaptedProxy(name, folder, replicas);
  const output = openSync(join(at.folder, 'output.log'), 'w');
  const child = spawn(kind.program, words, { stdio: ['ignore', output, output] });
  let failure: Error | undefined;
  child.once('error', (error) => (failure = error));
  for (;;) {
    if (failure !== undefined || child.exitCode !== null || child.signalCode !== null) {
      const said = readFileSync(join(at.folder, 'output.log'), 'utf8');
      throw new OperationError('usage', `${kind.program} of deploy/ does not start: ${failure?.message ?? said}`);
    }
    if (await isAnswering(at.port)) return { pid: child.pid!, port: at.port, stop: () => stopped(child) };
    await delay(20);
  }
}

async function isAnswering(port: number): Promise<boolean> {
  return ask(port, '/healthz', {}).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** The running processes of the benchmark, and its requests. */
interface Track {
  readonly servers: readonly ListeningProcess[];
  readonly proxies: Readonly<Record<Way, ListeningProcess | undefined>>;
  readonly ports: Readonly<Record<Way, readonly number[]>>;
  readonly client: ReturnType<typeof startLoadClient>;
  readonly heavyClient: ReturnType<typeof startLoadClient>;
  readonly exchanges: readonly Exchange[];
  readonly heavy: readonly Exchange[];
}

async function startTrack(stage: BenchStage, snapshot: string, mix: readonly Asked[]): Promise<Track> {
  const { path: folder, remove } = temporaryFolder('catalogue-proxies-');
  await stage.started({ stop: async () => remove() });
  const servers: (ListeningProcess & { readonly http10Port: number })[] = [];
  for (let i = 0; i < REPLICAS; i++) {
    const http10Port = await steadyPort();
    const flags = [...KEEPING_ANSWERS, '--http10-port', String(http10Port)];
    servers.push({ ...(await stage.started(startServer(snapshot, { flags }))), http10Port });
  }
  const nginx = await stage.started(startShipped('nginx', folder, servers));
  const haproxy = await stage.started(startShipped('haproxy', folder, servers));
  const ports = { direct: servers.map(({ port }) => port), nginx: [nginx.port], haproxy: [haproxy.port] };
  const all = Object.values(ports).flat();
  const heavy = HEAVY_LISTS.map((target) => ({ target }));
  return {
    servers,
    proxies: { direct: undefined, nginx, haproxy },
    ports,
    client: await stage.started(startLoadClient()),
    heavyClient: await stage.started(startLoadClient()),
    exchanges: await exchangesOf(all, mix),
    heavy: await exchangesOf(all, heavy),
  };
}

type Pace = Pick<LoadOrder, 'requests' | 'perSecond'>;

/** One round of one way, next to the expensive client. */
async function sampleOf(track: Track, way: Way, pace: Pace): Promise<Sample> {
  const { servers, proxies, ports, client, heavyClient, exchanges, heavy } = track;
  const order = { port: ports[way][0]!, ports: ports[way], errorsMax: ERRORS_MAX, withinMs: WITHIN_MS };
  const endless = { requests: HEAVY_REQUESTS, perSecond: HEAVY_PER_SECOND, connections: 1 };
  const beside = heavyClient.run({ ...order, ...endless, exchanges: heavy });
  const groups = {
    replicas: servers.map(({ pid }) => pid),
    proxy: proxies[way] ? familyOf(proxies[way].pid) : [],
    client: [client.pid],
  };
  const look = () =>
    new Map(Object.values(groups).flatMap((pids) => pids.map((pid) => [pid, cpuTimesOf(pid)] as const)));
  const before = look();
  const outcome = await client.run({ ...order, ...pace, exchanges, connections: CONNECTIONS });
  const after = look();
  heavyClient.enough();
  const { errors } = await beside;
  const perRequest = (pids: readonly number[]): number =>
    pids.reduce((sum, pid) => sum + cpuMicroseconds(before.get(pid)!, after.get(pid)!), 0) / outcome.requests;
  const cpu = {
    replicas: perRequest(groups.replicas),
    proxy: perRequest(groups.proxy),
    client: perRequest(groups.client),
  };
  return { outcome, errors: outcome.errors + errors, cpu };
}

/** Every way at one pace, in interleaved rounds. */
async function pointsOf(
  track: Track,
  part: number | undefined,
  rounds: number,
  pace: Pace,
): Promise<readonly ProxyPoint[]> {
  const samples: Record<Way, Sample[]> = { direct: [], nginx: [], haproxy: [] };
  for (let round = 0; round < rounds; round++) {
    for (const way of WAYS) samples[way].push(await sampleOf(track, way, pace));
  }
  return WAYS.map((way) => pointOf(way, part, samples[way]));
}

/** Runs the benchmark. Throws OperationError `usage` if a proxy does not start. Rejects if a response differs. */
export async function runProxyBench(options: ProxyOptions, observer: LoadObserver): Promise<readonly ProxyPoint[]> {
  const { rounds, requests, seconds, parts } = options;
  const { directory, snapshot } = await prepareDataSet(options, observer.onProgress);
  const mix = mixOf(choiceFor(await readNaively(directory)));
  return onStage(async (stage) => {
    const track = await startTrack(stage, snapshot, mix);
    observer.onStep('warming up');
    await pointsOf(track, undefined, 1, { requests });
    observer.onStep('measuring as fast as it is answered');
    const points = [...(await pointsOf(track, undefined, rounds, { requests }))];
    const most = points[0]!.perSecond;
    for (const part of parts) {
      observer.onStep(`measuring at ${part} of ${most.toFixed(0)} requests a second`);
      const perSecond = most * part;
      points.push(...(await pointsOf(track, part, rounds, { perSecond, requests: Math.ceil(perSecond * seconds) })));
    }
    return points;
  });
}

interface Sample {
  readonly outcome: LoadOutcome;
  readonly errors: number;
  readonly cpu: CpuOfWay;
}

function pointOf(way: Way, part: number | undefined, samples: readonly Sample[]): ProxyPoint {
  const least = (of: (sample: Sample) => number): number => Math.min(...samples.map(of));
  return {
    way,
    part,
    perSecond: 1 / least(({ outcome: { requests, elapsedMs } }) => elapsedMs / 1000 / requests),
    p50Ms: least(({ outcome }) => outcome.p50Ms),
    p99Ms: least(({ outcome }) => outcome.p99Ms),
    p999Ms: least(({ outcome }) => outcome.p999Ms),
    errors: samples.reduce((sum, { errors }) => sum + errors, 0),
    cpu: {
      replicas: least(({ cpu }) => cpu.replicas),
      proxy: least(({ cpu }) => cpu.proxy),
      client: least(({ cpu }) => cpu.client),
    },
    spread: summaryOf(samples.map(({ cpu }) => cpu.replicas)).spread,
  };
}
