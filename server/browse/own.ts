// What the forms of pages send, made into a query of the API: a condition from its three parts, days from and to,
// columns into `fields`, a record into its offset; nothing for what was left empty. Pure.
import type { FilterField } from '../../engine/described.ts';
import { fromStart, OWN, type Pair, withValue } from './address.ts';
import { dayOf, FORM_NAMES } from './filterForm.ts';

/** The lookup that a key without one has. */
const PLAIN_LOOKUP = 'exact';
/** Comparisons with a day that are meant with its end. */
const WITH_END: ReadonlySet<string> = new Set(['lte', 'gt']);

/** What the page's own parameters say, the last of each name. */
type Own = ReadonlyMap<string, string>;

/**
 * The query that a form means, undefined where it has nothing of the page's own and so is one already. `fields` are
 * those of the list.
 */
export function meantBy(pairs: readonly Pair[], fields: readonly FilterField[]): readonly Pair[] | undefined {
  const own: Own = new Map(pairs.filter(([name]) => name.startsWith(OWN)));
  if (own.size === 0) return undefined;
  const others = pairs.filter(([name]) => !name.startsWith(OWN));
  const columns = pairs.filter(([name]) => name === FORM_NAMES.columns).map(([, column]) => column);
  const meant = placed(withDays(others, own, fields), own.get(FORM_NAMES.record));
  const chosen: readonly Pair[] = columns.length > 0 ? [['fields', columns.join(',')]] : [];
  return [...meant, ...conditionOf(own, fields), ...chosen];
}

/** A condition without a value is none. */
function conditionOf(own: Own, fields: readonly FilterField[]): readonly Pair[] {
  const field = own.get(FORM_NAMES.field) ?? '';
  const value = own.get(FORM_NAMES.value) ?? '';
  if (field === '' || value === '') return [];
  const lookup = own.get(FORM_NAMES.lookup) ?? PLAIN_LOOKUP;
  const not = own.has(FORM_NAMES.not) ? '!' : '';
  const key = (lookup === PLAIN_LOOKUP ? field : `${field}__${lookup}`) + not;
  return [[key, WITH_END.has(lookup) ? endOf(value, field, fields) : value]];
}

/** The days of a date from and to: those that are not changed stay as exact as they are. */
function withDays(pairs: readonly Pair[], own: Own, fields: readonly FilterField[]): readonly Pair[] {
  const key = own.get(FORM_NAMES.date);
  if (key === undefined) return pairs;
  const changed = (among: readonly Pair[], bound: string, day = ''): readonly Pair[] => {
    const before = among.findLast(([name]) => name === bound)?.[1];
    if (day === dayOf(before)) return among;
    const value = bound.endsWith('__lte') ? endOf(day, key, fields) : day;
    return withValue(among, bound, value === '' ? undefined : value);
  };
  const from = changed(pairs, `${key}__gte`, own.get(FORM_NAMES.from));
  return changed(from, `${key}__lte`, own.get(FORM_NAMES.to));
}

/** Of a day of a field with times its end; other values as they are. */
function endOf(value: string, field: string, fields: readonly FilterField[]): string {
  const hasTimes = fields.some(({ key, type }) => key === field && type === 'dateTime');
  return hasTimes && /^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T23:59:59.999999` : value;
}

/** The page that begins with a record, counted from 1. */
function placed(pairs: readonly Pair[], record: string | undefined): readonly Pair[] {
  const offset = /^\d{1,15}$/.test(record ?? '') ? Number(record) - 1 : -1;
  if (offset < 0) return pairs;
  return withValue(fromStart(pairs), 'offset', offset === 0 ? undefined : String(offset));
}
