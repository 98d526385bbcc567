// Describes a collection for the HTML pages: the columns of its table, the label of a record, the fields to filter by,
// and the fields of other collections that link here. Derived from the declaration, schema/browse.ts and the fields of
// the data. Only the pages use it.
import { textAt } from '../column/dictionary.ts';
import { PLACEHOLDER } from '../column/records.ts';
import { PRESENTATIONS } from '../schema/browse.ts';
import type { FieldIndex } from '../index/field.ts';
import type { CollectionIndex, Link, Members } from '../index/table.ts';
import type { Collection, Field } from '../schema/types.ts';
import { describedFields } from './describe.ts';
import { DEFAULT_LOOKUP } from './lookups.ts';
import { facetValues, locate, singleValueAt } from './path.ts';
import { servedFields } from './served.ts';

/** A field that a form can filter by. */
export interface FilterField {
  /** The name of its filter. */
  readonly key: string;
  readonly type: string;
  /** The values that public documents show. */
  readonly values: readonly string[];
  readonly lookups: readonly string[];
  readonly sentence: string;
  /** Whether a list can be sorted by the field. */
  readonly isOrdered: boolean;
}

/** A field of one collection that links to records of another. */
export interface Reference {
  readonly collection: string;
  /** A filter of `collection`; its value is the id of the linked record. */
  readonly key: string;
  /** The filter that decides the collection of a generic link. */
  readonly kind?: { readonly key: string; readonly value: string };
}

/** Fields that name a record if schema/browse.ts names none for its collection, the best first. */
const NAMES = ['title', 'name', 'label', 'bboxName', 'drsId', 'classification', 'key', 'caption', 'url', 'text'];
/** Columns of a table if schema/browse.ts names none for its collection. */
const COLUMNS_MAX = 6;
/** Fields that are no default columns: long, or of no use to people. */
const NO_COLUMNS: ReadonlySet<string> = new Set(['uuid', 'short_code', 'abstract']);
/** Bytes of a value in a label; longer values are cut. */
const LABEL_BYTES_MAX = 240;

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** The columns of a table without the id. */
export function shownColumns(collection: CollectionIndex): readonly string[] {
  const { declaration, keys } = collection;
  const said = wordsOf(PRESENTATIONS[declaration.name]?.columns);
  if (said.length > 0) return said;
  const documented = declaration.fields.map(({ name }) => name);
  const all = [...new Set([...documented, ...keys.fields])].filter((name) => keys.fields.includes(name));
  const others = all.filter((name) => name !== declaration.idField && !NO_COLUMNS.has(name));
  return others.slice(0, COLUMNS_MAX);
}

/** The fields of schema/browse.ts whose values a list counts, as far as the data has them. Cost: their names. */
export function shownFacets(collection: CollectionIndex): readonly string[] {
  const said = wordsOf(PRESENTATIONS[collection.declaration.name]?.facets);
  return said.filter((key) => facetValues(collection, key.split('__')) !== undefined);
}

/** The collection whose ids a key compares; undefined if its values are not links. Cost: its names. */
export function linkedCollection(collection: CollectionIndex, key: string): Collection | undefined {
  const names = key.split('__');
  const located = locate(collection, names);
  return located?.length === names.length ? located.link?.to().declaration : undefined;
}

/** The fields that name a record of a collection; empty if it has no such field. Cost: one look-up a name. */
export function labelKeys({ declaration, members }: CollectionIndex): readonly string[] {
  const said = wordsOf(PRESENTATIONS[declaration.name]?.label);
  if (said.length > 0) return said;
  const name = NAMES.find((each) => members.get(each)?.kind === 'values');
  return name === undefined ? [] : [name];
}

/** Returns a reader of the text that names the record in a row, cut if it is long. Cost: one value a field. */
export function makeLabelReader(collection: CollectionIndex): (row: number) => string | undefined {
  const keys = labelKeys(collection);
  return (row) => {
    let label = '';
    for (const key of keys) {
      const text = fieldText(collection, row, key);
      if (text) label += (label && ' ') + text;
    }
    return label.trim() || undefined;
  };
}

const STATE = 'publicationState';
const PUBLISHED: ReadonlySet<string> = new Set(['published', 'citable']);

/**
 * Returns whether the record in a row is published or citable. Collections without this state are public (A174). Cost:
 * one value.
 */
export function isPublished(collection: CollectionIndex, row: number): boolean {
  if (collection.members.get(STATE)?.kind !== 'values') return true;
  return PUBLISHED.has(fieldText(collection, row, STATE) ?? '');
}

/** Embedded records of a list that are read. */
const MEMBERS_MAX = 16;

