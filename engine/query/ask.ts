// A request for records as plain data: conditions, page, shape, and the problems of its query. If two requests find the
// same rows, or show the same part of them, their canonical texts are equal.
import type { Problem } from './problems.ts';
import type { Operand } from './values.ts';
import type { ServedForm } from '../column/served.ts';

export type Parameter = readonly [name: string, value: string];

const PERCENT = 0x25;
const PLUS = 0x2b;
const BLANK = 0x20;
const PLAIN = /^[ !-$&-*,-~]*$/;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Parses the text after `?` into parameters, in order. Splits at `&`, skips empty parts, and splits name and value at
 * the first `=`. `+` is a blank, invalid UTF-8 and lone surrogates become U+FFFD, broken escapes stay as they are. A
 * leading `?` belongs to the first name. `filters[x]` becomes `x` (A151). Cost: the length of the text. Source: A39,
 * URL standard, section 5.1.
 */
export function decodeForm(query: string | undefined): readonly Parameter[] {
  if (query === undefined) return NONE;
  const parameters: Parameter[] = [];
  const isPlain = PLAIN.test(query);
  for (let start = 0; start < query.length;) {
    const next = query.indexOf('&', start);
    const end = next < 0 ? query.length : next;
    if (end > start) parameters.push(parameterIn(query.slice(start, end), isPlain));
    start = end + 1;
  }
  return parameters;
}

function parameterIn(part: string, isPlain: boolean): Parameter {
  const at = part.indexOf('=');
  const name = at < 0 ? part : part.slice(0, at);
  const value = at < 0 ? '' : part.slice(at + 1);
  return isPlain ? [fieldIn(name), value] : [fieldIn(decode(name)), decode(value)];
}

/** True for `filters` and for a member of it, such as `filters[x]`: some clients write an object in a query. */
export function isOfFilters(name: string): boolean {
  return name === 'filters' || name.startsWith('filters[');
}

const MEMBER = /^filters\[([^[\]]+)\]$/;

function fieldIn(name: string): string {
  return isOfFilters(name) ? (MEMBER.exec(name)?.[1] ?? name) : name;
}

const NONE: readonly Parameter[] = [];

function decode(text: string): string {
  return PLAIN.test(text) ? text : decoder.decode(decodedBytes(text, true));
}

/**
 * Decodes the percent escapes of a text into UTF-8 bytes and keeps broken escapes. `+` becomes a blank if
 * `isPlusBlank`. Cost: the length of the text.
 */
export function decodedBytes(text: string, isPlusBlank: boolean): Uint8Array {
  const bytes = encoder.encode(text);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const value = bytes[i] === PERCENT ? hexadecimal(bytes, i + 1) : -1;
    if (value >= 0) i += 2;
    bytes[length++] = value >= 0 ? value : isPlusBlank && bytes[i] === PLUS ? BLANK : bytes[i]!;
  }
  return bytes.subarray(0, length);
}

