import { textAt } from '../../engine/column/dictionary.ts';
import type { CollectionIndex } from '../../engine/index/table.ts';
import { locateField } from '../../engine/query/path.ts';
import type { Random } from './random.ts';

/** Paths, each with the lookups that clients use. */
const FILTERS: readonly (readonly [path: string, lookups: readonly string[]])[] = [
  ['ob_id', ['exact', 'gte', 'lt']],
  ['uuid', ['exact', 'startswith']],
  ['title', ['exact', 'startswith', 'contains', 'icontains']],
  ['abstract', ['contains']],
  ['status', ['exact', 'contains']],
  ['publicationState', ['exact']],
  ['language', ['exact', 'iexact']],
  ['dataPublishedTime', ['gte', 'lt', 'startswith']],
  ['result_field__dataPath', ['startswith', 'endswith']],
  ['result_field__volume', ['gte', 'lt']],
  ['permissions__accessCategory', ['exact']],
  ['permissions__label', ['contains']],
  ['discoveryKeywords__name', ['exact', 'icontains']],
  ['identifier_set__url', ['startswith', 'contains']],
  ['projects', ['exact']],
  ['projects__uuid', ['exact']],
  ['projects__title', ['contains', 'startswith']],
  ['timePeriod__startTime', ['gte', 'startswith']],
  ['phenomena__terms__label', ['exact']],
  ['phenomena__terms__value', ['exact', 'contains']],
  ['procedureAcquisition__instrumentplatformpair_set__platform__platformType', ['exact']],
  ['responsiblepartyinfo_set__party__lastName', ['exact', 'startswith']],
];

/** A value of some row, or a piece of it if the lookup compares pieces. Values of the data make conditions match. */
function operandOf(observations: CollectionIndex, random: Random, path: string, lookup: string): string {
  const { dictionary } = locateField(observations, path.split('__')).index;
  const whole = Buffer.from(textAt(dictionary, random.integer(0, dictionary.size))).toString();
  if (lookup === 'startswith') return whole.slice(0, random.integer(1, 12));
  if (!lookup.endsWith('contains') && lookup !== 'endswith') return whole;
  const start = random.integer(0, Math.max(1, whole.length - 8));
  return lookup === 'endswith' ? whole.slice(-random.integer(1, 8)) : whole.slice(start, start + random.integer(2, 9));
}

/** Two to five conditions on observations, a tenth of them negated. */
export function randomConjunction(observations: CollectionIndex, random: Random): string {
  const filters = random.shuffled(FILTERS).slice(0, random.integer(2, 5));
  const conditions = filters.map(([path, lookups]) => {
    const lookup = random.pick(lookups);
    const operand = encodeURIComponent(operandOf(observations, random, path, lookup).toWellFormed());
    return `${path}__${lookup}${random.chance(0.1) ? '!' : ''}=${operand}`;
  });
  return conditions.join('&');
}
