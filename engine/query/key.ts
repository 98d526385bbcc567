// One filter key: from the parameter's name to a field, a lookup and whether it is negated, or what is wrong with it.
// Knows no value.
import type { FieldIndex } from '../index/field.ts';
import type { CollectionIndex } from '../index/table.ts';
import { RELATION_STEPS_MAX } from './limits.ts';
import { type Column, DEFAULT_LOOKUP, type Lookup, lookupNamed, LOOKUPS } from './lookups.ts';
import { keepPlace, locate, type LocatedField, namesBehind, type PathEnd } from './path.ts';
import { nothingBehind, stepHints, tooManySteps, unknownField, unsupportedLookup } from './problems.ts';
import { nearestName } from '../bits/suggest.ts';

/** So many names are followed at most: one step more than a key may take. */
const FOLLOWED_MAX = RELATION_STEPS_MAX + 2;

/**
 * The messages for a step that does not fit: in strict mode with what does, else where something is near. Cost: an edit
 * distance to each name that fits there.
 */
export type StepMessages = (isStrict: boolean) => readonly string[];

/**
 * What a parameter's name means. `unknown`: no filter of this collection. `bad`: a known field with something that does
 * not fit; `explained` says what does. `filter`: a condition but for its
 * value. `identity` is equal for keys that mean the same, so that their lists are joined (A47).
 */
export type Key =
  | { readonly kind: 'unknown' }
  | {
      readonly kind: 'bad';
      readonly message: string;
      readonly explained?: StepMessages;
    }
  | {
      readonly kind: 'filter';
      readonly identity: string;
      readonly located: LocatedField;
      readonly lookup: Lookup;
      readonly isNegated: boolean;
    };

/** Names of filters that are remembered of a collection: clients use a few. All are forgotten when there are more. */
const REMEMBERED_MAX = 256;
const REMEMBERED_CHARACTERS_MAX = 128;

type FilterKey = Extract<Key, { kind: 'filter' }>;

const remembered = new WeakMap<CollectionIndex, Map<string, FilterKey>>();

const NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/**
 * Reads a decoded name. `isKnown` says which first names may be filtered at all. Cost: its length; a map look-up where
 * it was read before. Source: A30 to A33.
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
  keepPlace(collection, key.located);
}

function readNewKey(collection: CollectionIndex, name: string, isKnown: (field: string) => boolean): Key {
  const isNegated = name.endsWith('!');
  const names = (isNegated ? name.slice(0, -1) : name).split('__');
  const located = hasForm(names) && isKnown(names[0]!) ? locate(collection, names.slice(0, FOLLOWED_MAX)) : undefined;
  if (!located) return { kind: 'unknown' };
  if (located.length - 1 > RELATION_STEPS_MAX) {
    return { kind: 'bad', message: tooManySteps(RELATION_STEPS_MAX) };
  }
  const rest = names.slice(located.length);
  const { index } = located;
  const lookup = index && lookupNamed(rest[0] ?? DEFAULT_LOOKUP);
  if (!index || !lookup?.fits(columnOf(located, index))) return badStep(collection, located, names, isNegated);
  if (rest.length > 1) {
    const message = unsupportedLookup(rest[1]!);
    const explained = (isStrict: boolean): readonly string[] =>
      isStrict ? [message, nothingBehind(lookup.name)] : [message];
    return { kind: 'bad', message, explained };
  }
  const identity = [...located.path, ...located.idNames, lookup.name].join('__') + (isNegated ? '!' : '');
  return { kind: 'filter', identity, located: { ...located, index }, lookup, isNegated };
}

function columnOf({ isRelation }: PathEnd, { dictionary }: FieldIndex): Column {
  return { type: dictionary.type, isRelation };
}

/** A key whose first name behind its fields is none that fits: a field where fields may follow, else a lookup. */
function badStep(collection: CollectionIndex, located: PathEnd, names: readonly string[], isNegated: boolean): Key {
  const step = names[located.length] ?? DEFAULT_LOOKUP;
  const message = unsupportedLookup(step);
  const explained = (isStrict: boolean): readonly string[] => {
    const { index } = located;
    const before = names.slice(0, located.length);
    const fields = step === '' || lookupNamed(step) ? [] : namesBehind(collection, before);
    const lookups = LOOKUPS.filter((lookup) => index && lookup.fits(columnOf(located, index))).map(({ name }) => name);
    const nearest = nearestName(step, [...fields, ...lookups]);
    if (nearest === undefined && !isStrict) return [message];
    const meant = nearest && [...before, nearest, ...names.slice(located.length + 1)].join('__');
    const hints = stepHints(meant && (isNegated ? `${meant}!` : meant), lookups);
    return [fields.length > 0 ? unknownField(step, undefined) : message, ...hints];
  };
  return { kind: 'bad', message, explained };
}

/** Only the first name may not be empty: an empty one behind it is a lookup that does not exist. */
function hasForm(names: readonly string[]): boolean {
  return names.every((name, i) => NAME.test(name) || (i > 0 && name === ''));
}
