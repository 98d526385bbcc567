// Describes the fields of a collection for people and for machine-readable API descriptions: filter key, lookups,
// sentence. Covers either the documented fields or those that are served (served.ts). No request needs it, so serving
// threads do not load it at start.
import { collectionNamed } from '../schema/catalogue.ts';
import { COLLECTION_WORDS, FIELD_WORDS } from '../schema/sentences.ts';
import type { Collection, Field } from '../schema/types.ts';
import { LOOKUPS, type Column, type Lookup } from './lookups.ts';

/** A field of a collection. */
export interface DescribedField {
  /** Name of the field's filter; names within embedded records are joined by `__`. */
  readonly key: string;
  readonly field: Field;
  /** A human-readable word, such as `text`, or the target of a relation. */
  readonly type: string;
  readonly isNullable: boolean;
  readonly isDocumented: boolean;
  /** The lookups that fit; empty if the field cannot be filtered. */
  readonly lookups: readonly Lookup[];
  readonly label: string;
  readonly sentence: string;
}

/** Sentence of a field that only the data has. */
const INFERRED = 'Known from the data alone.';

/**
 * The fields of a collection in the order of its records, each embedded field after the one that contains it. `fields`
 * are the documented fields or those that are served.
 */
export function describedFields(
  collection: Collection,
  fields: readonly Field[] = collection.fields,
): readonly DescribedField[] {
  return fieldsBelow([collection.name], fields, collection.fields, collection.open);
}

/** A sentence on what the records of a collection are. Throws if sentences.ts has none, which is a bug. */
export function collectionSentence({ name }: Pick<Collection, 'name'>): string {
  return collectionWords(name)[2];
}

/** The label of the records of a collection, such as `Responsible parties`. Throws if sentences.ts has none. */
export function collectionLabel(name: string): string {
  return collectionWords(name)[0];
}

/** The label of one record of a collection, such as `Responsible party`. Throws if sentences.ts has none. */
export function kindLabel(name: string): string {
  return collectionWords(name)[1];
}

/** A label inside a sentence: `responsible parties`, but `INSPIRE themes`. */
export function inSentence(label: string): string {
  return /^[A-Z](?![A-Z])/.test(label) ? label[0]!.toLowerCase() + label.slice(1) : label;
}

function collectionWords(name: string): (typeof COLLECTION_WORDS)[string] {
  return assertWords(COLLECTION_WORDS[name], name);
}

/** A sentence on what a field contains; `path` starts with its collection. Throws if sentences.ts has none. */
export function fieldSentence(path: readonly string[]): string {
  return assertWords(fieldWords(path), path.join('__'))[1];
}

/**
 * The label of a field, such as `Publication state`. `key` is its name, or names joined by `__` through embedded
 * records and links: `projects__title` of observations is `Projects › Title`. Without a row, a field is labelled by its
 * name: `creationDate` is `Creation date`. Never throws. Cost: the names.
 */
export function fieldLabel(collection: string, key: string): string {
  let path = [collection];
  let fields = collectionNamed(collection)?.fields;
  const labels = key.split('__').map((name) => {
    path = [...path, name];
    const label = fieldWords(path)?.[0] ?? readableName(name);
    const field = fields?.find((each) => each.name === name);
    fields = field && 'fields' in field ? field.fields : undefined;
    if (field && 'to' in field) [path, fields] = [[field.to], collectionNamed(field.to)?.fields];
    return label;
  });
  return labels.join(' › ');
}

/** `path` starts with the collection. */
function fieldWords(path: readonly string[]): (typeof FIELD_WORDS)[string] | undefined {
  const ends = path.map((_, i) => path.slice(i).join('__'));
  const end = ends.find((each) => Object.hasOwn(FIELD_WORDS, each));
  return end === undefined ? undefined : FIELD_WORDS[end];
}

const ACRONYM = /^(?:[A-Z\d]{2,}|url|uri|uuid|doi)$/;

/** The words of a name as a label: `resource_URL` is `Resource URL`. */
function readableName(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .split(/[_\s]+/)
    .filter(Boolean);
  const label = words.map((word) => (ACRONYM.test(word) ? word.toUpperCase() : word.toLowerCase())).join(' ');
  return label === '' ? name : label[0]!.toUpperCase() + label.slice(1);
}

function assertWords<T>(words: T | undefined, of: string): T {
  if (words === undefined) throw new Error(`${of} has no row in sentences.ts`);
  return words;
}

/** `path` starts with the collection; `documented` are the documented fields at that path. */
function fieldsBelow(
  path: readonly string[],
  fields: readonly Field[],
  documented: readonly Field[],
  open: boolean,
): readonly DescribedField[] {
  return fields.flatMap((field) => {
    const at = [...path, field.name];
    const known = documented.find(({ name }) => name === field.name);
    const column = columnOf(field);
    const described: DescribedField = {
      key: at.slice(1).join('__'),
      field,
      type: typeText(field),
      // Import rejects null for an object or array in declared collections only.
      isNullable: 'nullable' in field ? field.nullable : open || !known,
      isDocumented: known !== undefined,
      lookups: column ? LOOKUPS.filter((lookup) => lookup.fits(column)) : [],
      label: fieldLabel(path[0]!, at.slice(1).join('__')),
      sentence: known ? fieldSentence(at) : INFERRED,
    };
    if (!('fields' in field)) return [described];
    const inner = known && 'fields' in known ? known.fields : [];
    return [described, ...fieldsBelow(at, field.fields, inner, open)];
  });
}

/** The values that a filter key ending on this field compares: the field's, or the ids of a relation (A36). */
function columnOf(field: Field): Column | undefined {
  switch (field.kind) {
    case 'scalar':
    case 'scalars':
      return { type: field.type, isRelation: false };
    case 'link':
    case 'links':
      return { type: 'link', isRelation: true };
    case 'record':
    case 'records': {
      const id = field.fields.find(({ name }) => name === field.idField);
      const column = id && columnOf(id);
      return column && { ...column, isRelation: true };
    }
    case 'opaque':
      return undefined;
  }
}

function typeText(field: Field): string {
  switch (field.kind) {
    case 'scalar':
      return field.type;
    case 'scalars':
      return `list of ${field.type}`;
    case 'link':
      return `link to ${field.to}`;
    case 'links':
      return `links to ${field.to}`;
    case 'record':
      return 'record';
    case 'records':
      return 'list of records';
    case 'opaque':
      return 'list';
  }
}
