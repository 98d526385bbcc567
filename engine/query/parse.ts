// Parses the raw query of a list, a single record or a view without records into plain data, in one pass over its
// parameters. Never throws, whatever the text. Does not build responses. Looks up no value, but for hints in strict
// mode.
import { slabText } from '../bits/slab.ts';
import { codesOfText } from '../column/dictionary.ts';
import type { CollectionIndex } from '../index/table.ts';
import { type Ask, type Condition, decodeForm, isOfFilters, type QueryOptions } from './ask.ts';
import { formOfHabit } from './habits.ts';
import { type Key, meantKey, readKey } from './key.ts';
import { CONDITIONS_MAX, MEMBERS_MAX, PARAMETERS_MAX, REGEX_SIZE_MAX, REGEXES_MAX, startAfter } from './limits.ts';
import { DEFAULT_LOOKUP, type Lookup, lookupNamed, NULL_LOOKUP } from './lookups.ts';
import { parameterNames, PARAMETERS, turnOf } from './parameters.ts';
import { MESSAGES, type Problem, unknownParameter, writtenAs } from './problems.ts';
import { Reading, type ShownCollection, type View } from './readers.ts';
import { type KnownNames, nearestKey } from '../bits/suggest.ts';
import { isTruth } from './values.ts';

/** A filter of the collection, valid or not, with its position in the query. */
interface GivenFilter {
  readonly key: Exclude<Key, { kind: 'unknown' }>;
  readonly at: number;
  value: string;
}

/**
 * Parses the text after `?` of a list. Never throws. Cost: its length, within the limits of limits.ts, plus suggestions
 * for names that strict mode rejects.
 */
export function parseListQuery(collection: CollectionIndex, query: string | undefined, options: QueryOptions): Ask {
  const refused = refuseBeforeReading(query);
  if (refused) return refused;
  const reading = new Reading(decodeForm(query), options, { collection, shown: collection });
  const isKnown = knownFields(collection, options);
  const filters: GivenFilter[] = [];
  const unknown: number[] = [];
  readParameters(reading, 'list', (name, at) => {
    const key = readKey(collection, name, isKnown);
    if (key.kind === 'unknown') unknown.push(at);
    else filters.push({ key, at, value: reading.parameters[at]![1] });
  });
  if (unknown.length > 0) {
    const fields = (): readonly string[] => [...collection.members.keys()].filter(isKnown);
    noteUnknown(reading, unknown, () => ({ fields: fields(), others: parameterNames('list', options) }));
  }
  checkFilters(reading, filters);
  return reading.ask();
}

/**
 * Parses the text after `?` of a single record of the collection `shown`, or of a view without records, which also
 * accepts the names in `own`. Filters and paging have no effect there (A25). Never throws. Cost: its length.
 */
export function parseRecordQuery(
  query: string | undefined,
  options: QueryOptions,
  shown?: ShownCollection,
  own?: readonly string[],
): Ask {
  // The rest is a separate function, so that V8 inlines this one: a request without a query then allocates nothing.
  return query === undefined ? EMPTY_ASK : (refuseBeforeReading(query) ?? readRecordQuery(query, options, shown, own));
}

function readRecordQuery(
  query: string,
  options: QueryOptions,
  shown: ShownCollection | undefined,
  own: readonly string[] | undefined,
): Ask {
  const reading = new Reading(decodeForm(query), options, { shown });
  const view: View = shown ? 'record' : own ? 'lookup' : 'root';
  const unknown: number[] = [];
  readParameters(reading, view, (name, at) => void (own?.includes(name) || unknown.push(at)));
  for (const name of own ?? []) for (const at of reading.placesOf(name).slice(0, -1)) noteReplaced(reading, at);
  const others = (): readonly string[] => [...(own ?? []), ...parameterNames(view, options)];
  if (unknown.length > 0) noteUnknown(reading, unknown, () => ({ fields: [], others: others() }));
  return reading.ask();
}

