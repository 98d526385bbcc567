import { BASE_URL } from './sample.ts';
import type { Shape } from './quotes.ts';

/** An integer; one beyond 2^53 is still one, though a JSON parser may round it. */
export const integer: Shape = (value) => Number.isInteger(value);
export const text: Shape = (value) => typeof value === 'string';
export const boolean: Shape = (value) => typeof value === 'boolean';
/** A string of 32 lower-case hexadecimal characters (spec 2.2). */
export const uuid: Shape = (value) => text(value) && /^[0-9a-f]{32}$/.test(String(value));
/** An ISO 8601 date-time without zone (spec 2.9). */
export const dateTime: Shape = (value) => text(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/.test(String(value));
/** A date, YYYY-MM-DD. */
export const date: Shape = (value) => text(value) && /^\d{4}-\d\d-\d\d$/.test(String(value));

export function orNull(shape: Shape): Shape {
  return (value) => value === null || shape(value);
}

/** An array of values of one shape, possibly empty. */
export function arrayOf(shape: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(shape);
}

/** An object with at least these members, each of its shape. */
export function objectOf(members: Readonly<Record<string, Shape>>): Shape {
  return (value) => {
    if (typeof value !== 'object' || value === null) return false;
    return Object.entries(members).every(([name, shape]) => shape((value as Record<string, unknown>)[name]));
  };
}

/** A link to a record of a collection, in v3 (spec 2.2); without a name, to any collection. */
export function linkTo(collection?: string): Shape {
  const start = `${BASE_URL}/api/v3/`;
  return (value) => {
    if (typeof value !== 'string' || !value.startsWith(start)) return false;
    const match = /^([a-z]+)\/\d+\/\?format=api$/.exec(value.slice(start.length));
    return match !== null && (collection === undefined || match[1] === collection);
  };
}

/** `relatedTo` of spec 2.2. */
export const relatedTo: Shape = objectOf({ ob_id: integer, uuid, short_code: text });
