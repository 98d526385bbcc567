// What the forms of pages send, made into a query of the API: a condition from its three parts, columns into `fields`,
// and nothing for what was left empty. Pure.
import { OWN, type Pair } from './address.ts';
import { FORM_NAMES } from './filterForm.ts';

/** The lookup that a key without one has. */
const PLAIN_LOOKUP = 'exact';

/**
 * The query that a form means, undefined where it has nothing of the page's own and so is one already. A condition
 * without a value is none, unless empty is what it compares with.
 */
export function meantBy(pairs: readonly Pair[]): readonly Pair[] | undefined {
  if (!pairs.some(([name]) => name.startsWith(OWN))) return undefined;
  const own = new Map(pairs.filter(([name]) => name.startsWith(OWN)));
  const isFilled = own.has(FORM_NAMES.filled);
  const others = pairs.filter(([name, value]) => !name.startsWith(OWN) && !(isFilled && value === ''));
  const meant: Pair[] = others.map(([name, value]) => [name, isFilled ? untilItsEnd(name, value) : value]);
  const field = own.get(FORM_NAMES.field);
  const value = own.get(FORM_NAMES.value) ?? '';
  if (field !== undefined && field !== '' && value !== '') {
    const lookup = own.get(FORM_NAMES.lookup) ?? PLAIN_LOOKUP;
    const not = own.has(FORM_NAMES.not) ? '!' : '';
    meant.push([(lookup === PLAIN_LOOKUP ? field : `${field}__${lookup}`) + not, value]);
  }
  const columns = pairs.filter(([name]) => name === FORM_NAMES.columns).map(([, column]) => column);
  if (columns.length > 0) meant.push(['fields', columns.join(',')]);
  return meant;
}

/** A day up to which records are wanted is wanted to its end. */
function untilItsEnd(name: string, value: string): string {
  return name.endsWith('__lte') && /^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T23:59:59.999999` : value;
}
