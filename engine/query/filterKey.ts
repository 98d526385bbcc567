// The canonical text of a filter: what two requests share when they find the same rows, whatever page of them they
// show. Pure; runs nothing.
import type { ServedForm } from '../column/served.ts';
import type { Condition, ListRequest } from './parse.ts';

/** The part of a list request that decides which rows match. */
export type Filter = Pick<ListRequest, 'conditions' | 'isEmpty'>;

/**
 * The key of a filter on a collection of one generation. Conditions in any order, values in any spelling and members of
 * `in` in any order and number give one key. The form counts only where texts are compared, since own URLs are texts.
 * Cost: about 1 us a condition; for `in` the sort of its members.
 */
export function filterKey(generation: string, collection: string, filter: Filter, form: ServedForm): string {
  const conditions = filter.conditions.map(conditionKey).sort();
  const seesUrls = filter.conditions.some(({ operand }) => operand.kind !== 'number');
  const served = seesUrls ? [form.version, form.baseUrl, form.linkEnd] : [];
  return JSON.stringify([generation, collection, filter.isEmpty, served, ...conditions]);
}

function conditionKey({ path, lookup, isNegated, operand }: Condition): string {
  const values = lookup === 'in' ? [...new Set(operand.values)].sort() : operand.values;
  return JSON.stringify([path, lookup, isNegated, operand.kind, ...values]);
}
