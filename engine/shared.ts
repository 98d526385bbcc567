// The other face of the engine: what whoever hands a loaded snapshot on to threads uses of it. Reading this file is
// quick, since it opens nothing: no index, no query, no page. Only re-exports: every name is documented where it is
// defined.
export { closestName } from './bits/suggest.ts';
export { COLLECTIONS } from './schema/catalogue.ts';
export { type LoadedSnapshot, sectionsOf } from './snapshot/loaded.ts';
export { type FieldMisfits, metadataOf, misfitsIn, misfitText } from './snapshot/metadata.ts';
