// The outlines of records while they are decoded: each distinct sequence of top-level keys gets a number.
// A step of a tree for each key, so that records alike cost no text. Filled a batch at a time;
// the record store numbers them anew in the order of records, so that the same data always gives the same numbers.
import { createHash } from 'node:crypto';
import type { Outlines } from '../../engine/column/records.ts';

interface Step {
  readonly name: string;
  readonly before: Step | undefined;
  likely: Step | undefined;
  others: Map<string, Step> | undefined;
  outline: number;
}

/** Numbers the sequences of keys that it is told, from 0 in the order in which they first end. */
export class OutlineNumbers {
  #root = stepTo(undefined, '');
  #at = this.#root;
  #ended: (readonly string[])[] = [];

  /** Begins a record. */
  begin(): void {
    this.#at = this.#root;
  }

  /** The next key of the record, unescaped. Cost: a comparison where the record before had it in this place too. */
  key(name: string): void {
    const at = this.#at;
    if (at.likely?.name === name) this.#at = at.likely;
    else {
      at.others ??= new Map();
      const next = at.others.get(name) ?? stepTo(at, name);
      at.others.set(name, next);
      at.likely = next;
      this.#at = next;
    }
  }

  /** Ends the record; answers the number of its outline. */
  end(): number {
    if (this.#at.outline < 0) this.#at.outline = this.#ended.push(keysTo(this.#at)) - 1;
    return this.#at.outline;
  }

  /** All outlines by their numbers; the next starts anew. */
  take(): readonly (readonly string[])[] {
    const taken = this.#ended;
    this.#root = stepTo(undefined, '');
    this.#at = this.#root;
    this.#ended = [];
    return taken;
  }
}

/** The outlines of a whole collection, whatever batches they came in. */
export class OutlineStore {
  readonly #numbers = new Map<string, number>();
  readonly #outlines: (readonly string[])[] = [];
  readonly #keys = new Map<string, number>();
  readonly #newNumbers: number[] = [];
  readonly #ordered: (readonly number[])[] = [];

  /** The number of an outline, known or new. Cost: the length of its keys. */
  numberOf(keys: readonly string[]): number {
    const text = digestOf(keys);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.#outlines.length);
    return this.#outlines.push(keys) - 1;
  }

  /** The number that an outline is written with: the next one where it is written for the first time. */
  written(outline: number): number {
    return (this.#newNumbers[outline] ??=
      this.#ordered.push(this.#outlines[outline]!.map((key) => this.#keyNumber(key))) - 1);
  }

  /** The outlines that were written. */
  take(): Outlines {
    return { keys: [...this.#keys.keys()], lists: this.#ordered };
  }

  #keyNumber(key: string): number {
    const known = this.#keys.get(key) ?? this.#keys.size;
    this.#keys.set(key, known);
    return known;
  }
}

/** Many keys are a long text, and V8 hashes texts of more than 16,383 characters by their length alone. */
function digestOf(keys: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(keys)).digest('base64');
}

function stepTo(before: Step | undefined, name: string): Step {
  return { name, before, likely: undefined, others: undefined, outline: -1 };
}

function keysTo(last: Step): readonly string[] {
  const keys: string[] = [];
  for (let step = last; step.before; step = step.before) keys.push(step.name);
  return keys.toReversed();
}
