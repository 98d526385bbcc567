// The arithmetic of one synthetic catalogue: the number of records, their ids and links, and facts that several records
// share, such as an observation's place and year. Everything is computed from the seed and never stored, so that linked
// records are consistent in constant memory.
// A slot is a position in a collection that may have a record. Slot 0 of several collections belongs to the story: the
// three observations of `STORY` measured soil moisture in Iceland in 2003, and can be cited and downloaded.
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { dateTimeText, edgeNumber, speak, type Subject } from './prose.ts';
import { Random, streamKeys, type StreamKeys } from './random.ts';
import {
  DOMAINS,
  GLOBE,
  INSPIRE_THEMES,
  INSTRUMENTS,
  LICENCE_CLASSES,
  PLACES,
  PROJECT_ACTIVITIES,
  QUANTITIES,
  TOPIC_CATEGORIES,
  type Domain,
  type Place,
  type Quantity,
} from './words.ts';

export class World {
  readonly observations: number;
  readonly #seed: number;
  readonly #keys = new Map<string, StreamKeys>();

  constructor({ seed, observations }: { readonly seed: number; readonly observations: number }) {
    this.#seed = seed;
    this.observations = observations;
  }

  /**
   * The random numbers of a record or of one aspect of it, which depend on the seed, the stream's name and the slot.
   */
  random(stream: string, slot: number): Random {
    let keys = this.#keys.get(stream);
    if (!keys) this.#keys.set(stream, (keys = streamKeys(this.#seed, stream)));
    return new Random(keys, slot);
  }

  /** The number of slots of a collection; never 0. */
  length(collection: CollectionName): number {
    return LENGTHS[collection](this.observations);
  }

  /** The id of the record in a slot. Ids ascend with the slots, with a gap after every 31. */
  id(collection: CollectionName, slot: number): number {
    return FIRST_ID.get(collection)! + slot + Math.floor(slot / 31);
  }

  /** The uuid of the record in a slot: 32 lower-case hexadecimal characters (spec 2.2). */
  uuid(collection: CollectionName, slot: number): string {
    const random = this.random(`uuid of ${collection}`, slot);
    return hex(random.next()) + hex(random.next()) + hex(random.next()) + hex(random.next());
  }

  /** The link to the record in a slot (spec 2.2). For `DANGLING` it leads to no record. */
  link(collection: CollectionName, slot: number): string {
    const id = slot === DANGLING ? DANGLING_ID : this.id(collection, slot);
    return `{base_url}/api/v3/${collection}/${id}/?format=api`;
  }

  /** The three members with which other records refer to the record in a slot (spec 2.2). */
  reference(short_code: ShortCode, slot: number): { ob_id: number; uuid: string; short_code: ShortCode } {
    const collection = COLLECTION_OF_SHORT_CODE[short_code];
    return { ob_id: this.id(collection, slot), uuid: this.uuid(collection, slot), short_code };
  }
}

/** The slot of intentionally dangling links. */
export const DANGLING = -1;

/** The id in dangling links: larger than that of any record in a catalogue that fits a disk. */
const DANGLING_ID = 999_999_999_999;

/** The short codes of records that can be referred to, with their collections. */
export const COLLECTION_OF_SHORT_CODE = {
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
} as const satisfies Record<string, CollectionName>;

export type ShortCode = keyof typeof COLLECTION_OF_SHORT_CODE;

/** Slots that each observation reserves in a collection. Unused slots are gaps in the ids. */
export const SLOTS = {
  acquisitions: 2,
  computations: 2,
  identifiers: 6,
  ipps: 4,
  onlineresources: 2,
  referenceables: 6,
} as const;

/** Observations in one observation collection. The last one may have fewer. */
export const OBSERVATIONS_PER_COLLECTION = 50;

/**
 * The index of the observation that a slot belongs to, or of the first one in a slot of `observationcollections`. Slots
 * of collections that are in neither table are shared, so the result is just some observation.
 */
export function indexOf(world: World, collection: CollectionName, slot: number): number {
  if (collection === 'observationcollections') return slot * OBSERVATIONS_PER_COLLECTION;
  const slots: Partial<Record<CollectionName, number>> = SLOTS;
  return Math.floor(slot / (slots[collection] ?? 1)) % world.observations;
}

