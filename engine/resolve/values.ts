// Values of single rows, read from columns: what answers say of a record without a look at its bytes. Counts what it
// looks at, for tests.
import { codesOfText, type Dictionary, textAt } from '../column/dictionary.ts';
import { PLACEHOLDER } from '../column/records.ts';
import { SPEC_LINK_END, servedUrl } from '../column/served.ts';
import type { FieldIndex } from '../index/field.ts';
import type { CollectionIndex } from '../index/table.ts';
import { valuesAt } from '../query/path.ts';
import type { FieldPath } from '../schema/resolved.ts';
import { CANDIDATES_MAX } from './limits.ts';

/** Look-ups in dictionaries, and rows looked at, since the thread began: what slices and tests are judged by. */
export const resolving = { lookups: 0, rows: 0 };

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** The index of a field with one value a record; undefined where the collection has no such field. */
export function indexAt(collection: CollectionIndex, path: FieldPath): FieldIndex | undefined {
  const values = valuesAt(collection, path);
  return values?.tables.length === 0 ? values.index : undefined;
}

/** The same where its values are texts. */
export function textIndexAt(collection: CollectionIndex, path: FieldPath): FieldIndex | undefined {
  const index = indexAt(collection, path);
  return index?.dictionary.type === 'text' ? index : undefined;
}

/** The stored text of a row, undefined of null and without a field. Cost: a view. */
export function storedAt(index: FieldIndex | undefined, row: number): Uint8Array | undefined {
  if (!index) return undefined;
  const code = index.codeAt(row);
  return code < index.dictionary.size ? textAt(index.dictionary, code) : undefined;
}

/** The text of a row as it is served, empty of null and without a field. Cost: its length. */
export function servedAt(index: FieldIndex | undefined, row: number, baseUrl: string): string {
  const stored = storedAt(index, row);
  return stored ? servedFrom(stored, baseUrl) : '';
}

/** A stored text as it is served: an own URL with its base. Cost: its length. */
export function servedFrom(stored: Uint8Array, baseUrl: string): string {
  const text = DECODER.decode(stored);
  return text.startsWith(PLACEHOLDER) ? servedUrl(text, { baseUrl, version: 'v3', linkEnd: SPEC_LINK_END }) : text;
}

/** The code of a text among texts in order, `size + 1` where there is none, which no row has. Cost: O(log size). */
export function codeOf(dictionary: Dictionary, text: Uint8Array): number {
  resolving.lookups++;
  const { start, end } = codesOfText(dictionary, text);
  return start < end ? start : dictionary.size + 1;
}

/** The rows of a code in the order of ids, the first CANDIDATES_MAX of them. Cost: a step a row that is taken. */
export function* rowsOf(index: FieldIndex, code: number): Iterable<number> {
  const place = index.countOf({ start: 0, end: code });
  const end = place + Math.min(index.countOf({ start: code, end: code + 1 }), CANDIDATES_MAX);
  for (let at = place; at < end; at++) {
    resolving.rows++;
    yield index.sortedRow(at);
  }
}
