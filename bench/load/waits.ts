// What clients wait for, as ratios of interleaved rounds: what a bench of waits has in common with another. No CPU
// time: whoever waits for a core has none.
import { ask } from '../scenarios/check.ts';
import type { Exchange } from '../client/loadClient.ts';
import { summaryOf } from './rounds.ts';

/** A figure of what clients wait for over that of its control, whose rounds have `spread`; targets where there are. */
export interface WaitReport {
  readonly name: string;
  readonly what: string;
  readonly ratio: number;
  readonly spread: number;
  readonly pass?: number;
  readonly great?: number;
}

/** The middle of the rounds' ratios: the least one may be of a round in which something kept the work from running. */
export function waitOf(waits: readonly number[], control: readonly number[]): Pick<WaitReport, 'ratio' | 'spread'> {
  const ratios = control.map((one, i) => waits[i]! / one).toSorted((a, b) => a - b);
  return { ratio: ratios[ratios.length >> 1]!, spread: summaryOf(control).spread };
}

/** What every answer to a target must have, from one answer to it. */
export async function exchangesOf(port: number, targets: readonly string[]): Promise<readonly Exchange[]> {
  const exchanges: Exchange[] = [];
  for (const target of targets) {
    const { status, body } = await ask(port, target);
    exchanges.push({ target, status, bytes: body.length });
  }
  return exchanges;
}
