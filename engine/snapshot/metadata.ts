// The metadata section of a snapshot: the counts of the import as JSON, and the values that do not fit (A150). For
// reports and pages, never for a hot path. The same counts and fields always give the same bytes.
import type { Outlines } from '../column/records.ts';
import type { Section } from './directory.ts';
import type { Sections } from './loaded.ts';
import { DICTIONARY, GROUPS, METADATA, POSTINGS, sectionName, TABLE, type Variant } from './sections.ts';
import { collectionNamed, COLLECTIONS } from '../schema/catalogue.ts';
import { type ColumnLayout, FIELD_NAME, filterName, type Layout, layoutOf } from '../schema/layout.ts';
import type { Collection, Field } from '../schema/types.ts';
import type { Refusal } from './header.ts';

/** The counts of the import in one collection. */
export interface CollectionCounts {
  readonly name: string;
  readonly records: number;
  /** The number of runs in which the record bytes are stored. */
  readonly chunks: number;
  readonly nulls: number;
  readonly dangling: number;
}

/** The fields of one collection in its data: the declared ones and the inferred ones. */
export interface CollectionFields {
  readonly name: string;
  readonly fields: readonly Field[];
}

/** The outlines of one collection's records. Their sections contain indexes of `lists`. */
export interface CollectionOutlines extends Outlines {
  readonly name: string;
}

/** The metadata of a snapshot. */
export interface Metadata {
  readonly collections: readonly CollectionCounts[];
  readonly fields: readonly CollectionFields[];
  readonly outlines: readonly CollectionOutlines[];
  /** The index variants that were omitted; undefined if none were. */
  readonly without?: readonly Variant[];
}

export const METADATA_NAME = sectionName(METADATA, 'bytes', METADATA.path);

/**
 * Encodes the metadata, without the documented values of fields: the program declares these, and they may change while
 * the data does not.
 */
export function encodeMetadata({ collections, fields, ...others }: Metadata): Uint8Array {
  const storedFields = fields.map((collection) => ({ ...collection, fields: collection.fields.map(omitValues) }));
  return new TextEncoder().encode(JSON.stringify({ collections, fields: storedFields, ...others }));
}

function omitValues(field: Field): Field {
  if ('fields' in field) return { ...field, fields: field.fields.map(omitValues) };
  if (field.kind !== 'scalar') return field;
  const { kind, name, type, nullable } = field;
  return { kind, name, type, nullable };
}

/** Parses the metadata. Throws SyntaxError if it is not JSON. */
export function decodeMetadata(bytes: Uint8Array): unknown {
  // Copies the bytes, because TextDecoder does not accept shared memory.
  return JSON.parse(new TextDecoder('utf-8').decode(bytes.slice()));
}

/** The metadata of a loaded snapshot, which must have been checked by `readMetadata`. */
export function decodeLoadedMetadata(sections: Pick<Sections, 'views'>): Metadata {
  return decodeMetadata(sections.views(METADATA, METADATA.path).bytes) as Metadata;
}

/** The layout of a collection with the fields of the snapshot's data. */
export function readLayout({ fields }: Metadata, collection: Collection): Layout {
  return layoutOf(collection, fields.find(({ name }) => name === collection.name)?.fields);
}

/** The outlines of a declared collection's records. */
export function readOutlines(metadata: Metadata, name: string): Outlines {
  return metadata.outlines.find((entry) => entry.name === name)!;
}

/** The misfits of one field. */
export interface FieldMisfits {
  readonly collection: string;
  /** The name of the field in filters. */
  readonly field: string;
  readonly type: ColumnLayout['type'];
  /** The number of misfits. */
  readonly values: number;
  /** The first misfits in id order, with long texts cut. `place` is the file and line of the record, if known. */
  readonly examples: readonly { readonly id: number; readonly text: string; readonly place?: string | undefined }[];
}

const EXAMPLES_MAX = 5;
const CHARACTERS_MAX = 60;
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The misfits of all fields that have some. `read` returns the sections of a group, `placeOf` the file and line of a
 * record. Cost: a pass over the rows of these values.
 */
