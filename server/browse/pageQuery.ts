// The query of a list page as the request of the API that shows the same rows: what lists heed and pages do not is left
// out. Pure.
import { countParts, decodeForm, namesOnPages, PARAMETERS_MAX, type QueryOptions } from '../../engine/engine.ts';
import type { Pair } from './address.ts';

/**
 * The parameters that hold for a page of at most `rowsMax` records: of repeated ones the last; without what a page does
 * not heed, since it has one form, of the data of today, and its rows are shown instead of how they were found.
 * Undefined for more than a query may have, which are not looked at. Cost: the query.
 */
export function pagePairs(
  query: string | undefined,
  rowsMax: number,
  options: QueryOptions,
): readonly Pair[] | undefined {
  if (query !== undefined && countParts(query, '&') > PARAMETERS_MAX) return undefined;
  const unheeded = namesOnPages('unheeded', options);
  const sent = decodeForm(query).filter(([name]) => !unheeded.has(name));
  const last = new Map(sent.map(([name], at) => [name, at]));
  const holding = sent.filter(([name], at) => last.get(name) === at);
  return holding.map((pair) => (pair[0] === 'limit' ? ['limit', atMost(pair[1], rowsMax)] : pair));
}

function atMost(limit: string, rowsMax: number): string {
  return /^\s*\+?\d+\s*$/.test(limit) && Number(limit) > rowsMax ? String(rowsMax) : limit;
}
