// A request for records as plain data: conditions, page, shape, and the problems of its query. Its canonical texts are
// equal if two requests find the same rows, or show the same of them.
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
 * The parameters of the text behind `?`, in order: split at `&`, empty parts skipped, name and value split at the first
 * `=`, `+` a blank, invalid UTF-8 and lone surrogates U+FFFD, broken escapes kept. A leading `?` belongs to the first
 * name. `filters[x]` is `x` (A151). Cost: the length of the text. Source: A39, URL standard, section 5.1.
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

/** Whether a name is `filters` or a member of it, as clients write an object in a query. */
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

/** The bytes of a text with its escapes decoded, broken ones kept, `+` a blank where asked. Cost: its length. */
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

/** The byte that two hexadecimal digits at `at` stand for, or -1. */
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

/**
 * What decides how queries are read, most of it settings (A19, A27, A29, A33, A68, A69). `limitMax` undefined: no upper
 * bound. `exported`: the export that is made where the query names no format (A51).
 */
export interface QueryOptions {
  readonly limitDefault: number;
  readonly limitMax: number | undefined;
  readonly isStrict: boolean;
  readonly filterErrors: 'fail' | 'empty' | 'ignore';
  readonly filters: 'all' | 'documented';
  readonly mayExplain?: boolean;
  readonly pinsWalks?: boolean;
  readonly exported?: ExportFormat;
}

/** The formats that give all rows where no limit is set, without an envelope (A62). */
export type ExportFormat = 'ndjson' | 'csv' | 'parquet';

/** One filter, ready to be planned. `key` is the name as the client wrote it, decoded; `path` the field's names. */
export interface Condition {
  readonly key: string;
  readonly path: readonly string[];
  readonly lookup: string;
  readonly isNegated: boolean;
  readonly operand: Operand;
}

/** One key of an order: a scalar's path, or that of a to-one relation, which stands for its id. */
export interface OrderKey {
  readonly path: readonly string[];
  readonly isDescending: boolean;
}

/** A facet: its name as the client wrote it, and the names it consists of. */
export interface Facet {
  readonly name: string;
  readonly path: readonly string[];
}

/** A name that has no effect: a parameter, or a name inside the value of one. */
export type IgnoredName = string | readonly [parameter: string, name: string];

/**
 * Which part of a list is shown, and in which shape. `order` is empty where it is by id. `after`: only records with a
 * larger id are shown. `keys` are the top-level keys that records are cut to, undefined for whole records. `format` is
 * undefined where none is named; `exported` is the export to make, undefined for JSON, which is `isIndented`
 * for people. Of a single record only these four say something.
 */
export interface Page {
  readonly order: readonly OrderKey[];
  readonly after: number | undefined;
  readonly offset: number;
  readonly limit: number;
  readonly facets: readonly Facet[];
  readonly keys: ReadonlySet<string> | undefined;
  readonly format: string | undefined;
  readonly exported: ExportFormat | undefined;
  readonly isIndented: boolean;
}

/**
 * A parsed query. `parameters` are all decoded pairs in query order. `isEmpty` where a bad filter makes the list empty
 * (A29, `filterErrors` being `empty`). `isExplained` where not the list is wanted but how it is found (A68).
 * `generation` is the one that the request names (A69). `ignored` are the names without effect, once each, in query
 * order. With `problems`, in query order too, the answer is a 400 that lists them.
 */
export interface Ask {
  readonly parameters: readonly Parameter[];
  readonly page: Page;
  readonly conditions: readonly Condition[];
  readonly isEmpty: boolean;
  readonly isExplained: boolean;
  readonly generation: string | undefined;
  readonly ignored: readonly IgnoredName[];
  readonly problems: readonly Problem[];
}

/** The part of what is asked that decides which rows match. */
type Filter = Pick<Ask, 'conditions' | 'isEmpty'>;

/** The part of a planned list that decides what its export shows. */
interface Listed {
  readonly collection: { readonly declaration: { readonly name: string } };
  readonly ask: Filter;
  readonly plan: { readonly form: ServedForm; readonly page: Page };
}

/** Longer lists are taken as they come: sorting one of 12,000 members costs more than finding its rows. */
const SORTED_MEMBERS_MAX = 256;

/**
 * The key of a filter on a collection of one generation. Conditions in any order, values in any spelling and up to
 * SORTED_MEMBERS_MAX members of `in` in any order and number give one key. The form counts only where texts are
 * compared, since own URLs are texts. Cost: about 1 us a condition; for `in` 0.05 us a member.
 */
export function filterKey(generation: string, collection: string, filter: Filter, form: ServedForm): string {
  const conditions = filter.conditions.map(conditionKey).sort();
  const seesUrls = filter.conditions.some(({ operand }) => operand.kind !== 'number');
  const served = seesUrls ? [form.version, form.baseUrl, form.linkEnd] : [];
  return JSON.stringify([generation, collection, filter.isEmpty, served]) + conditions.join('');
}

/**
 * The key of what is shown of a filter's rows: all of a page but the shape of its records. The form counts, since own
 * URLs are texts that are counted and ordered too. An id may be infinite, which JSON does not know. Cost: about 1 us.
 */
export function viewKey(page: Page, { version, baseUrl, linkEnd }: ServedForm): string {
  const { keys: _keys, format: _format, exported: _exported, isIndented: _isIndented, after, ...shown } = page;
  return JSON.stringify([{ ...shown, after: String(after) }, version, baseUrl, linkEnd]);
}

/**
 * The key of an export of a list: its rows, how they are shown, in which form and members. Equal keys mean equal bytes.
 * Cost: those of both keys.
 */
export function exportKey(generation: string, { collection, ask, plan: { form, page } }: Listed): string {
  const shape = JSON.stringify([page.exported, page.keys && [...page.keys]]);
  return `${filterKey(generation, collection.declaration.name, ask, form)} ${viewKey(page, form)} ${shape}`;
}

function conditionKey({ path, lookup, isNegated, operand: { kind, values } }: Condition): string {
  const isSet = lookup === 'in' && values.length <= SORTED_MEMBERS_MAX;
  return JSON.stringify([path, lookup, isNegated, kind, isSet ? [...new Set(values)].sort() : values]);
}
