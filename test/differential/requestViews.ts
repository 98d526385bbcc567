// Random values of ordering, after and facets:
// mostly fields that fit, some that do not, spelled in many ways.
import type { Field } from '../../engine/schema/types.ts';
import type { Random } from '../support/random.ts';
import { memberOf, type Json } from './json.ts';
import { encode } from './query.ts';
import { randomFieldPath } from './requestFilters.ts';

const ODD_NAMES: readonly string[] = [
  '',
  ' ',
  '-',
  '--title',
  'titel',
  'foo',
  'status__foo',
  'title=',
  '__proto__',
  'ob_id__',
  'projects__title',
];
const ODD_IDS: readonly string[] = ['', ' ', 'abc', '1.5', '-1', '+2', '3.00', '\0', '007', '9'.repeat(20), '1e3'];

/** Draws such parameters; `model` is a record of the collection. */
export function randomViews(random: Random, roots: readonly Field[], model: Json | undefined): string[] {
  const name = (): string => {
    if (random.chance(0.06)) return random.pick(ODD_NAMES);
    const path = randomFieldPath(random, random.chance(0.5) ? roots.filter(isToOne) : roots, fieldsWithin, 0);
    return path.map((field) => field.name).join('__');
  };
  const key = (): string => `${random.chance(0.4) ? '-' : ''}${name()}`;
  const list = (most: number, one: () => string): string =>
    encode(random.several(1, most, one).join(random.chance(0.1) ? ' , ' : ','), '+').replaceAll('%2C', ',');
  const views: string[] = [];
  if (random.chance(0.3)) views.push(`ordering=${list(4, key)}`);
  if (random.chance(0.15)) views.push(`facets=${list(random.chance(0.05) ? 14 : 3, name)}`);
  if (random.chance(0.12)) views.push(`after=${random.chance(0.15) ? encode(random.pick(ODD_IDS), '+') : idOf(model)}`);
  return views;
}

/** No path of these parameters leads through a link. */
function fieldsWithin(field: Field | undefined): readonly Field[] {
  return field?.kind === 'record' || field?.kind === 'records' ? field.fields : [];
}

function isToOne({ kind }: Field): boolean {
  return kind === 'scalar' || kind === 'link' || kind === 'record';
}

function idOf(model: Json | undefined): string {
  const id = memberOf(model, 'ob_id') ?? memberOf(model, 'id');
  return id?.kind === 'number' ? id.token : '3';
}
