// The map of the places of the records on a list page.
import { countSelected, rowOfId, selectedRow } from '../../../engine/engine.ts';
import { linkedIds, linkedTo } from '../../../engine/described.ts';
import type { Listing } from './listing.ts';
import { type Box, boxInRow, drawMap } from './map.ts';
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
  const places = new Map<number, Box>();
  const add = (row: number): void => {
    const box = row < 0 || places.has(row) ? undefined : boxInRow(to, row);
    if (!box || box.east - box.west >= WORLD_WIDTH) return;
    const [west, south, east, north] = [box.west, box.south, box.east, box.north].map((side) =>
      Number(side.toFixed(1)),
    );
    places.set(row, { west: west!, south: south!, east: east!, north: north! });
  };
  for (let i = 0; i < countSelected(hits.rows); i++) {
    const row = selectedRow(hits.rows, i);
    if (collection.declaration.name === PLACES) add(row);
    for (const key of keys) {
      for (const id of linkedIds(collection, row, key, RECORD_PLACES_MAX).ids) add(rowOfId(to, id));
    }
  }
  if (places.size === 0) return false;
  const label = 'Places of the records on this page';
  return html`<figure>
    ${drawMap(tour.up, [...places.values()], label)}
    <figcaption>${label}</figcaption>
  </figure>`;
}
