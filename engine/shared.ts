// The entry of the engine for code that passes a loaded snapshot to threads. It loads quickly, because it imports no
// index, query or page. Only re-exports: every name is documented at its definition.
export { closestName } from './bits/suggest.ts';
export { COLLECTIONS } from './schema/catalogue.ts';
export { type LoadedSnapshot, openSections } from './snapshot/loaded.ts';
export { type FieldMisfits, decodeLoadedMetadata, listMisfits, misfitText } from './snapshot/metadata.ts';
