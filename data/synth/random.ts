// Seeded random numbers that are the same on every machine: integers only, no clock, no state between records. The
// numbers of a record depend only on (seed, stream name, index), so any record can be made without the records before
// it.

/** The four key words of one stream, which depend on the seed and the stream's name. */
export type StreamKeys = readonly [number, number, number, number];

/**
 * The keys of the stream `name` for `seed`, an integer from 0 to 2^53 - 1. Cost: linear in the length of the name;
 * callers keep the result.
 */
export function streamKeys(seed: number, name: string): StreamKeys {
  let hash = mix((seed | 0) ^ mix(Math.floor(seed / 0x1_0000_0000) + 1));
  for (let n = 0; n < name.length; n++) hash = mix(hash ^ name.charCodeAt(n));
  const key = (n: number): number => mix(hash + Math.imul(n, 0x9e3779b9));
  return [key(1), key(2), key(3), key(4)];
}

/**
 * The random numbers of one record: xoshiro128** 1.1 (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", 2021). Each word of the state is a bijection of the index. So two records of a stream (index below 2^32)
 * never start with the same state, and identifiers made from the first 128 bits do not collide.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(keys: StreamKeys, index: number) {
    const word = (index | 0) + Math.imul(Math.floor(index / 0x1_0000_0000), 0x85ebca6b);
    this.#a = mix(word + keys[0]);
    this.#b = mix(word + keys[1]);
    this.#c = mix(word + keys[2]);
    this.#d = mix(word + keys[3]);
  }

  /** The next 32 bits, as an integer from 0 to 2^32 - 1. */
  next(): number {
    const result = Math.imul(rotate(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = rotate(this.#d, 11);
    return result;
  }

  /** An integer from 0 to `end` - 1; `end` is from 1 to 2^32. The bias is below `end` / 2^32. */
  below(end: number): number {
    return Math.floor((this.next() / 0x1_0000_0000) * end);
  }

  /** An integer from `first` to `last`, both included. */
  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  /** True with a probability of `percent` %. */
  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  /** An integer from 0 to `end` - 1 that favours small ones: the minimum of three. */
  skewed(end: number): number {
    return Math.min(this.below(end), this.below(end), this.below(end));
  }

  /** An element of a non-empty list. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}

/** A bijection of 32-bit words. Every output bit depends on every input bit (two multiply and shift rounds). */
function mix(word: number): number {
  let mixed = word ^ (word >>> 16);
  mixed = Math.imul(mixed, 0x21f0aaad);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
