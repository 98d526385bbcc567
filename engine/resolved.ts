// The entry of the engine for code that resolves paths and identifiers. Loaded only on request. Only re-exports: every
// name is documented at its definition.
export { RESOLVED_BYTES_MAX, SEGMENTS_MAX } from './resolve/paths.ts';
export { type TextListing, listingMeasuring } from './resolve/listing.ts';
export { recordUrl, Resolver } from './resolve/resolver.ts';
