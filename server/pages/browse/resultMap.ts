// The map of the places of the records on a list page.
import { countSelected, selectedRow } from '../../../engine/engine.ts';
import { linkedTo, makeLinkReader } from '../../../engine/described.ts';
import type { Listing } from './listing.ts';
import { drawMap, makeBoxReader } from './map.ts';
import { html, type Markup } from './template.ts';

const PLACES = 'bboxes';
/** Boxes of this width, in degrees, are not drawn: they would cover all others. */
const WORLD_WIDTH = 360;
/** Places of one record that are drawn. */
const RECORD_PLACES_MAX = 4;

/** The map of the places of a page's records; false if none has one. Cost: a few look-ups a record. */
export function resultMap({ site, collection, hits, tour }: Listing): Markup | false {
  const keys = [...collection.members.keys()].filter((key) => linkedTo(collection, key)?.name === PLACES);
  const to = site.collections(PLACES);
  const readers = keys.map((key) => makeLinkReader(collection, key, to, RECORD_PLACES_MAX));
  const rows = new Set<number>();
  for (let i = 0; i < countSelected(hits.rows); i++) {
    const row = selectedRow(hits.rows, i);
    if (collection.declaration.name === PLACES) rows.add(row);
    for (const read of readers) read(row).rows.forEach((place) => rows.add(place));
  }
  const places = Array.from(rows, makeBoxReader(to));
  const boxes = places.flatMap((box) => (box && box.east - box.west < WORLD_WIDTH ? box : []));
  if (boxes.length === 0) return false;
  const label = 'Places of the records on this page';
  return html`<figure>
    ${drawMap(tour.up, boxes, label)}
    <figcaption>${label}</figcaption>
  </figure>`;
}
