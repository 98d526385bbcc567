// Permissions of observations (spec 2.9), and the constraints,
// licences and classifications behind them.
import { edged } from './edges.ts';
import type { Facts } from './facts.ts';
import { EMPTY_LIST, list, NULL, quote, quoteOrNull, record, type Json } from './json.ts';
import { projectName } from './projects.ts';
import type { Source } from './source.ts';
import type { World } from './world.ts';

/** The `permissions` of one observation: one, sometimes two. */
export function permissions(world: World, index: number, facts: Facts): Json {
  if (facts.shape === 'noPermissions' || facts.shape === 'emptyLists') return EMPTY_LIST;
  const random = world.random('permissions', index);
  const link = world.link('observations', index);
  const isBare = facts.shape === 'permissionNulls';
  const count = random.chance(90) ? 1 : 2;
  return list(
    Array.from({ length: count }, () => {
      const category = random.pick(ACCESS_CATEGORIES);
      const group =
        category === 'restricted' ? projectName(world, random.skewed(world.length('projects'))).acronym : null;
      return record({
        ob_id: link,
        useLimitation: quoteOrNull(isBare || random.chance(60) ? null : USE_LIMITATION),
        accessConstraints: quoteOrNull(isBare || random.chance(70) ? null : ACCESS_CONSTRAINT),
        accessCategory: quote(category),
        accessRoles: quoteOrNull(isBare ? null : group),
        label: quote(`${category}: ${group ?? 'None'} group`),
        licenceURL: quote(licenceAddress(random.skewed(world.length('licences')))),
        licenceClassifications: quote(random.chance(70) ? 'any' : random.pick(CLASSIFICATIONS)),
      });
    }),
  );
}

/** Constraints. The specification shows no fields. */
export const constraints: Source = {
  length: (world) => world.length('constraints'),
  records(world, slot) {
    const category = ACCESS_CATEGORIES[slot % ACCESS_CATEGORIES.length]!;
    return [
      record({
        ob_id: `${world.id('constraints', slot)}`,
        useLimitation: slot % 3 === 0 ? NULL : quote(edged(USE_LIMITATION, slot)),
        accessConstraints: slot % 2 === 0 ? NULL : quote(ACCESS_CONSTRAINT),
        accessCategory: quote(category),
        label: quote(`${category}: None group`),
        licence: world.link('licences', slot % world.length('licences')),
      }),
    ];
  },
};

/** Licences: shape of the public documents. */
export const licences: Source = {
  length: (world) => world.length('licences'),
  records(world, slot) {
    const classes = slot === 3 ? [] : [slot % CLASSIFICATIONS.length, CLASSIFICATIONS.length - 1];
    return [
      record({
        ob_id: `${world.id('licences', slot)}`,
        licenceURL: quote(licenceAddress(slot)),
        licenceClassifications: world.links('licenceclassifications', [...new Set(classes)]),
      }),
    ];
  },
};

/** Licence classifications. The specification shows no fields. */
export const licenceClassifications: Source = {
  length: () => CLASSIFICATIONS.length,
  records(world, slot) {
    const id = `${world.id('licenceclassifications', slot)}`;
    return [record({ ob_id: id, classification: quote(CLASSIFICATIONS[slot]!) })];
  },
};

function licenceAddress(slot: number): string {
  return `https://licences.example.org/terms/${slot < 3 ? 'open' : 'project'}/${slot + 1}.0/`;
}

/** Two of three categories are registered, as in the specification's example. */
const ACCESS_CATEGORIES = ['public', 'registered', 'registered', 'restricted'];

const CLASSIFICATIONS = ['personal', 'academic', 'policy', 'commercial', 'unstated', 'any'];

const USE_LIMITATION = 'Acknowledge the project team in every publication that uses these data.';

const ACCESS_CONSTRAINT = 'Access is granted after registration; see the licence.';
