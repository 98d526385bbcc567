// Random operands of lookups, made from values of a record or from any values.
import type { Random } from '../support/random.ts';
import { LOOKUPS, suits } from './lookups.ts';

/** Lookups with a number as operand, which is a part of a date. */
const PARTS_OF_DATES: readonly string[] = LOOKUPS.filter((lookup) => lookup !== 'date' && !suits(lookup, 'text'));

/** Parts of dates: matching, just out of range, and invalid. */
const PARTS: readonly string[] = [
  '0',
  '1',
  '2',
  '3',
  '4',
  '5',
  '6',
  '7',
  '12',
  '13',
  '23',
  '24',
  '29',
  '31',
  '59',
  '60',
  '2015',
  '2016',
  '1899',
  '1999',
  '9999',
  '10000',
  '-1',
  '1e3',
  'x',
  '',
  '+02',
  '2.0',
  '9'.repeat(40),
];

const DAYS: readonly string[] = [
  '2015-01-02',
  '2016-02-29',
  '1899-12-31',
  '9999-12-31',
  '2015-02-29',
  '2015-01-02T00:00',
  '',
];

const PATTERNS: readonly string[] = [
  '^o',
  'n$',
  'o.*n',
  '[a-c]',
  '(?i)OCEAN',
  'ocean|ice',
  '\\d+',
  '^.$',
  '^$',
  '.',
  '\\p{Lu}',
  '(a|b)*c',
  'é|å',
  '(',
  '[',
  '*',
  'a**',
  '(?=a)',
  '\\1',
  'x{2,1}',
  '',
  'a{9}',
  '\\pZ',
  'STRASSE',
  'straße',
];

/** The operand of a lookup; `draw` draws one value of the field's type. */
export function randomOperand(random: Random, lookup: string, draw: () => string): string {
  if (lookup === 'in') return random.several(0, 4, draw).join(',');
  if (lookup === 'range') return randomRange(random, draw);
  if (lookup === 'isnull') return random.pick(['true', 'false', 'True', '1', '0', '']);
  if (lookup === 'date') return random.pick(DAYS);
  if (lookup === 'regex' || lookup === 'iregex') return randomPattern(random, draw);
  if (PARTS_OF_DATES.includes(lookup)) return random.pick(PARTS);
  return lookup.startsWith('i') ? otherCase(random, draw()) : draw();
}

/** Mostly two values, mostly in order. */
function randomRange(random: Random, draw: () => string): string {
  if (random.chance(0.1)) return random.several(0, 4, draw).join(',');
  const [from = '', to = ''] = [draw(), draw()].sort();
  return random.chance(0.9) ? `${from},${to}` : `${to},${from}`;
}

/** A quoted value, or a piece of RE2's syntax. */
function randomPattern(random: Random, draw: () => string): string {
  if (random.chance(0.6)) return random.pick(PATTERNS);
  const quoted = draw()
    .slice(0, 100)
    .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return random.pick(['', '^', '.?']) + quoted + random.pick(['', '$', '.?']);
}

function otherCase(random: Random, value: string): string {
  return random.pick([value, value.toUpperCase(), value.toLowerCase()]);
}
