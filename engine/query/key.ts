// Reads one filter key: from the parameter's name to a field, a lookup and a negation, or to what is wrong with it.
// Does not look at the value.
import type { FieldIndex } from '../index/field.ts';
import type { CollectionIndex } from '../index/table.ts';
import { RELATION_STEPS_MAX } from './limits.ts';
import { type Column, DEFAULT_LOOKUP, type Lookup, lookupNamed, LOOKUPS } from './lookups.ts';
import { lookupOfHabit, type LookupHabit } from './habits.ts';
import { cacheLocation, locate, type LocatedField, namesAfter, type PathEnd } from './path.ts';
import { MESSAGES, nothingAfterLookup, stepHints, unknownField, unsupportedLookup } from './problems.ts';
import { nearestName } from '../bits/suggest.ts';

/** At most this many names are followed: one step more than a key may take. */
const FOLLOWED_MAX = RELATION_STEPS_MAX + 2;

/** Messages for a step that does not fit, with what fits. Cost: an edit distance to each name that fits there. */
export type StepMessages = () => readonly string[];

/**
 * The meaning of a parameter's name. `unknown`: not a filter of this collection. `bad`: a known field with a step that
 * does not fit. `filter`: a condition that lacks only its value.
 */
export type Key =
  | { readonly kind: 'unknown' }
  | {
      readonly kind: 'bad';
      readonly message: string;
      /** Says what would fit. */
      readonly explained?: StepMessages;
      /** The working form of a lookup that other services have. */
      readonly meant?: string | undefined;
    }
  | {
      readonly kind: 'filter';
      /** Equal for keys with the same meaning; the lists of such keys are joined (A47). */
      readonly identity: string;
      readonly located: LocatedField;
      readonly lookup: Lookup;
      readonly isNegated: boolean;
    };

/** Filter names cached per collection; clients use only a few. The cache is emptied when it is full. */
const REMEMBERED_MAX = 256;
const REMEMBERED_CHARACTERS_MAX = 128;

type FilterKey = Extract<Key, { kind: 'filter' }>;

const remembered = new WeakMap<CollectionIndex, Map<string, FilterKey>>();

const NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/**
 * Reads a decoded name. `isKnown` says which top-level fields may be filtered. Cost: the length of the name; one map
 * look-up if the name is cached. Source: A30 to A33.
 */
export function readKey(collection: CollectionIndex, name: string, isKnown: (field: string) => boolean): Key {
  const known = remembered.get(collection)?.get(name);
  if (known && isKnown(known.located.path[0]!)) return known;
  const key = readNewKey(collection, name, isKnown);
  if (key.kind === 'filter') remember(collection, name, key);
  return key;
}

function remember(collection: CollectionIndex, name: string, key: FilterKey): void {
  if (name.length > REMEMBERED_CHARACTERS_MAX) return;
  const keys = remembered.get(collection) ?? new Map<string, FilterKey>();
  if (keys.size >= REMEMBERED_MAX) keys.clear();
  keys.set(name, key);
  remembered.set(collection, keys);
  cacheLocation(collection, key.located);
}

function readNewKey(collection: CollectionIndex, name: string, isKnown: (field: string) => boolean): Key {
  const isNegated = name.endsWith('!');
  const names = (isNegated ? name.slice(0, -1) : name).split('__');
  const located = hasForm(names) && isKnown(names[0]!) ? locate(collection, names.slice(0, FOLLOWED_MAX)) : undefined;
  if (!located) return { kind: 'unknown' };
  if (located.length - 1 > RELATION_STEPS_MAX) {
    return { kind: 'bad', message: MESSAGES.tooManySteps };
  }
  const rest = names.slice(located.length);
  const { index } = located;
  const lookup = index && lookupNamed(rest[0] ?? DEFAULT_LOOKUP);
  if (!index || !lookup?.fits(columnOf(located, index))) return badStep(collection, located, names, isNegated);
  if (rest.length > 1) {
    const message = unsupportedLookup(rest[1]!);
    return { kind: 'bad', message, explained: () => [message, nothingAfterLookup(lookup.name)] };
  }
  const identity = [...located.path, ...located.idNames, lookup.name].join('__') + (isNegated ? '!' : '');
  return { kind: 'filter', identity, located: { ...located, index }, lookup, isNegated };
}

