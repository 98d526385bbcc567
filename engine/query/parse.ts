// Parses the raw query of a list or of a single record into plain data: page, conditions, and what was wrong. Never
// throws, whatever the text. Makes no answer and looks up no value.
import type { TopLevelKeys } from '../column/outline.ts';
import type { CollectionIndex } from '../index/table.ts';
import { FIELDS_PARAMETER, fieldsOf, fieldsProblem, type FieldsAsked, type IgnoredName } from './fields.ts';
import { decodeForm, type Parameter } from './form.ts';
import { readKey, type Key } from './key.ts';
import { readListControls, type Facet, type OrderKey, type Remark } from './listControls.ts';
import { lookupNamed } from './lookups.ts';
import {
  type ExtraParameters,
  formatOf,
  generationOf,
  isExplainAsked,
  isExport,
  isPaging,
  isStrictAsked,
  limitOf,
  listParameters,
  offsetOf,
  RECORD_PARAMETERS,
  VIEW_PARAMETERS,
} from './paging.ts';
import { MESSAGES, tooManyRegexes, unknownParameter, type Problem } from './problems.ts';
import { type KnownNames, nearestKey, SUGGESTIONS_MAX } from './suggest.ts';
import type { Operand } from './values.ts';

/**
 * The settings that decide how queries are read (A19, A27, A29, A33, A68, A69). `limitMax` undefined means no upper
 * bound.
 */
export interface QueryOptions extends ExtraParameters {
  readonly limitDefault: number;
  readonly limitMax: number | undefined;
  readonly isStrict: boolean;
  readonly filterErrors: 'fail' | 'empty' | 'ignore';
  readonly filters: 'all' | 'documented';
}

/** One filter, ready to be planned. `key` is the name as the client wrote it, decoded; `path` the field's names. */
export interface Condition {
  readonly key: string;
  readonly path: readonly string[];
  readonly lookup: string;
  readonly isNegated: boolean;
  readonly operand: Operand;
}

/**
 * What every query has. `parameters` are all decoded pairs in query order. `format` is the last one, undefined when
 * empty. `keys` are the top-level keys that records are cut to, undefined for whole records. `ignored` are the names
 * without effect, once each, in query order. With `problems` the answer is a 400 that lists them.
 */
export interface RecordRequest {
  readonly parameters: readonly Parameter[];
  readonly format: string | undefined;
  readonly keys: ReadonlySet<string> | undefined;
  readonly ignored: readonly IgnoredName[];
  readonly problems: readonly Problem[];
}

/**
 * A list's query. `order`, `after` and `facets` as in listControls.ts. `isEmpty` where a bad filter makes the list
 * empty (A29, `filterErrors` being `empty`). `isExplained` where not the list is wanted but how it is found (A68).
 * `generation` is the one that the request names (A69).
 */
export interface ListRequest extends RecordRequest {
  readonly limit: number;
  readonly offset: number;
  readonly order: readonly OrderKey[];
  readonly after: number | undefined;
  readonly facets: readonly Facet[];
  readonly conditions: readonly Condition[];
  readonly isEmpty: boolean;
  readonly isExplained: boolean;
  readonly generation: string | undefined;
}

/** Regular expressions in one query: each takes up to some ms to compile, before the pool sees it. */
const REGEXES_MAX = 8;

/** What a record or view without a query is asked for. */
const NOTHING_ASKED: RecordRequest = { parameters: [], format: undefined, keys: undefined, ignored: [], problems: [] };

/** What was found in a query so far; `suggestions` is how many names were looked for something near to. */
interface Findings {
  readonly conditions: Condition[];
  readonly ignored: Set<IgnoredName>;
  readonly problems: Problem[];
  isEmpty: boolean;
  suggestions: number;
}

/**
 * Parses the text behind `?` of a list. Never throws. Cost: its length, and suggestions where strict refuses a name.
 */