export type CollectionName = keyof typeof LENGTHS;

/**
 * The number of slots by number of observations. `grows` has a base, for variety in small catalogues, and a growing
 * share.
 */
const LENGTHS = {
  acquisitions: perObservation(SLOTS.acquisitions),
  bboxes: grows(6, 0.25),
  composites: perObservation(1),
  computations: perObservation(SLOTS.computations),
  constraints: grows(6, 0.002),
  discoveryserviceids: grows(4, 0.02),
  dqconformanceresults: grows(3, 0.01),
  drsdatasets: grows(4, 0.02),
  identifiers: perObservation(SLOTS.identifiers),
  imagedetails: grows(5, 0.005),
  inspirethemes: (): number => INSPIRE_THEMES.length,
  instruments: grows(12, 0.012),
  iods: grows(4, 0.02),
  ipps: perObservation(SLOTS.ipps),
  licenceclassifications: (): number => LICENCE_CLASSES.length,
  licences: grows(6, 0.0005),
  migrationproperties: grows(40, 0.1),
  mpos: grows(4, 0.01),
  notes: grows(6, 0.02),
  observationcollections: (observations: number): number => Math.ceil(observations / OBSERVATIONS_PER_COLLECTION),
  observations: perObservation(1),
  onlineresources: perObservation(SLOTS.onlineresources),
  parties: grows(15, 0.025),
  phenomona: grows(24, 0.12),
  platforms: grows(12, 0.01),
  projects: grows(10, 0.011),
  referenceables: perObservation(SLOTS.referenceables),
  relatedobservationinfos: grows(6, 0.05),
  results: perObservation(1),
  rpis: (observations: number): number => firstRpi(observations, RESPONSIBLE.length),
  times: grows(8, 0.4),
  topiccategories: (): number => TOPIC_CATEGORIES.length,
  verticalextents: grows(4, 0.03),
  vocabularyterms: (): number => QUANTITIES.length,
};

/** Each collection has another first id, so that a link into the wrong collection does not look right. */
const FIRST_ID: ReadonlyMap<string, number> = new Map(COLLECTIONS.map(({ name }, n) => [name, 1 + 7 * n]));

function grows(base: number, share: number): (observations: number) => number {
  return (observations) => base + Math.floor(observations * share);
}

function perObservation(slots: number): (observations: number) => number {
  return (observations) => observations * slots;
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0');
}

/**
 * The observations of the story. None of them is an edge case of `edgeNumber`, of `OBSERVATION_SHAPES` or of a
 * remainder below.
 */
const STORY: readonly number[] = [16, 24, 40];

/** Rare but valid shapes of an observation, named after their peculiarity. */
const OBSERVATION_SHAPES = [
  'noIdentifiers',
  'emptyLists',
  'danglingLinks',
  'hugeVolume',
  'emptyTexts',
  'noPermissions',
  'permissionNulls',
  'noProcess',
  'removed',
  'longAbstract',
] as const;

/** The shared facts of one observation. */
export interface Facts {
  readonly shape: (typeof OBSERVATION_SHAPES)[number] | undefined;
  readonly publicationState: string;
  readonly publicationYear: number;
  readonly hasDoi: boolean;
  /** How its data was made (spec 2.9). */
  readonly process: 'acquisition' | 'computation' | 'composite' | 'none';
  /** The number of its acquisitions and computations: its own, or the components of its composite. */
  readonly acquisitions: number;
  readonly computations: number;
  readonly identifiers: number;
  /** The slots of linked records. The phenomenon is that of its subject. */
  readonly bbox: number;
  readonly time: number;
  readonly phenomenon: number;
  readonly project: Project;
  /** The slot of its observation collection, or -1. */
  readonly collection: number;
  readonly quantity: Quantity;
  readonly subject: Subject;
}

