interface Remembered<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/**
 * A cache keyed by text, within a budget. It has two halves: a hit in the older half moves to the younger; when that is
 * full, the older one is dropped.
 */
export class Memory<Value> {
  readonly #halfBytesMax: number;
  #young = new Map<string, Remembered<Value>>();
  #old = new Map<string, Remembered<Value>>();
  #youngBytes = 0;

  /** `bytesMax` may be in bytes or any other unit in which values are counted. */
  constructor(bytesMax: number) {
    this.#halfBytesMax = bytesMax / 2;
  }

  find(text: string): Value | undefined {
    const young = this.#young.get(text);
    if (young !== undefined) return young.value;
    const old = this.#old.get(text);
    if (old !== undefined) this.#put(text, old);
    return old?.value;
  }

  /** Stores a value of size `bytes`, replacing an earlier one. A value larger than a half is not stored. */
  keep(text: string, value: Value, bytes: number): void {
    if (bytes <= this.#halfBytesMax) this.#put(text, { value, bytes });
  }

  #put(text: string, cacheMeanings: Remembered<Value>): void {
    this.#youngBytes += cacheMeanings.bytes - (this.#young.get(text)?.bytes ?? 0);
    if (this.#youngBytes > this.#halfBytesMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = cacheMeanings.bytes;
    }
    this.#young.set(text, cacheMeanings);
  }
}

/** Real clients send neither longer values nor more distinct ones. */
const MEANINGS_MAX = 256;
const CHARACTERS_MAX = 256;

/** Caches a function for 256 values of at most 256 characters. Cost: a lookup for known values. */
export function cacheMeanings<T>(meaningOf: (header: string) => T): (header: string) => T {
  const memory = new Memory<T>(MEANINGS_MAX);
  return (header) => {
    let meaning = memory.find(header);
    if (meaning === undefined) {
      meaning = meaningOf(header);
      if (header.length <= CHARACTERS_MAX) memory.keep(header, meaning, 1);
    }
    return meaning;
  };
}
