// A collection as people are shown it: which columns its table has, what names a record, what can be filtered and which
// fields of others lead here. Derived of declaration, schema/browse.ts and the fields that the data have; read only
// where somebody browses.
import { textAt } from '../column/dictionary.ts';
import { PLACEHOLDER } from '../column/records.ts';
import { PRESENTATIONS } from '../schema/browse.ts';
import type { CollectionIndex, Members } from '../index/table.ts';
import type { Field } from '../schema/types.ts';
import { describedFields } from './describe.ts';
import { servedFields } from './served.ts';

/**
 * A field that a form can filter by: `key` is its filter, `values` those that public documents show, `sentence` what it
 * holds. `isOrdered` where a list can be sorted by it.
 */
export interface FilterField {
  readonly key: string;
  readonly type: string;
  readonly values: readonly string[];
  readonly lookups: readonly string[];
  readonly sentence: string;
  readonly isOrdered: boolean;
}

/** A field by which records of one collection name those of another: a filter of the first, its value an id. */
export interface Reference {
  readonly collection: string;
  readonly key: string;
}

/** Fields that name a record where nothing is said of its collection, the best first. */
const NAMES = ['title', 'name', 'label', 'bboxName', 'drsId', 'classification', 'key', 'caption', 'url', 'text'];
/** Columns of a table of which nothing is said. */
const COLUMNS_MAX = 6;
/** No column unless one asks: long, or of no use to people. */
const NO_COLUMNS: ReadonlySet<string> = new Set(['uuid', 'short_code', 'abstract']);
/** Bytes of a value in a label; the name of a record is shorter, or is cut. */
const LABEL_BYTES_MAX = 240;

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** The keys of the columns of a collection's table, its id first. Cost: its fields. */
export function shownColumns(collection: CollectionIndex): readonly string[] {
  const { declaration, keys } = collection;
  const said = wordsOf(PRESENTATIONS[declaration.name]?.columns);
  if (said.length > 0) return [declaration.idField, ...said];
  const documented = declaration.fields.map(({ name }) => name);
  const all = [...new Set([...documented, ...keys.fields])].filter((name) => keys.fields.includes(name));
  const others = all.filter((name) => name !== declaration.idField && !NO_COLUMNS.has(name));
  return [declaration.idField, ...others.slice(0, COLUMNS_MAX)];
}

/** The fields that name a record of a collection; none where it has no name. Cost: a look-up a name. */
export function labelKeys({ declaration, members }: CollectionIndex): readonly string[] {
  const said = wordsOf(PRESENTATIONS[declaration.name]?.label);
  if (said.length > 0) return said;
  const name = NAMES.find((each) => members.get(each)?.kind === 'values');
  return name === undefined ? [] : [name];
}

/** What the record in a row is called, cut where it is long; undefined where nothing names it. Cost: a value a name. */
export function recordLabel(collection: CollectionIndex, row: number): string | undefined {
  const texts = labelKeys(collection).flatMap((key) => columnText(collection, row, key) ?? []);
  const label = texts.join(' ').trim();
  return label === '' ? undefined : label;
}

function columnText(collection: CollectionIndex, row: number, key: string): string | undefined {
  const node = collection.members.get(key);
  if (node?.kind !== 'values') return undefined;
  const { dictionary } = node.index;
  const code = node.index.codeAt(row);
  if (code >= dictionary.size) return undefined;
  const text = textAt(dictionary, code);
  const start = DECODER.decode(text.slice(0, LABEL_BYTES_MAX));
  const isOwn = start.startsWith(PLACEHOLDER);
  const named = isOwn ? collection.records.baseUrl + start.slice(PLACEHOLDER.length) : start;
  return text.length <= LABEL_BYTES_MAX ? named : `${named.replace(/\ufffd+$/, '')}…`;
}

/**
 * What a form can filter a collection by: each field that is served, with the lookups that fit it. `isKnown` says which
 * top-level fields may be filtered by. Cost: its fields and the lookups.
 */
export function filterFields(collection: CollectionIndex, isKnown: (field: string) => boolean): readonly FilterField[] {
  const { declaration, members } = collection;
  const described = describedFields(declaration, servedFields(collection));
  return described.flatMap(({ key, field, type, lookups, sentence }) => {
    const path = key.split('__');
    if (lookups.length === 0 || !isKnown(path[0]!)) return [];
    const isOrdered = isSorted(members, path);
    return [{ key, type, values: valuesOf(field), lookups: lookups.map(({ name }) => name), sentence, isOrdered }];
  });
}

function valuesOf(field: Field): readonly string[] {
  if (field.kind !== 'scalar') return [];
  return field.values ?? (field.type === 'boolean' ? BOOLEANS : []);
}

const BOOLEANS = ['true', 'false'];

/** Whether a path ends on one value a record. */
function isSorted(members: Members, [first = '', ...rest]: readonly string[]): boolean {
  const node = members.get(first);
  if (!node || node.kind === 'many') return false;
  if (rest.length === 0) return node.kind === 'values' || node.id !== undefined;
  return node.kind === 'record' && isSorted(node.members, rest);
}

/** The fields whose links lead to other collections, by the name of these. Cost: the fields of the collection. */
export function referencesFrom({ declaration, members }: CollectionIndex): ReadonlyMap<string, readonly Reference[]> {
  const found = new Map<string, Reference[]>();
  const walk = (at: Members, above: readonly string[]): void => {
    for (const node of at.values()) {
      const path = [...above, node.name];
      // The id of what is embedded is that of its record.
      if (above.length > 0 && node.name === declaration.idField) continue;
      if (node.kind !== 'record' && node.link) {
        const to = node.link.to().declaration.name;
        const reference = { collection: declaration.name, key: path.join('__') };
        found.set(to, [...(found.get(to) ?? []), reference]);
      } else if (node.kind !== 'values') walk(node.members, path);
    }
  };
  walk(members, []);
  return found;
}

/** The filters of collections further away that lead to one, as the declaration says. */
export function distantReferences(name: string): readonly Reference[] {
  return (PRESENTATIONS[name]?.usedBy ?? []).map(([collection, key]) => ({ collection, key }));
}

function wordsOf(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.split(' ');
}
