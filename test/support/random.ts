// Seeded randomness for tests: the same seed gives the same draws on every machine. test/support/seedsOfFailures.ts
// prints the last seeds of a file with each failure.

/** A source of draws. Ends are exclusive. */
export interface Random {
  /** A float from 0 to 1. */
  unit(): number;
  /** An integer from `start` to before `end`. */
  integer(start: number, end: number): number;
  /** True with the given probability. */
  chance(probability: number): boolean;
  /** One element of a non-empty array. */
  pick<T>(choices: readonly T[]): T;
  /** Between `start` and `end` (exclusive) draws of `draw`. */
  several<T>(start: number, end: number, draw: () => T): T[];
  /** The elements in a random order; the given array is unchanged. */
  shuffled<T>(elements: readonly T[]): T[];
}

/** The last seeds that were used, newest last. */
export const seedsMet: number[] = [];
const SEEDS_NOTED = 5;

/** A seed that differs from run to run. */
export function drawSeed(): number {
  return Math.floor(Math.random() * 2 ** 32);
}

/** The seed of a test run: 1, or SEED of the environment. The nightly run draws one and prints it. */
export const RUN_SEED = Number(process.env['SEED'] ?? 1) >>> 0;

/**
 * Draws from a 32-bit seed. A Weyl sequence with a multiplicative mix: good enough for test cases, for nothing else.
 */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  seedsMet.push(seed);
  if (seedsMet.length > SEEDS_NOTED) seedsMet.shift();
  const unit = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
  const integer = (start: number, end: number): number => start + Math.floor(unit() * (end - start));
  const pick = <T>(choices: readonly T[]): T => {
    if (choices.length === 0) throw new Error('nothing to pick from');
    return choices[integer(0, choices.length)] as T;
  };
  const several = <T>(start: number, end: number, draw: () => T): T[] =>
    Array.from({ length: integer(start, end) }, () => draw());
  const shuffled = <T>(elements: readonly T[]): T[] =>
    elements
      .map((element) => ({ element, order: unit() }))
      .sort((a, b) => a.order - b.order)
      .map(({ element }) => element);
  return { unit, integer, chance: (probability) => unit() < probability, pick, several, shuffled };
}

const byteSource = randomOf(RUN_SEED);

/** Bytes that do not compress; different in each call. */
export function randomBytes(length: number): Buffer {
  const words = Uint32Array.from({ length: Math.ceil(length / 4) }, () => byteSource.unit() * 2 ** 32);
  return Buffer.from(words.buffer, 0, length);
}
