// A soak: pages, filters, records, 304s and compressed pages at 80 % of the server's full rate for a given time. Every
// byte of every response is checked: once against the plain rows, and by digest each time. Prints nothing itself.
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Exchange, type LoadClient, startLoadClient } from '../../bench/client/loadClient.ts';
import { CACHE_DIRECTORY, prepareDataSet } from '../../bench/load/dataSet.ts';
import { BENCH_BASE_URL } from '../../bench/processes/processes.ts';
import { ask, checkQuestions } from '../../bench/scenarios/check.ts';
import { choiceFor } from '../../bench/scenarios/choice.ts';
import { readNaively } from '../../bench/scenarios/naive.ts';
import { CATALOGUE_SCENARIOS } from '../../bench/scenarios/scenarios.ts';
import { type CommandProcess, holdingsOf, runServer } from '../support/commandProcess.ts';
import { type MemorySample, memorySlope } from './report.ts';

/** Duration, data and callback. The last minute may be partial. If `isOver` returns true, the soak ends after it. */
export interface SoakOptions {
  readonly seed: number;
  readonly observations: number;
  readonly minutes: number;
  readonly isOver: () => boolean;
  readonly onStep: (line: string) => void;
}

/** The result: correct responses, what was wrong with others, and the growth of memory in MB an hour. */
export interface Soak {
  readonly answers: number;
  readonly fault: string | undefined;
  readonly slope: number | undefined;
}

/** The requests, in turn: four small ones for each large one. The large ones still take most of the time. */
const SMALL = ['tiny', '304', 'record', 'deep', 'facets'];
const LARGE = ['walk', 'gzip', 'scattered', 'in', 'startswith', 'v2', 'range', 'link', 'ordered', 'fields'];

const CONNECTIONS = 16;
const PEAK_REQUESTS = 20_000;
const PART_OF_PEAK = 0.8;
const MINUTE_MS = 60_000;
/** The load for one minute counts as hung after this time. */
const WITHIN_MS = 5 * MINUTE_MS;
/** Sampling interval of memory. The minimum of each minute counts: anything above it is garbage not yet collected. */
const LOOK_MS = 500;
/** Minutes until all caches are full. */
const WARM_MINUTES = 10;
const MB = 1 << 20;

/**
 * Runs a soak. Rejects if a response differs from the plain rows before the load begins. Failures after the end count
 * for nothing: a terminal's Ctrl-C stops the server and the client too.
 */
export async function soak(options: SoakOptions): Promise<Soak> {
  try {
    return await soakedServer(options);
  } catch (error) {
    if (options.isOver()) return { answers: 0, fault: undefined, slope: undefined };
    throw error;
  }
}

async function soakedServer(options: SoakOptions): Promise<Soak> {
  const { seed, observations, onStep } = options;
  const data = await prepareDataSet({ observations, seed, cacheDirectory: CACHE_DIRECTORY }, () => undefined);
  const choice = choiceFor(await readNaively(data.directory));
  const server = await runServer(['--data', data.snapshot, '--threads', '1', '--base-url', BENCH_BASE_URL]);
  const client = startLoadClient();
  try {
    const exchanges = async (names: readonly string[]): Promise<readonly Exchange[]> => {
      const scenarios = CATALOGUE_SCENARIOS.filter(({ name }) => names.includes(name));
      const questions = scenarios.flatMap((scenario) => scenario.questions(choice));
      const checked = await checkQuestions(server.port, questions, choice.catalogue);
      return Promise.all(checked.exchanges.map((exchange) => withDigest(server.port, exchange)));
    };
    const mix = mixed(await exchanges(SMALL), await exchanges(LARGE));
    const order = { port: server.port, exchanges: mix, connections: CONNECTIONS, withinMs: WITHIN_MS };
    await client.run({ ...order, requests: PEAK_REQUESTS });
    const { requests, elapsedMs } = await client.run({ ...order, requests: PEAK_REQUESTS });
    const perSecond = Math.floor((PART_OF_PEAK * requests * 1000) / elapsedMs);
    onStep(`${Math.round((requests * 1000) / elapsedMs)} requests a second at most, ${perSecond} from now on`);
    return await steadily({ ...order, perSecond }, server, client, options);
  } finally {
    await client.stop();
    await server.kill();
  }
}

/** Returns the exchange with the digest of its response body. */
async function withDigest(port: number, exchange: Exchange): Promise<Exchange> {
  const { body } = await ask(port, exchange.target, exchange.headers);
  return { ...exchange, digest: createHash('sha256').update(body).digest('hex') };
}

const SMALL_FOR_LARGE = 4;

/** Interleaves some small exchanges and one large one, until every large one is included. */
function mixed(small: readonly Exchange[], large: readonly Exchange[]): readonly Exchange[] {
  const some = (i: number): readonly Exchange[] =>
    Array.from({ length: SMALL_FOR_LARGE }, (_, k) => small[(SMALL_FOR_LARGE * i + k) % small.length]!);
  return large.flatMap((one, i) => [...some(i), one]);
}

/** Repeats the same load minute after minute. */
async function steadily(
  order: Omit<Parameters<LoadClient['run']>[0], 'requests'> & { readonly perSecond: number },
  server: CommandProcess,
  client: LoadClient,
  { minutes, isOver, onStep }: SoakOptions,
): Promise<Soak> {
  const memory: MemorySample[] = [];
  const slope = (): number | undefined => (memory.length < 2 ? undefined : memorySlope(memory));
  let answers = 0;
  for (let minute = 1; minute < minutes + 1 && !isOver(); minute++) {
    const watch = new AbortController();
    const least = leastMemory(server.pid, watch.signal);
    // The client reports a server that is gone.
    least.catch(() => undefined);
    const part = Math.min(1, minutes - minute + 1);
    const requests = Math.ceil((part * order.perSecond * MINUTE_MS) / 1000);
    const outcome = await client.run({ ...order, requests }).catch(String);
    watch.abort();
    if (typeof outcome === 'string') return { answers, fault: isOver() ? undefined : outcome, slope: slope() };
    const residentBytes = await least;
    answers += outcome.requests;
    if (minute > WARM_MINUTES) memory.push({ seconds: (minute * MINUTE_MS) / 1000, residentBytes });
    const { p50Ms, p99Ms } = outcome;
    const figures = `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, ${Math.round(residentBytes / MB)} MB`;
    onStep(`minute ${minute}: ${answers} answers checked, ${figures}`);
  }
  return { answers, fault: undefined, slope: slope() };
}

async function leastMemory(pid: number, over: AbortSignal): Promise<number> {
  let least = holdingsOf(pid).residentBytes;
  while (!over.aborted) {
    await delay(LOOK_MS);
    least = Math.min(least, holdingsOf(pid).residentBytes);
  }
  return least;
}