/**
 * Problems for the client if its regular expressions took the pool too long: one for each key that has one, in query
 * order (A58).
 */
export function regexProblems({ conditions }: Pick<Ask, 'conditions'>): readonly Problem[] {
  const keys = new Set(conditions.filter(isRegex).map(({ key }) => key));
  return Array.from(keys, (key) => ({ key, messages: [MESSAGES.regexTime] }));
}

/** The result for a record or a view without a query; its limit has no meaning. */
const EMPTY_ASK: Ask = new Reading(
  [],
  { limitDefault: 1, limitMax: 1, isStrict: false, filterErrors: 'fail', filters: 'all' },
  {},
).ask();

/**
 * The result for a query with too many parameters, of which none is read. The problem names the first parameter beyond
 * the limit. `undefined` if the query is within the limit.
 */
function refuseBeforeReading(query: string | undefined): Ask | undefined {
  const start = query === undefined ? -1 : startAfter(query, '&', PARAMETERS_MAX);
  if (start < 0) return undefined;
  const end = query!.indexOf('&', start);
  const [beyond] = decodeForm(query!.slice(start, end < 0 ? undefined : end));
  return { ...EMPTY_ASK, problems: [{ key: beyond?.[0] ?? '', messages: [MESSAGES.tooManyParameters] }] };
}

/**
 * By index in `PARAMETERS`: the last position of the parameter in the current query, or -1. Reused from query to query.
 */
const places = new Int32Array(PARAMETERS.length);

/**
 * Reads the parameters of the view in the order of their table, and calls `other` for all other names. The values of a
 * repeated parameter are joined if it `isJoined`; otherwise the last one counts (A47).
 */
function readParameters(reading: Reading, view: View, other: (name: string, at: number) => void): void {
  const { parameters, options } = reading;
  places.fill(-1);
  let earlier: number[] | undefined;
  for (let at = 0; at < parameters.length; at++) {
    const name = parameters[at]![0];
    const turn = turnOf(name, view, options);
    if (turn < 0) {
      other(name, at);
      continue;
    }
    if (places[turn]! >= 0) (earlier ??= []).push(places[turn]!);
    places[turn] = at;
  }
  for (let turn = 0; turn < places.length; turn++) {
    const at = places[turn]!;
    if (at < 0) continue;
    const { name, isJoined, read } = PARAMETERS[turn]!;
    read(reading, earlier && isJoined ? reading.joined(name) : parameters[at]![1], at);
  }
  if (!earlier) return;
  for (const at of earlier) {
    if (!PARAMETERS[turnOf(parameters[at]![0], view, options)]!.isJoined) noteReplaced(reading, at);
  }
}

/** Notes that a later value replaces the value at this position (A47). Call it after `strict` has been read. */
function noteReplaced(reading: Reading, at: number): void {
  reading.ignoreParameter(at, MESSAGES.repeated);
}

/** Validates filters, all of which must match (A47). If there are too many, none is read (A103). */
function checkFilters(reading: Reading, given: readonly GivenFilter[]): void {
  const filters = given.length > 1 ? joinLists(given) : given;
  const beyond = filters[CONDITIONS_MAX];
  if (beyond) {
    reading.refuse(beyond.at, [MESSAGES.tooManyConditions]);
    return;
  }
  const wrong = regexProblem(filters);
  for (const filter of filters) checkFilter(reading, filter, sizeOf(filter.key) ? wrong : undefined);
}

/** Joins the lists of equal keys at the position of the first. An empty list adds no member (A47). */
function joinLists(given: readonly GivenFilter[]): readonly GivenFilter[] {
  const lists = new Map<string, GivenFilter>();
  return given.filter((filter) => {
    const { key, value } = filter;
    if (key.kind !== 'filter' || !key.lookup.isList) return true;
    const first = lists.get(key.identity);
    if (first) first.value += (first.value === '' || value === '' ? '' : ',') + value;
    else lists.set(key.identity, filter);
    return !first;
  });
}

