// Words an active filter of a list for people: "Title contains flux", "Project Ulvercliff". Only the pages use it.
import { rowOfId, type CollectionIndex } from '../index/table.ts';
import { fieldLabel, kindLabel } from './describe.ts';
import { readKey } from './key.ts';
import { DEFAULT_LOOKUP, type Lookup, NULL_LOOKUP } from './lookups.ts';
import type { LocatedField } from './path.ts';

/** A filter as the three parts of a phrase. */
interface FilterWords {
  /** The field, or the kind of the linked record. */
  readonly label: string;
  /** A verb such as `contains` or `is not`; empty before the label of a linked record. */
  readonly comparison: string;
  /** As people read it: labels instead of ids, days instead of their last microsecond. May be empty, or long. */
  readonly value: string;
}

/** Values of a list that are named; the others are counted. */
const VALUES_MAX = 5;
/** The end of a day in the bounds that the forms of pages make. */
const DAY_END = /T23:59:59\.999999$/;
/** Spellings of false (A41). */
const FALSE = /^\s*(?:false|0|)\s*$/i;

/** Parameters that choose records without naming a field. */
const PARAMETER_WORDS: ReadonlyMap<string, readonly [label: string, comparison: string]> = new Map([
  ['search', ['Text', 'contains']],
  ['bbox', ['Area', 'overlaps']],
  ['datetime', ['Period', 'overlaps']],
  ['after', ['Id', 'is greater than']],
]);
/** Bounds of dates. */
const DATE_WORDS: Readonly<Record<string, string>> = {
  gt: 'is after',
  gte: 'is on or after',
  lt: 'is before',
  lte: 'is on or before',
};

/**
 * The words of a filter, or of a parameter that chooses records; undefined for any other parameter. `labelOf` labels a
 * linked record. Cost: the value, and the labels of up to VALUES_MAX records.
 */
export function describeFilter(
  collection: CollectionIndex,
  [key, text]: readonly [key: string, value: string],
  labelOf: (collection: CollectionIndex, row: number) => string | undefined,
): FilterWords | undefined {
  const words = PARAMETER_WORDS.get(key);
  if (words) return { label: words[0], comparison: words[1], value: text };
  const read = readKey(collection, key, () => true);
  if (read.kind !== 'filter') return undefined;
  const { located, lookup, isNegated } = read;
  const label = fieldLabel(collection.declaration.name, located.path.join('__'));
  const to = located.isRelation && isEquality(lookup) ? located.link?.to() : undefined;
  if (to) {
    const value = wordList(text, (id) => labelOfId(to, id, labelOf));
    const kind = isMany(located) ? kindLabel(to.declaration.name) : label.split(' › ').at(-1)!;
    return { label: kind, comparison: isNegated ? 'is not' : '', value };
  }
  const comparison = wordComparison(lookup, located.index.dictionary.type, text);
  return { label, comparison: isNegated ? negate(comparison) : comparison, value: wordValue(lookup, text) };
}

function isEquality({ name, isList }: Lookup): boolean {
  return name === DEFAULT_LOOKUP || isList === true;
}

/** Whether the field itself holds several links, so that its label is a plural. */
function isMany({ steps, path }: LocatedField): boolean {
  const last = steps.at(-1);
  return last?.kind === 'many' && last.path.length === path.length;
}

function labelOfId(to: CollectionIndex, text: string, labelOf: Parameters<typeof describeFilter>[2]): string {
  const id = /^\s*\+?\d+\s*$/.test(text) ? Number(text) : Number.NaN;
  const row = rowOfId(to, id);
  return (row < 0 ? undefined : labelOf(to, row)) ?? text.trim();
}

function wordComparison({ name, meaning }: Lookup, type: string, text: string): string {
  if (name === NULL_LOOKUP) return FALSE.test(text) ? 'is present' : 'is missing';
  const isDate = type === 'date' || type === 'dateTime';
  if (isDate && Object.hasOwn(DATE_WORDS, name)) return DATE_WORDS[name]!;
  return meaning
    .replace(/,.*$/, '')
    .replace(/ (?:one of the|the|two)(?: .*)?$/, '')
    .replace(' this', '');
}

function negate(comparison: string): string {
  if (comparison.startsWith('is')) return comparison.replace('is', 'is not');
  return `does not ${comparison
    .replace(/^has/, 'have')
    .replace(/^matches/, 'match')
    .replace(/^(\w+)s\b/, '$1')}`;
}

function wordValue({ name, isList }: Lookup, text: string): string {
  if (name === NULL_LOOKUP) return '';
  if (isList) return wordList(text, cutDayEnd);
  if (name === 'range') return text.split(',').map(cutDayEnd).join(' and ');
  return text.trim() === '' && name === DEFAULT_LOOKUP ? 'empty' : cutDayEnd(text);
}

function cutDayEnd(text: string): string {
  return text.trim().replace(DAY_END, '');
}

/** `a, b or c`; of many values, the first ones and how many more there are. */
function wordList(text: string, worded: (value: string) => string): string {
  const values = text.split(',');
  const named = values.slice(0, VALUES_MAX).map(worded);
  const more = values.length - named.length;
  const all = more > 0 ? [...named, `${more} more`] : named;
  return all.length < 2 ? (all[0] ?? '') : `${all.slice(0, -1).join(', ')} or ${all.at(-1)!}`;
}