/** The facts of an observation. Cost: about a microsecond. */
export const factsOf = cacheLast((world, index): Facts => {
  const random = world.random('facts', index);
  const isInStory = isStory(index);
  const shape = index % 23 === 11 ? OBSERVATION_SHAPES[Math.floor(index / 23) % OBSERVATION_SHAPES.length] : undefined;
  const share = index < 20 ? index * 5 : random.below(100);
  const process = isInStory ? 'acquisition' : shape === 'noProcess' ? 'none' : chooseProcess(share);
  const [extraAcquisition, extraComputation] = [random.chance(20), random.chance(20)].map(Number);
  const state = choosePublicationState(random.below(100));
  const publicationState = isInStory ? 'citable' : shape === 'removed' ? 'removed' : state;
  const isComposite = process === 'composite';
  const hasDoi = publicationState === 'citable' || (state === 'published' && random.chance(60));
  const hasIdentifiers = shape !== 'noIdentifiers' && shape !== 'emptyLists';
  const identifiers = Math.max(Number(hasDoi), identifierCount(random.below(100)));
  const project = projectOf(world, chooseProject(world, Math.floor(index / OBSERVATIONS_PER_COLLECTION)));
  const bbox = isInStory ? 0 : random.below(world.length('bboxes'));
  const time = isInStory ? 0 : random.below(world.length('times'));
  const phenomenon = isInStory ? 0 : choosePhenomenon(world, random, project.domain);
  const quantity = QUANTITIES[phenomenon % QUANTITIES.length]!;
  const instrument = isInStory ? INSTRUMENTS[0]! : random.pick(project.domain.instruments);
  return {
    shape,
    publicationState,
    publicationYear: random.between(2008, 2022),
    hasDoi,
    process,
    acquisitions: isComposite ? 1 + extraAcquisition! : Number(process === 'acquisition'),
    computations: isComposite ? 1 + extraComputation! : Number(process === 'computation'),
    identifiers: hasIdentifiers ? identifiers : 0,
    bbox,
    time,
    phenomenon,
    project,
    collection: index % 10 === 9 || shape === 'emptyLists' ? -1 : Math.floor(index / OBSERVATIONS_PER_COLLECTION),
    quantity,
    subject: {
      instrument,
      place: placeOf(world, bbox).name,
      project: project.acronym,
      quantity: speak(quantity.standardName),
      year: periodOf(world, time).startYear,
    },
  };
});

export function isStory(index: number): boolean {
  return STORY.includes(index);
}

/** A project: its title without edge texts, and the acronym in the titles of its data. */
export interface Project {
  readonly slot: number;
  readonly title: string;
  readonly acronym: string;
  readonly domain: Domain;
}

export const projectOf = cacheLast((world, slot): Project => {
  const random = world.random('project name', slot);
  const domain = DOMAINS[slot % DOMAINS.length]!;
  const topic = slot === 0 ? domain.topics[0]! : random.pick(domain.topics);
  const title = `${random.pick(PROJECT_ACTIVITIES)} of ${topic}`;
  const words = title.split(/[ -]/).filter((word) => !['of', 'the', 'and'].includes(word));
  const initials = words.map((word) => word.charAt(0).toUpperCase()).join('');
  return { slot, title, acronym: `${initials}${slot}`, domain };
});

/**
 * The place and the box of a bbox record. One in ten is the whole globe; the others are a place's box or a part of it.
 */
export const placeOf = cacheLast((world, slot): Place => {
  const random = world.random('place', slot);
  if (slot === 0) return { name: PLACES[0]!.name, box: [-24.6, 63.2, -13.4, 66.6] };
  if (random.chance(10)) return GLOBE;
  const place = random.pick(PLACES);
  if (random.chance(30)) return place;
  const [west, south, east, north] = place.box;
  const [first, width] = part(random, east < west ? east + 360 - west : east - west);
  const [lowest, height] = part(random, north - south);
  const [left, right] = [longitude(west + first), longitude(west + first + width)];
  return {
    name: place.name,
    box: [round(left), round(south + lowest), round(right), round(south + lowest + height)],
  };
});

/** The start and end of a times record, and the year of its start. The end is null if it is open. */
export const periodOf = cacheLast((world, slot): { start: string; startYear: number; end: string | null } => {
  const random = world.random('times', slot);
  if (slot === 0) return { start: '2003-05-01T00:00:00', startYear: 2003, end: '2003-09-28T12:00:00' };
  const startYear = 2021 - random.skewed(70);
  const start = dateTimeText(random, startYear);
  const isOpen = edgeNumber(slot) >= 0 || random.chance(6);
  return { start, startYear, end: isOpen ? null : dateTimeText(random, startYear + 1 + random.skewed(12)) };
});

