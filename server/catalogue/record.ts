// The view of a single record, of the first collection of its path that has the id (A3).
// Heeds format, fields, pretty and strict only (A25).
import {
  exportRepresentation,
  parseRecordQuery,
  recordRepresentation,
  rowOfId,
  type ServedRows,
} from '../../engine/engine.ts';
import type { Answer } from '../http/exchange.ts';
import {
  type CatalogueService,
  delivered,
  formOf,
  refusalOf,
  type RouteOf,
  validated,
  type Visit,
} from './catalogue.ts';
import { countIgnored } from './tally.ts';

/** The record, or why there is none. Cost: a binary search a collection. */
export function recordAnswer(
  catalogue: CatalogueService,
  route: RouteOf<'record'>,
  visit: Visit,
): Answer | Promise<Answer> {
  const { request, choice } = visit;
  let collection = catalogue.collections(route.collections[0]!.name);
  let row = rowOfId(collection, route.id);
  for (let i = 1; row < 0 && i < route.collections.length; i++) {
    const other = catalogue.collections(route.collections[i]!.name);
    row = rowOfId(other, route.id);
    if (row >= 0) collection = other;
  }
  const ask = parseRecordQuery(request.query, catalogue.queryOptions, collection.keys);
  const refusal = refusalOf(catalogue, route, request, ask);
  if (refusal) return refusal;
  if (row < 0) return catalogue.answers.notFound;
  countIgnored(catalogue.ignored, collection.declaration.name, ask.ignored);
  const { tag, unchanged } = validated(catalogue, visit, route, ask);
  if (unchanged) return unchanged;
  const rows: ServedRows = {
    records: collection.records,
    rows: { kind: 'range', start: row, end: row + 1 },
    form: formOf(catalogue, route, ask.page.format, choice),
    keys: ask.page.keys,
  };
  const format = ask.page.exported;
  const record = format
    ? exportRepresentation(format, collection, rows)
    : recordRepresentation(rows, ask.page.isIndented);
  return delivered(catalogue, visit, { route, ask, tag, collection }, record);
}
