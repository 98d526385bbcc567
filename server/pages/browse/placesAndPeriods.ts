// Draws the place and the period of a record: a box on a map of the world, and a bar on a scale of whole decades. A box
// across the 180th meridian is drawn as two. The drawings load nothing.
import { linkedRecords, type Member, recordMembers } from '../../../engine/described.ts';
import { type Child, html, type Markup } from './template.ts';
import { type CollectionIndex, rowOfId } from '../../../engine/engine.ts';
import type { Site, Tour } from './site.ts';

const WIDTH = 360;
const DAY_MS = 86_400_000;
/** The members that make a period. The end is optional. */
const PERIOD_ENDS = ['startTime', 'endTime'] as const;

/** A date in a record. */
interface When {
  /** As in the record, without fractions of a second and without zone. */
  readonly text: string;
  readonly day: string;
  /** Start of the day (UTC) in milliseconds since 1970. */
  readonly ms: number;
}

/**
 * The bar of a period. Returns false if the start is not a date, or if there is an end that is not a date. `source`
 * precedes the caption.
 */
export function periodBar(members: readonly Member[], source: Child): Markup | false {
  const [start, end] = PERIOD_ENDS.map((key) => whenOf(members, key));
  // An invalid end does not count as an open end.
  if (!start || (!end && !isNothing(valueOf(members, 'endTime')))) return false;
  const [first, last] = end && end.ms < start.ms ? [end, start] : [start, end ?? start];
  const firstYear = Math.floor(yearOf(first.ms) / 10) * 10;
  const lastYear = Math.max(firstYear + 10, Math.ceil((yearOf(last.ms) + 1) / 10) * 10);
  const scale = (ms: number): number =>
    ((ms - yearStart(firstYear)) / (yearStart(lastYear) - yearStart(firstYear))) * WIDTH;
  const from = scale(first.ms);
  const to = end ? scale(last.ms) : WIDTH;
  const step = Math.max(10, Math.ceil((lastYear - firstYear) / 60) * 10);
  const ticks: Markup[] = [];
  for (let year = firstYear; year <= lastYear; year += step) {
    const x = scale(yearStart(year)).toFixed(1);
    const anchor = year === firstYear ? 'start' : year === lastYear ? 'end' : 'middle';
    ticks.push(
      html`<line x1="${x}" y1="0" x2="${x}" y2="22" /><text x="${x}" y="36" text-anchor="${anchor}">${year}</text>`,
    );
  }
  const text = end ? `${start.day} to ${end.day}${lasting(start, end)}` : `from ${start.day} on`;
  return html`<figure class="period">
    <svg viewBox="-1 -1 362 40" role="img" aria-label="Period of time: ${text}">
      <g class="grid">${ticks}</g>
      <rect
        class="box${!end && ' open'}"
        x="${from.toFixed(1)}"
        y="6"
        width="${Math.max(2, to - from).toFixed(1)}"
        height="10"
        rx="2"
      />
    </svg>
    <figcaption>${source}${text}</figcaption>
  </figure>`;
}

function lasting(start: When, end: When): string {
  if (isBefore(end, start)) return ': it ends before it starts';
  const days = Math.round((end.ms - start.ms) / DAY_MS);
  return days > 0 ? `, ${days === 1 ? '1 day' : `${days} days`}` : '';
}

/** Compares with the precision that both have: a day without a time is neither before nor after a time on that day. */
function isBefore(one: When, other: When): boolean {
  const length = Math.min(one.text.length, other.text.length);
  return one.text.slice(0, length) < other.text.slice(0, length);
}

function valueOf(members: readonly Member[], key: string): Member['value'] | undefined {
  return members.find((member) => member.key === key)?.value;
}

function isNothing(value: Member['value'] | undefined): boolean {
  return value === undefined || (value.kind === 'whole' && value.json === 'null');
}

