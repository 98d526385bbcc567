// Draws places as boxes on a map of the world, or of the region around them. The coastlines are an image that clients
// cache (assets/land.svg).
import type { CollectionIndex } from '../../../engine/engine.ts';
import { makeNumberReader } from '../../../engine/described.ts';
import { assetPath } from './assets.ts';
import { html, type Markup } from './template.ts';

/** A place in degrees. If its west is east of its east, it crosses the 180th meridian. */
export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

const CIRCLE = 360;
/** Width of the smallest region that is shown, in degrees. The coastlines are too coarse for smaller ones. */
const REGION_MIN = 60;
/** A region is at least this many times as large as the boxes in it. */
const SURROUNDINGS = 3;
/** Smallest part of the map's width that a box takes. Smaller boxes would be invisible. */
const SEEN_PART = 1 / 100;

const SIDES = ['westBoundLongitude', 'southBoundLatitude', 'eastBoundLongitude', 'northBoundLatitude'];

/** The box of a record of `bboxes`; undefined if it has no valid coordinates. */
export function readBox(record: Readonly<Record<string, unknown>>): Box | undefined {
  const [west, south, east, north] = SIDES.map((key) => record[key]);
  return makeBox(west, south, east, north);
}

/** Returns a reader of the box in a row of `bboxes`; undefined if it has no valid coordinates. */
export function makeBoxReader(places: CollectionIndex): (row: number) => Box | undefined {
  const [west, south, east, north] = SIDES.map((key) => makeNumberReader(places, key));
  return (row) => makeBox(west!(row), south!(row), east!(row), north!(row));
}

function makeBox(west: unknown, south: unknown, east: unknown, north: unknown): Box | undefined {
  if (!isDegrees(west, CIRCLE) || !isDegrees(east, CIRCLE) || !isDegrees(south, 90) || !isDegrees(north, 90)) {
    return undefined;
  }
  return { west, south: Math.min(south, north), east, north: Math.max(south, north) };
}

function isDegrees(value: unknown, most: number): value is number {
  return typeof value === 'number' && Math.abs(value) <= most;
}

/** `61.1° N to 68.2° N, 27.7° W to 6.2° W`. */
export function boxText({ west, south, east, north }: Box): string {
  const across = splitSpan(west, east).length > 1 ? ', across the 180th meridian' : '';
  const [from, to] = [placeText(south, 'N', 'S'), placeText(north, 'N', 'S')];
  const [left, right] = [placeText(west, 'E', 'W'), placeText(east, 'E', 'W')];
  return `${from === to ? from : `${from} to ${to}`}, ${left === right ? left : `${left} to ${right}`}${across}`;
}

function placeText(degrees: number, positive: string, negative: string): string {
  return `${roundDegrees(Math.abs(degrees))}°\u00a0${degrees < 0 ? negative : positive}`;
}

/** Every 30 degrees. */
const GRID = [
  ...[-150, -120, -90, -60, -30, 0, 30, 60, 90, 120, 150].map((longitude) => `M${longitude}-90v180`),
  ...[-60, -30, 0, 30, 60].map((latitude) => `M-180 ${latitude}h360`),
].join('');

/** The box as the parameter `bbox`, whose longitudes are within 180 degrees. */
export function boxParameter({ west, south, east, north }: Box): string {
  const spans = splitSpan(west, east);
  return joinDegrees(spans[0]![0], south, spans.at(-1)![1], north).replaceAll(' ', ',');
}

type Span = readonly [from: number, to: number];

/** A part of the map, in degrees. `top` and `bottom` are negative latitudes, because images grow downwards. */
interface Part {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/**
 * The map with boxes as one path, in which a box across the 180th meridian has two parts. `up` is the path to the root.
 */
export function drawMap(up: string, boxes: readonly Box[], label: string): Markup {
  const parts = boxes.flatMap(({ west, south, east, north }) =>
    splitSpan(west, east).map(([left, right]): Part => ({ left, right, top: -north, bottom: -south })),
  );
  const { x, y, width } = chooseRegion(parts);
  return html`<svg class="map" viewBox="${joinDegrees(x, y, width, width / 2)}" role="img" aria-label="${label}">
    <rect class="sea" x="-180" y="-90" width="360" height="180" />
    <image href="${up}${assetPath('land')}" x="-180" y="-90" width="360" height="180" />
    <path class="grid" d="${GRID}" />
    <path class="box" transform="scale(.1)" d="${parts.map((part) => drawBox(part, width * SEEN_PART)).join('')}" />
  </svg>`;
}

function joinDegrees(...numbers: readonly number[]): string {
  return numbers.map(roundDegrees).join(' ');
}

function roundDegrees(degrees: number): number {
  return Number(degrees.toFixed(2));
}

/** The spans from `west` eastward to `east`, within -180 to 180 degrees. */
function splitSpan(west: number, east: number): readonly Span[] {
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

/** The part of the world around all parts, twice as wide as high; the whole world if they are far apart. */
function chooseRegion(parts: readonly Part[]): { readonly x: number; readonly y: number; readonly width: number } {
  const left = Math.min(...parts.map((part) => part.left));
  const right = Math.max(...parts.map((part) => part.right));
  const top = Math.min(...parts.map((part) => part.top));
  const bottom = Math.max(...parts.map((part) => part.bottom));
  const width = Math.max(REGION_MIN, SURROUNDINGS * Math.max(right - left, 2 * (bottom - top)));
  if (parts.length === 0 || width >= CIRCLE / 2) return { x: -180, y: -90, width: CIRCLE };
  const within = (centre: number, length: number, most: number): number =>
    Math.max(-most, Math.min(most - length, centre - length / 2));
  return { x: within((left + right) / 2, width, 180), y: within((top + bottom) / 2, width / 2, 90), width };
}

function drawBox({ left, right, top, bottom }: Part, seenMin: number): string {
  const [x, width] = widenSpan([left, right], 180, seenMin);
  const [y, height] = widenSpan([top, bottom], 90, seenMin);
  return `M${x} ${y}h${width}v${height}h${-width}z`;
}

/**
 * Start and length of a span, widened to `seenMin` and moved into `-most` to `most`. In tenths of a degree, because
 * integers are shorter, and faster to write, than fractions.
 */
function widenSpan([from, to]: Span, most: number, seenMin: number): readonly [from: number, length: number] {
  const length = Math.max(seenMin, to - from);
  const start = Math.max(-most, Math.min(most - length, (from + to) / 2 - length / 2));
  return [Math.round(start * 10), Math.round(length * 10)];
}
