// Measures loads in interleaved rounds: CPU time per request of the processes that respond. On a shared machine noise
// only adds, so the minimum of the rounds counts.
import { cpuMicroseconds, cpuTimesOf } from '../processes/cpuTime.ts';
import type { Exchange, LoadClient, LoadOutcome } from '../client/loadClient.ts';
import type { ListeningProcess } from '../processes/processes.ts';

/** The requests to a process in a round, on `connections` or a few. */
export interface Load {
  readonly process: ListeningProcess;
  readonly exchanges: readonly Exchange[];
  readonly requests: number;
  readonly connections?: number | undefined;
}

/** Loads that are compared: a scenario, its control, and others with the same responses. */
export interface Race {
  readonly name: string;
  readonly loads: readonly Load[];
}

/** CPU microseconds per request: for each load of a race one number a round. */
export type RoundCosts = readonly (readonly number[])[];

/** More than one, so that a serving thread is not idle between two requests. Few, so that none waits. */
const CONNECTIONS = 4;
/** A load that takes longer hangs: it takes seconds on a quiet machine. Budgets guard speed. */
const WITHIN_MS = 300_000;

/** The minimum of some numbers, and their noise: how far the median exceeds the minimum (0.1 is 10 %). */
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

/** Multiple of a round's requests for warming up, for loads with few requests. */
export const WARM_UP = 10;
/** The runtime compiles the code of a scenario within some 5,000 requests, at tens of us each. */
const WARM_UP_REQUESTS_MAX = 6000;

/**
 * The number of rounds. Before these, each load runs `warmUp` times its requests, at most 6,000, which are not counted.
 * A load of several races is warm after the first.
 */
export interface Schedule {
  readonly rounds: number;
  readonly warmUp: number;
}

/**
 * Runs every race once a round: its loads one after the other, each first in turn. Round 0 warms up. Short rounds need
 * that as much as long ones, because code is compiled by how often it has run. Cost: all requests of all rounds.
 */
export async function measure(
  client: LoadClient,
  races: readonly Race[],
  { rounds, warmUp }: Schedule,
  onRound: (round: number) => void,
  onMeasured: (measured: readonly RoundCosts[]) => void = () => undefined,
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
      onMeasured(measured);
    }
  }
  return measured;
}

/** Loads without those that send the same to the same process. */
function eachOnce(loads: readonly Load[]): readonly Load[] {
  return loads.filter(
    ({ process, exchanges }, i) =>
      loads.findIndex((one) => one.process === process && one.exchanges === exchanges) === i,
  );
}

/** The loads are warm: code stays compiled, but caches have seen other requests. */
const WARM_AGAIN = 1;

/** Maximum repeats of races that look lost, each with as many rounds. */
const REPEATS = 8;
/** No repeat starts once the repeats have taken this many times as long as the first measurement. */
const REPEATED_MOST = 2;

/**
 * Like `measure`, but races that look lost are measured again, up to eight times. More rounds remove the noise of
 * others on the machine, but not a loss of the program. The new rounds are added to the old. Cost: that of `measure`,
 * and as much again for each repeat of a race, in total at most three times the whole and a repeat.
 */
export async function measureAgain(
  client: LoadClient,
  races: readonly Race[],
  schedule: Schedule,
  { onRound, onMeasured, onAgain, isLost }: Doubts,
): Promise<readonly RoundCosts[]> {
  const began = performance.now();
  const measured = [...(await measure(client, races, schedule, onRound, onMeasured))];
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

/** Says which races look lost, by index and measurement, and receives reports. */
export interface Doubts {
  isLost(race: number, measured: RoundCosts): boolean;
  onRound(round: number): void;
  /** Called after each race of the first measurement; races that have not run yet have no costs. */
  readonly onMeasured?: (measured: readonly RoundCosts[]) => void;
  onAgain(names: readonly string[]): void;
}

/** The cost of a load in one round: CPU microseconds per request, and the outcome for the client. */
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
