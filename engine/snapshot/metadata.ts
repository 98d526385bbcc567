// The metadata section of a snapshot: what import counted, as msgpack. For reports and pages, never for a hot path.
// The same counts and fields always give the same bytes.
import { Packr } from 'msgpackr/pack';
import { NO_OUTLINES, type Outlines } from '../column/outline.ts';
import type { Sections } from './loaded.ts';
import { METADATA } from './sections.ts';
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

// Plain maps: msgpackr's record extension would make the bytes depend on what was packed before.
const packr = new Packr({ useRecords: false });

/** The metadata's bytes. */
export function encodeMetadata(metadata: Metadata): Uint8Array {
  return Uint8Array.from(packr.pack(metadata));
}

/** The metadata in these bytes, which have passed their checksum. */
export function decodeMetadata(bytes: Uint8Array): Metadata {
  return packr.unpack(Uint8Array.from(bytes)) as Metadata;
}

/** The metadata of a loaded snapshot. */
export function metadataOf(sections: Sections): Metadata {
  return decodeMetadata(sections.views(METADATA, METADATA.path).bytes);
}

/** The layout of a collection with the fields that the data of the snapshot has. */
export function layoutIn({ fields }: Metadata, collection: Collection): Layout {
  return layoutOf(collection, fields.find(({ name }) => name === collection.name)?.fields);
}

/** The outlines of a collection's records. */
export function outlinesIn(metadata: Metadata, name: string): Outlines {
  return metadata.outlines.find((one) => one.name === name) ?? NO_OUTLINES;
}