function whenOf(members: readonly Member[], key: string): When | undefined {
  const value = valueOf(members, key);
  const [, text = '', day = ''] =
    (value?.kind === 'whole' && /^"((\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d)?)?)/.exec(value.json)) || [];
  const ms = day === '' ? NaN : Date.parse(day);
  return Number.isNaN(ms) ? undefined : { text, day, ms };
}

function yearOf(ms: number): number {
  return new Date(ms).getUTCFullYear();
}

function yearStart(year: number): number {
  return new Date(0).setUTCFullYear(year, 0, 1);
}

/** The members that make a box, in degrees. */
const SIDES = ['westBoundLongitude', 'southBoundLatitude', 'eastBoundLongitude', 'northBoundLatitude'] as const;
/** Smallest size of a box on the map, in degrees. Smaller boxes would be invisible. */
const SEEN_MIN = 3;
const CIRCLE = 360;

/** The map of a place. Returns false if the record has no box with valid coordinates. `source` precedes the caption. */
export function placeMap(members: readonly Member[], source: Child): Markup | false {
  const [west, south, east, north] = SIDES.map((key) => degreesOf(members, key));
  if (west === undefined || south === undefined || east === undefined || north === undefined) return false;
  if ([west, east].some((x) => Math.abs(x) > CIRCLE) || [south, north].some((y) => Math.abs(y) > 90)) return false;
  const spans = spansOf(west, east);
  const across = spans.length > 1 ? ', across the 180th meridian' : '';
  const text = `${place(south, 'N', 'S')} to ${place(north, 'N', 'S')}, ${place(west, 'E', 'W')} to ${place(east, 'E', 'W')}${across}`;
  const meridians = [-150, -120, -90, -60, -30, 30, 60, 90, 120, 150].map(
    (x) => html`<line x1="${x}" y1="-90" x2="${x}" y2="90" />`,
  );
  const parallels = [-60, -30, 30, 60].map((y) => html`<line x1="-180" y1="${y}" x2="180" y2="${y}" />`);
  return html`<figure class="map">
    <svg viewBox="-181 -91 362 182" role="img" aria-label="Box on the globe: ${text}">
      <rect class="sea" x="-180" y="-90" width="360" height="180" />
      <g class="grid">${meridians}${parallels}</g>
      <g class="axes">
        <line x1="0" y1="-90" x2="0" y2="90" />
        <line x1="-180" y1="0" x2="180" y2="0" />
      </g>
      ${spans.map((span) => box(span, [Math.min(south, north), Math.max(south, north)]))}
    </svg>
    <figcaption>${source}${text}</figcaption>
  </figure>`;
}

type Span = readonly [from: number, to: number];

/** The spans from `west` eastward to `east`, within -180 to 180 degrees. */
function spansOf(west: number, east: number): readonly Span[] {
  const degrees = west <= east ? Math.min(CIRCLE, east - west) : (east - west + 2 * CIRCLE) % CIRCLE;
  if (degrees === CIRCLE) return [[-180, 180]];
  const from = ((west + 540) % CIRCLE) - 180;
  const to = from + degrees;
  if (to <= 180) return [[from, to]];
  return [
    [from, 180],
    [-180, to - CIRCLE],
  ];
}

function box([west, east]: Span, [south, north]: Span): Markup {
  const [x, width] = seen([west, east], 180);
  const [y, height] = seen([-north, -south], 90);
  return html`<rect class="box" x="${x}" y="${y}" width="${width}" height="${height}" />`;
}

/** Start and length of a span, widened to SEEN_MIN and moved into `-most` to `most`. */
function seen([from, to]: Span, most: number): readonly [from: string, length: string] {
  const length = Math.max(SEEN_MIN, to - from);
  const start = Math.max(-most, Math.min(most - length, (from + to) / 2 - length / 2));
  return [start.toFixed(2), length.toFixed(2)];
}

function degreesOf(members: readonly Member[], key: string): number | undefined {
  const value = members.find((member) => member.key === key)?.value;
  return value?.kind === 'whole' && /^-?\d/.test(value.json) ? Number(value.json) : undefined;
}

function place(degrees: number, positive: string, negative: string): string {
  return `${Math.abs(degrees)}°\u00a0${degrees < 0 ? negative : positive}`;
}

/** Linked records that a page draws as maps, and likewise as bars. More would add no clarity. */
const DRAWN_MAX = 4;
/** Bytes that are read of a number or date. */
const VALUE_BYTES_MAX = 256;

interface ReadRecord {
  readonly collection: CollectionIndex;
  readonly row: number;
  readonly members: readonly Member[];
}

/** Draws members, preceded by `source`, a link to their record. Returns false if they are not a place or period. */
type Draw = (members: readonly Member[], source: Child) => Markup | false;

/**
 * The maps and bars of a record and of the records that it links to. Cost: the fields of its collection, and DRAWN_MAX
 * records for each kind.
 */
export function placesAndPeriods(site: Site, tour: Tour, record: ReadRecord): Child {
  return [...drawn(site, tour, record, SIDES, placeMap), ...drawn(site, tour, record, PERIOD_ENDS, periodBar)];
}

function drawn(
  site: Site,
  { up }: Tour,
  { collection, row, members }: ReadRecord,
  keys: readonly string[],
  draw: Draw,
): readonly Child[] {
  const wanted = new Set(keys);
  const linked = linkedRecords(collection, row, keys, DRAWN_MAX).slice(0, DRAWN_MAX);
  const others = linked.map(({ key, to: { name }, id }) => {
    const to = site.collections(name);
    const at = rowOfId(to, id);
    if (at < 0) return false;
    const budget = { wholeBytesMax: VALUE_BYTES_MAX, startBytes: 0, left: keys.length * VALUE_BYTES_MAX };
    return draw(recordMembers(to, at, wanted, budget), html`<a href="${up}browse/${name}/${id}/">${key}</a>: `);
  });
  return [draw(members, false), ...others];
}
