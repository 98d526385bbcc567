// `bbox` and `datetime`: conditions on the box and on the period of a record. The record has them itself, or links to a
// record that has them. Source: A166, A167.
import type { Condition } from './ask.ts';
import { DAY_MICROSECONDS } from './dateParts.ts';
import { DAY_LENGTH } from './operands.ts';
import { linkedTo, locate } from './path.ts';
import { MESSAGES } from './problems.ts';
import type { Reading } from './readers.ts';
import { parseValue } from './values.ts';

/** A condition on a field of a box or period. */
type Comparison = readonly [field: string, lookup: string, values: readonly string[]];

/**
 * Reads `west,south,east,north`. A record matches if its box overlaps this one, borders included. If west > east, a box
 * crosses the date line, here and in records. Records without all four edges do not match. Source: A166.
 */
export function readBbox(reading: Reading, value: string, at: number): void {
  addExtent(reading, at, 'bboxes', parseBox(value));
}

/** Parses the edges of a box in degrees. Returns a message for the client if the text is not one. */
function parseBox(text: string): readonly Comparison[] | string {
  const edges = text.split(',', 5).map((edge) => parseValue('float', edge));
  const numbers = edges.map((edge) => (edge.kind === 'error' ? NaN : Number(edge.value)));
  if (numbers.length !== 4 || numbers.some(Number.isNaN)) return MESSAGES.box;
  const [west, south, east, north] = numbers as [number, number, number, number];
  const isOnEarth = Math.abs(west) <= 180 && Math.abs(east) <= 180 && Math.abs(south) <= 90 && Math.abs(north) <= 90;
  if (!isOnEarth) return MESSAGES.degrees;
  if (south > north) return MESSAGES.southOfNorth;
  return [
    ['southBoundLatitude', 'lte', [String(north)]],
    ['northBoundLatitude', 'gte', [String(south)]],
    ['westBoundLongitude', 'overlaps east', [String(west), String(east)]],
  ];
}

/**
 * Reads `start/end`, `../end`, `start/..` or one time. A record matches if its period overlaps this one, borders
 * included. A date without a time is the whole day. A period without an end is open; a period without a start does not
 * match. Source: A167.
 */
export function readDatetime(reading: Reading, value: string, at: number): void {
  addExtent(reading, at, 'times', parseInterval(value));
}

/** Parses an interval. Returns a message for the client if the text is not one. */
function parseInterval(text: string): readonly Comparison[] | string {
  const parts = text.split('/', 3).map((part) => part.trim());
  if (parts.length > 2 || parts.every((part) => part === '..')) return MESSAGES.interval;
  const [first, last] = [parts[0]!, parts.at(-1)!];
  const [start, end] = [first, last].map((part) => (part === '..' ? undefined : parseValue('dateTime', part)));
  if (start?.kind === 'error' || end?.kind === 'error') return MESSAGES.interval;
  if (start && end && BigInt(start.value) > BigInt(end.value)) return MESSAGES.startBeforeEnd;
  const comparisons: Comparison[] = [];
  if (!end) comparisons.push(['startTime', 'has a value', []]);
  else if (last.length !== DAY_LENGTH) comparisons.push(['startTime', 'lte', [end.value]]);
  // The start of the day after the last one.
  else comparisons.push(['startTime', 'lt', [String(BigInt(end.value) + DAY_MICROSECONDS)]]);
  if (start) comparisons.push(['endTime', 'gte or null', [start.value]]);
  return comparisons;
}

/**
 * Requires that all comparisons match the record itself, if its collection is `target`, or one that a link leads to. A
 * text in place of comparisons refuses the parameter. If no link leads to `target`, the parameter has no effect.
 */
function addExtent(reading: Reading, at: number, target: string, comparisons: readonly Comparison[] | string): void {
  const collection = reading.collection!;
  const links = [...collection.members.keys()].filter((name) => linkedTo(collection, name)?.name === target);
  const paths = collection.declaration.name === target ? [[]] : links.map((name) => [name]);
  if (paths.length === 0) reading.ignoreParameter(at, MESSAGES.unknown);
  if (typeof comparisons === 'string') return reading.refuse(at, [comparisons]);
  if (paths.length === 0) return;
  const key = reading.parameters[at]![0];
  const conditionsAt = (names: readonly string[]): readonly Condition[] =>
    comparisons.map(([field, lookup, values]) => {
      const { path } = locate(collection, [...names, field])!;
      return { key, path, lookup, isNegated: false, operand: { kind: 'number', values } };
    });
  reading.anyOf.push(paths.map(conditionsAt));
}
