// Finds the codes between two values: runs of the sorted dictionary, by binary search, with own URLs compared as
// served. The result is exact: beyond the precision of doubles, the stored texts decide.
import { type CodeRange, codesOfNumbers, codesOfText, type Dictionary, textAt } from '../column/dictionary.ts';
import { PLACEHOLDER } from '../column/records.ts';
import { isSpecForm, type ServedForm, servedUrl } from '../column/served.ts';
import { compareBytes } from '../bits/bytes.ts';
import { codesOfExactly, codesOfOwnUrls, isExactlyOrdered, isTextOrdered, merged, subtractRange } from './codes.ts';
import { compareDecimals } from './decimal.ts';
import { exactValue } from './values.ts';

/** One end of a range. */
export interface Bound {
  /** An operand's value. */
  readonly value: string;
  /** Whether the value belongs to the range. */
  readonly isIncluded: boolean;
}

/** A range of values; a missing end is open. */
export interface Bounds {
  readonly from?: Bound;
  readonly to?: Bound;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The codes whose value is between the bounds: texts by code point, as served, numbers by value, dates by instant. Not
 * for booleans. Misfits are in no range. Cost: O(log size), plus the neighbours of a bound beyond 2^53; also each own
 * URL if the form changes more of them than their base.
 */
export function codesBetween(dictionary: Dictionary, bounds: Bounds, form: ServedForm): readonly CodeRange[] {
  return isTextOrdered(dictionary) ? textsBetween(dictionary, bounds, form) : numbersBetween(dictionary, bounds);
}

function textsBetween(dictionary: Dictionary, bounds: Bounds, form: ServedForm): readonly CodeRange[] {
  const whole = { start: 0, end: dictionary.fitting };
  const asStored = between(bounds, whole, (text) => codesOfText(dictionary, encoder.encode(text)));
  const own = codesOfOwnUrls(dictionary);
  if (own.start >= own.end) return merged([asStored]);
  return merged([...subtractRange(asStored, own), ...ownUrlsBetween(dictionary, bounds, own, form)]);
}

/**
 * The part of `whole` between the bounds. `placeOf` finds the codes that equal a value, or an empty range at the
 * position where they would be.
 */
function between({ from, to }: Bounds, whole: CodeRange, placeOf: (text: string) => CodeRange): CodeRange {
  const first = from && placeOf(from.value);
  const last = to && placeOf(to.value);
  return {
    start: first ? (from.isIncluded ? first.start : first.end) : whole.start,
    end: last ? (to.isIncluded ? last.end : last.start) : whole.end,
  };
}

/**
 * Served own URLs share one prefix. In the form of the specification, they are in the order in which they are stored.
 */
function ownUrlsBetween(
  dictionary: Dictionary,
  bounds: Bounds,
  own: CodeRange,
  form: ServedForm,
): readonly CodeRange[] {
  if (!isSpecForm(form)) return ownUrlsOneByOne(dictionary, bounds, own, form);
  const { baseUrl } = form;
  const placeOf = (text: string): CodeRange => {
    if (text.startsWith(baseUrl)) {
      return codesOfText(dictionary, encoder.encode(PLACEHOLDER + text.slice(baseUrl.length)));
    }
    const place = compareTexts(text, baseUrl) < 0 ? own.start : own.end;
    return { start: place, end: place };
  };
  return [between(bounds, own, placeOf)];
}

function ownUrlsOneByOne(
  dictionary: Dictionary,
  { from, to }: Bounds,
  own: CodeRange,
  form: ServedForm,
): readonly CodeRange[] {
  const found: CodeRange[] = [];
  for (let code = own.start; code < own.end; code++) {
    const served = servedUrl(decoder.decode(textAt(dictionary, code)), form);
    const isBetween = isWithin(from, to, (text) => compareTexts(served, text));
    if (isBetween) found.push({ start: code, end: code + 1 });
  }
  return found;
}

/** Compares by code point, which is the order of UTF-8 bytes but not of UTF-16 units. */
function compareTexts(a: string, b: string): number {
  return compareBytes(encoder.encode(a), encoder.encode(b));
}

/** Whether a value is between the bounds. `orderTo` compares the value with a bound's. */
function isWithin(from: Bound | undefined, to: Bound | undefined, orderTo: (value: string) => number): boolean {
  if (from) {
    const order = orderTo(from.value);
    if (order < 0 || (order === 0 && !from.isIncluded)) return false;
  }
  if (!to) return true;
  const order = orderTo(to.value);
  return order < 0 || (order === 0 && to.isIncluded);
}

/**
 * The codes of the numbers within the bounds. A run has the codes whose double equals that of a bound. Codes between
 * both runs match, those of a run are checked exactly.
 */
function numbersBetween(dictionary: Dictionary, bounds: Bounds): readonly CodeRange[] {
  const { from, to } = bounds;
  const first = from && runOf(dictionary, from.value);
  const last = to && runOf(dictionary, to.value);
  const end = last?.start ?? dictionary.fitting;
  return merged([
    { start: first?.end ?? 0, end },
    ...[first, last].flatMap((run) => (run ? withinRun(dictionary, bounds, run) : [])),
  ]);
}

function runOf(dictionary: Dictionary, value: string): CodeRange {
  return codesOfNumbers(dictionary, Number(value), Number(value));
}

/** The codes of a run of equal doubles that are within the bounds. A run is one value, unless it is beyond 2^53. */
function withinRun(dictionary: Dictionary, bounds: Bounds, run: CodeRange): readonly CodeRange[] {
  const { from, to } = bounds;
  if (run.start >= run.end) return [];
  const number = dictionary.numbers![run.start]!;
  if (dictionary.type === 'float' || Math.abs(number) <= Number.MAX_SAFE_INTEGER) {
    return isWithin(from, to, (value) => compareNumbers(number, Number(value))) ? [run] : [];
  }
  if (isExactlyOrdered(dictionary)) {
    return [between(bounds, run, (value) => codesOfExactly(dictionary, run, value))];
  }
  const found: CodeRange[] = [];
  for (let code = run.start; code < run.end; code++) {
    const exact = exactValue(dictionary.type, decoder.decode(textAt(dictionary, code)))!;
    if (isWithin(from, to, (value) => compareDecimals(exact, value))) found.push({ start: code, end: code + 1 });
  }
  return found;
}

function compareNumbers(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
