// Readers of the parameters other than filters. Each reads one value: its effect on the page, its problems, and the
// names in it without effect. Each reader has a row in parameters.ts.
import type { CollectionIndex } from '../index/table.ts';
import type {
  AnyOf,
  Ask,
  Condition,
  ExportFormat,
  IgnoredName,
  NamedField,
  OrderKey,
  Page,
  Parameter,
  QueryOptions,
} from './ask.ts';
import {
  atMost,
  MESSAGES,
  notAmongFields,
  notTogether,
  type Problem,
  severalValues,
  unknownField,
  withoutLinks,
} from './problems.ts';
import { nearestKey, nearestName, SUGGESTIONS_MAX } from '../bits/suggest.ts';
import {
  countParts,
  EXPAND_LEVELS_MAX,
  EXPAND_MAX,
  FACETS_MAX,
  JOINED_MAX,
  NAMES_MAX,
  ORDER_KEYS_MAX,
} from './limits.ts';
import { facetValues, joinedPath, linksAlong, singleValueAt, valuesAt } from './path.ts';
import { parseValue, truthIn } from './values.ts';

/**
 * The kind of response: a page of a list, a single record, a view without records, or a lookup of a path or identifier.
 */
export type View = 'list' | 'record' | 'root' | 'lookup';

/**
 * A remark on the parameter at position `at` of the query: a name without effect, or a reason to reject the request.
 */
interface Remark {
  readonly at: number;
  readonly ignored?: IgnoredName;
  readonly problem?: Problem;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Larger numbers in paging count as this one: exact in a double, and larger than any list (A21). */
const NUMBER_MAX = 999_999_999_999_999;

const NONE: readonly never[] = [];

/** The limit of a page or export if the query sets none: an export has all rows (A19, A62). */
export function limitWithout({ limitDefault, limitMax }: QueryOptions, exported: ExportFormat | undefined): number {
  return exported ? NUMBER_MAX : Math.min(limitDefault, limitMax ?? Infinity);
}

/** The parts of a collection that decide which keys its records can have. */
export type ShownCollection = Pick<CollectionIndex, 'keys' | 'members'>;

/** The state of one query while it is read. */
export class Reading {
  readonly parameters: readonly Parameter[];
  readonly options: QueryOptions;
  /** The collection of a list. */
  readonly collection: CollectionIndex | undefined;
  /** The collection of the records that a list or record view shows. */
  readonly shown: ShownCollection | undefined;
  readonly page: Writable<Page>;
  readonly conditions: Condition[] = [];
  readonly anyOf: AnyOf[] = [];
  isStrict: boolean;
  isEmpty = false;
  isExplained = false;
  generation: string | undefined;
  #remarks: Remark[] | undefined;
  #hints = 0;

  constructor(
    parameters: readonly Parameter[],
    options: QueryOptions,
    { collection, shown }: { readonly collection?: CollectionIndex; readonly shown?: ShownCollection | undefined },
  ) {
    this.parameters = parameters;
    this.options = options;
    this.collection = collection;
    this.shown = shown;
    this.isStrict = options.isStrict;
    const { exported } = options;
    const limit = limitWithout(options, exported);
    this.page = {
      order: NONE,
      ranking: undefined,
      after: undefined,
      offset: 0,
      limit,
      facets: NONE,
      keys: undefined,
      joined: NONE,
      expand: NONE,
      format: undefined,
      exported,
      isIndented: false,
      hasBom: false,
    };
  }

  /** The positions of a name in the query. Cost: the parameters. */
  placesOf(name: string): readonly number[] {
    return this.parameters.flatMap(([given], at) => (given === name ? [at] : []));
  }

  /** All values of a name, joined by commas. Cost: the parameters. */
  joined(name: string): string {
    return this.placesOf(name)
      .map((at) => this.parameters[at]![1])
      .join(',');
  }

  /**
   * Whether one more name or step may get a suggestion; counts the calls. Each suggestion costs an edit distance to
   * every name that fits there.
   */
  mayHint(): boolean {
    return this.#hints++ < SUGGESTIONS_MAX;
  }

