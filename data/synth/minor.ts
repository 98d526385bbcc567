// The small collections whose fields no public document shows: plausible records, each with an integer ob_id.
// A collection with a shape of its own belongs into another file.
import { edged, edgeNumber, edgeText } from './edges.ts';
import { factsOf } from './facts.ts';
import { NULL, quote, quoteOrNull, record, type Json } from './json.ts';
import { dateTimeText, paragraph, spoken } from './prose.ts';
import type { Random } from './random.ts';
import type { Source } from './source.ts';
import { INSPIRE_THEMES, QUANTITIES, TOPIC_CATEGORIES } from './words.ts';
import { DANGLING_ID, linkTo, SLOTS, type Pool, type World } from './world.ts';

/** Ids of the catalogue's records in a discovery service. */
export const discoveryServiceIds = pooled('discoveryserviceids', (world, slot, random) => ({
  serviceName: quote(random.chance(70) ? 'discovery' : 'harvest'),
  serviceId: quote(`org.example.archive__${world.uuid('discoveryserviceids', slot)}`),
  relatedTo: world.relatedTo('ob', slot % world.observations),
}));

/** Results of conformance tests; `passed` is null while a test is open. */
export const conformanceResults = pooled('dqconformanceresults', (world, slot, random) => ({
  specification: quote('Commission regulation on interoperability of spatial data sets'),
  explanation: quote(edged('See the referenced specification', slot)),
  passed: random.chance(20) ? NULL : `${random.chance(60)}`,
  observation: world.link('observations', slot % world.observations),
}));

/** Data sets of a data reference syntax. */
export const drsDatasets = pooled('drsdatasets', (world, slot, random) => ({
  drsId: quote(
    `project${random.between(1, 9)}.output.model${random.between(1, 40)}.${random.pick(QUANTITIES).variable}`,
  ),
  version: `${random.between(2010, 2023)}${random.between(10, 12)}${random.between(10, 28)}`,
  isLatest: `${random.chance(80)}`,
  observation: world.link('observations', slot % world.observations),
}));

/** Pictures that go with records. */
export const imageDetails = pooled('imagedetails', (world, slot, random) => ({
  url: quote(`https://images.example.org/${world.uuid('imagedetails', slot).slice(0, 12)}.png`),
  caption: quote(edged('Overview of the site', slot)),
  width: `${random.between(2, 20) * 64}`,
  height: random.chance(10) ? NULL : `${random.between(2, 20) * 48}`,
}));

/** Descriptions of inputs and outputs of computations. */
export const inputOutputDescriptions = pooled('iods', (world, slot, random) => ({
  name: quote(spoken(random.pick(QUANTITIES).standardName)),
  description: quote(edged(paragraph(random, factsOf(world, slot % world.observations).subject, 1), slot)),
  direction: quote(random.chance(50) ? 'input' : 'output'),
}));

/** Notes of curators. */
export const notes = pooled('notes', (world, slot, random) => ({
  text: quote(edged(paragraph(random, factsOf(world, slot % world.observations).subject, 1), slot)),
  created: quote(dateTimeText(random, random.between(2010, 2023))),
  isPublic: `${random.chance(30)}`,
  relatedTo: world.relatedTo('ob', slot % world.observations),
}));

/** Links to documents elsewhere. */
export const onlineResources = pooled('onlineresources', (world, slot, random) => ({
  name: quote(edged(`Documentation ${random.between(1, 99)}`, slot)),
  url: quote(`https://documents.example.org/${world.uuid('onlineresources', slot)}?lang=en&page=${slot}#top`),
  function: quote(random.pick(['information', 'download', 'offlineAccess', 'search'])),
  description: quoteOrNull(random.chance(50) ? null : edgeText(Math.max(0, edgeNumber(slot)))),
  relatedTo: world.relatedTo('ob', random.below(world.observations)),
}));

/** Relations between two observations: shape of the public documents. For one in 23 the object is gone. */
export const relatedObservations = pooled('relatedobservationinfos', (world, slot, random) => ({
  relationType: quote(RELATIONS[slot % RELATIONS.length]!),
  subjectObservation: world.link('observations', random.below(world.observations)),
  objectObservation:
    slot % 23 === 11
      ? linkTo('observations', DANGLING_ID)
      : world.link('observations', random.below(world.observations)),
}));

/** Topic categories of ISO 19115. */
export const topicCategories = named('topiccategories', TOPIC_CATEGORIES);

/** INSPIRE themes. */
export const inspireThemes = named('inspirethemes', INSPIRE_THEMES);

/**
 * Whatever has a uuid and a short code: shape of the public documents. Each index gives that of several collections.
 */
export const referenceables: Source = {
  length: (world) => world.observations,
  records(world, index) {
    const first = index * SLOTS.referenceables;
    const codes = REFERENCED.filter(([, pool]) => pool === undefined || index < world.length(pool));
    return codes.map(([short], n) => {
      const { uuid, short_code } = world.reference(short, index);
      return record({ ob_id: `${world.id('referenceables', first + n)}`, uuid, short_code });
    });
  },
};

const REFERENCED = [
  ['ob', undefined],
  ['coll', 'observationcollections'],
  ['proj', 'projects'],
  ['plat', 'platforms'],
  ['instr', 'instruments'],
  ['mpop', 'mpos'],
] as const;

const RELATIONS = [
  'IsSupplementTo',
  'IsSupplementedBy',
  'Continues',
  'IsNewVersionOf',
  'IsVariantFormOf',
  'IsIdenticalTo',
  'HasMetadata',
  'IsDerivedFrom',
  'IsPartOf',
];

type Fields = Record<string, Json>;

/** One record for each slot of a pool, its id first. */
function pooled(pool: Pool, fields: (world: World, slot: number, random: Random) => Fields): Source {
  return {
    length: (world) => world.length(pool),
    records(world, slot) {
      return [record({ ob_id: `${world.id(pool, slot)}`, ...fields(world, slot, world.random(pool, slot)) })];
    },
  };
}

/** One record for each name of a list. */
function named(collection: string, names: readonly string[]): Source {
  return {
    length: () => names.length,
    records: (world, slot) => [record({ ob_id: `${world.id(collection, slot)}`, name: quote(names[slot]!) })],
  };
}
