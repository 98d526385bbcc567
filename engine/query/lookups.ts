// The table of lookups. One row says which columns a lookup fits, how it reads its operand and how it finds codes. To
// add a lookup, add a row and a test; parser, planner and executor read the table.
import type { CodeRange, ColumnType, Dictionary } from '../column/dictionary.ts';
import type { ServedForm } from '../column/served.ts';
import { codesOfValues } from './codes.ts';
import { codesOfDay, codesOfYear, DATE_PARTS, type DatePart, partCodes, partSearch, type Search } from './dateParts.ts';
import { listOfValues, oneDay, oneText, oneValue, oneWhole, truth, twoValues } from './operands.ts';
import { type Bound, codesBetween } from './ranges.ts';
import { parseRegex, regexSearch, regexSize } from './regex.ts';
import { FOLDED_SEARCHES, prefixCodes, TEXT_SEARCHES, type TextRelation, wordSearch } from './textLookups.ts';
import type { Operand, ValueReading } from './values.ts';

/** The column that a key ends on. */
export interface Column {
  readonly type: ColumnType;
  /** Whether the key means a relation, by its id. */
  readonly isRelation: boolean;
}

/**
 * The columns that a lookup fits. `any`: all. `order`: all but booleans, whose order is of no use. `text`: all but
 * relations, which have no text (A35). `date`: dates and times.
 */
export type LookupGroup = 'any' | 'order' | 'text' | 'date';

/** One lookup. */
export interface Lookup {
  readonly name: string;
  readonly group: LookupGroup;
  /** Ends the sentence "The field ...". Also shown between field and value where people choose a lookup. */
  readonly meaning: string;
  /** Says how to type a value; shown next to `meaning`. */
  readonly written?: string;
  /** Whether the lookup supports a column. A column outside its `group` is not supported. */
  fits(column: Column): boolean;
  /** Reads the client's text. If `isLenient`, bad members of a list are dropped (A42). */
  parse(type: ColumnType, text: string, isLenient: boolean): ValueReading<Operand>;
  /** Finds codes without a scan; `undefined` if this dictionary has to be searched instead. */
  codes(dictionary: Dictionary, operand: Operand, form: ServedForm): readonly CodeRange[] | undefined;
  /** `codes` reads each own URL, if the form changes more of them than their base. */
  readonly readsUrls?: true;
  /** Absent if the lookup never scans. */
  readonly search?: (operand: Operand) => Search;
  /** The way in which a search reads texts; `plain` if absent. */
  readonly pace?: 'plain' | 'folded' | 'pattern' | 'datePart';
  /** Repeated values form one list (A47). */
  readonly isList?: true;
  /** Compares the numbers of two columns of a row: those of this column and of `other`, a field next to it. */
  readonly pair?: {
    readonly other: string;
    matcherOf(operand: Operand): (value: number, other: number) => boolean;
  };
  /** For a value that is a program: the work to read it, computed before it is read (limits.ts). */
  readonly sizeOf?: (text: string) => number;
}

/** The lookup of a key that names none. Source: A32. */
export const DEFAULT_LOOKUP = 'exact';

/** The lookup that distinguishes null from other values. A row that does not exist is null too (passes.ts). */
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
    meaning: 'is null, or a relation without records',
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
    meaning: 'is between two values, both included',
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
  { name: 'date', group: 'date', meaning: 'is on the day, in UTC', parse: oneDay, codes: codesOfDay },
  { name: 'year', group: 'date', meaning: 'is in the year, in UTC', parse: oneWhole, codes: codesOfYear },
  ...DATE_PARTS.map(partOfDate),
];

const FITS: Readonly<Record<LookupGroup, Lookup['fits']>> = {
  any: () => true,
  order: ({ type }) => type !== 'boolean',
  text: ({ isRelation }) => !isRelation,
  date: ({ type }) => type === 'date' || type === 'dateTime',
};

export const LOOKUPS: readonly Lookup[] = ROWS.map((row) => ({ ...row, fits: FITS[row.group] }));

/** Lookups of the conditions that parameters such as `bbox` make. No key can name them: their names have blanks. */
const INTERNAL: readonly Lookup[] = [
  internal('has a value', { codes: ({ fitting }) => [{ start: 0, end: fitting }] }),
  internal('gte or null', {
    codes: (dictionary, { values }, form) => [
      ...codesBetween(dictionary, { from: { value: values[0]!, isIncluded: true } }, form),
      { start: dictionary.size, end: dictionary.size + 1 },
    ],
  }),
  internal('overlaps east', { pair: { other: 'eastBoundLongitude', matcherOf: longitudeMatcher } }),
  internal('has word', { search: (operand) => wordSearch(operand, false), pace: 'folded' }),
  internal('has whole word', { search: (operand) => wordSearch(operand, true), pace: 'folded' }),
];

function internal(name: string, row: Partial<Lookup>): Lookup {
  return { name, group: 'any', meaning: '', fits: () => false, parse: oneValue, codes: () => undefined, ...row };
}

const BY_NAME: ReadonlyMap<string, Lookup> = new Map([...LOOKUPS, ...INTERNAL].map((lookup) => [lookup.name, lookup]));

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
    codes: (_, operand) => partCodes(part, operand),
    search: (operand) => partSearch(part, operand),
    pace: 'datePart',
  };
}

function memberCodes(dictionary: Dictionary, operand: Operand, form: ServedForm): readonly CodeRange[] {
  return codesOfValues(dictionary, operand.values, form);
}

function nullCodes({ size }: Dictionary, operand: Operand): readonly CodeRange[] {
  return [operand.values[0] === 'true' ? { start: size, end: size + 1 } : { start: 0, end: size }];
}

function rangeCodes(dictionary: Dictionary, { values }: Operand, form: ServedForm): readonly CodeRange[] {
  const [from, to] = values.map((value) => ({ value, isIncluded: true }));
  return codesBetween(dictionary, { from: from!, to: to! }, form);
}

/** Every text contains the empty text, starts and ends with it. Other operands need a scan. */
function codesOfEmptyText(dictionary: Dictionary, operand: Operand): readonly CodeRange[] | undefined {
  return operand.values[0] === '' ? [{ start: 0, end: dictionary.size }] : undefined;
}

/** Whether a box from `west` to `east` overlaps the operand's two longitudes. Either may cross the date line. */
function longitudeMatcher({ values }: Operand): (west: number, east: number) => boolean {
  const [from, to] = values.map(Number) as [number, number];
  return (west, east) => {
    const [startsBefore, endsAfter] = [west <= to, east >= from];
    if (from > to) return west > east || startsBefore || endsAfter;
    return west > east ? startsBefore || endsAfter : startsBefore && endsAfter;
  };
}
