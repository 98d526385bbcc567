// Outlines: which top-level keys the records of a collection have, in which order. Most records of a collection share
// one, so that each stores a number only. Plain data of the snapshot's metadata.

import { compareBytes } from '../bits/bytes.ts';

/**
 * All outlines of a collection. `keys` are the distinct top-level keys of its records, unescaped, in the order in which
 * they first stand; `lists` the outlines by number, each as positions in `keys`.
 */
export interface Outlines {
  readonly keys: readonly string[];
  readonly lists: readonly (readonly number[])[];
}

/** The outlines of a collection without records. */
export const NO_OUTLINES: Outlines = { keys: [], lists: [] };

/**
 * The top-level keys of a collection: those of its fields in their order, those that are no fields, by code point, and
 * all of them, in the same order; they may be many.
 */
export interface TopLevelKeys {
  readonly fields: readonly string[];
  readonly others: readonly string[];
  readonly all: ReadonlySet<string>;
}

/** The top-level keys of a collection with these fields. Cost: its distinct keys, sorted. */
export function topLevelKeys(fields: readonly string[], { keys }: Outlines): TopLevelKeys {
  const isField = new Set(fields);
  const encoded = keys.filter((key) => !isField.has(key)).map((key) => ({ key, bytes: UTF8.encode(key) }));
  const others = encoded.sort((a, b) => compareBytes(a.bytes, b.bytes)).map(({ key }) => key);
  return { fields, others, all: new Set([...fields, ...others]) };
}

const UTF8 = new TextEncoder();
