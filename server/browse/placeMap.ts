// A small map of the world with the box of a record: a graticule of 30 degrees and nothing that has to be fetched.
// Where a box crosses the 180th meridian it is two.
import type { Member } from '../../engine/described.ts';
import { html, type Markup } from './template.ts';

/** The members that make a box, in degrees. */
const SIDES = ['westBoundLongitude', 'southBoundLatitude', 'eastBoundLongitude', 'northBoundLatitude'] as const;
/** The least size of a box on the map, in degrees: smaller ones could not be seen. */
const SEEN_MIN = 3;

/** The map, where the record has a box on the globe. */
export function placeMap(members: readonly Member[]): Markup | false {
  const [west, south, east, north] = SIDES.map((key) => degreesOf(members, key));
  if (west === undefined || south === undefined || east === undefined || north === undefined) return false;
  if (!isLongitude(west) || !isLongitude(east) || Math.abs(south) > 90 || Math.abs(north) > 90) return false;
  const boxes =
    west <= east
      ? [[west, east]]
      : [
          [west, 180],
          [-180, east],
        ];
  const text = `${place(south, 'N', 'S')} to ${place(north, 'N', 'S')}, ${place(west, 'E', 'W')} to ${place(east, 'E', 'W')}`;
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
      ${boxes.map(([from = 0, to = 0]) => box(from, to, Math.min(south, north), Math.max(south, north)))}
    </svg>
    <figcaption>${text}</figcaption>
  </figure>`;
}

function box(west: number, east: number, south: number, north: number): Markup {
  const width = Math.max(SEEN_MIN, east - west);
  const height = Math.max(SEEN_MIN, north - south);
  const x = Math.min(180 - width, (west + east) / 2 - width / 2);
  const y = Math.min(90 - height, -(south + north) / 2 - height / 2);
  return html`<rect
    class="box"
    x="${rounded(x)}"
    y="${rounded(y)}"
    width="${rounded(width)}"
    height="${rounded(height)}"
  />`;
}

function degreesOf(members: readonly Member[], key: string): number | undefined {
  const value = members.find((member) => member.key === key)?.value;
  return value?.kind === 'whole' && /^-?\d/.test(value.json) ? Number(value.json) : undefined;
}

function isLongitude(degrees: number): boolean {
  return Math.abs(degrees) <= 180;
}

function place(degrees: number, positive: string, negative: string): string {
  return `${Math.abs(degrees)}° ${degrees < 0 ? negative : positive}`;
}

function rounded(degrees: number): string {
  return degrees.toFixed(2);
}
