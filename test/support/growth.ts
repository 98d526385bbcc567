// How the cost of a function grows with the length of its input: a ratio within one run, in CPU time, never an
// absolute. For tests that want no quadratic regular expression; noise is kept out by repeats and by a floor.

/** An input: `fill` over and over between head and tail. */
export interface Shape {
  readonly head: string;
  readonly fill: string;
  readonly tail: string;
}

/** Lengths differ by this factor; linear cost grows as much, quadratic cost by its square. */
const FACTOR = 8;
/** Between linear and quadratic, both far away. */
export const GROWTH_MAX = FACTOR * 4;
/**
 * Below this many microseconds the clock and the collector say more than the function: such a cost is taken as this.
 */
const FLOOR_MICROSECONDS = 2000;
const REPEATS = 4;

/** Cost at `length` characters divided by cost at an eighth of them: the least of several runs each. */
export function growthOf(run: (input: string) => unknown, { head, fill, tail }: Shape, length = 64_000): number {
  const inputOf = (characters: number): string => head + fill.repeat(Math.ceil(characters / fill.length)) + tail;
  const [small, large] = [inputOf(length / FACTOR), inputOf(length)];
  const least = costOf(() => run(small));
  return costOf(() => run(large)) / least;
}

/** The CPU time of a function in microseconds: the least of several runs, and no less than the floor. */
export function costOf(run: () => unknown): number {
  let least = Infinity;
  for (let n = 0; n < REPEATS; n++) {
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, user + system);
    // Nothing can be too dear any more.
    if (least <= FLOOR_MICROSECONDS) return FLOOR_MICROSECONDS;
  }
  return least;
}