export function listMisfits(
  sections: readonly Section[],
  read: Sections['views'],
  placeOf?: (collection: string, id: number) => string | undefined,
): readonly FieldMisfits[] {
  const names = new Set(sections.map(({ name }) => name));
  const metadata = decodeLoadedMetadata({ views: read });
  return COLLECTIONS.flatMap((collection) => {
    const { tables, columns } = readLayout(metadata, collection);
    const affected = columns.filter(({ path }) => names.has(sectionName(DICTIONARY, 'fitting', path)));
    return affected.map(({ path, table, type, ...column }) => {
      const { text: texts, ends, fitting } = read(DICTIONARY, path);
      const { codes, starts, postings } = read(POSTINGS, path);
      const rows = postings.slice(starts[fitting![0]!], starts[ends.length]).sort();
      const { numbers: ids } = read(DICTIONARY, `${collection.name}/${collection.idField}`);
      const examples = Array.from(rows.subarray(0, EXAMPLES_MAX), (row) => {
        let record = row;
        for (let i = table; i > 0; i = tables[i]!.parent) record = read(TABLE, tables[i]!.path).parents[record]!;
        const code = codes[row]!;
        const text = DECODER.decode(texts.slice(ends[code - 1] ?? 0, ends[code]));
        const shortened = text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}...` : text;
        return { id: ids![record]!, text: shortened, place: placeOf?.(collection.name, ids![record]!) };
      });
      const field = filterName({ path, ...column });
      return { collection: collection.name, field, type, values: rows.length, examples };
    });
  });
}

/** One line about the misfits of a field. */
export function misfitText({ collection, field, type, values, examples }: FieldMisfits): string {
  const places = examples.map(({ id, text, place }) => {
    return `${JSON.stringify(text)} in record ${id}${place === undefined ? '' : ` (${place})`}`;
  });
  const rest = values > examples.length ? ', ...' : '';
  const count = values === 1 ? '1 value does' : `${values} values do`;
  return `${collection}.${field}: ${count} not fit the type ${type}: ${places.join(', ')}${rest}`;
}

/** More levels than the import accepts in a record. */
const DEPTH_MAX = 100;

const VARIANTS = GROUPS.flatMap(({ variant }) => variant ?? []);
const TYPES = ['integer', 'float', 'text', 'boolean', 'date', 'dateTime'];

type Json = Readonly<Record<string, unknown>>;

/** Parses the metadata and checks it. Returns it, or why it is refused. Cost: one pass over it. */
export function readMetadata(bytes: Uint8Array): Metadata | Refusal {
  try {
    const metadata = decodeMetadata(bytes);
    const fault = metadataFault(metadata);
    if (fault === undefined) return metadata as Metadata;
    return { refusal: `section ${METADATA_NAME}: ${fault}, expected what import writes` };
  } catch (error) {
    // Not JSON, or nested too deeply to be checked.
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    return { refusal: `section ${METADATA_NAME}: ${error.message}, expected JSON` };
  }
}

function metadataFault(metadata: unknown): string | undefined {
  if (!isJson(metadata)) return 'no object';
  const { collections, fields, outlines, without = VARIANTS, ...others } = metadata;
  const [other] = Object.keys(others);
  if (other !== undefined) return `a key ${other}`;
  const omitted = VARIANTS.filter((variant) => Array.isArray(without) && without.includes(variant));
  if (!Array.isArray(without) || omitted.length === 0 || omitted.join() !== without.join()) return 'other variants';
  return (
    findFault('collections', collections, countsFault) ??
    findFault('fields', fields, (entry, collection) => fieldsFault(entry['fields'], collection.fields)) ??
    findFault('outlines', outlines, outlinesFault)
  );
}

/** The first fault of a list that must have an entry for each collection, in the order of the root view. */
function findFault(
  key: string,
  list: unknown,
  faultOf: (entry: Json, collection: Collection) => string | undefined,
): string | undefined {
  const entries: readonly unknown[] = Array.isArray(list) ? list : [];
  for (const [i, collection] of COLLECTIONS.entries()) {
    const entry = entries[i];
    if (!isJson(entry) || entry['name'] !== collection.name) return `no ${key} of ${collection.name} at ${i}`;
    const fault = faultOf(entry, collection);
    if (fault !== undefined) return `${key} of ${collection.name} with ${fault}`;
  }
  return entries.length === COLLECTIONS.length ? undefined : `${entries.length} ${key}`;
}

function countsFault(counts: Json): string | undefined {
  const [, ...keys] = Object.keys(counts);
  if (keys.join() !== 'records,chunks,nulls,dangling') return 'other counts';
  const wrong = keys.find((key) => !isCount(counts[key]));
  return wrong && `no count of ${wrong}`;
}

function outlinesFault({ keys, lists }: Json): string | undefined {
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string')) return 'keys that are no texts';
  const isList = (list: unknown): boolean =>
    Array.isArray(list) && list.every((key) => isCount(key) && key < keys.length);
  if (!Array.isArray(lists)) return 'no lists';
  const wrong = lists.findIndex((list) => !isList(list));
  return wrong < 0 ? undefined : `outline ${wrong} of keys that are not below ${keys.length}`;
}

/** The first fault of a list of fields, which must start with the documented ones. */
function fieldsFault(fields: unknown, documented: readonly Field[], depth = 0): string | undefined {
  if (!Array.isArray(fields) || depth > DEPTH_MAX) return 'fields that are no list';
  const names = new Set<unknown>();
  for (const [i, field] of fields.entries()) {
    if (!isJson(field) || typeof field['name'] !== 'string') return `no field at ${i}`;
    const { name } = field;
    if (names.size === names.add(name).size) return `two fields ${name}`;
    const known = documented[i];
    if (known ? !isSame(field, { ...known, values: undefined }) : !isInferred(field)) return `another field ${name}`;
    const inner = known && 'fields' in known ? known.fields : [];
    const fault = 'fields' in field ? fieldsFault(field['fields'], inner, depth + 1) : undefined;
    if (fault !== undefined) return fault;
  }
  return fields.length < documented.length ? `no field ${documented[fields.length]!.name}` : undefined;
}

/** Whether a field equals this one, apart from its members. */
function isSame(field: Json, known: object): boolean {
  const omitMembers = (field: object): string =>
    JSON.stringify({ ...field, ...('fields' in field ? { fields: [] } : {}) });
  return omitMembers(field) === omitMembers(known);
}

/** Whether a field has the form of inferred fields, apart from its members. */
function isInferred(field: Json): boolean {
  const { kind, name, type, to, fields, idField } = field;
  const embedded = { kind, name, fields, ...(idField === 'ob_id' ? { idField } : {}) };
  const forms = new Map<unknown, object>([
    ['scalar', { kind, name, type, nullable: true }],
    ['link', { kind, name, to, nullable: true }],
    ['scalars', { kind, name, type }],
    ['links', { kind, name, to }],
    ['record', embedded],
    ['records', embedded],
  ]);
  const form = forms.get(kind);
  if (!form || !isSame(field, form) || typeof name !== 'string' || !FIELD_NAME.test(name)) return false;
  if ('type' in form) return TYPES.some((known) => known === type);
  return 'to' in form ? typeof to === 'string' && collectionNamed(to) !== undefined : Array.isArray(fields);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** As `isObject` (bits/json.ts), which would be another module to load at each start. */
function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
