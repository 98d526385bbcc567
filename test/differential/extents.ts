// The oracle's bbox and datetime: plain comparisons of a record's boxes and periods. Rules: design, "Search, place,
// period, embedding".
import type { Collection } from '../../engine/schema/types.ts';
import type { World } from './filters.ts';
import { memberOf, type Json } from './json.ts';
import { lastValue, type Pair } from './query.ts';
import { instantInFilter, instantOf } from './values.ts';

/** The name of a parameter, the collection whose records it compares, and the reader of its value. */
const EXTENTS = [
  { name: 'bbox', target: 'bboxes', read: boxTest },
  { name: 'datetime', target: 'times', read: periodTest },
] as const;

type ExtentTest = (record: Json | undefined) => boolean;

/** The conditions of `bbox` and `datetime` in a query, their errors, and whether they have an effect. */
export function extentsOf(pairs: readonly Pair[], collection: Collection, isStrict: boolean) {
  return EXTENTS.flatMap(({ name, target, read }) => {
    const value = lastValue(pairs, name);
    if (value === undefined) return [];
    const place = pairs.findLastIndex(([key]) => key === name);
    const links = collection.fields.filter((field) => 'to' in field && field.to === target).map((field) => field.name);
    const test = read(value);
    const isKnown = collection.name === target || links.length > 0;
    const messages = [
      ...(isKnown || !isStrict ? [] : ['Unknown parameter.']),
      ...(typeof test === 'string' ? [test] : []),
    ];
    const matches = (record: Json, world: World): boolean => {
      if (typeof test === 'string' || !isKnown) return true;
      if (collection.name === target) return test(record);
      return links.some((link) => itemsOf(memberOf(record, link)).some((item) => test(world.linked(target, item))));
    };
    return [{ remark: { place, messages, ignored: isKnown ? [] : [name] }, matches }];
  });
}

function itemsOf(value: Json | undefined): readonly (Json | undefined)[] {
  return value?.kind === 'array' ? value.items : [value];
}

function numberIn(record: Json | undefined, name: string): number {
  const value = memberOf(record, name);
  return value?.kind === 'number' ? Number(value.token) : NaN;
}

function boxTest(text: string): ExtentTest | string {
  const parts = text.split(',').map((part) => part.trim());
  const isNumber = (part: string): boolean => /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(part);
  if (parts.length !== 4 || !parts.every(isNumber)) {
    return 'Enter west, south, east and north in degrees, with commas between them.';
  }
  const [west, south, east, north] = parts.map(Number) as [number, number, number, number];
  if ([west, east].some((x) => Math.abs(x) > 180) || [south, north].some((y) => Math.abs(y) > 90)) {
    return 'Longitudes are from -180 to 180, latitudes from -90 to 90.';
  }
  if (south > north) return 'South must not be greater than north.';
  return (record) => {
    const [left, bottom, right, top] = ['west', 'south', 'east', 'north'].map((side) =>
      numberIn(record, `${side}Bound${['south', 'north'].includes(side) ? 'Latitude' : 'Longitude'}`),
    ) as [number, number, number, number];
    if ([left, bottom, right, top].some(Number.isNaN)) return false;
    const isTall = bottom <= north && top >= south;
    return isTall && spans(west, east).some(([a, b]) => spans(left, right).some(([c, d]) => a <= d && c <= b));
  };
}

/** The longitudes from `west` to `east`: one span, or two across the date line. */
function spans(west: number, east: number): readonly (readonly [number, number])[] {
  return west <= east
    ? [[west, east]]
    : [
        [west, Infinity],
        [-Infinity, east],
      ];
}

const DAY = 86_400_000_000n;

function periodTest(text: string): ExtentTest | string {
  const wrong = 'Enter a date or time, or an interval such as 2003-01-01/2003-12-31, ../2003-12-31 or 2003-01-01/..';
  const parts = text.split('/').map((part) => part.trim());
  if (parts.length > 2 || parts.every((part) => part === '..')) return wrong;
  const ends = [parts[0]!, parts.at(-1)!];
  if (ends.some((end) => end !== '..' && instantInFilter(end) === undefined)) return wrong;
  const [start, last] = ends.map(instantInFilter);
  if (start !== undefined && last !== undefined && start > last) return 'The start must not be after the end.';
  const isDay = /^....-..-..$/.test(ends[1]!);
  return (record) => {
    const begun = textIn(record, 'startTime');
    const ended = memberOf(record, 'endTime');
    const first = begun === undefined ? undefined : instantOf(begun);
    if (first === undefined) return false;
    if (last !== undefined && (isDay ? first >= last + DAY : first > last)) return false;
    if (start === undefined || ended === undefined || ended.kind === 'null') return true;
    const until = ended.kind === 'string' ? instantOf(ended.value) : undefined;
    return until !== undefined && until >= start;
  };
}

function textIn(record: Json | undefined, name: string): string | undefined {
  const value = memberOf(record, name);
  return value?.kind === 'string' ? value.value : undefined;
}