/** The texts of a field of embedded records, undefined for those without the field. */
export function memberTexts(
  collection: CollectionIndex,
  row: number,
  list: string,
  key: string,
): readonly (string | undefined)[] {
  const node = collection.members.get(list);
  const values = node?.kind === 'many' ? node.members.get(key) : undefined;
  if (node?.kind !== 'many' || values?.kind !== 'values') return [];
  const start = node.table.starts![row]!;
  const length = Math.min(MEMBERS_MAX, node.table.starts![row + 1]! - start);
  return Array.from({ length }, (_, i) => textInRow(collection, values.index, start + i));
}

/** A single value of a record as text, cut if it is long; undefined for null and for other fields. */
export function fieldText(collection: CollectionIndex, row: number, key: string): string | undefined {
  const node = collection.members.get(key);
  return node?.kind === 'values' ? textInRow(collection, node.index, row) : undefined;
}

/** Returns a reader of a single number of a record; undefined for null and for other values. */
export function makeNumberReader({ members }: CollectionIndex, key: string): (row: number) => number | undefined {
  const node = members.get(key);
  if (node?.kind !== 'values') return () => undefined;
  const { codeAt, dictionary } = node.index;
  const { numbers, fitting } = dictionary;
  return (row) => {
    const code = codeAt(row);
    return code < fitting ? numbers?.[code] : undefined;
  };
}

function textInRow(collection: CollectionIndex, index: FieldIndex, row: number): string | undefined {
  const { dictionary } = index;
  const code = index.codeAt(row);
  if (code >= dictionary.size) return undefined;
  const text = textAt(dictionary, code);
  const start = DECODER.decode(text.subarray(0, LABEL_BYTES_MAX));
  const isOwn = start.startsWith(PLACEHOLDER);
  const named = isOwn ? collection.records.baseUrl + start.slice(PLACEHOLDER.length) : start;
  return text.length <= LABEL_BYTES_MAX ? named : `${named.replace(/\ufffd+$/, '')}…`;
}

/**
 * The fields that a form can filter a collection by: each served field, with the lookups that fit it. `isKnown` says
 * which top-level fields may be filtered. Cost: its fields and the lookups.
 */
export function filterFields(collection: CollectionIndex, isKnown: (field: string) => boolean): readonly FilterField[] {
  const { declaration } = collection;
  const described = describedFields(declaration, servedFields(collection));
  return described.flatMap(({ key, field, type, lookups, sentence }) => {
    const path = key.split('__');
    if (lookups.length === 0 || !isKnown(path[0]!)) return [];
    const isOrdered = singleValueAt(collection, path) !== undefined;
    const names = lookups.map(({ name }) => name);
    return [{ key, type, values: valuesOf(field), lookups: names, sentence, isOrdered }];
  });
}

function valuesOf(field: Field): readonly string[] {
  if (field.kind !== 'scalar') return [];
  return field.values ?? (field.type === 'boolean' ? BOOLEANS : []);
}

const BOOLEANS = ['true', 'false'];

/** The fields that link to other collections, by the name of the target. Cost: the fields of the collection. */
export function referencesFrom({ declaration, members }: CollectionIndex): ReadonlyMap<string, readonly Reference[]> {
  const found = new Map<string, Reference[]>();
  const add = ({ to }: Link, reference: Omit<Reference, 'collection'>): void => {
    const { name } = to().declaration;
    found.set(name, [...(found.get(name) ?? []), { collection: declaration.name, ...reference }]);
  };
  const walk = (at: Members, above: readonly string[]): void => {
    for (const node of at.values()) {
      const path = [...above, node.name];
      for (const option of (node.kind === 'values' && node.options) || []) {
        if (option.codes.start === option.codes.end) continue;
        const { field, lookup, text } = option;
        const key = [...above, field, ...(lookup === DEFAULT_LOOKUP ? [] : [lookup])].join('__');
        const id = above.length > 0 && node.name === declaration.idField ? above : path;
        add(option.node.link!, { key: id.join('__'), kind: { key, value: text } });
      }
      // The id of an embedded record is that of its record.
      if (above.length > 0 && node.name === declaration.idField) continue;
      if (node.link) add(node.link, { key: path.join('__') });
      else walk(node.members, path);
    }
  };
  walk(members, []);
  return found;
}

/** The filters of more distant collections that lead to this one, from schema/browse.ts. */
export function distantReferences(name: string): readonly Reference[] {
  return (PRESENTATIONS[name]?.usedBy ?? []).map(([collection, key]) => ({ collection, key }));
}

/** The facts of a collection's records: a heading, and the paths of fields that lead to their values. */
export function factPaths(
  name: string,
): readonly (readonly [heading: string, paths: readonly (readonly string[])[]])[] {
  const facts = Object.entries(PRESENTATIONS[name]?.facts ?? {});
  return facts.map(([heading, paths]) => [heading, wordsOf(paths).map((path) => path.split('__'))]);
}

/** The links of a collection to records that group its records. */
export function groupKeys(name: string): readonly string[] {
  return wordsOf(PRESENTATIONS[name]?.groups);
}

function wordsOf(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.split(' ');
}