function columnOf({ isRelation }: PathEnd, { dictionary }: FieldIndex): Column {
  return { type: dictionary.type, isRelation };
}

/** A key whose name after its last field does not fit: meant as a field if fields may follow, otherwise as a lookup. */
function badStep(collection: CollectionIndex, located: PathEnd, names: readonly string[], isNegated: boolean): Key {
  const step = names[located.length] ?? DEFAULT_LOOKUP;
  const message = unsupportedLookup(step);
  const { index } = located;
  const before = names.slice(0, located.length);
  const habit = names.length === located.length + 1 ? lookupOfHabit(step) : undefined;
  const fits = habit && index && lookupNamed(habit.lookup)?.fits(columnOf(located, index));
  const working = fits ? workingKey(before, habit, isNegated) : undefined;
  const explained = (): readonly string[] => {
    const fields = step === '' || lookupNamed(step) ? [] : namesAfter(collection, before);
    const lookups = LOOKUPS.filter((lookup) => index && lookup.fits(columnOf(located, index))).map(({ name }) => name);
    const nearest = working === undefined ? nearestName(step, [...fields, ...lookups]) : undefined;
    const meant = nearest && [...before, nearest, ...names.slice(located.length + 1)].join('__');
    const hints = stepHints(working ?? (meant && (isNegated ? `${meant}!` : meant)), lookups);
    return [fields.length > 0 ? unknownField(step, undefined) : message, ...hints];
  };
  return { kind: 'bad', message, explained, meant: working };
}

function workingKey(
  before: readonly string[],
  { lookup, isNegated: negates }: LookupHabit,
  isNegated: boolean,
): string {
  const key = (lookup === DEFAULT_LOOKUP ? before : [...before, lookup]).join('__');
  return isNegated === (negates === true) ? key : `${key}!`;
}

/** Longer names are not read in other spellings, and no more relations are tried. */
const SPELLED_CHARACTERS_MAX = 128;
const RELATIONS_TRIED_MAX = 100;

/**
 * The filter that an unknown name means if it separates names as other services do (`title_icontains`, `title[in][]`,
 * `a.b`), or leaves out the record or link that leads to the field. Cost: reads up to 300 keys. Source: A163.
 */
export function meantKey(
  collection: CollectionIndex,
  name: string,
  isKnown: (field: string) => boolean,
): string | undefined {
  if (name.length > SPELLED_CHARACTERS_MAX) return undefined;
  const read = (key: string): string | undefined => {
    const meaning = readNewKey(collection, key, isKnown);
    return meaning.kind === 'filter' ? key : meaning.kind === 'bad' ? meaning.meant : undefined;
  };
  const spellings = spellingsOf(name);
  for (const spelling of spellings) {
    const key = read(spelling);
    if (key !== undefined) return key;
  }
  // The name of a lookup alone would read as one of each relation.
  const [first = ''] = name.split(/__|!$/, 1);
  if (lookupNamed(first) || lookupOfHabit(first)) return undefined;
  const around = [...collection.members.values()].filter((node) => node.kind !== 'values' || node.link);
  for (const { name: record } of around.slice(0, RELATIONS_TRIED_MAX)) {
    for (const spelling of [name, ...spellings]) {
      const key = read(`${record}__${spelling}`);
      if (key !== undefined) return key;
    }
  }
  return undefined;
}

/** Other spellings of a name with two underscores; `_` only before the last part. */
function spellingsOf(name: string): readonly string[] {
  const plain = name
    .replace(/\[\]$/, '')
    .replaceAll(/\[([^[\]]*)\]/g, '__$1')
    .replaceAll('.', '__');
  return [plain, plain.replace(/_(?=[a-z]+!?$)/, '__')].filter((spelling) => spelling !== name);
}

/** Only the first name must not be empty: a later empty name is an unknown lookup. */
function hasForm(names: readonly string[]): boolean {
  return names.every((name, i) => NAME.test(name) || (i > 0 && name === ''));
}