/** The roles of the responsible parties of records. One in `every` records of a collection has its own parties. */
const RESPONSIBLE = [
  {
    short: 'coll',
    every: 1,
    roles: ['author', 'author', 'principal_investigator', 'publisher', 'point_of_contact', undefined],
  },
  { short: 'proj', every: 1, roles: ['principal_investigator', 'co_investigator', 'funder'] },
  { short: 'instr', every: 1, roles: ['operator'] },
  { short: 'plat', every: 1, roles: ['custodian'] },
  { short: 'ob', every: 8, roles: ['author', 'author', 'principal_investigator'] },
] as const satisfies readonly { short: ShortCode; every: number; roles: readonly (string | undefined)[] }[];

/** The record of an rpi, its role (undefined: any), and its position among the rpis of that record. */
export const responsibility = cacheLast(
  (world, slot): { short: ShortCode; owner: number; role: string | undefined; place: number } => {
    const group = RESPONSIBLE.findLastIndex((_, n) => firstRpi(world.observations, n) <= slot);
    const { short, every, roles } = RESPONSIBLE[group]!;
    const rest = slot - firstRpi(world.observations, group);
    const place = rest % roles.length;
    return { short, owner: Math.floor(rest / roles.length) * every, role: roles[place], place };
  },
);

/** The slots of the rpis of a record; empty if it has no rpis itself. */
export function listRpis(world: World, short: (typeof RESPONSIBLE)[number]['short'], owner: number): readonly number[] {
  const group = RESPONSIBLE.findIndex((kind) => kind.short === short);
  const { every, roles } = RESPONSIBLE[group]!;
  if (owner % every !== 0) return [];
  const first = firstRpi(world.observations, group) + (owner / every) * roles.length;
  return Array.from({ length: roles.length }, (_, n) => first + n);
}

/** The first slot of a group of rpis; after the last group, the number of slots. */
function firstRpi(observations: number, group: number): number {
  let slots = 0;
  for (const { short, every, roles } of RESPONSIBLE.slice(0, group))
    slots += Math.ceil(LENGTHS[COLLECTION_OF_SHORT_CODE[short]](observations) / every) * roles.length;
  return slots;
}

/** Caches the last result of `make`, because the fields of a record and neighbouring records request the same one. */
export function cacheLast<T>(make: (world: World, slot: number) => T): (world: World, slot: number) => T {
  let last: { readonly world: World; readonly slot: number; readonly value: T } | undefined;
  return (world, slot) => {
    if (last?.world !== world || last.slot !== slot) last = { world, slot, value: make(world, slot) };
    return last.value;
  };
}

/** A phenomenon of the domain, or another one if a small catalogue has none of it. */
function choosePhenomenon(world: World, random: Random, domain: Domain): number {
  const length = world.length('phenomona');
  const quantity = QUANTITIES.indexOf(random.pick(domain.quantities));
  const variants = Math.ceil((length - quantity) / QUANTITIES.length);
  return variants > 0 ? quantity + QUANTITIES.length * random.below(variants) : quantity % length;
}

/**
 * The slot of the project of a collection's observations. Each domain has one, then a few projects get most of them.
 */
function chooseProject(world: World, collection: number): number {
  if (collection < DOMAINS.length) return collection;
  return world.random('project', collection).skewed(world.length('projects'));
}

function chooseProcess(share: number): Facts['process'] {
  if (share < 84) return 'acquisition';
  if (share < 91) return 'computation';
  return share < 98 ? 'composite' : 'none';
}

function choosePublicationState(share: number): string {
  if (share < 52) return 'published';
  if (share < 88) return 'citable';
  if (share < 93) return 'old';
  return share < 96 ? 'preview' : 'working';
}

function identifierCount(share: number): number {
  if (share < 18) return 0;
  if (share < 86) return 1;
  if (share < 96) return 2;
  return share < 98 ? 3 : 4;
}

/** A random part of an extent: its start, and its length, which is at least a tenth. */
function part(random: Random, extent: number): readonly [start: number, length: number] {
  const length = (extent * random.between(100, 1000)) / 1000;
  return [((extent - length) * random.below(1001)) / 1000, length];
}

function round(degrees: number): number {
  return Math.round(degrees * 1e4) / 1e4;
}

function longitude(degrees: number): number {
  return degrees > 180 ? degrees - 360 : degrees;
}
