// Whether the columns and tables of a collection say what its records say, which are read again as JSON: an import that
// indexed wrongly leaves sections that agree with each other and with no record. For `verify --deep` only, behind the
// checks of verify.ts; shares no reader with import.
import { compareBytes } from '../bits/bytes.ts';
import { isObject } from '../bits/json.ts';
import { storedDictionary, textAt, type Dictionary } from '../column/dictionary.ts';
import { PLACEHOLDER } from '../column/records.ts';
import { SPEC_LINK_END } from '../column/served.ts';
import { collectionNamed } from '../schema/catalogue.ts';
import { type ColumnLayout, filterName, type Layout, layoutOf, type LayoutNode } from '../schema/layout.ts';
import type { Sections } from './loaded.ts';
import { layoutIn, type CollectionCounts, type Metadata } from './metadata.ts';
import { DICTIONARY, POSTINGS, RECORDS, runPath, TABLE, type SectionViews } from './sections.ts';

/** How much of one collection was compared, and in how many places index and record differ. `told` has the first. */
export interface Comparison {
  readonly records: number;
  readonly values: number;
  readonly elements: number;
  readonly ownUrls: number;
  readonly differences: number;
  readonly told: readonly string[];
}

/** So many differences of a collection are told; the others are counted. */
export const DIFFERENCES_TOLD = 10;

/** So many records are compared between two steps. */
const SLICE_RECORDS = 500;
/** More of a value tells people nothing more. */
const SHOWN_CHARACTERS_MAX = 60;

const UTF8 = new TextEncoder();
const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LENIENT = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Compares all values, elements and own URLs of a collection's records, loaded with the placeholder as base URL, with
 * its columns, tables and positions, which `verifyCollection` found in order. Yields how many records were done every
 * few of them. Each difference is a sentence: collection, id, field, what the index says and what the record says.
 * Cost: every record is parsed as JSON, some 2 us a value; memory is that of one record.
 */
export function* compareRecords(
  sections: Sections,
  metadata: Metadata,
  { name, chunks }: CollectionCounts,
): Generator<number, Comparison> {
  const comparer = new Comparer(sections, layoutIn(metadata, collectionNamed(name)!));
  for (let i = 0; i < chunks; i++) {
    const { bytes, ends, linkEnds } = sections.views(RECORDS, runPath(RECORDS, name, i));
    for (let k = 0, start = 0, link = 0; k < ends.length; k++) {
      // A copy, since no text is decoded from shared memory.
      comparer.record(bytes.slice(start, ends[k]! - 1), linkEnds[k]! - link);
      start = ends[k]!;
      link = linkEnds[k]!;
      if (k % SLICE_RECORDS === 0) yield comparer.tally.records;
    }
  }
  return comparer.tally;
}

/** A number as it stands in a record: a double has not all its digits. */
export class NumberToken {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value that stands where documents show an object or array. */
class Misfit {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

/** JSON.parse with the texts of primitive values (ES2026), which the types of this release do not know yet. */
type ParseWithSource = (
  text: string,
  revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown;
const parseWithSource = JSON.parse as ParseWithSource;

/** JSON with its numbers as written (`NumberToken`), undefined if it is none. `onText` is called with each text. */
export function parsedJson(bytes: Uint8Array, onText: (text: string) => void = () => undefined): unknown {
  try {
    return parseWithSource(STRICT.decode(bytes), (_, value, { source = '' }) => {
      if (typeof value === 'string') onText(value);
      return typeof value === 'number' ? new NumberToken(source) : value;
    });
  } catch (error) {
    // What is no JSON, what is no UTF-8, and what is nested deeper than anything that an import takes.
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) return undefined;
    throw error;
  }
}

interface Column {
  readonly field: string;
  readonly layout: ColumnLayout;
  readonly dictionary: Dictionary;
  /** The column of the records' own ids has none: its codes are the rows. */
  readonly codes: SectionViews<typeof POSTINGS>['codes'] | undefined;
}

/** A row of the table at hand, and the row of the record around it. */
interface Place {
  readonly row: number;
  readonly record: number;
}

/** Compares records one by one. */
class Comparer {
  readonly tally = { records: 0, values: 0, elements: 0, ownUrls: 0, differences: 0, told: [] as string[] };
  readonly #layout: Layout;
  readonly #columns: readonly Column[];
  readonly #starts: readonly (Uint32Array | undefined)[];
  readonly #documented: ReadonlySet<string>;
  #ownUrls = 0;

  constructor(sections: Sections, layout: Layout) {
    this.#layout = layout;
    this.#documented = new Set(layoutOf(layout.collection).columns.map(({ path }) => path));
    this.#columns = layout.columns.map((column) => columnIn(sections, column));
    this.#starts = layout.tables.map(({ path, parent }) =>
      parent < 0 ? undefined : sections.views(TABLE, path).starts,
    );
  }

  /** Compares the next record, which has `ownUrls` own URLs by the positions of them. */
  record(bytes: Uint8Array, ownUrls: number): void {
    const row = this.tally.records++;
    this.#ownUrls = 0;
    const record = parsedJson(bytes, (text) => {
      if (text.startsWith(PLACEHOLDER)) this.#ownUrls++;
    });
    if (!isRecord(record)) return this.#differ(row, 'the record is no JSON object');
    this.#members(this.#layout.members, record, { row, record: row });
    this.tally.ownUrls += this.#ownUrls;
    if (ownUrls !== this.#ownUrls) this.#differ(row, `the index has ${ownUrls} own URLs, the record ${this.#ownUrls}`);
  }

