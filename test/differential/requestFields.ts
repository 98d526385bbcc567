// Random values of `fields`, and formats of exports: known keys, keys that are no fields, unknown and nearly known
// names.
import type { Collection } from '../../engine/schema/types.ts';
import type { Random } from '../support/random.ts';
import type { Json } from './json.ts';
import { encode } from './query.ts';

const UNKNOWN: readonly string[] = [
  'nope',
  'titel',
  'ob_idd',
  'title__x',
  'naïve!',
  'a=b',
  '',
  ' ',
  '\u{1f600}',
  'x'.repeat(400),
];

/** A `fields` parameter that suits a collection, or nearly does. */
export function randomFields(random: Random, collection: Collection, model: Json | undefined): string {
  const own = model?.kind === 'object' ? model.members.map(([key]) => key) : [];
  const known = [...collection.fields.map(({ name }) => name), ...own, collection.idField];
  const names = random.several(0, 6, () => (random.chance(0.9) ? random.pick(known) : random.pick(UNKNOWN)));
  const spelled = names.map((name) => (random.chance(0.05) ? ` ${name} ` : name));
  const value = spelled.map((name) => encode(name, '+')).join(random.chance(0.1) ? '%2C' : ',');
  return `fields=${value}`;
}
