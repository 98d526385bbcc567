// The collections and fields that resolve paths and identifiers (A130 to A133), for the public look-ups outside the
// API. Data only. Fields that a catalogue lacks resolve nothing.

/** The names that lead from a record to one of its values. */
export type FieldPath = readonly string[];

/** A collection whose records have a path. */
export interface PlacedCollection {
  readonly collection: string;
  /** The record type in responses. */
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

/** Collections of observations, which have a path only if the data has one (A130). */
export const PLACED_SETS: PlacedCollection = {
  collection: 'observationcollections',
  type: 'Dataset Collection',
  path: ['dataPath'],
  uuid: ['uuid'],
  title: ['title'],
  state: ['publicationState'],
  status: ['status'],
};

/** States that win if several records have the same path, best first (A130). */
export const PREFERRED_STATES: readonly string[] = ['citable', 'published'];

/** The status of a record whose data is complete. The record must also be in one of the preferred states. */
export const COMPLETE_STATUS = 'completed';

/** The datasets. Each has an id and belongs to an observation (A132). */
export const DATASETS = {
  collection: 'drsdatasets',
  id: ['drsId'],
  version: ['version'],
  isLatest: ['isLatest'],
  placed: ['observation'],
} as const;

/** The identifiers. Each names its record by the record's id, and by the code of the record's collection (A133). */
export const IDENTIFIERS = {
  collection: 'identifiers',
  url: ['url'],
  type: ['identifierType'],
  record: ['relatedTo', 'ob_id'],
  code: ['relatedTo', 'short_code'],
  uuid: ['uuid'],
} as const;

/** The collections by the codes that name them in relations. The order decides the types of filters (A172). */
export const COLLECTION_CODES: ReadonlyMap<string, string> = new Map([
  ['ob', 'observations'],
  ['coll', 'observationcollections'],
  ['proj', 'projects'],
  ['plat', 'platforms'],
  ['instr', 'instruments'],
  ['acq', 'acquisitions'],
  ['comp', 'computations'],
  ['cmppr', 'composites'],
  ['mpop', 'mpos'],
  ['result', 'results'],
]);
