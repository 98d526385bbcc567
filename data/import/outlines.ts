// The outlines of records: each distinct sequence of top-level keys gets a number. A decoder numbers those of its
// batch. The record store numbers them again in the order of records, so that the same data always gives the same
// numbers.
import { createHash } from 'node:crypto';
import type { Outlines } from '../../engine/column/records.ts';

/** Numbers sequences of keys from 0 in the order in which they first came. */
export class OutlineNumbers {
  #outlines: (readonly string[])[] = [];
  readonly #numbers = new Map<string, number>();
  #last = 0;

  /** The number of an outline. Cost: a comparison with the last one; a hash if that is another. */
  numberOf(keys: readonly string[]): number {
    if (!isSame(keys, this.#outlines[this.#last])) {
      const digest = digestOf(keys);
      this.#last = this.#numbers.get(digest) ?? this.#outlines.push([...keys]) - 1;
      this.#numbers.set(digest, this.#last);
    }
    return this.#last;
  }

  keysOf(outline: number): readonly string[] {
    return this.#outlines[outline]!;
  }

  /** All outlines by their numbers, which start again. */
  take(): readonly (readonly string[])[] {
    const taken = this.#outlines;
    this.#outlines = [];
    this.#numbers.clear();
    return taken;
  }
}

/** The outlines of a whole collection, whatever batches they came in. */
export class OutlineStore {
  readonly #numbers = new OutlineNumbers();
  readonly #keys = new Map<string, number>();
  readonly #newNumbers: number[] = [];
  readonly #ordered: (readonly number[])[] = [];

  numberOf(keys: readonly string[]): number {
    return this.#numbers.numberOf(keys);
  }

  /** The number that an outline is written with: the next one where it is written for the first time. */
  written(outline: number): number {
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

/** Many keys are a long text, and V8 hashes texts of more than 16,383 characters by their length alone. */
function digestOf(keys: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(keys)).digest('base64');
}
