// The metadata section of a snapshot: what import counted, as JSON. For reports and pages, never for a hot path. The
// same counts and fields always give the same bytes. checkMetadata.ts judges what was read.
import type { Outlines } from '../column/outline.ts';
import type { Sections } from './loaded.ts';
import { METADATA, sectionName } from './sections.ts';
import type { Variant } from './variants.ts';
import { layoutOf, type Layout } from '../schema/layout.ts';
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
