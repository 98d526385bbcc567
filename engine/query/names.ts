// The parameters that hold names, separated by commas: fields, ordering and facets. Reads names only, cuts, sorts and
// counts nothing. Source: A61, A64, A67.
import type { CollectionIndex } from '../index/table.ts';
import type { OrderKey } from './ask.ts';
import { exportOf } from './paging.ts';
import { tooManyFacets, unknownField } from './problems.ts';
import type { Reading } from './reading.ts';
import { valuesAt } from './scalarPath.ts';
import { nearestKey, nearestName, SUGGESTIONS_MAX } from './suggest.ts';

/** Facets of one request: each costs up to a look at every record. */
export const FACETS_MAX = 10;

/**
 * Names separated by commas; without any records are whole, with unknown ones only they have no key. Unknown names are
 * ignored, and refused in strict mode with the nearest known key (A28). Cost: the value and the keys of the collection.
 * Source: A61.
 */
export function readFields(reading: Reading, value: string, at: number): void {
  const names = [...new Set(namesIn(value))];
  if (names.length === 0 || !reading.known) return;
  const known = [...reading.known.fields, ...reading.known.others];
  const isKey = new Set(known);
  const unknown = names.filter((name) => !isKey.has(name));
  reading.page.keys = new Set(names.filter((name) => isKey.has(name)));
  for (const name of unknown) reading.ignore(at, ['fields', name]);
  if (!reading.isStrict) return;
  const messages = unknown.map((name, i) =>
    unknownField(name, i < SUGGESTIONS_MAX ? nearestName(name, known) : undefined),
  );
  reading.refuse(at, messages);
}

/** Names that are no field are ignored; so is what is behind an id, since no ties are left for it. */
export function readOrdering(reading: Reading, value: string, at: number): void {
  const collection = reading.collection!;
  const keys = new Map<unknown, OrderKey>();
  const unknown = new Set<string>();
  for (const member of namesIn(value)) {
    const isDescending = member.startsWith('-');
    const name = isDescending ? member.slice(1).trim() : member;
    const path = name.split('__');
    const values = valuesAt(collection, path);
    if (values?.tables.length === 0) {
      if (!keys.has(values.index) && !keys.has(collection.ids)) keys.set(values.index, { path, isDescending });
    } else if (name !== '') unknown.add(name);
  }
  for (const name of unknown) reading.ignore(at, ['ordering', name]);
  if (reading.isStrict)
    reading.refuse(
      at,
      unknownFields(collection, unknown, (tables) => tables === 0),
    );
  const ids = keys.get(collection.ids);
  if (ids && !ids.isDescending) keys.delete(collection.ids);
  reading.page.order = [...keys.values()];
}

/** The facets asked for, once each; an export has none, but those that are wrong are refused there too. */
export function readFacets(reading: Reading, value: string, at: number): void {
  const collection = reading.collection!;
  const facets = [...new Set(namesIn(value))].map((name) => ({ name, path: name.split('__') }));
  const unknown = facets.filter(({ path }) => !valuesAt(collection, path)).map(({ name }) => name);
  const messages = unknown.length === 0 ? [] : [...unknownFields(collection, unknown, () => true)];
  if (facets.length > FACETS_MAX) messages.push(tooManyFacets(FACETS_MAX));
  reading.refuse(at, messages);
  if (!exportOf(reading.page.format)) reading.page.facets = facets;
}

/**
 * A message a name, with the nearest field that fits for the first few. `fits` is told how many to-many steps there
 * are.
 */
function unknownFields(
  collection: CollectionIndex,
  names: Iterable<string>,
  fits: (tables: number) => boolean,
): readonly string[] {
  const isFit = (name: string): boolean => {
    const values = valuesAt(collection, name.split('__'));
    return values !== undefined && fits(values.tables.length);
  };
  const fields = [...collection.members.keys()].filter(isFit);
  return Array.from(names, (name, i) => {
    const nearest = i < SUGGESTIONS_MAX ? nearestKey(name, { fields, others: [] }) : undefined;
    return unknownField(name, nearest !== undefined && isFit(nearest) ? nearest : undefined);
  });
}

/** The members of a comma-separated value, trimmed; empty ones say nothing. Cost: the value. */
function namesIn(value: string): readonly string[] {
  return value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
