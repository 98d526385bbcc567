// Where and when a record is: of what it says itself, and of the records that its links name. Which links these are
// follows from what is declared of the records behind them; each is looked up by its id and read within bounds.
import { type CollectionIndex, rowOfId } from '../../../engine/engine.ts';
import { linkedRecords, type Member, recordMembers } from '../../../engine/described.ts';
import { PERIOD_ENDS, periodBar } from './periodBar.ts';
import { placeMap, SIDES } from './placeMap.ts';
import type { Site, Tour } from './site.ts';
import { type Child, html, type Markup } from './template.ts';

/** Maps of a page, and bars: more say less. */
const DRAWN_MAX = 4;
/** Bytes of a number or date that is drawn. */
const VALUE_BYTES_MAX = 256;

/** A record by its row, and what was read of it. */
interface ReadRecord {
  readonly collection: CollectionIndex;
  readonly row: number;
  readonly members: readonly Member[];
}

/** Draws members, with a link to the record that has them; not at all where they are no place or period. */
type Draw = (members: readonly Member[], source: Child) => Markup | false;

/** The maps and bars of a record. Cost: the fields of its collection, and DRAWN_MAX records for each kind. */
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