  /** Notes that a name at a position of the query has no effect. */
  ignore(at: number, ignored: IgnoredName): void {
    (this.#remarks ??= []).push({ at, ignored });
  }

  /** Notes names in a parameter's value that have no effect. In strict mode the messages refuse them. */
  ignoreNames(at: number, names: Iterable<string>, messageOf: (name: string) => string): void {
    for (const name of names) {
      this.ignore(at, [this.parameters[at]![0], name]);
      if (this.isStrict) this.refuse(at, [messageOf(name)]);
    }
  }

  /** Notes that a parameter has no effect. In strict mode the message refuses it. */
  ignoreParameter(at: number, message: string): void {
    this.ignore(at, this.parameters[at]![0]);
    if (this.isStrict) this.refuse(at, [message]);
  }

  /** Notes what is wrong with the parameter at a position of the query; nothing if there are no messages. */
  refuse(at: number, messages: readonly string[]): void {
    if (messages.length > 0) (this.#remarks ??= []).push({ at, problem: { key: this.parameters[at]![0], messages } });
  }

  /** The query as plain data. Remarks are in query order, each name and wrong key once. Cost: sorting the remarks. */
  ask(): Ask {
    const { parameters, page, conditions, anyOf, isEmpty, isExplained, generation } = this;
    const remarks = this.#remarks?.sort((a, b) => a.at - b.at) ?? NONE;
    return {
      parameters,
      page,
      conditions,
      anyOf,
      isEmpty,
      isExplained,
      generation,
      ignored: remarks.length === 0 ? NONE : namesOf(remarks),
      problems: remarks.length === 0 ? NONE : problemsOf(remarks),
    };
  }
}

function namesOf(remarks: readonly Remark[]): readonly IgnoredName[] {
  const names = remarks.map(({ ignored }) => ignored).filter((name) => name !== undefined);
  return [...new Set(names)];
}

/** A repeated key has the messages of all its values, each once. */
function problemsOf(remarks: readonly Remark[]): readonly Problem[] {
  const byKey = new Map<string, Set<string>>();
  for (const { problem } of remarks) {
    if (!problem) continue;
    const messages = byKey.get(problem.key) ?? new Set();
    byKey.set(problem.key, messages);
    for (const message of problem.messages) messages.add(message);
  }
  return Array.from(byKey, ([key, messages]) => ({ key, messages: [...messages] }));
}

/** Numbers with this many digits are at most `NUMBER_MAX`. */
const DIGITS_MAX = 15;
/**
 * Captures the digits after leading zeros. They must not start with a zero, or long runs of zeros would take quadratic
 * time.
 */
const WHOLE = /^\+?0*([1-9]\d*)$/;
const ZERO_TEXT = /^\+?0+$/;

/** The export formats, each with the media type that requests it in Accept (A51, A62). */
export const EXPORT_TYPES = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
} as const satisfies Readonly<Record<ExportFormat, string>>;

export const EXPORT_FORMATS = Object.keys(EXPORT_TYPES) as readonly ExportFormat[];

/** The export that a format names, or `undefined`. Source: A62. */
export function exportOf(format: string | undefined): ExportFormat | undefined {
  return EXPORT_FORMATS.find((one) => one === format);
}

/** Reads the format. An empty value names none; an export format means all rows. Source: A26, A62. */
export function readFormat({ page, options }: Reading, value: string): void {
  if (value === '') return;
  page.format = value;
  page.exported = exportOf(value);
  page.limit = limitWithout(options, page.exported);
}

/**
 * Reads strict mode. A client that misspells the value gets an error, because it would otherwise not get the strictness
 * that it requests. Source: A27.
 */
export function readStrict(reading: Reading, value: string, at: number): void {
  const isOn = truthIn(value);
  if (isOn === undefined) reading.refuse(at, [MESSAGES.truth]);
  else reading.isStrict ||= isOn;
}

/** Reads whether JSON is indented. It has no effect on an export. Source: A27, A62. */
export function readPretty(reading: Reading, value: string, at: number): void {
  if (!isSwitchedOn(reading, value, at)) return;
  if (reading.page.exported) reading.ignoreParameter(at, MESSAGES.exported);
  else reading.page.isIndented = true;
}

/** Reads whether CSV begins with a byte order mark. It has no effect on other formats. Source: A164. */
export function readBom(reading: Reading, value: string, at: number): void {
  if (!isSwitchedOn(reading, value, at)) return;
  if (reading.page.exported === 'csv') reading.page.hasBom = true;
  else reading.ignoreParameter(at, MESSAGES.bom);
}

/** Reads whether the client requests the plan. Source: A27. */
export function readExplain(reading: Reading, value: string, at: number): void {
  reading.isExplained = isSwitchedOn(reading, value, at);
}

/** A value that is not a truth value has no effect, and strict mode rejects it. */
function isSwitchedOn(reading: Reading, value: string, at: number): boolean {
  const isOn = truthIn(value);
  if (isOn !== undefined) return isOn;
  reading.ignoreParameter(at, MESSAGES.truth);
  return false;
}

/**
 * Reads the page size, a positive integer, bounded by `limitMax` unless it is an export's. Other values leave the
 * default. Strict mode rejects values that would be replaced. Source: A19, A21, A62.
 */
export function readLimit(reading: Reading, value: string, at: number): void {
  const { page, options } = reading;
  const asked = wholeOf(value);
  const most = page.exported ? undefined : options.limitMax;
  if (reading.isStrict && asked <= 0) reading.refuse(at, [MESSAGES.limit]);
  if (reading.isStrict && most !== undefined && asked > most) reading.refuse(at, [atMost(most)]);
  if (asked > 0) page.limit = Math.min(asked, most ?? asked);
}

/**
 * Reads the offset of the page, an integer from 0. Other values count as 0, and strict mode rejects them. Source: A20,
 * A21.
 */
export function readOffset(reading: Reading, value: string, at: number): void {
  const offset = wholeOf(value);
  if (reading.isStrict && offset === 0 && !ZERO_TEXT.test(value.trim())) reading.refuse(at, [MESSAGES.offset]);
  reading.page.offset = offset;
}

/**
 * Reads the id after which the page starts. It is a position in the list by id, so it excludes `offset` and `ordering`.
 * Source: A66.
 */
export function readAfter(reading: Reading, value: string, at: number): void {
  const parsed = parseValue('integer', value);
  const messages = parsed.kind === 'error' ? [parsed.message] : [];
  for (const other of ['ordering', 'offset']) if (reading.placesOf(other).length > 0) messages.push(notTogether(other));
  reading.refuse(at, messages);
  if (parsed.kind !== 'error') reading.page.after = Number(parsed.value);
}

/** The positive integer in a text, or 0 if it has none. Cost: its length. */
function wholeOf(text: string): number {
  const digits = WHOLE.exec(text.trim())?.[1];
  if (digits === undefined) return 0;
  return digits.length > DIGITS_MAX ? NUMBER_MAX : Number(digits);
}

/**
 * Reads the names of keys and joined fields, separated by commas. Without any name, records are whole; with unknown
 * names only, they have no key. Unknown names are ignored; strict mode rejects them with the nearest known key (A28).
 * Too many joined fields are rejected. Cost: the value, and the keys of the collection for rejected names. Source: A61,
 * A169.
 */
export function readFields(reading: Reading, value: string, at: number): void {
  const { page, shown } = reading;
  const names = [...new Set(namesIn(reading, value, at))];
  if (names.length === 0 || !shown) return;
  const { all } = shown.keys;
  const keys = new Set<string>();
  const joined: NamedField[] = [];
  const unknown: string[] = [];
  for (const name of names) {
    const path = all.has(name) ? undefined : joinedPath(shown, name.split('__'));
    if (path) joined.push({ name, path });
    else if (all.has(name)) keys.add(name);
    else unknown.push(name);
  }
  page.keys = keys;
  page.joined = joined;
  if (joined.length > JOINED_MAX) reading.refuse(at, [MESSAGES.tooManyJoined]);
  reading.ignoreNames(at, unknown, (name) => nearestMessage(reading, name, all));
}

/** The message for an unknown name, with the nearest known one for the first few. */
function nearestMessage(reading: Reading, name: string, known: Iterable<string>): string {
  return unknownField(name, reading.mayHint() ? nearestName(name, [...known]) : undefined);
}

/**
 * Reads the paths of links to replace by records. Names without links, and those that `fields` leaves out, are ignored;
 * strict mode rejects them. Tables, too many names and too many links after one another are rejected. Source: A170.
 */
export function readExpand(reading: Reading, value: string, at: number): void {
  const { page, shown } = reading;
  const names = [...new Set(namesIn(reading, value, at))];
  if (names.length === 0 || !shown) return;
  if (names.length > EXPAND_MAX) reading.refuse(at, [MESSAGES.tooManyExpanded]);
  if (page.exported && page.exported !== 'ndjson') reading.refuse(at, [MESSAGES.table]);
  const unknown: string[] = [];
  const unfit = new Map<string, string>();
  const expand: string[][] = [];
  for (const name of names) {
    const path = name.split('__');
    const hasLinks = linksAlong(shown, path) > 0;
    if (hasLinks && page.keys?.has(path[0]!) !== false) expand.push(path);
    else if (!hasLinks && !shown.keys.all.has(name) && !joinedPath(shown, path)) unknown.push(name);
    else unfit.set(name, hasLinks ? notAmongFields(name) : withoutLinks(name));
  }
  page.expand = expand;
  if (expand.some((path) => linksAlong(shown, path) > EXPAND_LEVELS_MAX)) reading.refuse(at, [MESSAGES.tooManyLevels]);
  const known = [...shown.members.keys()].filter((name) => linksAlong(shown, [name]) > 0);
  reading.ignoreNames(at, unknown, (name) => nearestMessage(reading, name, known));
  reading.ignoreNames(at, unfit.keys(), (name) => unfit.get(name)!);
}

/**
 * Reads the fields to sort by. Names that are not fields are ignored. So are fields after the id, because the id leaves
 * no ties. Too many fields are rejected whether they have an effect or not.
 */
export function readOrdering(reading: Reading, value: string, at: number): void {
  const collection = reading.collection!;
  const keys = new Map<unknown, OrderKey>();
  const known = new Set<string>();
  const unknown = new Set<string>();
  for (const member of namesIn(reading, value, at)) {
    const isDescending = member.startsWith('-');
    const name = isDescending ? member.slice(1).trim() : member;
    const path = name.split('__');
    const values = singleValueAt(collection, path);
    if (values) {
      known.add(name);
      if (!keys.has(values.index) && !keys.has(collection.ids)) keys.set(values.index, { path, isDescending });
    } else if (name !== '') unknown.add(name);
  }
  reading.ignoreNames(at, unknown, (name) => unfitMessage(reading, name, singleValueAt));
  if (known.size > ORDER_KEYS_MAX) reading.refuse(at, [MESSAGES.tooManyOrderKeys]);
  const ids = keys.get(collection.ids);
  if (ids && !ids.isDescending) keys.delete(collection.ids);
  reading.page.order = [...keys.values()];
}

/** Reads the facets, each once. An export has none, but rejects wrong facets too. */
export function readFacets(reading: Reading, value: string, at: number): void {
  const collection = reading.collection!;
  const facets = [...new Set(namesIn(reading, value, at))].map((name) => ({ name, path: name.split('__') }));
  const unknown = facets.filter(({ path }) => !facetValues(collection, path)).map(({ name }) => name);
  const messages = unknown.map((name) => unfitMessage(reading, name, valuesAt));
  if (facets.length > FACETS_MAX) messages.push(MESSAGES.tooManyFacets);
  reading.refuse(at, messages);
  if (!reading.page.exported) reading.page.facets = facets;
  else if (facets.length > 0 && messages.length === 0) reading.ignoreParameter(at, MESSAGES.exported);
}

/** The message for a name that is no field that fits, with the nearest one for the first few. */
function unfitMessage(reading: Reading, name: string, find: typeof valuesAt): string {
  const collection = reading.collection!;
  if (valuesAt(collection, name.split('__'))) return severalValues(name);
  const isFit = (key: string): boolean => find(collection, key.split('__')) !== undefined;
  const fields = reading.mayHint() ? [...collection.members.keys()].filter(isFit) : NONE;
  const nearest = nearestKey(name, { fields, others: NONE });
  return unknownField(name, nearest !== undefined && isFit(nearest) ? nearest : undefined);
}

/**
 * The members of a comma-separated value, trimmed and without empty ones. Too many members are rejected before they are
 * read, and the result is empty (A103). Cost: the value.
 */
function namesIn(reading: Reading, value: string, at: number): readonly string[] {
  if (countParts(value, ',') > NAMES_MAX) {
    reading.refuse(at, [MESSAGES.tooManyNames]);
    return [];
  }
  return value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
