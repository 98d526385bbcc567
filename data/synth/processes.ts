// How observations were made: acquisitions (spec 2.3), instrument-platform pairs (2.4), computations (2.6) and
// composites (2.7). A composite's components are whole records that are listed in their own collections too.
import { edged } from './edges.ts';
import { extraIdentifier, factsOf } from './facts.ts';
import { EMPTY_LIST, list, quote, quoteOrNull, record, type Json } from './json.ts';
import { keywordText, paragraph } from './prose.ts';
import type { Source } from './source.ts';
import { SLOTS, type World } from './world.ts';

/** Acquisitions: declared shape. */
export const acquisitions: Source = {
  length: (world) => world.observations,
  records: (world, index) => factsOf(world, index).acquisitions.map((slot) => acquisition(world, slot)),
};

/** Instrument-platform pairs: declared shape, the same records as inside the acquisitions. */
export const pairs: Source = {
  length: (world) => world.observations,
  records: (world, index) => factsOf(world, index).acquisitions.flatMap((slot) => pairsOf(world, slot)),
};

/** Computations: declared shape. */
export const computations: Source = {
  length: (world) => world.observations,
  records: (world, index) => factsOf(world, index).computations.map((slot) => computation(world, slot)),
};

/** Composites: declared shape; the slot of a composite is the index of its observation. */
export const composites: Source = {
  length: (world) => world.observations,
  records(world, index) {
    const facts = factsOf(world, index);
    if (facts.process !== 'composite') return [];
    return [
      record({
        ob_id: `${world.id('composites', index)}`,
        computationComponent: list(facts.computations.map((slot) => computation(world, slot))),
        acquisitionComponent: list(facts.acquisitions.map((slot) => acquisition(world, slot))),
        identifier_set: world.links(
          'identifiers',
          processHasIdentifier(index) ? [extraIdentifier(index, 'process')] : [],
        ),
        responsiblepartyinfo_set: EMPTY_LIST,
      }),
    ];
  },
};

/** Whether the computation or the composite of that observation has an identifier: one in four has. */
export function processHasIdentifier(index: number): boolean {
  return index % 4 === 0;
}

function acquisition(world: World, slot: number): Json {
  return record({
    ob_id: `${world.id('acquisitions', slot)}`,
    independentInstrument: EMPTY_LIST,
    instrumentplatformpair_set: list(pairsOf(world, slot)),
  });
}

/** One pair, for some acquisitions two or none. */
function pairsOf(world: World, acquisitionSlot: number): readonly Json[] {
  const random = world.random('ipps', acquisitionSlot);
  const share = random.below(100);
  const count = share < 4 ? 0 : share < 96 ? 1 : 2;
  const perAcquisition = SLOTS.ipps / SLOTS.acquisitions;
  return Array.from({ length: count }, (_, n) =>
    record({
      ob_id: `${world.id('ipps', acquisitionSlot * perAcquisition + n)}`,
      platform: world.link('platforms', random.skewed(world.length('platforms'))),
      instrument: world.link('instruments', random.skewed(world.length('instruments'))),
      relatedTo: world.relatedTo('acq', acquisitionSlot),
    }),
  );
}

function computation(world: World, slot: number): Json {
  const random = world.random('computations', slot);
  const index = Math.floor(slot / SLOTS.computations);
  const facts = factsOf(world, index);
  const isOwn = facts.process === 'computation' && processHasIdentifier(index);
  const title = `Computation of ${facts.subject.quantity} for ${facts.subject.project}, version ${random.between(1, 9)}`;
  const text = (percent: number): string | null =>
    random.chance(percent) ? paragraph(random, facts.subject, 1) : null;
  return record({
    ob_id: `${world.id('computations', slot)}`,
    uuid: quote(world.uuid('computations', slot)),
    title: quote(edged(title, index, 1)),
    abstract: quote(edged(paragraph(random, facts.subject, 1), index, 2)),
    keywords: quote(random.chance(25) ? '' : keywordText(random, 4)),
    inputDescription: quoteOrNull(text(30)),
    outputDescription: quoteOrNull(text(30)),
    softwareReference: quoteOrNull(random.chance(20) ? `https://code.example.org/${facts.subject.project}/` : null),
    identifier_set: world.links('identifiers', isOwn ? [extraIdentifier(index, 'process')] : []),
  });
}
