// How each value of the synthetic catalogue is drawn: a row per collection, with a draw per field. Names, order, links
// and types of fields come from the declaration. A field without a draw uses `makeDefaultDraw`. The draws of a record
// share its random numbers, in the order of its fields.
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Collection, Field } from '../../engine/schema/types.ts';
import * as prose from './prose.ts';
import { addEdge, edgeNumber, edgeText, speak } from './prose.ts';
import type { Random } from './random.ts';
import * as words from './words.ts';
import { QUANTITIES } from './words.ts';
import * as facts from './world.ts';
import { DANGLING, SLOTS, type CollectionName, type ShortCode, type World } from './world.ts';

/** A record as input of JSON.stringify. */
type SynthRecord = Readonly<Record<string, unknown>>;

/** Draws a value as input of JSON.stringify. For a declared link it is a slot, for declared links an array of slots. */
type Draw = (at: At, field: Field | undefined) => unknown;

// Not declared by TypeScript; in Node since version 21.
declare global {
  interface JSON {
    /** The number token `text`, digit by digit. */
    rawJSON(text: string): object;
  }
}

/** The input of a draw: one slot of a collection. */
class At {
  readonly world: World;
  readonly collection: CollectionName;
  readonly slot: number;
  #random: Random | undefined;

  constructor(world: World, collection: CollectionName, slot: number) {
    this.world = world;
    this.collection = collection;
    this.slot = slot;
  }

