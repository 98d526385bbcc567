// The metadata section of a snapshot: what import counted, as JSON; and the values that do not fit (A150), which the
// columns have. For reports and pages, never for a hot path. The same counts and fields always give the same bytes.
// checkMetadata.ts checks what was read.
import type { Outlines } from '../column/outline.ts';
import type { Section } from './directory.ts';
import type { Sections } from './loaded.ts';
import { DICTIONARY, METADATA, POSTINGS, sectionName, TABLE } from './sections.ts';
import type { Variant } from './variants.ts';
import { COLLECTIONS } from '../schema/catalogue.ts';
import { type ColumnLayout, filterName, layoutOf, type Layout } from '../schema/layout.ts';
import type { Collection, Field } from '../schema/types.ts';

/** What import found in one collection. `chunks` is how many runs its record bytes are stored in. */
export interface CollectionCounts {
  readonly name: string;
  readonly records: number;
  readonly chunks: number;
  readonly nulls: number;
  readonly dangling: number;
}

/** The fields of one collection as its data has them: the declared ones and those inferred beside them. */
export interface CollectionFields {
  readonly name: string;
  readonly fields: readonly Field[];
}

/** The outlines of one collection's records, which their sections number. */
export interface CollectionOutlines extends Outlines {
  readonly name: string;
}

/** The metadata of a snapshot. `without` are the index variants that were left out; it is missing where none were. */
export interface Metadata {
  readonly collections: readonly CollectionCounts[];
  readonly fields: readonly CollectionFields[];
  readonly outlines: readonly CollectionOutlines[];
  readonly without?: readonly Variant[];
}

/** The name of the section. */
export const METADATA_NAME = sectionName(METADATA, 'bytes', METADATA.path);

/**
 * The metadata's bytes, without the values that documents know: these are the program's, and may change while the data
 * does not.
 */
export function encodeMetadata({ collections, fields, ...others }: Metadata): Uint8Array {
  const bare = fields.map((one) => ({ ...one, fields: one.fields.map(withoutValues) }));
  return new TextEncoder().encode(JSON.stringify({ collections, fields: bare, ...others }));
}

function withoutValues(field: Field): Field {
  if ('fields' in field) return { ...field, fields: field.fields.map(withoutValues) };
  if (field.kind !== 'scalar') return field;
  const { kind, name, type, nullable } = field;
  return { kind, name, type, nullable };
}

/** What is in these bytes; a SyntaxError where it is no JSON. */
export function decodeMetadata(bytes: Uint8Array): unknown {
  // A copy, since no text is decoded from shared memory.
  return JSON.parse(new TextDecoder('utf-8').decode(bytes.slice()));
}

/** The metadata of a loaded snapshot, which has been judged (`readMetadata`). */
export function metadataOf(sections: Pick<Sections, 'views'>): Metadata {
  return decodeMetadata(sections.views(METADATA, METADATA.path).bytes) as Metadata;
}

/** The layout of a collection with the fields that the data of the snapshot has. */
export function layoutIn({ fields }: Metadata, collection: Collection): Layout {
  return layoutOf(collection, fields.find(({ name }) => name === collection.name)?.fields);
}

/** The outlines of a declared collection's records. */
export function outlinesIn(metadata: Metadata, name: string): Outlines {
  return metadata.outlines.find((one) => one.name === name)!;
}

/**
 * The misfits of one field, which filters call `field`: how many there are, and the first of them in the order of ids,
 * long texts cut, with the file and line of the record if they are known.
 */
export interface FieldMisfits {
  readonly collection: string;
  readonly field: string;
  readonly type: ColumnLayout['type'];
  readonly values: number;
  readonly examples: readonly { readonly id: number; readonly text: string; readonly place?: string | undefined }[];
}

const EXAMPLES_MAX = 5;
const CHARACTERS_MAX = 60;
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The misfits of all fields that have some, in a snapshot of these sections. `read` returns those of a group, `placeOf`
 * the file and line of a record. Cost: a pass over the rows of these values.
 */
export function misfitsIn(
  sections: readonly Section[],
  read: Sections['views'],
  placeOf?: (collection: string, id: number) => string | undefined,
): readonly FieldMisfits[] {
  const names = new Set(sections.map(({ name }) => name));
  const metadata = metadataOf({ views: read });
  return COLLECTIONS.flatMap((collection) => {
    const { tables, columns } = layoutIn(metadata, collection);
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
        const cut = text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}...` : text;
        return { id: ids![record]!, text: cut, place: placeOf?.(collection.name, ids![record]!) };
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
  const more = values > examples.length ? ', ...' : '';
  const count = values === 1 ? '1 value does' : `${values} values do`;
  return `${collection}.${field}: ${count} not fit the type ${type}: ${places.join(', ')}${more}`;
}
