/** An input: `fill` repeated between head and tail. */
export interface Shape {
  readonly head: string;
  readonly fill: string;
  readonly tail: string;
}

/** Ratio of the two input lengths. Linear cost grows by it, quadratic cost by its square. */
const FACTOR = 8;
/** Between linear and quadratic growth, far from both. */
export const GROWTH_MAX = FACTOR * 4;
/** Below this, the clock and the garbage collector dominate: a smaller cost counts as this one. */
const FLOOR_MICROSECONDS = 2000;
const REPEATS = 4;

/**
 * CPU time at `length` characters divided by that at an eighth of them, each the least of several runs. For tests that
 * detect quadratic regular expressions: a ratio within one run does not depend on the machine.
 */
export function growthOf(run: (input: string) => unknown, { head, fill, tail }: Shape, length = 64_000): number {
  const inputOf = (characters: number): string => head + fill.repeat(Math.ceil(characters / fill.length)) + tail;
  const [small, large] = [inputOf(length / FACTOR), inputOf(length)];
  const least = costOf(() => run(small));
  return costOf(() => run(large)) / least;
}

/** The CPU time of a function in microseconds: the least of several runs, and at least the floor. */
export function costOf(run: () => unknown): number {
  let least = Infinity;
  for (let n = 0; n < REPEATS; n++) {
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, user + system);
    // Further runs cannot lower the result.
    if (least <= FLOOR_MICROSECONDS) return FLOOR_MICROSECONDS;
  }
  return least;
}
