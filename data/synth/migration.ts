// Migration properties (spec 2.10): what an older catalogue said of a record, often as HTML.
// Reads nothing but the facts of other records.
import { edgeNumber, edgeText } from './edges.ts';
import { factsOf } from './facts.ts';
import { quote, record, type Json } from './json.ts';
import { dateText, dateTimeText, paragraph } from './prose.ts';
import type { Random } from './random.ts';
import type { Source } from './source.ts';
import type { World } from './world.ts';

/** Migration properties: declared shape. `ob_ref` is an observation's, instrument's, collection's or project's id. */
export const migrationProperties: Source = {
  length: (world) => world.length('migrationproperties'),
  records(world, slot) {
    const random = world.random('migrationproperties', slot);
    const key = random.pick(KEYS);
    return [
      record({
        id: `${world.id('migrationproperties', slot)}`,
        key: quote(key),
        value: quote(value(world, slot, key)),
        modified: quote(dateText(random, random.between(2013, 2019))),
        ob_ref: owner(world, key, random),
      }),
    ];
  },
};

function owner(world: World, key: string, random: Random): Json {
  if (key.startsWith('Instrument')) return `${world.id('instruments', random.below(world.length('instruments')))}`;
  if (key.startsWith('project')) return `${world.id('projects', random.below(world.length('projects')))}`;
  const pool = world.length('observationcollections');
  if (key.startsWith('observation_collection')) return `${world.id('observationcollections', random.below(pool))}`;
  const observation = random.below(world.observations);
  if (key.startsWith('Computation')) return computationId(world, observation);
  return `${world.id('observations', observation)}`;
}

/**
 * The id of the first computation at or after an observation, going round; the observation's id where there is none
 * near.
 */
function computationId(world: World, observation: number): Json {
  for (let n = 0; n < 200; n++) {
    const slot = factsOf(world, (observation + n) % world.observations).computations[0];
    if (slot !== undefined) return `${world.id('computations', slot)}`;
  }
  return `${world.id('observations', observation)}`;
}

function value(world: World, slot: number, key: string): string {
  const random = world.random('migration value', slot);
  const n = edgeNumber(slot);
  if (n >= 0) return edgeText(n);
  if (key.endsWith('_date')) return dateTimeText(random, random.between(2005, 2018)).replace('T', ' ');
  if (random.chance(20)) return 'Empty content';
  const { subject } = factsOf(world, random.below(world.observations));
  const text = paragraph(random, subject, 1);
  if (random.chance(30)) return text;
  const page = `https://legacy2.example.org/view?project=${subject.project}&place=${subject.place}`;
  return `<div class="content">\r\n<h2>About ${subject.quantity}</h2>\n<p>${text}</p>\n<a href='${page}'>More &raquo;</a>\n</div>\n`;
}

const SECTIONS = ['update', 'contact', 'links', 'citation', 'introduction', 'all'];

const KEYS: readonly string[] = [
  ...SECTIONS.map((section) => `observation.content.${section}`),
  ...SECTIONS.map((section) => `Instrument.content.${section}`),
  ...SECTIONS.map((section) => `Computation.content.${section}`),
  'observation_collection.content.citation',
  'observation_collection.citation.publication_date',
  'observation_collection.citation.revision_date',
  'observation_collection.legacy2_citation',
  'legacy2.provider',
  'legacy2.spatial_resolution',
  'legacy2.vertical_extent',
  'project.legacy2_activity_subtype',
];
