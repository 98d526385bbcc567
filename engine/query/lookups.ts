// The table of lookups: one row says what a lookup fits, how its operand is read and how it finds codes. To add a
// lookup, add a row and a test; parser, planner and executor read the table.
import type { CodeRange, ColumnType, Dictionary } from '../column/dictionary.ts';
import type { ServedForm } from '../column/served.ts';
import { codesOfValues } from './codes.ts';
import { codesOfDay, codesOfYear, DATE_PARTS, type DatePart, partCodes, partSearch, type Search } from './dateParts.ts';
import { listOfValues, oneDay, oneText, oneValue, oneWhole, truth, twoValues } from './operands.ts';
import { type Bound, codesBetween } from './ranges.ts';
import { parseRegex, regexSearch, regexSize } from './regex.ts';
import { FOLDED_SEARCHES, prefixCodes, TEXT_SEARCHES, type TextRelation } from './textLookups.ts';
import type { Operand, ValueReading } from './values.ts';

/** What a key ends on: a column's type, and whether the key means a relation by its id. */
export interface Column {
  readonly type: ColumnType;
  readonly isRelation: boolean;
}

/**
 * Which columns a lookup can be asked of: `any`; `order`, all but booleans, since nobody would ask for the order of
 * false and true; `text`, all but relations, which have no text of their own (A35); `date`, dates and times.
 */
export type LookupGroup = 'any' | 'order' | 'text' | 'date';

/**
 * One lookup. `fits`: whether it can be asked of a column of its `group`; elsewhere it is not supported. `meaning` ends
 * the sentence "The field ...", and stands between field and value where people choose; `written` says there how a
 * value is typed. `parse` reads the client's text; with `isLenient` bad members of a list are dropped (A42). `codes`
 * finds codes without a scan: undefined where the dictionary at hand has to be searched instead. A lookup that never
 * scans has no `search`. What `readsUrls` looks at every own URL for that, where the form changes more than their base.
 * `pace` says how a search looks at texts, `plain` without one. `isList`: repeated values are one list
 * (A47). `sizeOf` says how much work it is to read a value that is a program, before it is read (limits.ts).
 */
export interface Lookup {
  readonly name: string;
  readonly group: LookupGroup;
  readonly meaning: string;
  readonly written?: string;
  fits(column: Column): boolean;
  parse(type: ColumnType, text: string, isLenient: boolean): ValueReading<Operand>;
  codes(dictionary: Dictionary, operand: Operand, form: ServedForm): readonly CodeRange[] | undefined;
  readonly readsUrls?: true;
  readonly search?: (operand: Operand) => Search;
  readonly pace?: 'plain' | 'folded' | 'pattern' | 'datePart';
  readonly isList?: true;
  readonly sizeOf?: (text: string) => number;
}

/** The lookup of a key without one. Source: A32. */
export const DEFAULT_LOOKUP = 'exact';

/** The lookup of null and what is not null; rows that do not exist are null too (passes.ts). */
export const NULL_LOOKUP = 'isnull';

type Row = Omit<Lookup, 'fits'>;

const ROWS: readonly Row[] = [
  { name: DEFAULT_LOOKUP, group: 'any', meaning: 'is the value', parse: oneValue, codes: memberCodes },
  {
    name: 'in',
    group: 'any',
    meaning: 'is one of the values',
    written: 'commas',
    parse: listOfValues,
    codes: memberCodes,
    isList: true,
  },
  {
    name: NULL_LOOKUP,
    group: 'any',
    meaning: 'is null or, of a relation, is none',
    written: 'true, false',
    parse: truth,
    codes: nullCodes,
  },
  ordered('gt', 'is greater than the value', (bound) => ({ from: bound(false) })),
  ordered('gte', 'is at least the value', (bound) => ({ from: bound(true) })),
  ordered('lt', 'is less than the value', (bound) => ({ to: bound(false) })),
  ordered('lte', 'is at most the value', (bound) => ({ to: bound(true) })),
  {
    name: 'range',
    group: 'order',
    meaning: 'lies between two values, both included',
    written: 'comma',
    parse: twoValues,
    codes: rangeCodes,
    readsUrls: true,
  },
  textual('contains', 'contains the text'),
  { ...textual('startswith', 'starts with the text'), codes: prefixCodes, readsUrls: true },
  textual('endswith', 'ends with the text'),
  folded('iexact', 'is the text, in any case', 'exact'),
  folded('icontains', 'contains the text, in any case', 'contains'),
  folded('istartswith', 'starts with the text, in any case', 'startswith'),
  folded('iendswith', 'ends with the text, in any case', 'endswith'),
  regular('regex', 'matches the regular expression, anywhere', false),
  regular('iregex', 'matches the regular expression, anywhere and in any case', true),
  { name: 'date', group: 'date', meaning: 'lies in the day, in UTC', parse: oneDay, codes: codesOfDay },
  { name: 'year', group: 'date', meaning: 'lies in the year, in UTC', parse: oneWhole, codes: codesOfYear },
  ...DATE_PARTS.map(partOfDate),
];

