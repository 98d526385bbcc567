// The face of the engine for what resolves paths and identifiers, read only where somebody asks.
// Only re-exports: every name is documented where it is defined.
export { RESOLVED_BYTES_MAX, SEGMENTS_MAX } from './resolve/paths.ts';
export { type TextListing, listingMeasuring } from './resolve/listing.ts';
export { Resolver } from './resolve/resolver.ts';
