// Measures loads side by side in interleaved rounds: CPU time per request of the processes that answer. Contamination
// on a shared machine is one-sided, so that the least of the rounds is what counts.
import { cpuMicroseconds, cpuTimesOf } from '../processes/cpuTime.ts';
import type { Exchange, LoadClient, LoadOutcome } from '../client/loadClient.ts';
import type { ListeningProcess } from '../processes/processes.ts';

/** What is asked of a process in a round, on `connections` or a few. */
export interface Load {
  readonly process: ListeningProcess;
  readonly exchanges: readonly Exchange[];
  readonly requests: number;
  readonly connections?: number | undefined;
}

/** Loads that are compared: a scenario, its control, and whoever else answers the same. */
export interface Race {
  readonly name: string;
  readonly loads: readonly Load[];
}

/** CPU microseconds per request: for each load of a race one number a round. */
export type RoundCosts = readonly (readonly number[])[];

/** More than one, so that a serving thread is not idle between two requests; few, so that none waits. */
const CONNECTIONS = 4;
/** A load that takes longer hangs: it is seconds on a quiet machine, and a guard of speed is elsewhere. */
const WITHIN_MS = 300_000;

/** How noisy numbers are, and what they say: the least, and how far the middle one lies above it (0.1 is 10 %). */
export interface Summary {
  readonly least: number;
  readonly spread: number;
}

/** Sums up the rounds of one load; at least one round. */
export function summaryOf(rounds: readonly number[]): Summary {
  const ascending = rounds.toSorted((a, b) => a - b);
  const least = ascending[0]!;
  return { least, spread: ascending[ascending.length >> 1]! / least - 1 };
}

/** Times the requests of a whole round, of loads that are asked for seldom. */
export const WARM_UP = 10;
/** The runtime compiles what a scenario runs within some 5,000 requests, at the cost of tens of us each. */
const WARM_UP_REQUESTS_MAX = 6000;

/**
 * How often to measure; before, each load is run with `warmUp` times its requests, at most 6,000, and not counted. One
 * that stands in several races is warm after the first.
 */
export interface Schedule {
  readonly rounds: number;
  readonly warmUp: number;
}

/**
 * Runs every race once a round, its loads next to each other and in turn first. Round 0 warms up: short rounds need it
 * as long as long ones, since code is compiled by how often it has run. Cost: all requests of all rounds.
 */
export async function measure(
  client: LoadClient,
  races: readonly Race[],
  { rounds, warmUp }: Schedule,
  onRound: (round: number) => void,
): Promise<readonly RoundCosts[]> {
  onRound(0);
  for (const load of eachOnce(races.flatMap(({ loads }) => loads))) {
    const requests = Math.min(Math.ceil(load.requests * warmUp), Math.max(load.requests, WARM_UP_REQUESTS_MAX));
    await costOf(client, { ...load, requests });
  }
  const measured = races.map(({ loads }) => loads.map(() => [] as number[]));
  for (let round = 1; round <= rounds; round++) {
    onRound(round);
    for (const [i, { loads }] of races.entries()) {
      for (let step = 0; step < loads.length; step++) {
        const place = (round + step) % loads.length;
        measured[i]![place]!.push((await costOf(client, loads[place]!)).microseconds);
      }
    }
  }
  return measured;
}

/** Loads without those that ask the same of the same process. */
function eachOnce(loads: readonly Load[]): readonly Load[] {
  return loads.filter(
    ({ process, exchanges }, i) =>
      loads.findIndex((one) => one.process === process && one.exchanges === exchanges) === i,
  );
}

/** They are warm: what was compiled stays compiled, but caches have seen others. */
const WARM_AGAIN = 1;

/** How often races that look lost are measured again, with as many rounds each time. */
const REPEATS = 8;
/** No repeat begins when those before it have taken this many times as long as the first measurement did. */
const REPEATED_MOST = 2;

/**
 * As `measure`, and races that look lost then are measured again, up to eight times: what others on the machine have
 * added goes with more rounds, what the program has lost stays. Their rounds are counted with those before. Cost: that,
 * and as much again for each time that a race looks lost, at most three times the whole and a repeat.
 */
export async function measureAgain(
  client: LoadClient,
  races: readonly Race[],
  schedule: Schedule,
  { onRound, onAgain, isLost }: Doubts,
): Promise<readonly RoundCosts[]> {
  const began = performance.now();
  const measured = [...(await measure(client, races, schedule, onRound))];
  const first = performance.now();
  for (let repeat = 0; repeat < REPEATS && performance.now() - first <= REPEATED_MOST * (first - began); repeat++) {
    const lost = races.flatMap((race, i) => (isLost(i, measured[i]!) ? [{ race, i }] : []));
    if (lost.length === 0) break;
    onAgain(lost.map(({ race: { name } }) => name));
    const again = await measure(
      client,
      lost.map(({ race }) => race),
      { ...schedule, warmUp: WARM_AGAIN },
      onRound,
    );
    for (const [k, { i }] of lost.entries()) {
      measured[i] = measured[i]!.map((rounds, load) => [...rounds, ...again[k]![load]!]);
    }
  }
  return measured;
}

/** Which races look lost, by their place and what was measured of them; and who is told what goes on. */
export interface Doubts {
  isLost(race: number, measured: RoundCosts): boolean;
  onRound(round: number): void;
  onAgain(names: readonly string[]): void;
}

/** What a load cost in one round: CPU microseconds per request, and what the client saw. */
export interface Cost {
  readonly microseconds: number;
  readonly outcome: LoadOutcome;
}

/** Runs a load once. */
async function costOf(client: LoadClient, load: Load): Promise<Cost> {
  const { process, exchanges, requests, connections = CONNECTIONS } = load;
  const before = cpuTimesOf(process.pid);
  const outcome = await client.run({ port: process.port, exchanges, requests, connections, withinMs: WITHIN_MS });
  return { microseconds: cpuMicroseconds(before, cpuTimesOf(process.pid)) / outcome.requests, outcome };
}
