// Ids that are links although no link shows their collection: the text of a neighbouring field decides it. Data only.
// Source: spec 2.2, 2.10, A172.
import { COLLECTION_CODES } from './resolved.ts';

/** A generic link: an id, and the discriminator whose text decides the id's collection. */
export interface GenericLink {
  /** The name of the embedded record, or of the collection, that has both fields. */
  readonly parent: string;
  readonly id: string;
  readonly discriminator: string;
  /** How the discriminator is compared with the texts of `collections`. */
  readonly lookup: 'exact' | 'startswith';
  /** The collection of each text. */
  readonly collections: ReadonlyMap<string, string>;
}

export const GENERIC_LINKS: readonly GenericLink[] = [
  {
    parent: 'relatedTo',
    id: 'ob_id',
    discriminator: 'short_code',
    lookup: 'exact',
    collections: COLLECTION_CODES,
  },
  {
    parent: 'migrationproperties',
    id: 'ob_ref',
    discriminator: 'key',
    lookup: 'startswith',
    collections: new Map([
      ['observation.', 'observations'],
      ['legacy2.', 'observations'],
      ['observation_collection.', 'observationcollections'],
      ['project.', 'projects'],
      ['Instrument.', 'instruments'],
      ['Computation.', 'computations'],
    ]),
  },
];

/** The collection that a generic link leads to, by the text of its discriminator. */
export function collectionOfLink({ lookup, collections }: GenericLink, text: string): string | undefined {
  if (lookup === 'exact') return collections.get(text);
  for (const [prefix, collection] of collections) if (text.startsWith(prefix)) return collection;
  return undefined;
}
