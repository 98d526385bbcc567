// Collections built by hand, without import and snapshot, with real record bytes: what a handler needs to answer.
// Joins the slow index of index.ts with the slow records of records.ts; for tests that compare bodies byte for byte.
import type { CollectionIndex } from '../../engine/index/table.ts';
import { indexOf, type RecordValue } from './index.ts';
import { recordsOf } from './records.ts';

/** Few, so that most pages cross from one chunk to the next. */
const CHUNK_ROWS = 3;

/** A declared collection of JSON texts in ascending id order, in which `{base_url}` stands for the base address. */
export function collectionOf(name: string, texts: readonly string[], baseUrl: string): CollectionIndex {
  const values = texts.map((text) => JSON.parse(text) as RecordValue);
  return { ...indexOf(name, values), records: recordsOf(texts, baseUrl, CHUNK_ROWS) };
}
