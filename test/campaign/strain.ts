// What every kind of hostility has in common, so that the campaign runs all of them alike: to add one, a file in
// strains/ and its place in strains/all.ts.
import type { Random } from '../support/random.ts';
import type { World } from './world.ts';

/**
 * What came of one turn: how many requests had every byte of their answers checked against the oracle, how many things
 * else were tried, how many faults of the world were injected, and what was wrong, each with what repeats it; `what`
 * says what was done, where a strain has several kinds.
 */
export interface Outcome {
  readonly verified: number;
  readonly tried: number;
  readonly injected: number;
  readonly finds: readonly string[];
  readonly what?: string;
}

/**
 * A kind of hostility. `run` is one turn of a few seconds, which draws all that it does from `random`. `isCrowd` where
 * it comes from dozens of connections at once, so that the watching client waits for more than one request.
 */
export interface Strain {
  readonly name: string;
  readonly isCrowd?: true;
  run(random: Random, world: World): Promise<Outcome>;
}

/** An outcome of which only some is worth a word. */
export function outcomeOf(some: Partial<Outcome>): Outcome {
  return { verified: 0, tried: 0, injected: 0, finds: [], ...some };
}

/** Two outcomes as one. */
export function both(one: Outcome, other: Outcome): Outcome {
  return {
    verified: one.verified + other.verified,
    tried: one.tried + other.tried,
    injected: one.injected + other.injected,
    finds: [...one.finds, ...other.finds],
  };
}
