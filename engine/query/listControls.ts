// The parameters of a list that name its fields or records but filter nothing: ordering, after and facets. Reads names
// and numbers only, counts and sorts nothing. Never throws. Source: A64, A66, A67.
import type { CollectionIndex } from '../index/table.ts';
import type { IgnoredName } from './fields.ts';
import type { Parameter } from './form.ts';
import { isGiven, lastPlaceOf, namesAt } from './paging.ts';
import { notTogether, tooManyFacets, unknownField, type Problem } from './problems.ts';
import { valuesAt } from './scalarPath.ts';
import { nearestKey, SUGGESTIONS_MAX } from './suggest.ts';
import { parseValue } from './values.ts';

/** One key of an order: a scalar's path, or that of a to-one relation, which stands for its id. */
export interface OrderKey {
  readonly path: readonly string[];
  readonly isDescending: boolean;
}

/** A facet: its name as the client wrote it, and the names it consists of. */
export interface Facet {
  readonly name: string;
  readonly path: readonly string[];
}

/** What is wrong with the parameter at a place of the query, and which names in it have no effect. */
export interface Remark {
  readonly problem: Problem | undefined;
  readonly ignored: readonly IgnoredName[];
}

/**
 * How a list is shown. `order` is empty where it is by id. `after`: only records with a larger id are shown. `facets`
 * are those asked for, once each. `remarks` by the place of their parameter.
 */
export interface ListControls {
  readonly order: readonly OrderKey[];
  readonly after: number | undefined;
  readonly facets: readonly Facet[];
  readonly remarks: ReadonlyMap<number, Remark>;
}

/** Facets of one request: each costs up to a look at every record. */
export const FACETS_MAX = 10;

/** Those of most lists, which are by id and have nothing else. */
const BY_ID: ListControls = { order: [], after: undefined, facets: [], remarks: new Map() };

/**
 * Reads the last ordering, after and facets of a list. Cost: their lengths, and suggestions for names that are refused.
 */
export function readListControls(
  collection: CollectionIndex,
  parameters: readonly Parameter[],
  isStrict: boolean,
): ListControls {
  if (!isGiven(parameters, 'ordering') && !isGiven(parameters, 'after') && !isGiven(parameters, 'facets')) return BY_ID;
  const remarks = new Map<number, Remark>();
  return {
    order: readOrdering(collection, parameters, isStrict, remarks),
    after: readAfter(parameters, remarks),
    facets: readFacets(collection, parameters, remarks),
    remarks,
  };
}

/** Names that are no field are ignored; so is what is behind an id, since no ties are left for it. */
function readOrdering(
  collection: CollectionIndex,
  parameters: readonly Parameter[],
  isStrict: boolean,
  remarks: Map<number, Remark>,
): readonly OrderKey[] {
  const place = lastPlaceOf(parameters, 'ordering');
  if (place < 0) return [];
  const found = new Map<unknown, OrderKey>();
  const unknown = new Set<string>();
  for (const member of namesAt(parameters, place)) {
    const isDescending = member.startsWith('-');
    const name = isDescending ? member.slice(1).trim() : member;
    const path = name.split('__');
    const values = valuesAt(collection, path);
    if (values?.tables.length === 0) {
      if (!found.has(values.index) && !found.has(collection.ids)) found.set(values.index, { path, isDescending });
    } else if (name !== '') unknown.add(name);
  }
  if (unknown.size > 0) {
    const messages = isStrict ? unknownFields(collection, unknown, (tables) => tables === 0) : [];
    const problem = isStrict ? { key: 'ordering', messages } : undefined;
    remarks.set(place, { problem, ignored: [...unknown].map((name) => ['ordering', name] as const) });
  }
  const ids = found.get(collection.ids);
  if (ids && !ids.isDescending) found.delete(collection.ids);
  return [...found.values()];
}

/**
 * An id after which to start. It is a place in a list by id, so that it goes with no other place and no other order.
 */
function readAfter(parameters: readonly Parameter[], remarks: Map<number, Remark>): number | undefined {
  const place = lastPlaceOf(parameters, 'after');
  if (place < 0) return undefined;
  const parsed = parseValue('integer', parameters[place]![1]);
  const messages = parsed.kind === 'error' ? [parsed.message] : [];
  for (const other of ['ordering', 'offset']) if (isGiven(parameters, other)) messages.push(notTogether(other));
  if (messages.length > 0) remarks.set(place, { problem: { key: 'after', messages }, ignored: [] });
  return parsed.kind === 'error' ? undefined : Number(parsed.value);
}

function readFacets(
  collection: CollectionIndex,
  parameters: readonly Parameter[],
  remarks: Map<number, Remark>,
): readonly Facet[] {
  const place = lastPlaceOf(parameters, 'facets');
  if (place < 0) return [];
  const names = new Set(namesAt(parameters, place));
  const facets = [...names].map((name) => ({ name, path: name.split('__') }));
  const unknown = facets.filter(({ path }) => !valuesAt(collection, path)).map(({ name }) => name);
  const messages = unknown.length === 0 ? [] : [...unknownFields(collection, unknown, () => true)];
  if (names.size > FACETS_MAX) messages.push(tooManyFacets(FACETS_MAX));
  if (messages.length > 0) remarks.set(place, { problem: { key: 'facets', messages }, ignored: [] });
  return facets;
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
