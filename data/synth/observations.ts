// Observations (spec 2.9) and the collections that group them.
// What other records must know of an observation is in `facts.ts`, not here.
import { collectionOf, factsOf, projectOf, timeSlotOf, type Facts } from './facts.ts';
import { edged } from './edges.ts';
import { EMPTY_LIST, list, NULL, quote, quoteOrNull, record, type Json } from './json.ts';
import { abstractText, dateTimeText, keywordText, lineageText, paragraph } from './prose.ts';
import { permissions } from './permissions.ts';
import { phenomenaOf } from './phenomena.ts';
import { projectName } from './projects.ts';
import type { Random } from './random.ts';
import { resultFields } from './results.ts';
import type { Source } from './source.ts';
import { DISCOVERY_KEYWORDS } from './words.ts';
import { DANGLING_ID, linkTo, OBSERVATIONS_PER_COLLECTION, type World } from './world.ts';

/** Observations: declared shape, 3 to 4 kB each. */
export const observations: Source = {
  length: (world) => world.observations,
  records(world, index) {
    const facts = factsOf(world, index);
    const random = world.random('observations', index);
    return [
      record({
        ob_id: `${world.id('observations', index)}`,
        uuid: quote(world.uuid('observations', index)),
        ...texts(world, index, facts, random),
        ...states(facts, random),
        ...result(world, index),
        ...extents(world, index, facts, random),
        ...history(facts, random),
        ...relations(world, index, facts, random),
        ...processes(world, index, facts),
        permissions: permissions(world, index, facts),
        discoveryKeywords: discoveryKeywords(random, facts),
      }),
    ];
  },
};

/** Observation collections: shape of the public documents. `member` lists the observations that link to it. */
export const observationCollections: Source = {
  length: (world) => world.length('observationcollections'),
  records(world, slot) {
    const random = world.random('observationcollections', slot);
    const first = slot * OBSERVATIONS_PER_COLLECTION;
    const project = projectName(world, projectOf(world, first));
    const { subject } = factsOf(world, first);
    const isCitable = random.chance(40);
    return [
      record({
        ob_id: `${world.id('observationcollections', slot)}`,
        uuid: quote(world.uuid('observationcollections', slot)),
        short_code: quote('coll'),
        title: quote(edged(`${project.title} (${project.acronym}): ${subject.quantity}`, slot)),
        abstract: quote(abstractText(random, subject, 2)),
        keywords: quote(keywordText(random, 6)),
        publicationState: quote(isCitable ? 'citable' : 'published'),
        dataPublishedTime: quoteOrNull(random.chance(90) ? dateTimeText(random, random.between(2012, 2023)) : null),
        doiPublishedTime: quoteOrNull(isCitable ? dateTimeText(random, random.between(2012, 2023)) : null),
        member: world.links('observations', members(world, slot)),
      }),
    ];
  },
};

function members(world: World, slot: number): readonly number[] {
  const first = slot * OBSERVATIONS_PER_COLLECTION;
  const end = Math.min(first + OBSERVATIONS_PER_COLLECTION, world.observations);
  return Array.from({ length: end - first }, (_, n) => first + n).filter((index) => collectionOf(index) === slot);
}

type Fields = Record<string, Json>;

function texts(world: World, index: number, facts: Facts, random: Random): Fields {
  if (facts.shape === 'emptyTexts') return { title: '""', abstract: '""', keywords: '""' };
  const { subject } = facts;
  const project = projectName(world, projectOf(world, index));
  const what = `${subject.instrument} ${subject.quantity} measurements from ${subject.place}`;
  const title = `${project.title} (${project.acronym}): ${what}, ${subject.year}`;
  const isLong = facts.shape === 'longAbstract';
  const abstract = isLong ? abstractText(random, subject, 30) : abstractText(random, subject, 1 + random.skewed(5));
  return {
    title: quote(edged(title, index)),
    abstract: quote(edged(abstract, index, 7)),
    keywords: quote(edged(keywordText(random, 8), index, 3)),
  };
}

function states(facts: Facts, random: Random): Fields {
  const published = random.between(2008, 2023);
  const isCitable = facts.publicationState === 'citable';
  return {
    publicationState: quote(facts.publicationState),
    dataPublishedTime: quote(dateTimeText(random, published)),
    doiPublishedTime: isCitable ? quote(dateTimeText(random, published + 1)) : NULL,
    updateFrequency: quote(random.chance(85) ? 'notPlanned' : random.pick(UPDATE_FREQUENCIES)),
    status: quote(random.chance(85) ? 'completed' : random.pick(STATUSES)),
  };
}

