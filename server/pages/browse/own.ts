// Translates the parameters of page forms into an API query and back: a condition from its three parts, columns into
// `fields`, words, period and place into their parameters. Rejects a condition that the API would interpret
// differently. Pure.
import type { FilterField } from '../../../engine/described.ts';
import type { Problem } from '../../../engine/engine.ts';
import { BROWSE_PREFIX, type Pair, plainKey } from './address.ts';
import { DAY_END, FORM_NAMES, type FormEntry } from './facets.ts';
import { withFound } from './findForm.ts';

/** The lookup of a key without one, and the lookup that takes a boolean for every field. */
const PLAIN_LOOKUP = 'exact';
const NULL_LOOKUP = 'isnull';
/** Lookups that compare with the end of a day. For `range`, this applies to the second of its two days. */
const WITH_END: ReadonlySet<string> = new Set(['lte', 'gt', 'range']);
/** Replaces PLAIN_LOOKUP if a time is compared with a day. */
const DAY_LOOKUP = 'date';
/** Accepted spellings of a boolean. The API would take any other word for true (A41). */
const TRUTHS: ReadonlyMap<string, string> = new Map([
  ...['true', 'yes', '1'].map((word) => [word, 'true'] as const),
  ...['false', 'no', '0'].map((word) => [word, 'false'] as const),
]);
const NO_VALUE = 'Enter a value.';
const NO_TRUTH = 'Enter true or false.';

/** The page's parameters, which start with BROWSE_PREFIX. The last value of each name counts. */
type Own = ReadonlyMap<string, string>;

/** The meaning of a form: a list, or a condition with a problem. */
export type Meant =
  | { readonly kind: 'list'; readonly pairs: readonly Pair[] }
  | {
      readonly kind: 'refused';
      readonly pairs: readonly Pair[];
      /** The parameters without the refused condition. */
      readonly before: readonly Pair[];
      readonly problems: readonly Problem[];
    };

/**
 * Interprets the parameters of a form. Undefined if none belongs to the page, because the query is then already one of
 * the API. `fields` are those of the list. Browsers send line breaks as CRLF; they are converted to LF, because a
 * filter with CRLF would not match data with LF.
 */
export function meantBy(sent: readonly Pair[], fields: readonly FilterField[]): Meant | undefined {
  if (!sent.some(([name]) => name.startsWith(BROWSE_PREFIX))) return undefined;
  const pairs = sent.map(([name, value]): Pair => [name, value.replaceAll('\r\n', '\n')]);
  const own: Own = new Map(pairs.filter(([name]) => name.startsWith(BROWSE_PREFIX)));
  const others = pairs.filter(([name]) => !name.startsWith(BROWSE_PREFIX));
  const columns = pairs.filter(([name]) => name === FORM_NAMES.columns).map(([, column]) => column);
  const chosen: readonly Pair[] = columns.length > 0 ? [['fields', columns.join(',')]] : [];
  const all = [...withFound(others, own), ...chosen];
  const entry = entered(own);
  return entry ? withEntry(all, entry, fields) : { kind: 'list', pairs: all };
}

/** The condition of the filter form, undefined if another form was sent. */
function entered(own: Own): FormEntry | undefined {
  const field = own.get(FORM_NAMES.field) ?? '';
  if (field === '') return undefined;
  const lookup = own.get(FORM_NAMES.lookup) ?? PLAIN_LOOKUP;
  return { field, lookup, value: own.get(FORM_NAMES.value) ?? '', isNegated: own.has(FORM_NAMES.not) };
}

function withEntry(pairs: readonly Pair[], entry: FormEntry, fields: readonly FilterField[]): Meant {
  const { field, isNegated } = entry;
  const type = fields.find(({ key }) => key === field)?.type;
  const isOfDay = entry.lookup === PLAIN_LOOKUP && type === 'dateTime' && DAY.test(entry.value.trim());
  const lookup = isOfDay ? DAY_LOOKUP : entry.lookup;
  const key = (lookup === PLAIN_LOOKUP ? plainKey(field) : `${field}__${lookup}`) + (isNegated ? '!' : '');
  const isEmpty = entry.value.trim() === '';
  const value = isEmpty ? undefined : operandOf(entry, type);
  if (value !== undefined) return { kind: 'list', pairs: [...pairs, [key, value]] };
  const isTruth = lookup === NULL_LOOKUP || type === 'boolean';
  return {
    kind: 'refused',
    pairs: [...pairs, [key, isEmpty ? '' : entry.value]],
    before: pairs,
    problems: [{ key, messages: [isTruth ? NO_TRUTH : NO_VALUE] }],
  };
}

/** The value that the API compares with, undefined if it must be a boolean but is not. */
function operandOf({ lookup, value }: FormEntry, type: string | undefined): string | undefined {
  if (lookup === NULL_LOOKUP) return truthOf(value);
  if (type !== 'boolean') return WITH_END.has(lookup) ? endOf(value, type) : value;
  if (lookup === PLAIN_LOOKUP) return truthOf(value);
  if (lookup !== 'in') return truthOf(value) ?? value;
  // A query may have thousands of members: `every` stops at the first that is not a boolean.
  const members = value.split(',');
  return members.every((member) => truthOf(member) !== undefined) ? members.map(truthOf).join(',') : undefined;
}

function truthOf(text: string): string | undefined {
  return TRUTHS.get(text.trim().toLowerCase());
}

/** Translates a filter back into the entries of the form. Undefined if the form cannot express it. Cost: the fields. */
export function entryOf([key, value]: Pair, fields: readonly FilterField[]): FormEntry | undefined {
  const isNegated = key.endsWith('!');
  const name = isNegated ? key.slice(0, -1) : key;
  const isField = (text: string): boolean => fields.some((one) => one.key === text);
  const end = isField(name) ? -1 : name.lastIndexOf('__');
  const [field, lookup] = end < 0 ? [name, PLAIN_LOOKUP] : [name.slice(0, end), name.slice(end + 2)];
  if (!isField(field) || !fields.some(({ lookups }) => lookups.includes(lookup))) return undefined;
  const isDayEnd = WITH_END.has(lookup) && value.endsWith(DAY_END);
  return { field, lookup, value: isDayEnd ? value.slice(0, -DAY_END.length) : value, isNegated };
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_LAST = /(?:^|,)\s*\d{4}-\d\d-\d\d$/;

/** Extends a day to its end if the field has times. */
function endOf(value: string, type: string | undefined): string {
  const text = value.trim();
  return type === 'dateTime' && DAY_LAST.test(text) ? text + DAY_END : value;
}
