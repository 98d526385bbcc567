// How much of a long ring one run does. A run draws some of what there is, others each time, so that it ends soon and
// all of it is met in the end; RING=whole in the environment asks for everything at once, and RING=drawn, as .ci/run
// does, for some of the files that measure speed too.
import { freshSeed, randomOf } from './random.ts';

/** Whether everything is asked for. */
export const IS_WHOLE = process.env['RING'] === 'whole';
/** Whether whole files are drawn too. */
export const IS_DRAWN = process.env['RING'] === 'drawn';

/** `count` of these, drawn anew in each run and in their order; all of them in a whole ring. */
export function someOf<T>(all: readonly T[], count: number): readonly T[] {
  if (IS_WHOLE || count >= all.length) return all;
  const random = randomOf(freshSeed());
  const drawn = new Set(random.shuffled(all.map((_, i) => i)).slice(0, count));
  return all.filter((_, i) => drawn.has(i));
}

/** `count` of the steps from 1 to `steps`, drawn likewise. */
export function someSteps(steps: number, count: number): readonly number[] {
  return someOf(
    Array.from({ length: steps }, (_, i) => i + 1),
    count,
  );
}

/** How often something is done: `usual` times, or `whole` times in a whole ring. */
export function times(usual: number, whole: number): number {
  return IS_WHOLE ? whole : usual;
}
