// `npm run generate` writes the coastlines of maps: those of Natural Earth at 1:110 million (public domain), from the
// package world-atlas, on a grid of half a degree, as an image that a page can show in part.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/**
 * Grid lines per degree. With 1 the image has 3 kB compressed, with 2 it has 4.6, and small places are recognisable.
 */
const GRID = 2;
const [WIDTH, HEIGHT] = [360 * GRID, 180 * GRID];

type Point = readonly [x: number, y: number];

/** The part of TopoJSON that the file uses: https://github.com/topojson/topojson-specification */
interface Topology {
  readonly transform: { readonly scale: Point; readonly translate: Point };
  readonly arcs: readonly (readonly Point[])[];
  readonly objects: {
    readonly land: { readonly geometries: readonly { readonly arcs: readonly (readonly number[][])[] }[] };
  };
}

/** The file of the map, in half degrees from the north-west. Half transparent, so that it fits light and dark pages. */
export function landSvg(): string {
  const path = createRequire(import.meta.url).resolve('world-atlas/land-110m.json');
  const { transform, arcs, objects } = JSON.parse(readFileSync(path, 'utf8')) as Topology;
  const points = arcs.map((arc) => pointsOf(arc, transform));
  const rings = objects.land.geometries.flatMap(({ arcs: polygons }) => polygons.flat());
  const land = rings.flatMap((ring) => inWorld(simplified(unwrapped(joined(ring, points))))).map(pathOf);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}">` +
    `<path fill="#7c8c78" fill-opacity=".5" d="${land.join('')}"/></svg>\n`
  );
}

/** The points of an arc, whose coordinates are differences, on the grid. */
function pointsOf(arc: readonly Point[], { scale, translate }: Topology['transform']): readonly Point[] {
  let [x, y] = [0, 0];
  return arc.map(([right, up]) => {
    x += right;
    y += up;
    const [longitude, latitude] = [x * scale[0] + translate[0], y * scale[1] + translate[1]];
    return [Math.round((longitude + 180) * GRID), Math.round((90 - latitude) * GRID)];
  });
}

/** A ring of arcs. A negative number is the complement of an arc's, which is then read backwards. */
function joined(ring: readonly number[], arcs: readonly (readonly Point[])[]): readonly Point[] {
  return ring.flatMap((arc) => (arc < 0 ? arcs[~arc]!.toReversed() : arcs[arc]!).slice(1));
}

/** A ring that crosses the 180th meridian goes on beyond the map; one around the South Pole is closed there. */
function unwrapped(ring: readonly Point[]): readonly Point[] {
  let turns = 0;
  const points = ring.map(([x, y], i): Point => {
    const step = i === 0 ? 0 : x - ring[i - 1]![0];
    if (Math.abs(step) > WIDTH / 2) turns -= Math.sign(step);
    return [x + turns * WIDTH, y];
  });
  const [first, last] = [points[0]!, points.at(-1)!];
  const isClosed = Math.abs(first[0] - last[0]) < WIDTH / 2;
  return isClosed ? points : [...points, [last[0], HEIGHT], [first[0], HEIGHT]];
}

/** A ring that leaves the map on one side also comes in on the other. */
function inWorld(ring: readonly Point[]): readonly (readonly Point[])[] {
  const shifted = (by: number): readonly Point[] => ring.map(([x, y]) => [x + by, y]);
  const isPast = ring.some(([x]) => x > WIDTH);
  const isBefore = ring.some(([x]) => x < 0);
  return [ring, ...(isPast ? [shifted(-WIDTH)] : []), ...(isBefore ? [shifted(WIDTH)] : [])];
}

/** Without points that repeat the one before, or that are on the line between their neighbours. */
function simplified(ring: readonly Point[]): readonly Point[] {
  const distinct = ring.filter(([x, y], i) => x !== ring.at(i - 1)![0] || y !== ring.at(i - 1)![1]);
  return distinct.filter(([x, y], i) => {
    const [before, after] = [distinct.at(i - 1)!, distinct[(i + 1) % distinct.length]!];
    return (x - before[0]) * (after[1] - y) !== (y - before[1]) * (after[0] - x);
  });
}

function pathOf(ring: readonly Point[]): string {
  if (ring.length < 3) return '';
  const steps = ring.slice(1).map(([x, y], i) => `${x - ring[i]![0]} ${y - ring[i]![1]}`);
  return `M${ring[0]!.join(' ')}l${steps.join(' ')}z`.replaceAll(' -', '-');
}