const FITS: Readonly<Record<LookupGroup, Lookup['fits']>> = {
  any: () => true,
  order: ({ type }) => type !== 'boolean',
  text: ({ isRelation }) => !isRelation,
  date: ({ type }) => type === 'date' || type === 'dateTime',
};

export const LOOKUPS: readonly Lookup[] = ROWS.map((row) => ({ ...row, fits: FITS[row.group] }));

const BY_NAME: ReadonlyMap<string, Lookup> = new Map(LOOKUPS.map((lookup) => [lookup.name, lookup]));

/** The lookup of a name, or undefined. Cost: one map look-up. */
export function lookupNamed(name: string): Lookup | undefined {
  return BY_NAME.get(name);
}

function ordered(
  name: string,
  meaning: string,
  ends: (bound: (isIncluded: boolean) => Bound) => { from?: Bound; to?: Bound },
): Row {
  const codes: Lookup['codes'] = (dictionary, { values }, form) =>
    codesBetween(
      dictionary,
      ends((isIncluded) => ({ value: values[0]!, isIncluded })),
      form,
    );
  return { name, group: 'order', meaning, parse: oneValue, codes, readsUrls: true };
}

function textual(name: TextRelation, meaning: string): Row {
  return { name, group: 'text', meaning, parse: oneText, codes: codesOfEmptyText, search: TEXT_SEARCHES[name] };
}

function folded(name: string, meaning: string, relation: TextRelation | 'exact'): Row {
  const codes = relation === 'exact' ? () => undefined : codesOfEmptyText;
  return {
    name,
    group: 'text',
    meaning,
    parse: oneText,
    codes,
    search: FOLDED_SEARCHES[relation],
    pace: 'folded',
  };
}

function regular(name: string, meaning: string, isFolded: boolean): Row {
  return {
    name,
    group: 'text',
    meaning,
    parse: (_, text) => parseRegex(text, isFolded),
    codes: () => undefined,
    search: (operand) => regexSearch(operand.values[0]!, isFolded),
    pace: 'pattern',
    sizeOf: (text) => regexSize(text, isFolded),
  };
}

function partOfDate(part: DatePart): Row {
  return {
    name: part.name,
    group: 'date',
    meaning: `has this ${part.name.replace('_', ' ')}, ${part.least} to ${part.most}, in UTC`,
    parse: oneWhole,
    codes: (dictionary, operand) => partCodes(part, dictionary, operand),
    search: (operand) => partSearch(part, operand),
    pace: 'datePart',
  };
}

function memberCodes(dictionary: Dictionary, operand: Operand, form: ServedForm): readonly CodeRange[] {
  return codesOfValues(dictionary, operand.values, form);
}

/** Null is the last code. */
function nullCodes({ size }: Dictionary, operand: Operand): readonly CodeRange[] {
  return [operand.values[0] === 'true' ? { start: size, end: size + 1 } : { start: 0, end: size }];
}

function rangeCodes(dictionary: Dictionary, { values }: Operand, form: ServedForm): readonly CodeRange[] {
  const [from, to] = values.map((value) => ({ value, isIncluded: true }));
  return codesBetween(dictionary, { from: from!, to: to! }, form);
}

/** Every text contains the empty one, starts and ends with it; all else needs a scan. */
function codesOfEmptyText(dictionary: Dictionary, operand: Operand): readonly CodeRange[] | undefined {
  return operand.values[0] === '' ? [{ start: 0, end: dictionary.size }] : undefined;
}
