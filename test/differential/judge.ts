// The oracle's validation of a request's parameters: conditions, errors, ignored names, suggestions. All in query
// order.
import type { Field } from '../../engine/schema/types.ts';
import type { Collection } from '../../engine/schema/types.ts';
import { writeText } from './json.ts';
import { encode, lastValue, type Pair } from './query.ts';
import { filterableFields, keyOf, type FilterKey, type Key, type Linked } from './keys.ts';
import type { Condition } from './filters.ts';
import { isOn, isTruth, type OperandType, type Parsed } from './values.ts';
import { type Lookup, LOOKUPS, parseTest } from './lookups.ts';
import { LOOKUP_HABITS } from '../../engine/query/habits.ts';
import type { Shown } from './joins.ts';
import { isJoined, parameterNames } from './parameters.ts';
import { saidOfUnknown, SUGGESTED } from './suggest.ts';
import { viewOf, type View } from './views.ts';

/** The settings that affect how parameters are validated. */
export interface JudgeSettings {
  readonly strict: boolean;
  readonly filterErrors: 'fail' | 'empty' | 'ignore';
  readonly filters: 'all' | 'documented';
  readonly generation?: string | undefined;
  readonly limitMax?: number | undefined;
  readonly isExport?: boolean;
  readonly isCsv?: boolean;
  readonly isTable?: boolean;
}

/** A name without effect: a parameter's, decoded, or a parameter and a name inside its value. */
export type Ignored = string | readonly [parameter: string, name: string];

/** The outcome. Non-empty `errors` mean 400, `isEmpty` that nothing matches. */
export interface Judgement {
  readonly conditions: readonly Condition[];
  readonly errors: readonly (readonly [name: string, messages: readonly string[]])[];
  readonly ignored: readonly Ignored[];
  readonly isEmpty: boolean;
  readonly view: View;
}

/**
 * Validates the parameters of a list (with a collection) or of a single record or root view (without). `shown` is the
 * collection of the records, undefined for a root view.
 */
