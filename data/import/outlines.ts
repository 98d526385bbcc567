// The outlines of records: each distinct sequence of top-level keys has a number. A decoder numbers those of its batch.
// The record store renumbers them in the order of records, so that the same data always gives the same numbers.
import { createHash } from 'node:crypto';
import type { Outlines } from '../../engine/column/records.ts';

/** Numbers sequences of keys from 0, in the order of first use. */
export class OutlineNumbers {
  #outlines: (readonly string[])[] = [];
  readonly #numbers = new Map<string, number>();
  #last = 0;

  /** The number of an outline. Cost: a comparison with the last one, and a hash if they differ. */
  addOutline(keys: readonly string[]): number {
    if (!isSame(keys, this.#outlines[this.#last])) {
      const digest = hashKeys(keys);
      this.#last = this.#numbers.get(digest) ?? this.#outlines.push([...keys]) - 1;
      this.#numbers.set(digest, this.#last);
    }
    return this.#last;
  }

  keysOf(outline: number): readonly string[] {
    return this.#outlines[outline]!;
  }

  /** Returns all outlines by number and starts again from 0. */
  take(): readonly (readonly string[])[] {
    const outlines = this.#outlines;
    this.#outlines = [];
    this.#numbers.clear();
    return outlines;
  }
}

/** The outlines of a whole collection, over all batches. */
export class OutlineStore {
  readonly #numbers = new OutlineNumbers();
  readonly #keys = new Map<string, number>();
  readonly #newNumbers: number[] = [];
  readonly #ordered: (readonly number[])[] = [];

  addOutline(keys: readonly string[]): number {
    return this.#numbers.addOutline(keys);
  }

  /** The number with which an outline is written. It gets the next number on first use. */
  writtenNumber(outline: number): number {
    return (this.#newNumbers[outline] ??=
      this.#ordered.push(this.#numbers.keysOf(outline).map((key) => this.#keyNumber(key))) - 1);
  }

  take(): Outlines {
    return { keys: [...this.#keys.keys()], lists: this.#ordered };
  }

  #keyNumber(key: string): number {
    const known = this.#keys.get(key) ?? this.#keys.size;
    this.#keys.set(key, known);
    return known;
  }
}

function isSame(keys: readonly string[], others: readonly string[] | undefined): boolean {
  return others?.length === keys.length && others.every((key, i) => key === keys[i]);
}

/** A hash, because many keys make a long text, and V8 hashes texts of more than 16,383 characters by length alone. */
function hashKeys(keys: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(keys)).digest('base64');
}