export function parseListQuery(
  collection: CollectionIndex,
  query: string | undefined,
  options: QueryOptions,
): ListRequest {
  const parameters = decodeForm(query);
  if (isPage(parameters)) return pageRequest(parameters, options);
  const isKnown = knownFields(collection, options);
  const own = listParameters(options);
  const keys = keysOf(collection, parameters, own, isKnown);
  const refuses = isStrict(parameters, options);
  const { order, after, facets, remarks } = readListControls(collection, parameters, refuses);
  const winners = lastByIdentity(keys);
  const findings = newFindings();
  const asked = fieldsOf(parameters, collection.keys);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (i === asked.at) judgeFields(findings, asked, { known: collection.keys, isStrict: refuses });
    if (key?.kind === 'unknown')
      refuse(findings, parameters[i]![0], refuses, () => ({
        fields: [...collection.members.keys()].filter(isKnown),
        others: own,
      }));
    else if (key && (!winners || winners.get(key.identity) === i)) judge(findings, key, parameters[i]!, options);
    else if (!key) addRemark(findings, remarks.get(i));
  }
  return {
    parameters,
    format: formatOf(parameters),
    limit: limitOf(parameters, options.limitDefault, options.limitMax),
    offset: offsetOf(parameters),
    keys: asked.keys,
    order,
    after,
    facets: isExport(parameters) ? NONE : facets,
    conditions: findings.conditions,
    isEmpty: findings.isEmpty,
    isExplained: isExplainAsked(parameters, options),
    generation: generationOf(parameters, options),
    ignored: ignoredOf(findings),
    problems: findings.problems,
  };
}

/** What the name of each parameter means, undefined of those that lists have of their own. */
function keysOf(
  collection: CollectionIndex,
  parameters: readonly Parameter[],
  own: readonly string[],
  isKnown: (field: string) => boolean,
): readonly (Key | undefined)[] {
  const keys: (Key | undefined)[] = [];
  for (let i = 0; i < parameters.length; i++) {
    const name = parameters[i]![0];
    keys.push(own.includes(name) ? undefined : readKey(collection, name, isKnown));
  }
  return keys;
}

/** Whether a query asks for nothing but a page of all records, as most do that walk a list. */
function isPage(parameters: readonly Parameter[]): boolean {
  for (let i = 0; i < parameters.length; i++) if (!isPaging(parameters[i]![0])) return false;
  return true;
}

function pageRequest(parameters: readonly Parameter[], options: QueryOptions): ListRequest {
  return {
    parameters,
    format: formatOf(parameters),
    limit: limitOf(parameters, options.limitDefault, options.limitMax),
    offset: offsetOf(parameters),
    keys: undefined,
    order: NONE,
    after: undefined,
    facets: NONE,
    conditions: NONE,
    isEmpty: false,
    isExplained: false,
    generation: undefined,
    ignored: NONE,
    problems: NONE,
  };
}

const NONE: readonly never[] = [];

/**
 * Parses the text behind `?` of a single record, which heeds only format, fields and strict (A25), or of a view without
 * records, which has no `known` keys. Never throws.
 */
export function parseRecordQuery(
  query: string | undefined,
  options: Pick<QueryOptions, 'isStrict'>,
  known?: TopLevelKeys,
): RecordRequest {
  if (query === undefined) return NOTHING_ASKED;
  const parameters = decodeForm(query);
  const heeded = known ? RECORD_PARAMETERS : VIEW_PARAMETERS;
  const refuses = isStrict(parameters, options);
  const findings = newFindings();
  const asked = known && fieldsOf(parameters, known);
  parameters.forEach(([name], i) => {
    if (i === asked?.at) judgeFields(findings, asked, { known: known!, isStrict: refuses });
    if (!heeded.includes(name)) refuse(findings, name, refuses, () => ({ fields: [], others: heeded }));
  });
  return {
    parameters,
    format: formatOf(parameters),
    keys: asked?.keys,
    ignored: ignoredOf(findings),
    problems: findings.problems,
  };
}