function result(world: World, index: number): Fields {
  const fields = resultFields(world, index);
  return {
    result_field: record({
      ob_id: world.link('observations', index),
      dataPath: fields.dataPath,
      oldDataPath: fields.oldDataPath,
      storageLocation: fields.storageLocation,
      storageStatus: fields.storageStatus,
      volume: fields.volume,
      numberOfFiles: fields.numberOfFiles,
      fileFormat: fields.fileFormat,
    }),
  };
}

function extents(world: World, index: number, facts: Facts, random: Random): Fields {
  const isDangling = facts.shape === 'danglingLinks';
  const bbox = random.below(world.length('bboxes'));
  return {
    timePeriod: isDangling ? linkTo('times', DANGLING_ID) : world.link('times', timeSlotOf(world, index)),
    geographicExtent: isDangling ? linkTo('bboxes', DANGLING_ID) : world.link('bboxes', bbox),
    nonGeographicFlag: `${random.chance(4)}`,
    phenomena: facts.shape === 'emptyLists' ? EMPTY_LIST : world.links('phenomona', phenomenaOf(world, index)),
  };
}

function history(facts: Facts, random: Random): Fields {
  const isRemoved = facts.shape === 'removed';
  return {
    dataLineage: quote(facts.shape === 'emptyTexts' ? '' : lineageText(random, facts.subject)),
    removedDataTime: isRemoved ? quote(dateTimeText(random, 2023)) : NULL,
    removedDataReason: quote(isRemoved ? paragraph(random, facts.subject, 1) : ''),
    language: quote('English'),
  };
}

function relations(world: World, index: number, facts: Facts, random: Random): Fields {
  if (facts.shape === 'emptyLists') return { ...EMPTY_RELATIONS };
  const project = world.link('projects', projectOf(world, index));
  const isDangling = facts.shape === 'danglingLinks';
  const collection = collectionOf(index);
  return {
    identifier_set: world.links('identifiers', facts.identifiers),
    projects: list(isDangling ? [linkTo('projects', DANGLING_ID), project] : [project]),
    observationcollection_set: world.links('observationcollections', collection < 0 ? [] : [collection]),
    responsiblepartyinfo_set: world.links('rpis', responsible(world, index, random)),
  };
}

/** Slots of rpis without repeats: the one that names this observation, where there is one, and shared ones. */
function responsible(world: World, index: number, random: Random): readonly number[] {
  const length = world.length('rpis');
  const slots = new Set<number>(index < length ? [index] : []);
  for (let n = random.between(3, 10); n > 0; n--) slots.add(random.skewed(length));
  return [...slots];
}

function processes(world: World, index: number, facts: Facts): Fields {
  const { process } = facts;
  return {
    procedureAcquisition: process === 'acquisition' ? world.link('acquisitions', facts.acquisitions[0]!) : NULL,
    procedureCompositeProcess: process === 'composite' ? world.link('composites', index) : NULL,
    procedureComputation: process === 'computation' ? world.link('computations', facts.computations[0]!) : NULL,
  };
}

function discoveryKeywords(random: Random, facts: Facts): Json {
  if (facts.shape === 'emptyLists') return EMPTY_LIST;
  const chosen = new Set<number>();
  for (let n = random.below(6); n > 0; n--) chosen.add(random.skewed(DISCOVERY_KEYWORDS.length));
  return list([...chosen].map((n) => record({ ob_id: `${n + 1}`, name: quote(DISCOVERY_KEYWORDS[n]!) })));
}

const EMPTY_RELATIONS: Fields = {
  identifier_set: EMPTY_LIST,
  projects: EMPTY_LIST,
  observationcollection_set: EMPTY_LIST,
  responsiblepartyinfo_set: EMPTY_LIST,
};

const UPDATE_FREQUENCIES = ['continual', 'daily', 'weekly', 'monthly', 'annually', 'asNeeded', 'irregular', 'unknown'];

const STATUSES = ['ongoing', 'ongoing', 'ongoing', 'planned', 'underDevelopment', 'superseded', 'obsolete', 'final'];