/** Value of the two hexadecimal digits at `at`, or -1. */
function hexadecimal(bytes: Uint8Array, at: number): number {
  const high = digit(bytes[at]);
  const low = digit(bytes[at + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function digit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}

/** Options that decide how queries are read, most of them settings (A19, A27, A29, A33, A68, A69). */
export interface QueryOptions {
  readonly limitDefault: number;
  /** `undefined`: no upper bound. */
  readonly limitMax: number | undefined;
  readonly isStrict: boolean;
  readonly filterErrors: 'fail' | 'empty' | 'ignore';
  readonly filters: 'all' | 'documented';
  readonly mayExplain?: boolean;
  readonly pinsWalks?: boolean;
  /** The export to make if the query names no format (A51). */
  readonly exported?: ExportFormat;
}

/** Export formats: they contain all rows if the query sets no limit, and have no envelope (A62). */
export type ExportFormat = 'ndjson' | 'csv' | 'parquet';

/** One filter, ready to be planned. */
export interface Condition {
  /** The parameter name as the client wrote it, decoded. */
  readonly key: string;
  /** Field names from the collection to the field. */
  readonly path: readonly string[];
  readonly lookup: string;
  readonly isNegated: boolean;
  readonly operand: Operand;
}

/**
 * Sets of conditions. A record matches if all conditions of one set hold, those on one relation for one related row.
 */
export type AnyOf = readonly (readonly Condition[])[];

/** One sort key: the path of a scalar, or of a to-one relation, which is sorted by its id. */
export interface OrderKey {
  readonly path: readonly string[];
  readonly isDescending: boolean;
}

/** A field that the client names: that of a facet, or one to join. */
export interface NamedField {
  /** The name as the client wrote it. */
  readonly name: string;
  readonly path: readonly string[];
}

/** The order of the results of a search: by the first tier that a record matches, the whole words first, then by id. */
export interface Ranking {
  /** A record is in a tier if it matches all of its members. A record in none comes last. */
  readonly tiers: readonly (readonly AnyOf[])[];
  /** Matched by records that contain every word as a whole word. */
  readonly whole: readonly AnyOf[];
}

/** A name without effect: a parameter, or a name inside a parameter's value. */
export type IgnoredName = string | readonly [parameter: string, name: string];

/**
 * The part of a list to show, and its shape. For a single record only `keys`, `joined`, `expand`, `format`, `exported`,
 * `isIndented` and `hasBom` matter.
 */
export interface Page {
  /** Empty if the list is ordered by id. */
  readonly order: readonly OrderKey[];
  /** Defined if the list is ordered by how well records match a search. */
  readonly ranking: Ranking | undefined;
  /** Show only records with a larger id. */
  readonly after: number | undefined;
  readonly offset: number;
  readonly limit: number;
  readonly facets: readonly NamedField[];
  /** The top-level keys to keep of each record; `undefined` keeps all. */
  readonly keys: ReadonlySet<string> | undefined;
  /** The fields to add to each record, mostly over links. The names of their paths are in full (`PathEnd`). */
  readonly joined: readonly NamedField[];
  /** The paths of links that the records they lead to replace. */
  readonly expand: readonly (readonly string[])[];
  /** The format that the query names, if any. */
  readonly format: string | undefined;
  /** `undefined`: the response is JSON. */
  readonly exported: ExportFormat | undefined;
  /** Whether JSON is indented, for human readers. */
  readonly isIndented: boolean;
  /** Whether CSV begins with a byte order mark. */
  readonly hasBom: boolean;
}

/** A parsed query. */
export interface Ask {
  /** All decoded pairs, in query order. */
  readonly parameters: readonly Parameter[];
  readonly page: Page;
  readonly conditions: readonly Condition[];
  /** The conditions of parameters such as `bbox`. A record must match each of them. */
  readonly anyOf: readonly AnyOf[];
  /** A bad filter makes the list empty, because `filterErrors` is `empty` (A29). */
  readonly isEmpty: boolean;
  /** The client requests the plan of the list instead of the list (A68). */
  readonly isExplained: boolean;
  /** The generation that the request names (A69). */
  readonly generation: string | undefined;
  /** Names without effect, each once, in query order. */
  readonly ignored: readonly IgnoredName[];
  /** In query order. If there are any, the response is a 400 that lists them. */
  readonly problems: readonly Problem[];
}

/** The part of a request that decides which rows match. */
type Filter = Pick<Ask, 'conditions' | 'anyOf' | 'isEmpty'>;

/** The part of a planned list that decides the content of its export. */
interface Listed {
  readonly collection: { readonly declaration: { readonly name: string } };
  readonly ask: Filter;
  readonly plan: { readonly form: ServedForm; readonly page: Page };
}

/** Longer lists keep their order in the key: sorting a list of 12,000 members costs more than finding its rows. */
const SORTED_MEMBERS_MAX = 256;

/**
 * Cache key of a filter on a collection of one generation. The key depends neither on the order of the conditions nor
 * on the spelling of values. For `in` with at most SORTED_MEMBERS_MAX members, order and repeats do not matter either.
 * The form counts only if texts are compared, because only texts contain own URLs. Cost: about 1 us a condition, and
 * 0.05 us a member of `in`.
 */
export function filterKey(generation: string, collection: string, filter: Filter, form: ServedForm): string {
  const conditions = filter.conditions.map(conditionKey).sort();
  const seesUrls = [...filter.conditions, ...filter.anyOf.flat(2)].some(({ operand }) => operand.kind !== 'number');
  const served = seesUrls ? [form.version, form.baseUrl, form.linkEnd] : [];
  const anyOf = filter.anyOf.map((sets) => sets.map((set) => set.map(conditionKey)));
  return JSON.stringify([generation, collection, filter.isEmpty, served, anyOf]) + conditions.join('');
}

/**
 * Cache key of the part of a filter's rows that a page shows: everything of the page except the shape of its records.
 * The form counts, because facets and orders also compare own URLs. `after` is written as text, because it may be
 * infinite, which JSON cannot express. Cost: about 1 us.
 */
export function viewKey(page: Page, { version, baseUrl, linkEnd }: ServedForm): string {
  const { keys: _1, joined: _2, expand: _3, format: _4, exported: _5, isIndented: _6, hasBom: _7, ...rest } = page;
  const { after, ...shown } = rest;
  return JSON.stringify([{ ...shown, after: String(after) }, version, baseUrl, linkEnd]);
}

/**
 * Cache key of an export: its rows, their order, the format and the members. Equal keys mean equal bytes. Cost: that of
 * `filterKey` and `viewKey`.
 */
export function exportKey(generation: string, { collection, ask, plan: { form, page } }: Listed): string {
  const { exported, keys, joined, expand, hasBom } = page;
  const shape = JSON.stringify([exported, keys && [...keys], joined, expand, hasBom]);
  return `${filterKey(generation, collection.declaration.name, ask, form)} ${viewKey(page, form)} ${shape}`;
}

function conditionKey({ path, lookup, isNegated, operand: { kind, values } }: Condition): string {
  const isSet = lookup === 'in' && values.length <= SORTED_MEMBERS_MAX;
  return JSON.stringify([path, lookup, isNegated, kind, isSet ? [...new Set(values)].sort() : values]);
}
