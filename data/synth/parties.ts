// People and organisations,
// and the responsible party records (rpis) that tie them to other records.
import { edged } from './edges.ts';
import { quote, record } from './json.ts';
import { organisationName } from './prose.ts';
import type { Source } from './source.ts';
import { FIRST_NAMES, LAST_NAMES } from './words.ts';
import type { ShortCode } from './world.ts';

/** Parties: shape of the public documents; an organisation's name is its last name, its first name is empty. */
export const parties: Source = {
  length: (world) => world.length('parties'),
  records(world, slot) {
    const random = world.random('parties', slot);
    const isPerson = random.chance(75);
    return [
      record({
        ob_id: `${world.id('parties', slot)}`,
        firstName: quote(isPerson ? random.pick(FIRST_NAMES) : ''),
        lastName: quote(edged(isPerson ? random.pick(LAST_NAMES) : organisationName(random), slot)),
        partyType: quote(isPerson ? 'individual' : 'organisation'),
      }),
    ];
  },
};

/** Responsible parties: shape of the public documents. The first names an observation of its own index. */
export const responsibleParties: Source = {
  length: (world) => world.length('rpis'),
  records(world, slot) {
    const random = world.random('rpis', slot);
    const short = random.chance(70) ? 'ob' : random.pick(OTHERS);
    const related = short === 'ob' ? slot % world.observations : random.below(world.length(POOL_OF[short]));
    return [
      record({
        ob_id: `${world.id('rpis', slot)}`,
        priority: `${random.between(1, 12)}`,
        role: quote(random.pick(ROLES)),
        party: world.link('parties', random.skewed(world.length('parties'))),
        relatedTo: world.relatedTo(short, related),
      }),
    ];
  },
};

const POOL_OF = {
  coll: 'observationcollections',
  instr: 'instruments',
  plat: 'platforms',
  proj: 'projects',
} as const satisfies Partial<Record<ShortCode, string>>;

const OTHERS = ['coll', 'instr', 'plat', 'proj'] as const;

const ROLES = [
  'author',
  'co_investigator',
  'curator',
  'custodian',
  'data_owner',
  'distributor',
  'funder',
  'metadata_owner',
  'operator',
  'principal_investigator',
  'point_of_contact',
  'publisher',
];
