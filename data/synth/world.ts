// The arithmetic of one synthetic catalogue: how many records, their ids, identifiers and links. Holds no record: every
// answer is computed from the seed, so that linked records agree without being kept.
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { list, quote, record, type Json } from './json.ts';
import { Random, streamKeys, type StreamKeys } from './random.ts';

/** The id that deliberately dangling links name; no record of any size of catalogue that fits a disk has it. */
export const DANGLING_ID = 999_999_999_999;

/** Observations in one observation collection; the last collection may have fewer. */
export const OBSERVATIONS_PER_COLLECTION = 50;

/** Slots that each observation reserves in a collection; unused slots are gaps in the ids. */
export const SLOTS = { acquisitions: 3, computations: 2, identifiers: 6, ipps: 6, referenceables: 6 } as const;

/**
 * A catalogue of `observations` observations under `seed`. A slot is a place in a collection that may hold a record.
 */
export class World {
  readonly seed: number;
  readonly observations: number;
  readonly #keys = new Map<string, StreamKeys>();

  constructor(options: { readonly seed: number; readonly observations: number }) {
    this.seed = options.seed;
    this.observations = options.observations;
  }

  /** The numbers of one record, or of one aspect of it: a function of the seed, the stream's name and the index. */
  random(stream: string, index: number): Random {
    let keys = this.#keys.get(stream);
    if (!keys) this.#keys.set(stream, (keys = streamKeys(this.seed, stream)));
    return new Random(keys, index);
  }

  /** The length of a collection whose records are shared by observations; never 0. */
  length(pool: Pool): number {
    return POOL_LENGTH[pool](this.observations);
  }

  /** The id of the record in a slot: ascending with the slot, with a gap after every 31. */
  id(collection: string, slot: number): number {
    return FIRST_ID.get(collection)! + slot + Math.floor(slot / 31);
  }

  /** The uuid of the record in a slot: 32 lower-case hexadecimal characters (spec 2.2), not quoted. */
  uuid(collection: string, slot: number): string {
    const random = this.random(`uuid of ${collection}`, slot);
    return hex(random.next()) + hex(random.next()) + hex(random.next()) + hex(random.next());
  }

  /** The link to the record in a slot, as JSON (spec 2.2). */
  link(collection: string, slot: number): Json {
    return linkTo(collection, this.id(collection, slot));
  }

  /** Links to the records in several slots, as a JSON array. */
  links(collection: string, slots: readonly number[]): Json {
    return list(slots.map((slot) => this.link(collection, slot)));
  }

  /** The `relatedTo` object that points at the record in a slot (spec 2.2). */
  relatedTo(short: ShortCode, slot: number): Json {
    return record(this.reference(short, slot));
  }

  /** The three members by which a record is known elsewhere: id, uuid and short_code. */
  reference(short: ShortCode, slot: number): { ob_id: Json; uuid: Json; short_code: Json } {
    const collection = COLLECTION_OF_SHORT_CODE[short];
    return {
      ob_id: `${this.id(collection, slot)}`,
      uuid: quote(this.uuid(collection, slot)),
      short_code: quote(short),
    };
  }
}

/**
 * The link to an id, as JSON (spec 2.2); `{base_url}` stands for the base address, here and nowhere else in a value.
 */
export function linkTo(collection: string, id: number): Json {
  return `"{base_url}/api/v3/${collection}/${id}/?format=api"`;
}

/** The short codes of records that can be referred to. */
export type ShortCode = keyof typeof COLLECTION_OF_SHORT_CODE;

/** The collections whose records observations share, or that hold a fraction of a record for each observation. */
export type Pool = keyof typeof POOL_LENGTH;

const COLLECTION_OF_SHORT_CODE = {
  acq: 'acquisitions',
  cmppr: 'composites',
  coll: 'observationcollections',
  comp: 'computations',
  instr: 'instruments',
  mpop: 'mpos',
  ob: 'observations',
  plat: 'platforms',
  proj: 'projects',
  result: 'results',
} as const;

/** Lengths by number of observations: a base that keeps small catalogues varied, and a share that grows. */
const POOL_LENGTH = {
  bboxes: grows(6, 0.25),
  constraints: grows(6, 0.002),
  discoveryserviceids: grows(4, 0.02),
  dqconformanceresults: grows(3, 0.01),
  drsdatasets: grows(4, 0.02),
  imagedetails: grows(5, 0.005),
  instruments: grows(12, 0.012),
  iods: grows(4, 0.02),
  licences: grows(6, 0.0005),
  migrationproperties: grows(40, 0.1),
  mpos: grows(4, 0.01),
  notes: grows(6, 0.02),
  observationcollections: (observations: number) => Math.ceil(observations / OBSERVATIONS_PER_COLLECTION),
  onlineresources: grows(10, 0.02),
  parties: grows(15, 0.025),
  phenomona: grows(24, 0.12),
  platforms: grows(12, 0.01),
  projects: grows(10, 0.011),
  relatedobservationinfos: grows(6, 0.05),
  rpis: grows(20, 0.055),
  times: grows(8, 0.4),
  verticalextents: grows(4, 0.03),
} as const;

/** Each collection starts at another id, so that a link read as one into another collection does not look right. */
const FIRST_ID: ReadonlyMap<string, number> = new Map(
  COLLECTIONS.map((collection, position) => [collection.name, 1 + 7 * position]),
);

function grows(base: number, share: number): (observations: number) => number {
  return (observations) => base + Math.floor(observations * share);
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0');
}
