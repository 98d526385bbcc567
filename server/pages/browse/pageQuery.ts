// The query of a list page as the request of the API that shows the same rows: what lists heed and pages do not is left
// out. Pure.
import { countParts, decodeForm, namesOnPages, PARAMETERS_MAX, type QueryOptions } from '../../../engine/engine.ts';
import type { Pair } from './address.ts';

/**
 * The parameters of a page of at most `rowsMax` records, without those that pages do not use: a page has one form, of
 * the current data, and shows its rows instead of their plan. Undefined for more parameters than a query may have,
 * which are not read. Cost: the query.
 */
export function pagePairs(
  query: string | undefined,
  rowsMax: number,
  options: QueryOptions,
): readonly Pair[] | undefined {
  if (query !== undefined && countParts(query, '&') > PARAMETERS_MAX) return undefined;
  const unheeded = namesOnPages('unheeded', options);
  const sent = decodeForm(query).filter(([name]) => !unheeded.has(name));
  return sent.map((pair) => (pair[0] === 'limit' ? ['limit', atMost(pair[1], rowsMax)] : pair));
}

function atMost(limit: string, rowsMax: number): string {
  return /^\s*\+?\d+\s*$/.test(limit) && Number(limit) > rowsMax ? String(rowsMax) : limit;
}
