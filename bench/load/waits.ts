// The common part of benchmarks that measure waits of clients, as ratios of interleaved rounds. CPU time would miss the
// wait for a core.
import { ask } from '../scenarios/check.ts';
import type { Exchange } from '../client/loadClient.ts';
import { summaryOf } from './rounds.ts';

/** A wait of clients divided by that of its control, whose rounds have `spread`, with targets if any. */
export interface WaitReport {
  readonly name: string;
  readonly what: string;
  readonly ratio: number;
  readonly spread: number;
  readonly pass?: number;
  readonly great?: number;
}

/** The median of the rounds' ratios. The minimum may be of a round in which the work hardly ran. */
export function waitOf(waits: readonly number[], control: readonly number[]): Pick<WaitReport, 'ratio' | 'spread'> {
  const ratios = control.map((one, i) => waits[i]! / one).toSorted((a, b) => a - b);
  return { ratio: ratios[ratios.length >> 1]!, spread: summaryOf(control).spread };
}

/** The expected response for each target, from one response to it. */
export async function exchangesOf(port: number, targets: readonly string[]): Promise<readonly Exchange[]> {
  const exchanges: Exchange[] = [];
  for (const target of targets) {
    const { status, body } = await ask(port, target);
    exchanges.push({ target, status, bytes: body.length });
  }
  return exchanges;
}
