// What the document is told of the data that is served: the shapes of its records, as plain data that a thread is sent.
// Reads no record.
import { recordShape, type RecordShape } from '../../../engine/described.ts';
import { type CollectionIndex, COLLECTIONS } from '../../../engine/engine.ts';

/** So many fields of a collection are told beside the documented ones: the document is to be opened. */
export const INFERRED_TOLD_MAX = 100;
/** A name that is longer is data; `result_field__storageLocation` has 29. */
const KEY_CHARACTERS_MAX = 128;
const LIMITS = { inferredMax: INFERRED_TOLD_MAX, keyCharactersMax: KEY_CHARACTERS_MAX };

/** The shapes of all collections, in their order. Cost: their fields, some hundred; less than a millisecond. */
export function shapesOf(collections: (name: string) => CollectionIndex): readonly RecordShape[] {
  return COLLECTIONS.map(({ name }) => recordShape(collections(name), LIMITS));
}
