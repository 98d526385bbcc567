// `bbox` and `datetime`: conditions on the box and on the period of a record. The record has them itself, or links to a
// record that has them. Source: A166, A167.
import type { Condition } from './ask.ts';
import { DAY_MICROSECONDS } from './dateParts.ts';
import { DAY_LENGTH } from './operands.ts';
import { linkedTo, locate } from './path.ts';
import { MESSAGES } from './problems.ts';
import type { Reading } from './readers.ts';
import { parseValue } from './values.ts';

/**
 * Reads `west,south,east,north`. A record matches if its box overlaps this one, borders included. If west > east, a box
 * crosses the date line, here and in records. Records without all four edges do not match. Source: A166.
 */
export function readBbox(reading: Reading, value: string, at: number): void {
  const paths = targetPaths(reading, 'bboxes', at);
  const box = parseBox(value);
  if (typeof box === 'string') return reading.refuse(at, [box]);
  const [west, south, east, north] = box;
  addAnyOf(reading, paths, 'bbox', [
    ['southBoundLatitude', 'lte', [String(north)]],
    ['northBoundLatitude', 'gte', [String(south)]],
    ['westBoundLongitude', 'overlaps east', [String(west), String(east)]],
  ]);
}

/** Parses the edges of a box in degrees. Returns a message for the client if the text is not one. */
function parseBox(text: string): readonly [west: number, south: number, east: number, north: number] | string {
  const edges = text.split(',', 5).map((edge) => parseValue('float', edge));
  const numbers = edges.map((edge) => (edge.kind === 'error' ? NaN : Number(edge.value)));
  if (numbers.length !== 4 || numbers.some(Number.isNaN)) return MESSAGES.box;
  const [west, south, east, north] = numbers as [number, number, number, number];
  const isOnEarth = Math.abs(west) <= 180 && Math.abs(east) <= 180 && Math.abs(south) <= 90 && Math.abs(north) <= 90;
  if (!isOnEarth) return MESSAGES.degrees;
  return south > north ? MESSAGES.southOfNorth : [west, south, east, north];
}

/**
 * Reads `start/end`, `../end`, `start/..` or one time. A record matches if its period overlaps this one, borders
 * included. A date without a time is the whole day. A period without an end is open; a period without a start does not
 * match. Source: A167.
 */
export function readDatetime(reading: Reading, value: string, at: number): void {
  const paths = targetPaths(reading, 'times', at);
  const interval = parseInterval(value);
  if (typeof interval === 'string') return reading.refuse(at, [interval]);
  const { start, end } = interval;
  addAnyOf(reading, paths, 'datetime', [
    end === undefined ? ['startTime', 'has a value', []] : ['startTime', end.lookup, [end.value]],
    ...(start === undefined ? [] : ([['endTime', 'gte or null', [start]]] as const)),
  ]);
}

interface Interval {
  readonly start: string | undefined;
  /** `value` is in microseconds since 1970. With `lt` it is the start of the day after the last one. */
  readonly end: { readonly value: string; readonly lookup: 'lt' | 'lte' } | undefined;
}

/** Parses an interval. Returns a message for the client if the text is not one. */
function parseInterval(text: string): Interval | string {
  const parts = text.split('/', 3).map((part) => part.trim());
  if (parts.length > 2 || parts.every((part) => part === '..')) return MESSAGES.interval;
  const [first, last] = [parts[0]!, parts.at(-1)!];
  const [start, end] = [first, last].map((part) => (part === '..' ? undefined : parseValue('dateTime', part)));
  if (start?.kind === 'error' || end?.kind === 'error') return MESSAGES.interval;
  if (start && end && BigInt(start.value) > BigInt(end.value)) return MESSAGES.startBeforeEnd;
  const isDay = last.length === DAY_LENGTH;
  const value = end && (isDay ? String(BigInt(end.value) + DAY_MICROSECONDS) : end.value);
  return { start: start?.value, end: value === undefined ? undefined : { value, lookup: isDay ? 'lt' : 'lte' } };
}

/**
 * The paths from records of the list to records of collection `target`: the empty path if that is the collection
 * itself, otherwise one path per link to it. Without such a path, the parameter has no effect.
 */
function targetPaths(reading: Reading, target: string, at: number): readonly (readonly string[])[] {
  const collection = reading.collection!;
  const links = [...collection.members.keys()].filter((name) => linkedTo(collection, name)?.name === target);
  const paths = collection.declaration.name === target ? [[]] : links.map((name) => [name]);
  if (paths.length === 0) reading.ignoreParameter(at, MESSAGES.unknown);
  return paths;
}

/** Requires that all conditions match the record at the end of one of the paths. */
function addAnyOf(
  reading: Reading,
  paths: readonly (readonly string[])[],
  key: string,
  conditions: readonly (readonly [field: string, lookup: string, values: readonly string[]])[],
): void {
  const sets = paths.map((names) =>
    conditions.map(([field, lookup, values]): Condition => {
      const { path } = locate(reading.collection!, [...names, field])!;
      return { key, path, lookup, isNegated: false, operand: { kind: 'number', values } };
    }),
  );
  if (sets.length > 0) reading.anyOf.push(sets);
}
