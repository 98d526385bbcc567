// The table of lookups: one row says what a lookup fits, how its operand is read and how it finds codes.
// To add a lookup, add a row and a test; parser, planner and executor read the table. Called by key.ts, parse.ts, plan.ts.
import { eachCodeContaining, type CodeRange, type ColumnType, type Dictionary } from '../column/dictionary.ts';
import type { ServedForm } from '../column/served.ts';
import { hasPrefix, horspoolShifts, indexOfBytes } from '../bits/bytes.ts';
import { codesOfServedPrefix, codesOfValues, isTextOrdered } from './codes.ts';
import { isNumeric, parseValue, type Operand, type Parsed } from './values.ts';

/** What a key ends on: a column's type, and whether the key means a relation by its id. */
export interface Column {
  readonly type: ColumnType;
  readonly isRelation: boolean;
}

/** Whether one text, `bytes[start..end)` as served in UTF-8, is a hit. Called in hot loops: it must not allocate. */
export type TextMatcher = (bytes: Uint8Array, start: number, end: number) => boolean;

/**
 * How a lookup looks at texts one by one. `eachHit` finds the hits among neighbouring codes whose texts are served as
 * stored, ascending, where there is a faster way than one text after the other.
 */
export interface Search {
  readonly matches: TextMatcher;
  readonly eachHit?: (dictionary: Dictionary, codes: CodeRange, onHit: (code: number) => void) => void;
}

/**
 * One lookup.
 * `fits`: the columns it can be asked of; elsewhere it is not supported. `parse` reads the client's text; with
 * `isLenient` bad members of a list are dropped (A42). `codes` finds codes without a scan: undefined where the dictionary
 * at hand has to be searched instead, which is heavy. A lookup that never scans has no `search`.
 */
export interface Lookup {
  readonly name: string;
  fits(column: Column): boolean;
  parse(type: ColumnType, text: string, isLenient: boolean): Parsed<Operand>;
  codes(dictionary: Dictionary, operand: Operand, form: ServedForm): readonly CodeRange[] | undefined;
  readonly search?: (operand: Operand) => Search;
}

/** The lookup of a key without one. Source: A32. */
export const DEFAULT_LOOKUP = 'exact';

const encoder = new TextEncoder();

const LOOKUPS: readonly Lookup[] = [
  { name: DEFAULT_LOOKUP, fits: isAny, parse: oneValue, codes: memberCodes },
  { name: 'in', fits: isAny, parse: listOfValues, codes: memberCodes },
  { name: 'contains', fits: hasText, parse: oneText, codes: containingCodes, search: containsSearch },
  { name: 'startswith', fits: hasText, parse: oneText, codes: prefixCodes, search: prefixSearch },
];

const BY_NAME: ReadonlyMap<string, Lookup> = new Map(LOOKUPS.map((lookup) => [lookup.name, lookup]));

/** The lookup of a name, or undefined. Cost: one map look-up. */
export function lookupNamed(name: string): Lookup | undefined {
  return BY_NAME.get(name);
}

function isAny(): boolean {
  return true;
}

/** A relation has no text of its own (A35). */
function hasText(column: Column): boolean {
  return !column.isRelation;
}

function kindOf(type: ColumnType): Operand['kind'] {
  return isNumeric(type) ? 'number' : 'text';
}

function oneValue(type: ColumnType, text: string): Parsed<Operand> {
  const parsed = parseValue(type, text);
  return parsed.kind === 'error' ? parsed : operandOf(kindOf(type), [parsed.value]);
}

function oneText(_type: ColumnType, text: string): Parsed<Operand> {
  return oneValue('text', text);
}

/** An empty list is a list without members on every type; one whose members are all bad is an error in every mode (A42). */
function listOfValues(type: ColumnType, text: string, isLenient: boolean): Parsed<Operand> {
  if (text === '') return operandOf(kindOf(type), []);
  const values: string[] = [];
  let firstError: Extract<Parsed<string>, { kind: 'error' }> | undefined;
  for (const member of text.split(',')) {
    const parsed = parseValue(type, member);
    if (parsed.kind === 'value') values.push(parsed.value);
    else firstError ??= parsed;
  }
  if (firstError && !(isLenient && values.length > 0)) return firstError;
  return operandOf(kindOf(type), values);
}

function operandOf(kind: Operand['kind'], values: readonly string[]): Parsed<Operand> {
  return { kind: 'value', value: { kind, values } };
}

function memberCodes(dictionary: Dictionary, operand: Operand, form: ServedForm): readonly CodeRange[] {
  return codesOfValues(dictionary, operand.values, form);
}

/** Every text contains the empty one; all else needs a scan. */
function containingCodes(dictionary: Dictionary, operand: Operand): readonly CodeRange[] | undefined {
  return operand.values[0] === '' ? [{ start: 0, end: dictionary.size }] : undefined;
}

function containsSearch(operand: Operand): Search {
  const needle = encoder.encode(operand.values[0]!);
  const shifts = horspoolShifts(needle);
  return {
    matches: (bytes, start, end) => indexOfBytes(bytes, needle, shifts, start, end) >= 0,
    eachHit: (dictionary, codes, onHit) => eachCodeContaining(dictionary, codes, needle, onHit),
  };
}

function prefixCodes(dictionary: Dictionary, operand: Operand, form: ServedForm): readonly CodeRange[] | undefined {
  return isTextOrdered(dictionary) ? codesOfServedPrefix(dictionary, operand.values[0]!, form) : undefined;
}

function prefixSearch(operand: Operand): Search {
  const prefix = encoder.encode(operand.values[0]!);
  return { matches: (bytes, start, end) => hasPrefix(bytes.subarray(start, end), prefix) };
}