/**
 * The message if no regular expression of the query may be compiled, because there are too many or they are too large
 * together (A58). An expression that is too large alone is not counted: it has its own message.
 */
function regexProblem(filters: readonly GivenFilter[]): string | undefined {
  let regexes = 0;
  for (const { key } of filters) if (sizeOf(key)) regexes++;
  if (regexes <= 1) return undefined;
  if (regexes > REGEXES_MAX) return MESSAGES.tooManyRegexes;
  let size = 0;
  for (const { key, value } of filters) {
    const alone = sizeOf(key)?.(value) ?? 0;
    if (alone <= REGEX_SIZE_MAX) size += alone;
  }
  return size > REGEX_SIZE_MAX ? MESSAGES.regexSizes : undefined;
}

function sizeOf(key: GivenFilter['key']): Lookup['sizeOf'] {
  return key.kind === 'filter' ? key.lookup.sizeOf : undefined;
}

/**
 * Notes unknown names, each once. Rejects `filters` and its members (A151), and in strict mode all of them, with a
 * suggestion for the first few (A27, A28).
 */
function noteUnknown(reading: Reading, places: readonly number[], known: () => KnownNames): void {
  const names = new Map<string, number>();
  for (const at of places) if (!names.has(reading.parameters[at]![0])) names.set(reading.parameters[at]![0], at);
  for (const [name, at] of names) {
    reading.ignore(at, name);
    if (isOfFilters(name)) reading.refuse(at, [MESSAGES.filters]);
    else if (reading.isStrict)
      reading.refuse(at, reading.mayHint() ? unknownNameMessages(reading, name, known()) : UNKNOWN);
  }
}

const UNKNOWN: readonly string[] = [unknownParameter(undefined)];

/**
 * Messages for an unknown name: the filter that it means, the form of a parameter that other services have, or the
 * nearest name.
 */
function unknownNameMessages({ collection, options }: Reading, name: string, known: KnownNames): readonly string[] {
  const meant = collection && meantKey(collection, name, knownFields(collection, options));
  const form = meant === undefined && collection ? formOfHabit(name) : undefined;
  if (form !== undefined) return [...UNKNOWN, writtenAs(form)];
  return [unknownParameter(meant ?? nearestKey(name, known) ?? idKey(name, collection, known))];
}

/** The messages of strict mode for parameters of a list without effect, by name; for the first few only. */
export function hintsFor(
  collection: CollectionIndex,
  query: string | undefined,
  options: QueryOptions,
): ReadonlyMap<string, readonly string[]> {
  const { problems } = parseListQuery(collection, query, { ...options, isStrict: true });
  return new Map(problems.map(({ key, messages }) => [key, messages]));
}

/** The filter key by id that `id` or `pk`, and what follows it, probably means. */
function idKey(name: string, collection: CollectionIndex | undefined, { fields }: KnownNames): string | undefined {
  const rest = /^(?:id|pk)($|__.*|!)$/.exec(name)?.[1];
  const idField = collection?.declaration.idField;
  return rest === undefined || idField === undefined || !fields.includes(idField) ? undefined : idField + rest;
}

function knownFields({ declaration }: CollectionIndex, { filters }: QueryOptions): (field: string) => boolean {
  return filters === 'all' ? isAny : (field) => declaration.filters.includes(field);
}

function isAny(): boolean {
  return true;
}

