// What is remembered under texts, such as requests and headers that come again: within a budget, and with one way to
// forget. Knows neither texts nor values.

interface Remembered<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** A cache of two halves: a hit in the older one moves to the younger; when that is full, the older is dropped. */
export class Memory<Value> {
  readonly #halfBytesMax: number;
  #young = new Map<string, Remembered<Value>>();
  #old = new Map<string, Remembered<Value>>();
  #youngBytes = 0;

  /** A memory of so many bytes, or of whatever else values are counted in. */
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

  /** Remembers a value, instead of an earlier one; `bytes` is what it takes. More than a half is not remembered. */
  keep(text: string, value: Value, bytes: number): void {
    if (bytes <= this.#halfBytesMax) this.#put(text, { value, bytes });
  }

  #put(text: string, remembered: Remembered<Value>): void {
    this.#youngBytes += remembered.bytes - (this.#young.get(text)?.bytes ?? 0);
    if (this.#youngBytes > this.#halfBytesMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = remembered.bytes;
    }
    this.#young.set(text, remembered);
  }
}

/** Longer lists of values, and longer values, are somebody playing. */
const MEANINGS_MAX = 256;
const CHARACTERS_MAX = 256;

/** The same function with a memory of 256 values of at most 256 characters. Cost: a look-up for values met before. */
export function remembered<T>(meaningOf: (header: string) => T): (header: string) => T {
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