  /** What an object has not is null, and null has nothing. */
  #members(nodes: readonly LayoutNode[], object: unknown, at: Place): void {
    const members = isRecord(object) ? object : {};
    for (const node of nodes) {
      const value = Object.hasOwn(members, node.name) ? members[node.name] : null;
      if (node.kind === 'column') this.#value(node.column, value, at);
      else if (node.kind === 'record') this.#members(node.members, recordFor(node, value), at);
      else if (node.kind !== 'opaque') this.#elements(node, value, at);
    }
  }

  #elements(node: LayoutNode & { readonly kind: 'table' | 'elements' }, value: unknown, at: Place): void {
    const elements: readonly unknown[] = Array.isArray(value) ? value : value === null ? [] : [new Misfit(value)];
    const [start, end] = [this.#starts[node.table]![at.row]!, this.#starts[node.table]![at.row + 1]!];
    if (end - start !== elements.length) {
      const field = filterName(this.#layout.tables[node.table]!);
      this.#differ(at.record, `the index has ${end - start} elements of ${field}, the record ${elements.length}`);
    }
    for (let i = 0; i < Math.min(end - start, elements.length); i++) {
      const inside = { row: start + i, record: at.record };
      this.tally.elements++;
      if (node.kind === 'table') this.#members(node.members, elements[i], inside);
      else this.#value(node.column, elements[i], inside);
    }
  }

  #value(number: number, value: unknown, { row, record }: Place): void {
    this.tally.values++;
    const { dictionary, codes, layout, field } = this.#columns[number]!;
    const code = codes ? codes[row]! : row;
    const found = code < dictionary.size ? textAt(dictionary, code) : undefined;
    if (value === null ? !found : found && this.#isIndexed(layout, value, found, code >= dictionary.fitting)) return;
    const indexed = found ? shown(LENIENT.decode(found.slice())) : 'null';
    this.#differ(record, `${field} is ${indexed} in the index and ${shownValue(value)} in the record`);
  }

  /** Whether a column has a value under its text, among its misfits if it is one. Which texts are dates is verified. */
  #isIndexed(layout: ColumnLayout, value: unknown, found: Uint8Array, isMisfit: boolean): boolean {
    const isDocumented = this.#documented.has(layout.path);
    const text = indexedText(layout, value, isDocumented);
    if (text === undefined)
      return isMisfit && isDocumented && this.#layout.collection.open && isMisfitText(found, value);
    const isDate = layout.type === 'date' || layout.type === 'dateTime';
    return compareBytes(found, UTF8.encode(text)) === 0 && (isDate || !isMisfit);
  }

  #differ(row: number, what: string): void {
    if (this.tally.differences++ >= DIFFERENCES_TOLD) return;
    const { dictionary } = this.#columns.find(({ layout }) => layout.isId)!;
    const id = LENIENT.decode(textAt(dictionary, row).slice());
    this.tally.told.push(`${this.#layout.collection.name} ${id}: ${what}`);
  }
}

function columnIn(sections: Sections, layout: ColumnLayout): Column {
  const { path, type, isId } = layout;
  const dictionary = storedDictionary(type, sections.views(DICTIONARY, path));
  return {
    field: filterName(layout),
    layout,
    dictionary,
    codes: isId ? undefined : sections.views(POSTINGS, path).codes,
  };
}

/** The text that a column has for a value of a record, undefined if the value does not fit. */
export function indexedText(
  { type, to }: Pick<ColumnLayout, 'type' | 'to'>,
  value: unknown,
  isDocumented: boolean,
): string | undefined {
  switch (type) {
    case 'link':
      return typeof value === 'string' ? linkedId(value, `${PLACEHOLDER}/api/v3/${to}/`) : undefined;
    case 'integer':
      return value instanceof NumberToken && /^-?\d+$/.test(value.text) ? value.text : undefined;
    case 'float':
      return value instanceof NumberToken ? value.text : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? String(value) : undefined;
    case 'date':
    case 'dateTime':
      return typeof value === 'string' ? value : undefined;
    case 'text':
      if (typeof value === 'string') return value;
      // In inferred columns values of several types are texts (A54).
      return isDocumented || isNested(value) ? undefined : scalarText(value);
  }
}

/** Whether a text is that of a misfit: of a scalar as it is served, of an object or array its JSON. */
function isMisfitText(found: Uint8Array, value: unknown): boolean {
  const misfit = value instanceof Misfit ? value.value : value;
  if (!isNested(misfit)) return compareBytes(found, UTF8.encode(scalarText(misfit))) === 0;
  // JSON.parse moves keys that are digits: it does so in both.
  return JSON.stringify(parsedJson(found.slice())) === JSON.stringify(misfit);
}

function isNested(value: unknown): boolean {
  return Array.isArray(value) || isRecord(value);
}

function scalarText(value: unknown): string {
  return value instanceof NumberToken ? value.text : String(value);
}

/** A value of an object where its members are compared: another value is a misfit of the id of the object. */
function recordFor({ idField }: { readonly idField: string | undefined }, value: unknown): unknown {
  return value === null || isRecord(value) || idField === undefined ? value : { [idField]: new Misfit(value) };
}

function linkedId(url: string, prefix: string): string | undefined {
  const id = url.slice(prefix.length, -SPEC_LINK_END.length);
  return url === prefix + id + SPEC_LINK_END && /^\d+$/.test(id) ? id : undefined;
}

/** Whether a value of `parsedJson` is an object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !(value instanceof NumberToken) && !(value instanceof Misfit);
}

function shownValue(value: unknown): string {
  if (value instanceof NumberToken) return shown(value.text);
  return typeof value === 'string' ? shown(value) : JSON.stringify(value).slice(0, SHOWN_CHARACTERS_MAX);
}

function shown(text: string): string {
  const cut = text.slice(0, SHOWN_CHARACTERS_MAX);
  return JSON.stringify(cut === text ? text : `${cut}...`);
}