export function judge(
  pairs: readonly Pair[],
  collection: Collection | undefined,
  shown: Shown | undefined,
  settings: JudgeSettings,
  linked: Linked,
): Judgement {
  const controls = parameterNames(collection ? 'list' : shown ? 'record' : 'root', settings.generation !== undefined);
  const roots = collection ? filterableFields(collection, settings.filters) : [];
  const isStrict = settings.strict || isOn(lastValue(pairs, 'strict') ?? '');
  const conditions: Condition[] = [];
  const errors: [string, readonly string[]][] = [];
  const ignored: Ignored[] = [];
  const view = viewOf(pairs, collection, shown, isStrict, settings, linked);
  const remarks = [...replacedRemarks(pairs, controls, isStrict), ...view.remarks];
  let isEmpty = false;
  const judged = judgedOnce(pairs, controls, (name) => keyOf(name, roots, linked));
  const filters = judged.filter(({ key }) => key?.kind === 'filter' || key?.kind === 'wrong');
  const unknown = judged.filter(({ key, name }) => key?.kind === 'unknown' && !/^filters(?:\[|$)/.test(name));
  const bad = filters.filter(({ key }) => key?.kind === 'wrong' && key.explained).map(({ place }) => place);
  const hinted = SUGGESTED - (isStrict ? unknown.length : 0);
  const hasManyRegexes = filters.filter(({ key }) => isRegex(key)).length > 8;
  for (const { name, value, key, place } of judged) {
    if (key === undefined) {
      for (const remark of remarks.filter((each) => each.place === place)) {
        ignored.push(...remark.ignored);
        if (remark.messages.length > 0) errors.push([name, remark.messages]);
      }
      continue;
    }
    if (key.kind === 'unknown') {
      const turn = unknown.findIndex((one) => one.place === place);
      if (turn < 0) {
        errors.push([name, ['Write a filter as "<field>=<value>" or "filters[<field>]=<value>".']]);
        continue;
      }
      const meant = collection && meantKey(name, roots, linked);
      const known = [...roots.map((field) => field.name), ...controls];
      const isSuggested = turn < SUGGESTED;
      const said = isSuggested
        ? saidOfUnknown(name, { known, controls, idField: collection?.idField, meant })
        : ['Unknown parameter.'];
      if (isStrict) errors.push([name, said]);
      ignored.push(name);
      continue;
    }
    if (filters.length > 64) {
      if (place === filters[64]?.place) errors.push([name, ['At most 64 filters can be used at once.']]);
      continue;
    }
    if (isStrict && key.kind === 'filter' && !saysTruth(key, value)) {
      errors.push([name, ['Enter true or false.']]);
      continue;
    }
    const parsed = parsedOf(name, key, value, settings.filterErrors !== 'fail', hasManyRegexes);
    if ('test' in parsed) {
      const { path, rests, negated } = key as FilterKey;
      conditions.push({ path, ...(rests ? { rests } : {}), negated, ...parsed });
    } else if (settings.filterErrors === 'fail') {
      const isHinted = key.kind === 'wrong' && key.explained && bad.indexOf(place) < hinted;
      const hints = 'hints' in parsed ? (parsed.hints ?? []) : [];
      errors.push([name, isHinted ? key.explained : [parsed.message, ...hints]]);
    } else if (settings.filterErrors === 'ignore') ignored.push(name);
    else isEmpty = true;
  }
  return { conditions, errors: withKeysOnce(errors), ignored, isEmpty, view };
}

/** Each key at its first place, with the messages of all its values. */
function withKeysOnce(errors: Judgement['errors']): Judgement['errors'] {
  const keys = [...new Set(errors.map(([key]) => key))];
  return keys.map((key) => {
    const messages = errors.filter(([each]) => each === key).flatMap(([, own]) => own);
    return [key, [...new Set(messages)]] as const;
  });
}

/** Remarks about values that a later one of the same name replaces. */
function replacedRemarks(pairs: readonly Pair[], controls: readonly string[], isStrict: boolean): View['remarks'] {
  const messages = isStrict ? ['This parameter is repeated, and only its last value counts.'] : [];
  return pairs.flatMap(([name], place) => {
    const isReplaced = pairs.slice(place + 1).some(([later]) => later === name);
    return isReplaced && controls.includes(name) && !isJoined(name) ? [{ place, messages, ignored: [name] }] : [];
  });
}

/** Whether the values of a boolean condition are valid booleans; true for all other conditions. */
function saysTruth({ type, lookup }: FilterKey, value: string): boolean {
  if (lookup === 'isnull' || (lookup === 'exact' && type === 'boolean')) return isTruth(value);
  return lookup !== 'in' || type !== 'boolean' || value.split(',').every(isTruth);
}

function isRegex(key: Key | undefined): boolean {
  return key?.kind === 'filter' && ['regex', 'iregex'].includes(key.lookup);
}

function parsedOf(
  name: string,
  key: Exclude<Key, { kind: 'unknown' }>,
  value: string,
  lenient: boolean,
  hasManyRegexes: boolean,
): Parsed {
  if (key.kind === 'wrong') return key;
  if (hasManyRegexes && isRegex(key)) return { message: 'At most 8 regular expressions can be used at once.' };
  const read = parseTest(key.type, key.lookup, value, lenient);
  const form = 'message' in read && key.lookup === 'exact' ? formOfValue(name, key.type, value) : undefined;
  return form === undefined || 'test' in read
    ? read
    : { ...read, hints: [...(read.hints ?? []), `Write it as "${form}".`] };
}

/** How null, and operators before a value, are written; undefined if that has no meaning either. */
function formOfValue(name: string, type: OperandType, value: string): string | undefined {
  const field = name.replace(/!$/, '').replace(/__exact$/, '');
  const [first, ...others] = value.split('.');
  const hasNot = first === 'not' && others.join('.') !== '';
  const rest = hasNot ? others.join('.') : value;
  const operator = Object.keys(OPERATORS).find((one) => rest.startsWith(`${one}.`) && rest !== `${one}.`);
  const operand = operator === undefined ? rest : rest.slice(operator.length + 1);
  if (!/^.{1,40}$/.test(operand)) return undefined;
  const negations = [name.endsWith('!'), hasNot, operator === 'neq'].filter(Boolean).length;
  if (['null', 'none'].includes(operand.toLowerCase())) return `${field}__isnull=${negations % 2 === 0}`;
  if (operator === undefined) return undefined;
  const lookup = OPERATORS[operator]!;
  const isBracketed = operator === 'in' && operand.startsWith('(') && operand.endsWith(')') && operand.length > 1;
  const plain = isBracketed ? operand.slice(1, -1) : operand;
  if ('message' in parseTest(type, lookup, plain, false)) return undefined;
  return `${field}${lookup === 'exact' ? '' : `__${lookup}`}${negations % 2 === 0 ? '' : '!'}=${plain}`;
}

const OPERATORS: Readonly<Record<string, Lookup>> = {
  eq: 'exact',
  neq: 'exact',
  is: 'exact',
  gt: 'gt',
  gte: 'gte',
  lt: 'lt',
  lte: 'lte',
  in: 'in',
};

/** The filter that an unknown name means in the spelling of other services, or inside a record that it leaves out. */
function meantKey(name: string, roots: readonly Field[], linked: Linked): string | undefined {
  if (name.length > 128) return undefined;
  const apart = name.endsWith('[]') ? name.slice(0, -2) : name;
  const plain = apart
    .split('.')
    .join('__')
    .replace(/\[([^[\]]*)\]/g, '__$1');
  const [first = ''] = name.split(/__|!$/);
  const isLookup = [...LOOKUPS, ...LOOKUP_HABITS.flatMap(({ names }) => names)].includes(first);
  const around = isLookup
    ? []
    : roots.filter(({ kind }) => ['record', 'records', 'link', 'links', 'scalars'].includes(kind)).slice(0, 100);
  const spellings = [plain, plain.replace(/_([a-z]+!?)$/, '__$1')];
  const inside = around.flatMap((field) => [name, ...spellings].map((spelling) => `${field.name}__${spelling}`));
  const keys = [...spellings, ...inside];
  for (const key of keys) {
    if (key === name) continue;
    const read = keyOf(key, roots, linked);
    if (read.kind === 'filter') return key;
    if (read.kind === 'wrong' && read.meant !== undefined) return read.meant;
  }
  return undefined;
}

/** The body of a 400: every bad key in query order. */
export function errorBody(errors: Judgement['errors']): string {
  return `{${errors.map(([name, messages]) => `${writeText(name)}:[${messages.map(writeText).join(',')}]`).join(',')}}`;
}

/** The X-Ignored-Params header: at most 1 kB, cut at a whole name; null without names. */
export function ignoredHeader(names: readonly Ignored[]): string | null {
  const one = (name: string): string => encode(name, '%20');
  const all = names.map((name) => (typeof name === 'string' ? one(name) : name.map(one).join('=')));
  const encoded = [...new Set(all)].filter((name) => name !== '');
  for (let length = encoded.length; length > 0; length--) {
    const shown = length === encoded.length ? encoded : [...encoded.slice(0, length), '...'];
    if (shown.join(', ').length <= 1024) return shown.join(', ');
  }
  return encoded.length === 0 ? null : '...';
}

interface Judged {
  readonly name: string;
  readonly value: string;
  readonly key: Key | undefined;
  readonly place: number;
}

/**
 * The parameters in query order. An unknown name appears once, repeated `in` lists of the same meaning become one list
 * at the first place, and all others stay as they are. Controls have no key.
 */
function judgedOnce(pairs: readonly Pair[], controls: readonly string[], read: (name: string) => Key): Judged[] {
  const all = pairs.map(([name, value], place) => ({
    name,
    value,
    place,
    key: controls.includes(name) ? undefined : read(name),
  }));
  const isSame = (one: Judged, other: Judged): boolean => {
    if (one.key?.kind === 'unknown') return one.name === other.name;
    const isList = one.key?.kind === 'filter' && one.key.lookup === 'in';
    return isList && other.key?.kind === 'filter' && one.key.normal === other.key.normal;
  };
  return all.flatMap((one) => {
    const same = all.filter((other) => other === one || isSame(one, other));
    if (same[0] !== one) return [];
    if (one.key?.kind !== 'filter' || same.length === 1) return [one];
    const values = same.map(({ value }) => value).filter((value) => value !== '');
    return [{ ...one, value: values.join(',') }];
  });
}
