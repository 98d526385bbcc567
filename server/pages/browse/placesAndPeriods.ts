// Draws the place and the period of a record: a box on a map, and a bar on a scale of whole decades.
import { linkedRecords, type Member, recordMembers } from '../../../engine/described.ts';
import { type Child, html, type Markup } from './template.ts';
import { type CollectionIndex, rowOfId } from '../../../engine/engine.ts';
import { boxOf, boxText, drawMap } from './map.ts';
import { dataFrom } from './records.ts';
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

/** The map of a place. Returns false if the record has no box with valid coordinates. `source` precedes the caption. */
function placeMap(members: readonly Member[], source: Child, up: string): Markup | false {
  const box = boxOf(dataFrom(members));
  if (!box) return false;
  const text = boxText(box);
  return html`<figure>
    ${drawMap(up, [box], `Map: ${text}`)}
    <figcaption>${source}${text}</figcaption>
  </figure>`;
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
type Draw = (members: readonly Member[], source: Child, up: string) => Markup | false;

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
    return draw(recordMembers(to, at, wanted, budget), html`<a href="${up}browse/${name}/${id}/">${key}</a>: `, up);
  });
  return [draw(members, false, up), ...others];
}
