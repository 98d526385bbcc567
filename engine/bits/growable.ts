// Typed arrays that grow by doubling, for building arrays of unknown length. `length` counts elements. A `view()` is
// valid until the next growth.

import type { UnsignedArray } from './narrow.ts';

export class GrowableU32 {
  #array: Uint32Array;
  length = 0;

  constructor(capacity = 16) {
    this.#array = new Uint32Array(capacity);
  }

  /** Cost: constant, amortised. */
  push(value: number): void {
    if (this.length === this.#array.length) this.#grow(this.length + 1);
    this.#array[this.length++] = value;
  }

  /** Appends all values, each increased by `increase`. */
  pushAll(values: UnsignedArray, increase = 0): void {
    this.#grow(this.length + values.length);
    if (increase === 0) this.#array.set(values, this.length);
    else for (let i = 0; i < values.length; i++) this.#array[this.length + i] = values[i]! + increase;
    this.length += values.length;
  }

  /** Appends `value` until the list has `length` values. */
  fillTo(length: number, value: number): void {
    if (length <= this.length) return;
    this.#grow(length);
    this.#array.fill(value, this.length, length);
    this.length = length;
  }

  /** `i` is below `length`. */
  at(i: number): number {
    return this.#array[i]!;
  }

  /** `i` is below `length`. */
  set(i: number, value: number): void {
    this.#array[i] = value;
  }

  /** Keeps the first `length` values. */
  truncate(length: number): void {
    this.length = length;
  }

  /** All values, without a copy. */
  view(): Uint32Array {
    return this.#array.subarray(0, this.length);
  }

  #grow(length: number): void {
    if (length <= this.#array.length) return;
    const grown = new Uint32Array(Math.max(length, this.#array.length * 2, 16));
    grown.set(this.view());
    this.#array = grown;
  }
}

export class GrowableF64 {
  #array = new Float64Array(16);
  length = 0;

  /** `i` is below `length`. */
  at(i: number): number {
    return this.#array[i]!;
  }

  /** `i` is below `length`. */
  set(i: number, value: number): void {
    this.#array[i] = value;
  }

  /** Cost: constant, amortised. */
  push(value: number): void {
    if (this.length === this.#array.length) {
      const grown = new Float64Array(this.length * 2);
      grown.set(this.#array);
      this.#array = grown;
    }
    this.#array[this.length++] = value;
  }

  /** All values, without a copy. */
  view(): Float64Array {
    return this.#array.subarray(0, this.length);
  }

  /** Keeps the first `length` values. */
  truncate(length: number): void {
    this.length = length;
  }
}

export class GrowableBytes {
  #array: Uint8Array;
  length = 0;

  constructor(capacity = 1024) {
    this.#array = new Uint8Array(capacity);
  }

  /** Appends `source[start..end)`. Fewer than 32 bytes are copied in a loop, which is faster than `set`. */
  push(source: Uint8Array, start = 0, end = source.length): void {
    const length = this.length + (end - start);
    if (length > this.#array.length) this.#grow(length);
    if (end - start < 32) for (let i = start, to = this.length; i < end; i++) this.#array[to++] = source[i]!;
    else this.#array.set(source.subarray(start, end), this.length);
    this.length = length;
  }

  /** Whether the bytes from `at` on equal `source[start..end)`. Cost: the shared prefix, without allocation. */
  holds(at: number, source: Uint8Array, start: number, end: number): boolean {
    if (at + end - start > this.length) return false;
    for (let i = start, k = at; i < end; i++, k++) if (source[i] !== this.#array[k]) return false;
    return true;
  }

  pushByte(byte: number): void {
    if (this.length === this.#array.length) this.#grow(this.length + 1);
    this.#array[this.length++] = byte;
  }

  /** Keeps the first `length` bytes. */
  truncate(length: number): void {
    this.length = length;
  }

  /** All bytes, without a copy. */
  view(): Uint8Array {
    return this.#array.subarray(0, this.length);
  }

  #grow(length: number): void {
    const grown = new Uint8Array(Math.max(length, this.#array.length * 2));
    grown.set(this.view());
    this.#array = grown;
  }
}