/** What to tell the client whose regular expressions took the pool too long: each key of one, in query order (A58). */
export function regexProblems({ conditions }: ListRequest): readonly Problem[] {
  return conditions.filter(isRegex).map(({ key }) => ({ key, messages: [MESSAGES.regexTime] }));
}

function isRegex({ lookup }: Condition): boolean {
  return lookupNamed(lookup)?.isPooled === true;
}

function isStrict(parameters: readonly Parameter[], options: Pick<QueryOptions, 'isStrict'>): boolean {
  return options.isStrict || isStrictAsked(parameters);
}

/** Notes the unknown names of `fields`, and refuses them in strict mode (A61). */
function judgeFields(
  { ignored, problems }: Findings,
  asked: FieldsAsked,
  { known, isStrict }: { known: TopLevelKeys; isStrict: boolean },
): void {
  for (const name of asked.unknown) ignored.add([FIELDS_PARAMETER, name]);
  if (isStrict && asked.unknown.length > 0) problems.push(fieldsProblem(asked, known));
}

function knownFields({ declaration }: CollectionIndex, { filters }: QueryOptions): (field: string) => boolean {
  return filters === 'all' ? isAny : (field) => declaration.filters.includes(field);
}

function isAny(): boolean {
  return true;
}

/**
 * The position of the last key of each identity: earlier ones are not judged (A47). Undefined where there is one key at
 * most.
 */
function lastByIdentity(keys: readonly (Key | undefined)[]): ReadonlyMap<string, number> | undefined {
  let named = 0;
  for (let i = 0; i < keys.length; i++) if (keys[i]) named++;
  if (named < 2) return undefined;
  const last = new Map<string, number>();
  keys.forEach((key, i) => {
    if (key && key.kind !== 'unknown') last.set(key.identity, i);
  });
  return last;
}

function addRemark({ ignored, problems }: Findings, remark: Remark | undefined): void {
  for (const name of remark?.ignored ?? []) ignored.add(name);
  if (remark?.problem) problems.push(remark.problem);
}

function newFindings(): Findings {
  return { conditions: [], ignored: new Set(), problems: [], isEmpty: false, suggestions: 0 };
}

function ignoredOf({ ignored }: Findings): readonly IgnoredName[] {
  return ignored.size === 0 ? NONE : [...ignored];
}

/** Notes an unknown name, and in strict mode refuses it, with a suggestion of what is `known` for the first few. */
function refuse(findings: Findings, name: string, refuses: boolean, known: () => KnownNames): void {
  if (findings.ignored.has(name)) return;
  findings.ignored.add(name);
  if (!refuses) return;
  const nearest = findings.suggestions++ < SUGGESTIONS_MAX ? nearestKey(name, known()) : undefined;
  findings.problems.push({ key: name, messages: [unknownParameter(nearest)] });
}

function judge(
  findings: Findings,
  key: Exclude<Key, { kind: 'unknown' }>,
  [name, value]: Parameter,
  { filterErrors }: QueryOptions,
): void {
  const message =
    key.kind === 'bad' ? key.message : addCondition(findings, key, [name, value], filterErrors !== 'fail');
  if (message === undefined) return;
  if (filterErrors === 'fail') findings.problems.push({ key: name, messages: [message] });
  else if (filterErrors === 'empty') findings.isEmpty = true;
  else findings.ignored.add(name);
}

/** Adds the condition, or answers what is wrong with its value. */
function addCondition(
  { conditions }: Findings,
  { located, lookup, isNegated }: Extract<Key, { kind: 'filter' }>,
  [key, value]: Parameter,
  isLenient: boolean,
): string | undefined {
  const parsed = lookup.parse(located.index.dictionary.type, value, isLenient);
  if (parsed.kind === 'error') return parsed.message;
  if (lookup.isPooled && conditions.filter(isRegex).length >= REGEXES_MAX) return tooManyRegexes(REGEXES_MAX);
  conditions.push({ key, path: located.path, lookup: lookup.name, isNegated, operand: parsed.value });
  return undefined;
}
