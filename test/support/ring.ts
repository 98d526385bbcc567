import { randomOf, RUN_SEED } from './random.ts';

/**
 * Whether this is the nightly run (`npm run test:nightly`), which does all of each long test with a new seed. CI does
 * the same fraction in every run.
 */
export const IS_WHOLE = process.env['RING'] === 'whole';

/** `count` of these in their order, chosen by the seed of the run; all of them in the nightly run. */
export function someOf<T>(all: readonly T[], count: number): readonly T[] {
  if (IS_WHOLE || count >= all.length) return all;
  const chosen = new Set(
    randomOf(RUN_SEED)
      .shuffled(all.map((_, i) => i))
      .slice(0, count),
  );
  return all.filter((_, i) => chosen.has(i));
}

/** `count` of the steps from 1 to `steps`, chosen likewise. */
export function someSteps(steps: number, count: number): readonly number[] {
  return someOf(
    Array.from({ length: steps }, (_, i) => i + 1),
    count,
  );
}

/** A number of repetitions: `usual`, or `whole` in the nightly run. */
export function times(usual: number, whole: number): number {
  return IS_WHOLE ? whole : usual;
}
