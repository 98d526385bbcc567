// Messages for clients about problems of a query, and all of them: no other file has any. No logic; the server makes
// the response's status and body.
import {
  CONDITIONS_MAX,
  EXPAND_LEVELS_MAX,
  EXPAND_MAX,
  FACETS_MAX,
  JOINED_MAX,
  NAMES_MAX,
  ORDER_KEYS_MAX,
  PARAMETERS_MAX,
  REGEXES_MAX,
  RELATION_STEPS_MAX,
  WORDS_MAX,
} from './limits.ts';

/** A rejected parameter. */
export interface Problem {
  /** The parameter's name as the client wrote it, decoded. */
  readonly key: string;
  readonly messages: readonly string[];
}

/** Messages about a value, or about a name as a whole. Source: A29, A34, A40, A43, A58. */
export const MESSAGES = {
  required: 'This field is required.',
  wholeNumber: 'Enter a whole number.',
  number: 'Enter a number.',
  date: 'Enter a valid date.',
  dateTime: 'Enter a valid date/time.',
  nul: 'Null characters are not allowed.',
  regex: 'Enter a valid regular expression.',
  regexSize: 'This regular expression is too large.',
  regexSizes: 'The regular expressions of this query are too large together.',
  regexTime: 'This regular expression takes too long; make it simpler, or add a filter that leaves fewer records.',
  truth: 'Enter true or false.',
  absent: 'No record has this text.',
  limit: 'Enter a whole number from 1.',
  offset: 'Enter a whole number from 0.',
  box: 'Enter west, south, east and north in degrees, with commas between them.',
  degrees: 'Longitudes are from -180 to 180, latitudes from -90 to 90.',
  southOfNorth: 'South must not be greater than north.',
  interval: 'Enter a date or time, or an interval such as 2003-01-01/2003-12-31, ../2003-12-31 or 2003-01-01/..',
  startBeforeEnd: 'The start must not be after the end.',
  unknown: 'Unknown parameter.',
  bom: 'Only CSV has a byte order mark.',
  exported: 'Exports do not support this.',
  table: 'A table has no embedded records. Name joined fields, such as "fields=ob_id,timePeriod__startTime".',
  filters: 'Write a filter as "<field>=<value>" or "filters[<field>]=<value>".',
  repeated: 'This parameter is repeated, and only its last value counts.',
  tooManySteps: `At most ${RELATION_STEPS_MAX} relations can be stepped over.`,
  tooManyParameters: `At most ${PARAMETERS_MAX} parameters can be given at once.`,
  tooManyConditions: `At most ${CONDITIONS_MAX} filters can be used at once.`,
  tooManyNames: `At most ${NAMES_MAX} names can be given at once.`,
  tooManyRegexes: `At most ${REGEXES_MAX} regular expressions can be used at once.`,
  tooManyExpanded: `At most ${EXPAND_MAX} names can be expanded at once.`,
  tooManyLevels: `At most ${EXPAND_LEVELS_MAX} links after one another can be expanded.`,
  tooManyJoined: `At most ${JOINED_MAX} joined fields can be requested at once.`,
  tooManyFacets: `At most ${FACETS_MAX} facets can be requested at once.`,
  tooManyOrderKeys: `At most ${ORDER_KEYS_MAX} fields can be ordered by at once.`,
  tooManyWords: `At most ${WORDS_MAX} words can be searched for at once.`,
} as const;

/**
 * Hints added to a message for a client that nearly got it right: how to write dates, what a plus in an address means,
 * how to name a record, and what the syntax of regular expressions lacks.
 */
export const HINTS = {
  date: 'Write a date as 2020-01-31.',
  dateTime: 'Write a date as 2020-01-31, a time as 2020-01-31T12:30:00Z.',
  plus: 'A plus in a URL is a blank: write it as %2B.',
  link: 'Write the id of the record, the number at the end of its link.',
  regex: 'Look-around and back-references are not supported.',
} as const;

/** The hint that gives the working form of a parameter or value. */
export function writtenAs(form: string): string {
  return `Write it as "${form}".`;
}

/** The hint that says what is wrong with a regular expression, and where; places count characters from 1. */
export function wrongRegex(what: string, place: number, text: string): string {
  return `At character ${place}, "${text}": ${what}.`;
}

/** The message for a lookup that does not exist or fit; `name` is empty for a key that ends on `__`. Source: A29. */
export function unsupportedLookup(name: string): string {
  return `"${name}" lookup is not supported`;
}

/** The hint for a lookup that follows another one, which must be the last name of its key. Source: A56. */
export function nothingAfterLookup(lookup: string): string {
  return `Nothing may follow "${lookup}".`;
}

/** The hint that names the wrong member of a list, counted from 1. */
export function wrongMember(at: number, text: string): string {
  return `Member ${at} is "${text}".`;
}

/** Hints for a wrong step: the key that it may stand for, and the lookups that fit there. */
export function stepHints(nearest: string | undefined, lookups: readonly string[]): readonly string[] {
  const meant = nearest === undefined ? [] : [`Did you mean "${nearest}"?`];
  return lookups.length === 0 ? meant : [...meant, `Lookups that fit: ${lookups.join(', ')}.`];
}

export function atLeastItems(least: number, length: number): string {
  return `Ensure this value has at least ${least} items (it has ${length}).`;
}

export function atMost(most: number): string {
  return `Ensure this value is less than or equal to ${most}.`;
}

export function atMostItems(most: number, length: number): string {
  return `Ensure this value has at most ${most} items (it has ${length}).`;
}

/**
 * The message for a name inside a parameter's value that is not a field or does not fit, with a field that it may stand
 * for.
 */
export function unknownField(name: string, nearest: string | undefined): string {
  const message = `Unknown field "${name}".`;
  return nearest === undefined ? message : `${message} Did you mean "${nearest}"?`;
}

/** The message for an order by a field that has several values in a record. Source: A64. */
export function severalValues(name: string): string {
  return `"${name}" has several values, so a list cannot be ordered by it.`;
}

/** The message for a name in `expand` that is a field without links. Source: A170. */
export function withoutLinks(name: string): string {
  return `"${name}" has no links.`;
}

/** The message for a name in `expand` that `fields` leaves out. Source: A170. */
export function notAmongFields(name: string): string {
  return `"${name}" is not among "fields".`;
}

/** The message for a response that linked records would make too large. Source: A171. */
export function tooLarge(mebibytes: number): string {
  return `The linked records exceed ${mebibytes} MiB. Use a smaller "limit", or name fewer links or fields.`;
}

export function notTogether(other: string): string {
  return `Cannot be combined with "${other}".`;
}

/** The message for a parameter that strict mode rejects, with the known name that it may stand for. Source: A28. */
export function unknownParameter(nearest: string | undefined): string {
  return nearest === undefined ? MESSAGES.unknown : `${MESSAGES.unknown} Did you mean "${nearest}"?`;
}
