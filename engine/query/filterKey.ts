// The canonical texts of a filter and of a view of it: what two requests share when they find the same rows, and when
// they show the same of them. Pure; runs nothing.
import type { ServedForm } from '../column/served.ts';
import type { Ask, Condition, Page } from './ask.ts';

/** The part of what is asked that decides which rows match. */
export type Filter = Pick<Ask, 'conditions' | 'isEmpty'>;

/** The part of a planned list that decides what its export shows. */
interface Listed {
  readonly collection: { readonly declaration: { readonly name: string } };
  readonly ask: Filter;
  readonly plan: { readonly form: ServedForm; readonly page: Page };
}

/** Longer lists are taken as they come: sorting one of 12,000 members costs more than finding its rows. */
const SORTED_MEMBERS_MAX = 256;

/**
 * The key of a filter on a collection of one generation. Conditions in any order, values in any spelling and up to
 * SORTED_MEMBERS_MAX members of `in` in any order and number give one key. The form counts only where texts are
 * compared, since own URLs are texts. Cost: about 1 us a condition; for `in` 0.05 us a member.
 */
export function filterKey(generation: string, collection: string, filter: Filter, form: ServedForm): string {
  const conditions = filter.conditions.map(conditionKey).sort();
  const seesUrls = filter.conditions.some(({ operand }) => operand.kind !== 'number');
  const served = seesUrls ? [form.version, form.baseUrl, form.linkEnd] : [];
  return JSON.stringify([generation, collection, filter.isEmpty, served]) + conditions.join('');
}

/**
 * The key of what is shown of a filter's rows: all of a page but the shape of its records. The form counts, since own
 * URLs are texts that are counted and ordered too. An id may be infinite, which JSON does not know. Cost: about 1 us.
 */
export function viewKey(page: Page, { version, baseUrl, linkEnd }: ServedForm): string {
  const { keys: _keys, format: _format, exported: _exported, isIndented: _isIndented, after, ...shown } = page;
  return JSON.stringify([{ ...shown, after: String(after) }, version, baseUrl, linkEnd]);
}

/**
 * The key of an export of a list: its rows, how they are shown, in which form and members. Equal keys mean equal bytes.
 * Cost: those of both keys.
 */
export function exportKey(generation: string, { collection, ask, plan: { form, page } }: Listed): string {
  const shape = JSON.stringify([page.exported, page.keys && [...page.keys]]);
  return `${filterKey(generation, collection.declaration.name, ask, form)} ${viewKey(page, form)} ${shape}`;
}

function conditionKey({ path, lookup, isNegated, operand: { kind, values } }: Condition): string {
  const isSet = lookup === 'in' && values.length <= SORTED_MEMBERS_MAX;
  return JSON.stringify([path, lookup, isNegated, kind, isSet ? [...new Set(values)].sort() : values]);
}
