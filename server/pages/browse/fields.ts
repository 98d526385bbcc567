// The fields that lists of a collection can be filtered by under the settings, made once a generation. Which they are
// is said by the declaration and the data.
import type { Collection, CollectionIndex } from '../../../engine/engine.ts';
import { type FilterField, filterFields } from '../../../engine/described.ts';
import type { Site } from './site.ts';

/** By collection: they do not change with a visit. */
const known = new WeakMap<CollectionIndex, readonly FilterField[]>();

/** The fields. Cost: all of the collection with their lookups, the first time. */
export function fieldsOf({ collections, queryOptions }: Site, declared: Collection): readonly FilterField[] {
  const collection = collections(declared.name);
  const isKnown = (name: string): boolean => isFiltered(queryOptions, declared, name);
  const fields = known.get(collection) ?? filterFields(collection, isKnown);
  known.set(collection, fields);
  return fields;
}

/** Whether a top-level field that the data has can be filtered by. Cost: none. */
export function isFiltered({ filters }: Site['queryOptions'], declared: Collection, name: string): boolean {
  return filters === 'all' || declared.filters.includes(name);
}