  get random(): Random {
    return (this.#random ??= this.world.random(this.collection, this.slot));
  }

  /** The observation that reserves the slot. In a collection without reserved slots, any observation. */
  get index(): number {
    return facts.indexOf(this.world, this.collection, this.slot);
  }

  /** The index of the slot among those that its observation reserves. */
  get place(): number {
    return this.slot - this.index * SLOTS[this.collection as keyof typeof SLOTS];
  }

  get facts(): facts.Facts {
    return facts.factsOf(this.world, this.index);
  }

  edged(text: string, shift = 0): string {
    return addEdge(text, this.slot, shift);
  }

  /** One or more sentences about the observation. */
  paragraph(sentences = 1): string {
    return prose.paragraph(this.random, this.facts.subject, sentences);
  }

  below(collection: CollectionName): number {
    return this.random.below(this.world.length(collection));
  }

  skewed(collection: CollectionName): number {
    return this.random.skewed(this.world.length(collection));
  }

  date(firstYear: number, lastYear: number): string {
    return prose.dateTimeText(this.random, this.random.between(firstYear, lastYear));
  }
}

/** Half of the entries are `registered`, as in the specification's example. */
const ACCESS_CATEGORIES = ['public', 'registered', 'registered', 'restricted'];
const ACCESS_CONSTRAINT = 'Access is granted after registration; see the licence.';
const USE_LIMITATION = 'Acknowledge the project team in every publication that uses these data.';

/** The collections whose records have a slot of `referenceables`. */
const REFERENCED: readonly ShortCode[] = ['ob', 'coll', 'proj', 'plat', 'instr', 'mpop'];

/** The collections of migration properties, by the start of their key. */
const MIGRATED = [
  ['Instrument', 'instruments'],
  ['project', 'projects'],
  ['observation_collection', 'observationcollections'],
] as const;

/** Whether a slot has a record, by collection. Collections without an entry fill all slots. */
const HOLDS: Partial<Record<CollectionName, (at: At) => boolean>> = {
  acquisitions: ({ place, facts }) => place < facts.acquisitions,
  composites: ({ facts }) => facts.process === 'composite',
  computations: ({ place, facts }) => place < facts.computations,
  identifiers: ({ world, slot }) => identifierOf(world, slot) !== undefined,
  // Some acquisitions have no pair, some have two.
  ipps: ({ world, slot, index }) => {
    const acquisition = Math.floor(slot / PAIRS);
    if (!holds(world, 'acquisitions', acquisition)) return false;
    const share = facts.isStory(index) ? 50 : world.random('pairs', acquisition).below(100);
    return slot % PAIRS < (share < 4 ? 0 : share < 96 ? 1 : 2);
  },
  // Four in five observations can be downloaded, and a few have documents elsewhere.
  onlineresources: ({ place, index }) => (place === 0 ? index % 5 !== 3 : index % 25 === 0),
  referenceables: ({ world, place, index }) => {
    return index < world.length(facts.COLLECTION_OF_SHORT_CODE[REFERENCED[place]!]);
  },
};

const toObservation: Draw = ({ world, index }) => world.reference('ob', index);
const observationLink: Draw = ({ world, index }) => world.link('observations', index);
const aboutObservation: Draw = (at) => at.edged(at.paragraph());
const drawKeywords =
  (max: number, emptyPercent = 0): Draw =>
  ({ random }) =>
    random.chance(emptyPercent) ? '' : prose.keywordText(random, max);
const drawChance =
  (percent: number): Draw =>
  ({ random }) =>
    random.chance(percent);
const drawOneOf =
  (list: readonly unknown[]): Draw =>
  ({ random }) =>
    random.pick(list);
const drawInTurn =
  (list: readonly unknown[]): Draw =>
  ({ slot }) =>
    nth(list, slot);
/** `value` for 85 % of the records, one of the others for the rest. */
const drawMostly =
  (value: string, others: string): Draw =>
  ({ random }) =>
    random.chance(85) ? value : random.pick(others.split(' '));
/**
 * One side of a place's box. One record in 23 has `token` instead, a number in a spelling that a service must preserve.
 */
const drawBound =
  (side: 0 | 1 | 2 | 3, token: string): Draw =>
  ({ world, slot }) =>
    edgeNumber(slot) >= 0 ? JSON.rawJSON(token) : facts.placeOf(world, slot).box[side];
const drawResult =
  (member: keyof ReturnType<typeof resultOf>): Draw =>
  ({ world, slot }) =>
    resultOf(world, slot)[member];

const TABLE: Readonly<Record<CollectionName, Readonly<Record<string, Draw>>>> = {
  acquisitions: {
    independentInstrument: () => [],
    instrumentplatformpair_set: ({ world, slot }) => records(world, 'ipps', slot * PAIRS, PAIRS),
  },
  bboxes: {
    bboxName: ({ world, slot, random }) =>
      slot === 0 || random.chance(60) ? addEdge(prose.nameOf(facts.placeOf(world, slot)), slot) : null,
    eastBoundLongitude: drawBound(2, '1.5E+1'),
    westBoundLongitude: drawBound(0, '-0.0'),
    southBoundLatitude: drawBound(1, '-12.5000'),
    northBoundLatitude: drawBound(3, '51.123456789012345678901'),
  },
  composites: {
    computationComponent: ({ world, slot }) => records(world, 'computations', slot * SLOTS.computations, 2),
    acquisitionComponent: ({ world, slot }) => records(world, 'acquisitions', slot * SLOTS.acquisitions, 2),
    identifier_set: processIdentifiers,
    responsiblepartyinfo_set: () => [],
  },
  computations: {
    title: ({ index, facts: { subject }, random }) =>
      addEdge(`Computation of ${subject.quantity} for ${subject.project}, version ${random.between(1, 9)}`, index, 1),
    abstract: (at) => addEdge(at.paragraph(), at.index, 2),
    keywords: drawKeywords(4, 25),
    inputDescription: (at) => (at.random.chance(30) ? at.paragraph() : null),
    outputDescription: (at) => (at.random.chance(30) ? at.paragraph() : null),
    softwareReference: ({ random, facts: { subject } }) =>
      random.chance(20) ? `https://code.example.org/${subject.project}/` : null,
    identifier_set: (at) => (at.facts.process === 'computation' ? processIdentifiers(at) : []),
  },
  constraints: {
    useLimitation: (at) => (at.slot % 3 === 0 ? null : at.edged(USE_LIMITATION)),
    accessConstraints: drawInTurn([null, ACCESS_CONSTRAINT]),
    accessCategory: drawInTurn(ACCESS_CATEGORIES),
    label: drawInTurn(ACCESS_CATEGORIES.map((category) => `${category}: None group`)),
    licence: ({ world, slot }) => world.link('licences', slot % world.length('licences')),
  },
  discoveryserviceids: {
    serviceName: drawOneOf(['discovery', 'discovery', 'harvest']),
    serviceId: ({ world, slot }) => `org.example.archive__${world.uuid('discoveryserviceids', slot)}`,
    relatedTo: toObservation,
  },
  dqconformanceresults: {
    specification: () => 'Commission regulation on interoperability of spatial data sets',
    explanation: (at) => at.edged('See the referenced specification'),
    passed: drawOneOf([true, true, true, false, null]),
    observation: observationLink,
  },
  drsdatasets: {
    drsId: ({ random, facts: { quantity } }) =>
      `project${random.between(1, 9)}.output.model${random.between(1, 40)}.${quantity.variable}`,
    version: ({ random }) =>
      random.between(2010, 2023) * 10_000 + random.between(10, 12) * 100 + random.between(10, 28),
    isLatest: drawChance(80),
    observation: observationLink,
  },
  identifiers: {
    relatedTo: ({ world, slot }) => identifierOf(world, slot)!.relatedTo,
    // 10.5072 is the prefix that is reserved for DOIs that are never registered.
    url: ({ world, slot }) => {
      const { type } = identifierOf(world, slot)!;
      const name = world.uuid('identifiers', slot);
      if (type === 'doi') return `https://doi.org/10.5072/${name}`;
      if (type === 'archive_abbreviation') return edgeNumber(slot) < 0 ? name.slice(0, 6) : edgeText(edgeNumber(slot));
      return `https://${type.replace('_url', '')}.example.org/view?id=${slot}&name=${name.slice(0, 8)}`;
    },
    identifierType: ({ world, slot }) => identifierOf(world, slot)!.type,
    shortUrl: ({ random }) => (random.chance(15) ? `https://short.example.org/${random.next().toString(36)}` : ''),
  },
  imagedetails: {
    url: ({ world, slot }) => `https://images.example.org/${world.uuid('imagedetails', slot).slice(0, 12)}.png`,
    caption: (at) => at.edged('Overview of the site'),
    width: ({ random }) => random.between(2, 20) * 64,
    height: ({ random }) => (random.chance(10) ? null : random.between(2, 20) * 48),
  },
  inspirethemes: { name: drawInTurn(words.INSPIRE_THEMES) },
  instruments: {
    title: (at) => {
      const organisation = prose.organisationName(at.random);
      return at.edged(`${organisation} ${instrumentKind(at.slot)} ${at.random.between(1, 99)}`, 2);
    },
    abstract: (at) => aboutAny(at, 2, { instrument: instrumentKind(at.slot) }),
    keywords: drawKeywords(3, 20),
    instrumentType: ({ slot }) => (/radar|lidar/.test(instrumentKind(slot)) ? 'active' : 'passive'),
  },
  iods: {
    name: ({ facts: { subject } }) => subject.quantity,
    description: aboutObservation,
    direction: drawOneOf(['input', 'output']),
  },
  ipps: {
    platform: (at) => (facts.isStory(at.index) ? 0 : at.skewed('platforms')),
    instrument: (at) => (facts.isStory(at.index) ? 0 : at.skewed('instruments')),
    relatedTo: ({ world, slot }) => world.reference('acq', Math.floor(slot / PAIRS)),
  },
  licenceclassifications: { classification: drawInTurn(words.LICENCE_CLASSES) },
  licences: {
    licenceURL: ({ slot }) => licenceAddress(slot),
    licenceClassifications: ({ slot }) =>
      slot === 3 ? [] : [...new Set([slot % 6, words.LICENCE_CLASSES.length - 1])],
  },
  // Descriptions of records from an older catalogue, often HTML.
  migrationproperties: {
    key: drawInTurn(words.MIGRATION_KEYS),
    value: (at) => {
      if (edgeNumber(at.slot) >= 0) return edgeText(edgeNumber(at.slot));
      if (nth(words.MIGRATION_KEYS, at.slot).endsWith('_date')) return at.date(2005, 2018).replace('T', ' ');
      if (at.random.chance(20)) return 'Empty content';
      const text = at.paragraph();
      if (at.random.chance(30)) return text;
      const { project, place, quantity } = at.facts.subject;
      const page = `https://legacy2.example.org/view?project=${project}&place=${place}`;
      const heading = `<h2>About ${quantity}</h2>`;
      return `<div class="content">\r\n${heading}\n<p>${text}</p>\n<a href='${page}'>More &raquo;</a>\n</div>\n`;
    },
    modified: ({ random }) => prose.dateText(random, random.between(2013, 2019)),
    ob_ref: (at) => {
      const key = nth(words.MIGRATION_KEYS, at.slot);
      const collection = MIGRATED.find(([start]) => key.startsWith(start))?.[1] ?? 'observations';
      return at.world.id(collection, at.below(collection));
    },
  },
  // Flights and cruises of mobile platforms.
  mpos: {
    uuid: ({ world, slot }) => world.uuid('mpos', slot),
    short_code: () => 'mpop',
    title: (at) => at.edged(`Flight ${at.random.between(100, 999)} from ${prose.placeName(at.random)}`, 3),
    abstract: (at) => aboutAny(at, 1),
    platform: (at) => at.world.link('platforms', at.below('platforms')),
    children: () => [],
    operator: ({ random }) => (random.chance(50) ? prose.organisationName(random) : null),
  },
  notes: {
    text: aboutObservation,
    created: (at) => at.date(2010, 2023),
    isPublic: drawChance(30),
    relatedTo: toObservation,
  },
  observationcollections: {
    title: (at) => at.edged(`${at.facts.project.title} (${at.facts.project.acronym}): ${at.facts.subject.quantity}`),
    abstract: ({ random, facts: { subject } }) => prose.abstractText(random, subject, 2),
    keywords: drawKeywords(6),
    publicationState: drawInTurn(['citable', 'citable', 'published', 'published', 'published']),
    dataPublishedTime: (at) => (at.random.chance(90) ? at.date(2012, 2023) : null),
    doiPublishedTime: (at) => (at.slot % 5 < 2 ? at.date(2012, 2023) : null),
    member: ({ world, slot, index }) => {
      const end = Math.min(index + facts.OBSERVATIONS_PER_COLLECTION, world.observations);
      return range(index, end - index).filter((member) => facts.factsOf(world, member).collection === slot);
    },
  },
  observations: {
    title: ({ slot, facts: { shape, project, subject } }) => {
      if (shape === 'emptyTexts') return '';
      const { quantity, instrument, place, year } = subject;
      const description = `${quantity} from the ${instrument} around ${place}, ${year}`;
      return addEdge(`${project.title} (${project.acronym}): ${description}`, slot);
    },
    abstract: ({ slot, random, facts: { shape, subject } }) => {
      if (shape === 'emptyTexts') return '';
      return addEdge(
        prose.abstractText(random, subject, shape === 'longAbstract' ? 30 : 1 + random.skewed(5)),
        slot,
        7,
      );
    },
    keywords: ({ slot, random, facts: { shape } }) =>
      shape === 'emptyTexts' ? '' : addEdge(prose.keywordText(random, 8), slot, 3),
    publicationState: (at) => at.facts.publicationState,
    dataPublishedTime: (at) => at.date(at.facts.publicationYear, at.facts.publicationYear),
    doiPublishedTime: (at) => {
      return at.facts.hasDoi ? at.date(at.facts.publicationYear + 1, at.facts.publicationYear + 1) : null;
    },
    updateFrequency: drawMostly('notPlanned', 'continual daily weekly monthly annually asNeeded irregular unknown'),
    status: drawMostly('completed', 'ongoing ongoing ongoing planned underDevelopment superseded obsolete final'),
    result_field: ({ world, slot }) => {
      const { dataPath, oldDataPath, storageLocation, storageStatus, ...rest } = resultOf(world, slot);
      return {
        ob_id: world.link('observations', slot),
        dataPath,
        oldDataPath,
        storageLocation,
        storageStatus,
        ...rest,
      };
    },
    timePeriod: ({ facts: { shape, time } }) => (shape === 'danglingLinks' ? DANGLING : time),
    geographicExtent: ({ facts: { shape, bbox } }) => (shape === 'danglingLinks' ? DANGLING : bbox),
    nonGeographicFlag: drawChance(4),
    // Most observations have a few, some have dozens.
    phenomena: (at) => {
      if (at.facts.shape === 'emptyLists') return [];
      const others = range(0, at.random.skewed(at.random.chance(10) ? 60 : 24)).map(() => at.below('phenomona'));
      return [...new Set([at.facts.phenomenon, ...others])];
    },
    dataLineage: ({ random, facts: { shape, subject } }) =>
      shape === 'emptyTexts' ? '' : prose.lineageText(random, subject),
    removedDataTime: (at) => (at.facts.shape === 'removed' ? at.date(2023, 2023) : null),
    removedDataReason: (at) => (at.facts.shape === 'removed' ? at.paragraph() : ''),
    language: () => 'English',
    identifier_set: ({ slot, facts: { identifiers } }) => range(slot * SLOTS.identifiers, identifiers),
    projects: ({ facts: { shape, project } }) =>
      shape === 'emptyLists' ? [] : shape === 'danglingLinks' ? [DANGLING, project.slot] : [project.slot],
    observationcollection_set: ({ facts: { collection } }) => (collection < 0 ? [] : [collection]),
    // Its own responsible parties come first, then those of its collection or, without a collection, of its project.
    responsiblepartyinfo_set: ({ world, slot, facts: { shape, collection, project } }) => {
      if (shape === 'emptyLists') return [];
      const rpis = facts.listRpis(world, 'ob', slot);
      const shared =
        collection < 0 ? facts.listRpis(world, 'proj', project.slot) : facts.listRpis(world, 'coll', collection);
      return [...rpis, ...shared.slice(rpis.length)];
    },
    procedureAcquisition: ({ slot, facts }) => (facts.process === 'acquisition' ? slot * SLOTS.acquisitions : null),
    procedureCompositeProcess: ({ slot, facts }) => (facts.process === 'composite' ? slot : null),
    procedureComputation: ({ slot, facts }) => (facts.process === 'computation' ? slot * SLOTS.computations : null),
    permissions: (at) => {
      const { shape } = at.facts;
      if (shape === 'noPermissions' || shape === 'emptyLists') return [];
      return range(0, at.random.chance(90) ? 1 : 2).map(() => permission(at, shape === 'permissionNulls'));
    },
    discoveryKeywords: ({ random, facts: { shape } }) => {
      const { DISCOVERY_KEYWORDS } = words;
      const drawn = range(0, random.below(6)).map(() => random.skewed(DISCOVERY_KEYWORDS.length));
      return [...new Set(shape === 'emptyLists' ? [] : drawn)].map((n) => ({
        ob_id: n + 1,
        name: DISCOVERY_KEYWORDS[n],
      }));
    },
  },
  onlineresources: {
    name: ({ place, random, facts: { subject }, slot }) =>
      addEdge(place === 0 ? `Files of ${subject.quantity}` : `Documentation ${random.between(1, 99)}`, slot),
    url: ({ world, place, index, slot }) =>
      place === 0
        ? encodeURI(`https://data.example.org${resultOf(world, index).dataPath}/`)
        : `https://documents.example.org/${world.uuid('onlineresources', slot)}?lang=en&page=${slot}#top`,
    function: ({ place, random }) =>
      place === 0 ? 'download' : random.pick(['information', 'offlineAccess', 'search']),
    description: ({ slot, random }) => (random.chance(80) ? null : edgeText(Math.max(0, edgeNumber(slot)))),
    relatedTo: toObservation,
  },
  // The name of an organisation is in `lastName`.
  parties: {
    firstName: ({ slot, random }) => (isPerson(slot) ? random.pick(words.FIRST_NAMES) : ''),
    lastName: ({ slot, random }) =>
      addEdge(isPerson(slot) ? random.pick(words.LAST_NAMES) : prose.organisationName(random), slot),
    partyType: ({ slot }) => (isPerson(slot) ? 'individual' : 'organisation'),
  },
  phenomona: {
    names: ({ slot }) => {
      const n = slot % QUANTITIES.length;
      return slot % 3 === 1 ? [] : [{ ob_id: 1 + n, name: speak(QUANTITIES[n]!.standardName) }];
    },
    terms: ({ slot }) => terms(slot),
  },
  platforms: {
    title: (at) => {
      const { location, noun } = platformOf(at.world, at.slot);
      return at.edged(`${prose.nameOf(facts.placeOf(at.world, location))} ${noun}`, 1);
    },
    abstract: (at) => {
      const { location, noun } = platformOf(at.world, at.slot);
      const { name: place } = facts.placeOf(at.world, location);
      return `${noun} around ${place}. ${aboutAny(at, 2, { place })}`;
    },
    keywords: drawKeywords(3),
    platformType: ({ world, slot }) => platformOf(world, slot).type,
    location: ({ world, slot, random }) => (slot === 0 || random.chance(40) ? platformOf(world, slot).location : null),
  },
  projects: {
    title: (at) => {
      const { title, acronym } = facts.projectOf(at.world, at.slot);
      return at.edged(`${title} (${acronym})`);
    },
    abstract: (at) => {
      const { acronym, domain } = facts.projectOf(at.world, at.slot);
      const quantity = speak(at.random.pick(domain.quantities).standardName);
      return aboutAny(at, 4, { project: acronym, quantity, instrument: at.random.pick(domain.instruments) });
    },
    publicationState: drawOneOf(['published', 'published', 'published', 'published', 'working']),
    keywords: (at) => at.edged(prose.keywordText(at.random, 5), 2),
    status: drawOneOf(['completed', 'completed', 'completed', 'completed', 'ongoing']),
  },
  // Each index has a slot for one record of each of these collections.
  referenceables: {
    uuid: ({ world, place, index }) => world.reference(REFERENCED[place]!, index).uuid,
    short_code: ({ place }) => REFERENCED[place],
  },
  relatedobservationinfos: {
    relationType: ({ slot }, field) => nth(declaredValues(field), slot),
    subjectObservation: (at) => at.below('observations'),
    objectObservation: (at) => (at.slot % 23 === 11 ? DANGLING : at.below('observations')),
  },
  results: {
    curationCategory: drawInTurn(['a', 'a', 'a', 'a', 'a', 'b', 'c']),
    dataPath: drawResult('dataPath'),
    numberOfFiles: drawResult('numberOfFiles'),
    volume: drawResult('volume'),
    fileFormat: ({ world, slot }) => (slot % 50 === 3 ? null : resultOf(world, slot).fileFormat),
    storageStatus: drawResult('storageStatus'),
    storageLocation: drawResult('storageLocation'),
    oldDataPath: drawResult('oldDataPath'),
  },
  rpis: {
    priority: ({ world, slot }) => 1 + facts.responsibility(world, slot).place,
    role: ({ world, slot, random }, field) =>
      facts.responsibility(world, slot).role ?? random.pick(declaredValues(field)),
    party: (at) => {
      const { role } = facts.responsibility(at.world, at.slot);
      const party = at.skewed('parties');
      // The nearest lower party of the kind, or the first organisation.
      if (role === 'publisher' || role === 'funder') return party < 3 ? 3 : party - ((party + 1) % 4);
      return role === undefined || isPerson(party) ? party : party - 1;
    },
    relatedTo: ({ world, slot }) => {
      const { short, owner } = facts.responsibility(world, slot);
      return world.reference(short, owner);
    },
  },
  times: {
    startTime: ({ world, slot }) => facts.periodOf(world, slot).start,
    endTime: ({ world, slot }) => facts.periodOf(world, slot).end,
  },
  topiccategories: { name: drawInTurn(words.TOPIC_CATEGORIES) },
  // Three in ten are pressures.
  verticalextents: {
    highestLevelBound: ({ slot, random }) => {
      if (slot % 20 === 7) return null;
      return slot % 10 < 3 ? random.between(1, 4999) / 10 : random.between(5001, 800_000) / 10;
    },
    lowestLevelBound: ({ slot, random }) =>
      slot % 10 < 3 ? random.between(5000, 10_500) / 10 : random.between(-60_000, 5000) / 10,
    units: ({ slot }) => (slot % 10 < 3 ? 'hPa' : 'm'),
  },
  vocabularyterms: {
    vocabService: () => 'cf_standard_names',
    uri: ({ slot }) => `https://vocabulary.example.org/standard_name/${QUANTITIES[slot]!.standardName}/`,
    resolvedTerm: ({ slot }) => QUANTITIES[slot]!.standardName,
  },
};

/** Whether a slot of a collection has a record. */
export function holds(world: World, collection: CollectionName, slot: number): boolean {
  return HOLDS[collection]?.(new At(world, collection, slot)) ?? true;
}

/** The record in a slot. The slot must have one. */
export function record(world: World, collection: CollectionName, slot: number): SynthRecord {
  const drawn: Record<string, unknown> = {};
  const at = new At(world, collection, slot);
  for (const { name, field, draw } of COLUMNS[collection]) drawn[name] = encodeValue(world, field, draw(at, field));
  return drawn;
}

/** The records in a range of slots, without the empty ones. */
function records(world: World, collection: CollectionName, first: number, length: number): readonly SynthRecord[] {
  const slots = range(first, length).filter((slot) => holds(world, collection, slot));
  return slots.map((slot) => record(world, collection, slot));
}

interface Column {
  readonly name: string;
  readonly field: Field | undefined;
  readonly draw: Draw;
}

const COLUMNS = Object.fromEntries(COLLECTIONS.map((collection) => [collection.name, columns(collection)])) as Readonly<
  Record<CollectionName, readonly Column[]>
>;

/** The declared fields, then the additional ones of an open collection. */
function columns(collection: Collection): readonly Column[] {
  const others = new Map(Object.entries(TABLE[collection.name as CollectionName]));
  const declared = collection.fields.map((field) => {
    const draw = others.get(field.name) ?? makeDefaultDraw(collection, field);
    others.delete(field.name);
    return { name: field.name, field, draw };
  });
  return [...declared, ...[...others].map(([name, draw]) => ({ name, field: undefined, draw }))];
}

/** The id, uuid or short code of the slot, or any of the values that are declared for a text. */
function makeDefaultDraw({ name, idField }: Collection, field: Field): Draw {
  const collection = name as CollectionName;
  if (field.name === idField) return ({ world, slot }) => world.id(collection, slot);
  if (field.name === 'uuid') return ({ world, slot }) => world.uuid(collection, slot);
  const code = Object.entries(facts.COLLECTION_OF_SHORT_CODE).find(([, name]) => name === collection)?.[0];
  if (field.name === 'short_code') return () => code;
  if (declaredValues(field).length > 0) return drawOneOf(declaredValues(field));
  throw new Error(`data/synth/table.ts has no draw for ${name}.${field.name}`);
}

/** Slots of declared links become links. Integers of declared floats get a decimal point. */
function encodeValue(world: World, field: Field | undefined, value: unknown): unknown {
  if (field === undefined || value === null) return value;
  if (field.kind === 'link') return world.link(field.to as CollectionName, value as number);
  if (field.kind === 'links')
    return (value as readonly number[]).map((slot) => world.link(field.to as CollectionName, slot));
  const isFloat = field.kind === 'scalar' && field.type === 'float' && Number.isInteger(value);
  return isFloat ? JSON.rawJSON(`${value as number}.0`) : value;
}

/** The values that are declared for a text. */
function declaredValues(field: Field | undefined): readonly string[] {
  return (field?.kind === 'scalar' && field.values) || [];
}

function range(first: number, length: number): readonly number[] {
  return Array.from({ length }, (_, n) => first + n);
}

function nth<T>(list: readonly T[], n: number): T {
  return list[n % list.length]!;
}

/** Slots of pairs for each acquisition. */
const PAIRS = SLOTS.ipps / SLOTS.acquisitions;

/** A text about random things, except for those in `subject`. */
function aboutAny({ world, slot, random }: At, sentences: number, subject: Partial<prose.Subject> = {}): string {
  const any = {
    instrument: random.pick(words.INSTRUMENTS),
    place: prose.placeName(random),
    project: facts.projectOf(world, random.skewed(world.length('projects'))).acronym,
    quantity: speak(random.pick(QUANTITIES).standardName),
    year: random.between(1960, 2020),
  };
  return addEdge(prose.paragraph(random, { ...any, ...subject }, sentences), slot, 4);
}

function instrumentKind(slot: number): string {
  return nth(words.INSTRUMENTS, slot * 7);
}

const platformOf = facts.cacheLast((world, slot) => {
  const [type, noun] = nth(words.PLATFORMS, slot * 5);
  return { type, noun, location: slot === 0 ? 0 : world.random('location', slot).below(world.length('bboxes')) };
});

/** The identifier in a slot: of an observation, of its process, or of a collection; undefined for an empty slot. */
const identifierOf = facts.cacheLast((world, slot) => {
  const { index, place, facts } = new At(world, 'identifiers', slot);
  const { identifiers, hasDoi, process } = facts;
  if (place < identifiers) {
    const type =
      place === 0 && hasDoi ? 'doi' : nth(['archive_abbreviation', 'legacy2_url', 'legacy3_url'], index + place);
    return { type, relatedTo: world.reference('ob', index) };
  }
  if (place === COLLECTION_PLACE && index < world.length('observationcollections'))
    return { type: 'doi', relatedTo: world.reference('coll', index) };
  if (place !== PROCESS_PLACE || index % 4 > 0 || !(process === 'composite' || process === 'computation'))
    return undefined;
  const isComposite = process === 'composite';
  const relatedTo = isComposite ? world.reference('cmppr', index) : world.reference('comp', index * SLOTS.computations);
  return { type: 'legacy2_url', relatedTo };
});

/** The indexes of the identifiers of an observation's process and of a collection, after those of the observation. */
const PROCESS_PLACE = 4;
const COLLECTION_PLACE = 5;

function processIdentifiers({ world, index }: At): readonly number[] {
  return [index * SLOTS.identifiers + PROCESS_PLACE].filter((slot) => holds(world, 'identifiers', slot));
}

/** The result of an observation: the members of its record, most of which are repeated in its observation. */
const resultOf = facts.cacheLast((world, index) => {
  const random = world.random('results', index);
  const { shape, subject, project } = facts.factsOf(world, index);
  const folder = `${project.acronym.toLowerCase()}/data/`;
  const name = `${subject.instrument}-${subject.place.replace(/^the /, '')}`.toLowerCase().replaceAll(' ', '-');
  const path = `${folder}${name}/v${random.between(1, 4)}/${subject.year}`;
  // One path in 69 has a folder name that needs care in URLs and in JSON.
  const odd = edgeNumber(index) >= 0 && edgeNumber(index) % 3 === 0 ? `/${edgeText(edgeNumber(index))}` : '';
  const root = random.chance(80) ? '/badc' : '/neodc';
  const volume = random.chance(10) ? 0 : random.between(1, 999) * 1024 ** random.between(1, 4) + random.below(1024);
  const oldPaths = random.chance(8) ? [`/legacy/${path}`, `/tape/${folder}`] : [];
  return {
    dataPath: shape === 'emptyTexts' ? '' : `${root}/${path}${odd}`,
    oldDataPath: shape === 'emptyLists' ? [] : oldPaths,
    storageLocation: random.chance(95) ? 'internal' : 'external',
    storageStatus: random.chance(93) ? 'online' : 'offline',
    volume: shape === 'hugeVolume' ? JSON.rawJSON(nth(words.HUGE_INTEGERS, Math.floor(index / 230))) : volume,
    numberOfFiles: random.chance(30) ? random.between(1, 9) : random.skewed(200_000),
    fileFormat: shape === 'emptyTexts' ? '' : random.pick(words.FILE_FORMATS),
  };
});

function permission({ world, slot, random }: At, isBare: boolean): SynthRecord {
  const category = random.pick(ACCESS_CATEGORIES);
  const project = random.skewed(world.length('projects'));
  const group = category === 'restricted' ? facts.projectOf(world, project).acronym : null;
  return {
    ob_id: world.link('observations', slot),
    useLimitation: isBare || random.chance(60) ? null : USE_LIMITATION,
    accessConstraints: isBare || random.chance(70) ? null : ACCESS_CONSTRAINT,
    accessCategory: category,
    accessRoles: isBare ? null : group,
    label: `${category}: ${group ?? 'None'} group`,
    licenceURL: licenceAddress(random.skewed(world.length('licences'))),
    licenceClassifications: random.chance(70) ? 'any' : random.pick(words.LICENCE_CLASSES),
  };
}

function licenceAddress(slot: number): string {
  return `https://licences.example.org/terms/${slot < 3 ? 'open' : 'project'}/${slot + 1}.0/`;
}

/** The terms of a phenomenon, in varying order. One phenomenon in six has a single term. */
function terms(slot: number): readonly SynthRecord[] {
  const n = slot % QUANTITIES.length;
  const variant = Math.floor(slot / QUANTITIES.length);
  const { standardName, units, variable } = QUANTITIES[n]!;
  const unit = slot % 11 === 4 ? '' : units;
  const all = [
    term(FIRST_TERM.standard_name + n, 'standard_name', standardName, 'cf_standard_names'),
    term(FIRST_TERM.units + UNITS.indexOf(unit), 'units', unit),
    term(FIRST_TERM.var_id + slot, 'var_id', variant === 0 ? variable : `${variable}_${variant}`),
    longNameTerm(slot, n, variant),
  ];
  const turn = slot % all.length;
  const turned = [...all.slice(turn), ...all.slice(0, turn)];
  return slot % 6 === 5 ? turned.slice(0, 1) : turned;
}

/**
 * An edge text if the slot has one. Otherwise one long name for every two variants, so that phenomena share these
 * terms.
 */
function longNameTerm(slot: number, n: number, variant: number): SynthRecord {
  const edge = edgeNumber(slot);
  if (edge >= 0) return term(FIRST_TERM.edge + (edge % words.EDGE_TEXTS.length), 'long_name', edgeText(edge));
  const level = Math.floor(variant / 2);
  const name = prose.capitalise(speak(QUANTITIES[n]!.standardName));
  const id = FIRST_TERM.long_name + level * QUANTITIES.length + n;
  return term(id, 'long_name', level === 0 ? name : `${name} on level ${level}`);
}

/** Equal terms must have equal ids in all phenomena. */
function term(ob_id: number, label: string, value: string, vocabulary = ''): SynthRecord {
  return { ob_id, label, value, vocabulary };
}

const UNITS: readonly string[] = ['', ...new Set(QUANTITIES.map(({ units }) => units))];

/** First ids of the terms. `long_name` and `var_id` grow with the catalogue and have enough room. */
const FIRST_TERM = {
  standard_name: 1,
  units: 501,
  edge: 1_000_000_000,
  var_id: 2_000_000_000,
  long_name: 1001,
} as const;

function isPerson(party: number): boolean {
  return party % 4 !== 3;
}
