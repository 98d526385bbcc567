// Measures pairs of loads in interleaved rounds: CPU time per request of the process that answers.
// Contamination on a shared machine is one-sided, so that the least of the rounds is what counts. Called by load.ts.
import { cpuMicroseconds, cpuTimesOf } from './cpuTime.ts';
import type { Exchange, LoadClient } from './loadClient.ts';
import type { ListeningProcess } from './processes.ts';

/** What is asked of a process in a round. */
export interface Load {
  readonly process: ListeningProcess;
  readonly exchanges: readonly Exchange[];
  readonly requests: number;
}

/** A scenario beside its control. */
export interface Pair {
  readonly name: string;
  readonly subject: Load;
  readonly control: Load;
}

/** CPU microseconds per request, one number a round. */
export interface Measured {
  readonly name: string;
  readonly subject: readonly number[];
  readonly control: readonly number[];
}

/** More than one, so that a serving thread is not idle between two requests; few, so that none waits. */
const CONNECTIONS = 4;
const WITHIN_MS = 60_000;

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

/**
 * Runs every pair once a round, subject and control next to each other and in turn first. A round before the first one
 * warms up and is not counted. Cost: all requests of all rounds.
 */
export async function measure(
  client: LoadClient,
  pairs: readonly Pair[],
  rounds: number,
  onRound: (round: number) => void,
): Promise<readonly Measured[]> {
  const measured = pairs.map(({ name }) => ({ name, subject: [] as number[], control: [] as number[] }));
  for (let round = 0; round <= rounds; round++) {
    onRound(round);
    for (const [i, pair] of pairs.entries()) {
      const sides = round % 2 === 0 ? (['subject', 'control'] as const) : (['control', 'subject'] as const);
      for (const side of sides) {
        const microseconds = await costOf(client, pair[side]);
        if (round > 0) measured[i]![side].push(microseconds);
      }
    }
  }
  return measured;
}

async function costOf(client: LoadClient, { process, exchanges, requests }: Load): Promise<number> {
  const before = cpuTimesOf(process.pid);
  const order = { port: process.port, exchanges, requests, connections: CONNECTIONS, withinMs: WITHIN_MS };
  const outcome = await client.run(order);
  return cpuMicroseconds(before, cpuTimesOf(process.pid)) / outcome.requests;
}
