// Which collections and fields resolve paths and identifiers (A130 to A133), as data: what public clients ask for
// beside the API. Holds no behaviour. Fields that a catalogue does not have resolve nothing.

/** The names that lead from a record to one of its values. */
export type FieldPath = readonly string[];

/** A collection whose records have a path of their own, and what answers say of them. `type` is what clients read. */
export interface PlacedCollection {
  readonly collection: string;
  readonly type: string;
  readonly path: FieldPath;
  readonly uuid: FieldPath;
  readonly title: FieldPath;
  readonly state: FieldPath;
  readonly status: FieldPath;
}

/** Observations and their paths (A130). */
export const PLACED_RECORDS: PlacedCollection = {
  collection: 'observations',
  type: 'Dataset',
  path: ['result_field', 'dataPath'],
  uuid: ['uuid'],
  title: ['title'],
  state: ['publicationState'],
  status: ['status'],
};

/** Collections of observations, which have a path only where the data gives them one (A130). */
export const PLACED_SETS: PlacedCollection = {
  collection: 'observationcollections',
  type: 'Dataset Collection',
  path: ['dataPath'],
  uuid: ['uuid'],
  title: ['title'],
  state: ['publicationState'],
  status: ['status'],
};

/** States that go before others where a path is that of several records, the first before all (A130). */
export const PREFERRED_STATES: readonly string[] = ['citable', 'published'];

/** The status of a record whose data is complete, in one of those states. */
export const COMPLETE_STATUS = 'completed';

/** The datasets that have an id of their own, each of an observation (A132). */
export const DATASETS = {
  collection: 'drsdatasets',
  id: ['drsId'],
  version: ['version'],
  isLatest: ['isLatest'],
  placed: ['observation'],
} as const;

/** The identifiers, and the record that each belongs to: its id, and the collection by a code (A133). */
export const IDENTIFIERS = {
  collection: 'identifiers',
  url: ['url'],
  type: ['identifierType'],
  record: ['relatedTo', 'ob_id'],
  code: ['relatedTo', 'short_code'],
  uuid: ['uuid'],
} as const;

/** The collections by the codes that relations name them by. Source: spec 2.2. */
export const COLLECTION_CODES: ReadonlyMap<string, string> = new Map([
  ['acq', 'acquisitions'],
  ['cmppr', 'composites'],
  ['coll', 'observationcollections'],
  ['comp', 'computations'],
  ['instr', 'instruments'],
  ['mpop', 'mpos'],
  ['ob', 'observations'],
  ['plat', 'platforms'],
  ['proj', 'projects'],
  ['result', 'results'],
]);
