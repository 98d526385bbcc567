// The metadata section of a snapshot: what import counted, as msgpack. For reports and pages, never for a hot path.
// The same counts always give the same bytes.
import { Packr } from 'msgpackr';

/** What import found in one collection. `chunks` is how many runs its record bytes are stored in. */
export interface CollectionCounts {
  readonly name: string;
  readonly records: number;
  readonly chunks: number;
  readonly nulls: number;
  readonly dangling: number;
}

/** The metadata of a snapshot. */
export interface Metadata {
  readonly collections: readonly CollectionCounts[];
}

/** The section's name. */
export const METADATA_SECTION = 'metadata';

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
