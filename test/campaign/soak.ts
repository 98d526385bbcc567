// A soak: pages, filters, records, 304s and compressed pages at 80 % of the rate that is answered as fast as it goes,
// for as long as it is told, and every byte of every answer checked: against the plain rows once, by its digest each
// time. Prints nothing itself.
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

/** How long, over what, and who hears of it; the last minute may be a part of one. With `isOver` it ends behind it. */
export interface SoakOptions {
  readonly seed: number;
  readonly observations: number;
  readonly minutes: number;
  readonly isOver: () => boolean;
  readonly onStep: (line: string) => void;
}

/** What came of it: answers with the right body, what was wrong with one, and how memory grows in MB an hour. */
export interface Soak {
  readonly answers: number;
  readonly fault: string | undefined;
  readonly slope: number | undefined;
}

/** What is asked, in turn: what is small four times for each of what is large, which is most of the time anyway. */
const SMALL = ['tiny', '304', 'record', 'deep', 'facets'];
const LARGE = ['walk', 'gzip', 'scattered', 'in', 'startswith', 'v2', 'range', 'link', 'ordered', 'fields'];

const CONNECTIONS = 16;
const PEAK_REQUESTS = 20_000;
const PART_OF_PEAK = 0.8;
const MINUTE_MS = 60_000;
/** An order of a minute that takes this long hangs. */
const WITHIN_MS = 5 * MINUTE_MS;
/** Memory is looked at this often, of which the least of each minute counts: what is above is not collected yet. */
const LOOK_MS = 500;
/** Minutes until all caches are full. */
const WARM_MINUTES = 10;
const MB = 1 << 20;

/**
 * Runs it. Rejects where an answer differs from the plain rows before it begins. What fails once it is over is no
 * fault: a terminal's Ctrl-C ends server and client too.
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

/** The exchange with the digest of the body that it is answered with. */
async function withDigest(port: number, exchange: Exchange): Promise<Exchange> {
  const { body } = await ask(port, exchange.target, exchange.headers);
  return { ...exchange, digest: createHash('sha256').update(body).digest('hex') };
}

const SMALL_FOR_LARGE = 4;

/** Some of the small and one of the large in turn, until each of the large has been there. */
function mixed(small: readonly Exchange[], large: readonly Exchange[]): readonly Exchange[] {
  const some = (i: number): readonly Exchange[] =>
    Array.from({ length: SMALL_FOR_LARGE }, (_, k) => small[(SMALL_FOR_LARGE * i + k) % small.length]!);
  return large.flatMap((one, i) => [...some(i), one]);
}

/** The same order minute after minute. */
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
    // A server that is gone is told of by the client.
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