/** Validates a filter. If `wrong` is given, it is the message, and the value is not read. */
function checkFilter(reading: Reading, { key, at, value }: GivenFilter, wrong: string | undefined): void {
  const name = reading.parameters[at]![0];
  const { filterErrors } = reading.options;
  const refused = reading.isStrict && key.kind === 'filter' ? checkStrictly(key, name, value) : NONE;
  if (refused.length > 0) {
    reading.refuse(at, refused);
    return;
  }
  const messages =
    key.kind === 'bad' ? [key.message] : wrong === undefined ? addCondition(reading, key, name, value) : [wrong];
  if (messages.length === 0) return;
  if (filterErrors === 'empty') reading.isEmpty = true;
  else if (filterErrors === 'ignore') reading.ignore(at, name);
  else {
    const explained = key.kind === 'bad' && key.explained && reading.mayHint() ? key.explained : undefined;
    reading.refuse(at, explained?.() ?? messages);
  }
}

/**
 * The messages of strict mode for a valid value that does not mean what the client expects: `no` for a boolean, and
 * `null` or `eq.final` for a text field if no record has that text.
 */
function checkStrictly(filter: Extract<Key, { kind: 'filter' }>, key: string, value: string): readonly string[] {
  if (!isTruthOperand(filter, value)) return [MESSAGES.truth];
  const { dictionary } = filter.located.index;
  if (dictionary.type !== 'text' || filter.lookup.name !== DEFAULT_LOOKUP) return NONE;
  const { start, end } = codesOfText(dictionary, slabText(value));
  const hints = start === end ? valueHints(filter, key, value) : NONE;
  return hints.length > 0 ? [MESSAGES.absent, ...hints] : NONE;
}

/** False if a value is compared as a truth value without being one: the stock service takes it for true (A41). */
function isTruthOperand({ located, lookup }: Extract<Key, { kind: 'filter' }>, value: string): boolean {
  if (lookup.name === NULL_LOOKUP) return isTruth(value);
  if (located.index.dictionary.type !== 'boolean' || lookup.search) return true;
  return lookup.name === DEFAULT_LOOKUP ? isTruth(value) : value.split(',', MEMBERS_MAX).every(isTruth);
}

/** Adds the condition, or returns what is wrong with its value. */
function addCondition(
  { conditions, options }: Reading,
  filter: Extract<Key, { kind: 'filter' }>,
  key: string,
  value: string,
): readonly string[] {
  const { located, lookup, isNegated } = filter;
  const parsed = lookup.parse(located.index.dictionary.type, value, options.filterErrors !== 'fail');
  if (parsed.kind === 'error') return [parsed.message, ...(parsed.hints ?? []), ...valueHints(filter, key, value)];
  conditions.push({ key, path: located.path, lookup: lookup.name, isNegated, operand: parsed.value });
  return NONE;
}

const NONE: readonly string[] = [];

/** Hints for values that other services accept: null, and PostgREST operators before a value. Their forms are valid. */
function valueHints(
  { located, lookup }: Extract<Key, { kind: 'filter' }>,
  key: string,
  value: string,
): readonly string[] {
  if (lookup.name !== DEFAULT_LOOKUP) return NONE;
  const [, not, operator, operand = ''] = OPERATED.exec(value) ?? [];
  const field = key.replace(/(?:__exact)?!?$/, '');
  const isNegated = (key.endsWith('!') !== (not !== undefined)) !== (operator === 'neq');
  if (/^(?:null|none)$/i.test(operand)) return [writtenAs(`${field}__${NULL_LOOKUP}=${!isNegated}`)];
  if (operator === undefined) return NONE;
  const name = ['eq', 'neq', 'is'].includes(operator) ? DEFAULT_LOOKUP : operator;
  const plain = name === 'in' ? operand.replace(/^\((.*)\)$/, '$1') : operand;
  if (lookupNamed(name)!.parse(located.index.dictionary.type, plain, false).kind === 'error') return NONE;
  return [writtenAs(`${field}${name === DEFAULT_LOOKUP ? '' : `__${name}`}${isNegated ? '!' : ''}=${plain}`)];
}

const OPERATED = /^(not\.)?(?:(n?eq|gte?|lte?|in|is)\.)?(.{1,40})$/;

function isRegex({ lookup }: Condition): boolean {
  return lookupNamed(lookup)?.pace === 'pattern';
}
