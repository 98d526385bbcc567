// What is remembered under texts, such as requests and headers that come again: within a budget, and with one way to
// forget. Knows neither texts nor values.

interface Remembered<Value> {
  readonly value: Value;
  readonly bytes: number;
  readonly mark: number;
}

/**
 * A memory of two halves: what is found in the older half moves to the younger one, and when that is full the older
 * half goes, and with it what nobody asked for meanwhile. Cost of what is remembered: a look-up or two of its text.
 */
export class Memory<Value> {
  readonly #halfBytesMax: number;
  #young = new Map<string, Remembered<Value>>();
  #old = new Map<string, Remembered<Value>>();
  readonly #marks: number;
  #youngMarks: Uint8Array;
  #oldMarks: Uint8Array;
  #youngBytes = 0;

  /**
   * A memory of so many bytes, or of whatever else values are counted in. `marks` is how many marks of texts are told
   * apart, a byte each in either half.
   */
  constructor(bytesMax: number, marks = 1) {
    this.#halfBytesMax = bytesMax / 2;
    this.#marks = marks;
    this.#youngMarks = new Uint8Array(marks);
    this.#oldMarks = new Uint8Array(marks);
  }

  /** Whether there may be a value under a text of this mark; where not, the text need not be put together. */
  mayHave(mark: number): boolean {
    return (this.#youngMarks[mark % this.#marks]! | this.#oldMarks[mark % this.#marks]!) !== 0;
  }

  /** The value under a text, undefined where there is none any more. */
  find(text: string): Value | undefined {
    const young = this.#young.get(text);
    if (young !== undefined) return young.value;
    const old = this.#old.get(text);
    if (old !== undefined) this.#put(text, old);
    return old?.value;
  }

  /**
   * Remembers a value, instead of an earlier one; `bytes` is what it takes, `mark` a number from 0 that equal texts
   * share. More than a half is not remembered.
   */
  keep(text: string, value: Value, bytes: number, mark = 0): void {
    if (bytes <= this.#halfBytesMax) this.#put(text, { value, bytes, mark });
  }

  #put(text: string, remembered: Remembered<Value>): void {
    this.#youngBytes += remembered.bytes - (this.#young.get(text)?.bytes ?? 0);
    if (this.#youngBytes > this.#halfBytesMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = remembered.bytes;
      [this.#youngMarks, this.#oldMarks] = [this.#oldMarks.fill(0), this.#youngMarks];
    }
    this.#youngMarks[remembered.mark % this.#marks] = 1;
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
