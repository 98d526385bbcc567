// A strain is one kind of attack or fault. This file declares their common interface, so that the campaign runs all
// alike. To add one, write a file in strains/ and list it in strains/all.ts.
import type { Random } from '../support/random.ts';
import type { World } from './world.ts';

/**
 * The outcome of one turn: requests whose responses the oracle verified to the last byte, other attempts, injected
 * operational faults, and finds, each with what repeats it. `what` names what was done if the strain has several kinds.
 */
export interface Outcome {
  readonly verified: number;
  readonly tried: number;
  readonly injected: number;
  readonly finds: readonly string[];
  readonly what?: string;
}

/**
 * `run` is one turn of a few seconds and draws all its choices from `random`. `isCrowd` marks strains that use dozens
 * of connections at once: the watching client then waits for more than one request.
 */
export interface Strain {
  readonly name: string;
  readonly isCrowd?: true;
  run(random: Random, world: World): Promise<Outcome>;
}

/** Fills in the members that are not given. */
export function outcomeOf(some: Partial<Outcome>): Outcome {
  return { verified: 0, tried: 0, injected: 0, finds: [], ...some };
}

/** Sums two outcomes. */
export function both(one: Outcome, other: Outcome): Outcome {
  return {
    verified: one.verified + other.verified,
    tried: one.tried + other.tried,
    injected: one.injected + other.injected,
    finds: [...one.finds, ...other.finds],
  };
}
