// Assigns numbers to the distinct texts of a column while it is built. An open-addressing hash table over one growing
// byte array. Texts are never JavaScript strings here, so that memory is bounded by the bytes themselves.
import { GrowableBytes, GrowableU32 } from '../bits/growable.ts';
import type { Texts } from './sort.ts';

const EMPTY = 0xffffffff;

/** The published offset basis of FNV-1a. */
const OFFSET_BASIS = 0x811c9dc5;

/**
 * Distinct texts in the order of their first appearance. `seed` is the initial state of the hashes. An unpredictable
 * seed prevents an attacker from choosing texts with equal hashes, each of which would be compared with all others. The
 * numbers do not depend on the seed.
 */
export class Interner {
  readonly text = new GrowableBytes();
  readonly ends = new GrowableU32();
  readonly #seed: number;
  readonly #hashes = new GrowableU32();
  #slots = new Uint32Array(64).fill(EMPTY);

  constructor(seed = OFFSET_BASIS) {
    this.#seed = seed;
  }

  /** Number of distinct texts. */
  get size(): number {
    return this.ends.length;
  }

  /** All texts, without a copy. */
  get texts(): Texts {
    return { bytes: this.text.view(), ends: this.ends.view() };
  }

  /**
   * Returns the number of the text `bytes[start..end)`; a new text gets the next number. Cost: one pass over it,
   * constant probes expected.
   */
  intern(bytes: Uint8Array, start: number, end: number): number {
    const slots = this.#slots;
    const hash = hashOf(bytes, start, end, this.#seed);
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const number = slots[slot]!;
      if (number === EMPTY) return this.#add(bytes, { start, end, hash, slot });
      if (this.#hashes.at(number) === hash && this.#isText(number, bytes, start, end)) return number;
    }
  }

  /** Removes the text with the highest number. Cost: as a lookup. */
  forgetLast(): void {
    const number = this.size - 1;
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = this.#hashes.at(number) & mask;
    while (slots[slot] !== number) slot = (slot + 1) & mask;
    // Clearing the slot interrupts no probe sequence, because all other texts were inserted earlier.
    slots[slot] = EMPTY;
    this.text.truncate(this.#startOf(number));
    this.ends.truncate(number);
    this.#hashes.truncate(number);
  }

  #startOf(number: number): number {
    return number === 0 ? 0 : this.ends.at(number - 1);
  }

  #add(bytes: Uint8Array, place: { start: number; end: number; hash: number; slot: number }): number {
    const number = this.size;
    this.text.push(bytes, place.start, place.end);
    this.ends.push(this.text.length);
    this.#hashes.push(place.hash);
    const slots = this.#slots;
    slots[place.slot] = number;
    if (this.size * 2 > slots.length) this.#rehash(slots.length * 2);
    return number;
  }

  #isText(number: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#startOf(number);
    return this.ends.at(number) - from === end - start && this.text.holds(from, bytes, start, end);
  }

  #rehash(length: number): void {
    const slots = new Uint32Array(length).fill(EMPTY);
    const mask = length - 1;
    for (let number = 0; number < this.size; number++) {
      let slot = this.#hashes.at(number) & mask;
      while (slots[slot] !== EMPTY) slot = (slot + 1) & mask;
      slots[slot] = number;
    }
    this.#slots = slots;
  }
}

/**
 * FNV-1a with a final mix, unsigned. The mix is needed because most texts are short and the low bits choose the slot.
 */
function hashOf(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed | 0;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}
