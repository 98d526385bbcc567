// Whether the metadata of a snapshot is what import writes: counts, fields and outlines of each collection, each of its
// form, and the declared fields as this version declares them. Judges plain JSON, before anything is made of it.
import { collectionNamed, COLLECTIONS } from '../schema/catalogue.ts';
import { FIELD_NAME } from '../schema/layout.ts';
import type { Collection, Field } from '../schema/types.ts';
import type { Refusal } from './header.ts';
import { decodeMetadata, METADATA_NAME, type Metadata } from './metadata.ts';
import { GROUPS } from './sections.ts';

/** More levels than import takes of a record. */
const DEPTH_MAX = 100;

const VARIANTS = GROUPS.flatMap(({ variant }) => variant ?? []);
const TYPES = ['integer', 'float', 'text', 'boolean', 'date', 'dateTime'];

type Json = Readonly<Record<string, unknown>>;

/** The metadata in these bytes, or why it is refused. Cost: one pass over it. */
export function readMetadata(bytes: Uint8Array): Metadata | Refusal {
  try {
    const metadata = decodeMetadata(bytes);
    const fault = metadataFault(metadata);
    if (fault === undefined) return metadata as Metadata;
    return { refusal: `section ${METADATA_NAME}: ${fault}, expected what import writes` };
  } catch (error) {
    // What is no JSON, and what is nested too deep to be looked at.
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    return { refusal: `section ${METADATA_NAME}: ${error.message}, expected JSON` };
  }
}

function metadataFault(metadata: unknown): string | undefined {
  if (!isJson(metadata)) return 'no object';
  const { collections, fields, outlines, without = VARIANTS, ...others } = metadata;
  const [other] = Object.keys(others);
  if (other !== undefined) return `a key ${other}`;
  const left = VARIANTS.filter((variant) => Array.isArray(without) && without.includes(variant));
  if (!Array.isArray(without) || left.length === 0 || left.join() !== without.join()) return 'other variants';
  return (
    faultByCollection('collections', collections, countsFault) ??
    faultByCollection('fields', fields, (one, collection) => fieldsFault(one['fields'], collection.fields)) ??
    faultByCollection('outlines', outlines, outlinesFault)
  );
}

/** The first fault of a list that has an entry for each collection, in the order of the root view. */
function faultByCollection(
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

/** What is wrong with a list of fields, which starts with the documented ones. */
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

/** Whether a field is this one, its members apart. */
function isSame(field: Json, known: object): boolean {
  const bare = (one: object): string => JSON.stringify({ ...one, ...('fields' in one ? { fields: [] } : {}) });
  return bare(field) === bare(known);
}

/** Whether a field has the form of those that import infers, its members apart. */
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
  if ('type' in form) return TYPES.some((one) => one === type);
  return 'to' in form ? typeof to === 'string' && collectionNamed(to) !== undefined : Array.isArray(fields);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** As `isObject` (bits/json.ts), which would be a module more of each start. */
function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
