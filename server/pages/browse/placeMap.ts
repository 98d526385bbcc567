// A small map of the world with the box of a record: a graticule of 30 degrees and nothing that has to be fetched.
// Longitudes may be those of a circle from -180 or from 0; a box across the 180th meridian is drawn as two.
import type { Member } from '../../../engine/described.ts';
import { type Child, html, type Markup } from './template.ts';

/** The members that make a box, in degrees. */
export const SIDES = ['westBoundLongitude', 'southBoundLatitude', 'eastBoundLongitude', 'northBoundLatitude'] as const;
/** The least size of a box on the map, in degrees: smaller ones could not be seen. */
const SEEN_MIN = 3;
const CIRCLE = 360;

/** The map, where the record has a box on the globe; `source` stands before what it says. */
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

/** From where to where, in degrees. */
type Span = readonly [from: number, to: number];

/** What is between two longitudes, going east, as parts of -180 to 180. */
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

/** Where a span starts and how long it is, wide enough to be seen and inside of `-most` to `most`. */
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
