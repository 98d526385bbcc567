// The records of a page as a table. Its columns are those of the declaration, or those that `fields` names. Each
// heading is a link that orders by its column. Records are read member by member, within a byte budget for the page.
import { type CollectionIndex, countSelected, selectedRow } from '../../../engine/engine.ts';
import { type Member, recordMembers, shownColumns } from '../../../engine/described.ts';
import { bytesText } from '../../observe/quantities.ts';
import { fromStart, type Pair, queryOf, withValue } from './address.ts';
import type { Listing } from './listing.ts';
import { type Child, html, type Markup } from './template.ts';
import { CELL_CHARACTERS_MAX, linkAmong, ShownValues } from './values.ts';

/** Bytes of values that one page reads, and of a single value. */
const TABLE_BYTES_MAX = 256 * 1024;
const CELL_BYTES_MAX = 2048;
/** Bytes that are read of a longer text. */
const START_BYTES = 512;
/** Columns of a table. Documented collections have up to 28, but `fields` may name a thousand. */
const COLUMNS_MAX = 64;

/** Keys of the columns: those that `fields` names, otherwise those of the declaration. */
export function columnsOf(collection: CollectionIndex, keys: ReadonlySet<string> | undefined): readonly string[] {
  if (!keys || keys.size === 0) return shownColumns(collection);
  const { idField } = collection.declaration;
  return [idField, ...[...keys].filter((key) => key !== idField)].slice(0, COLUMNS_MAX);
}

/** Cost: the values that are shown, within the budget. */
export function recordTable(listing: Listing): Markup {
  const { collection, hits, tour, site, ask, fields } = listing;
  const columns = columnsOf(collection, ask.page.keys);
  // The id is known without reading the record, so it remains a link after the budget is used up.
  const wanted = new Set(columns.slice(1));
  const ids = collection.ids.dictionary.numbers!;
  const ordered = new Set(fields.filter(({ isOrdered }) => isOrdered).map(({ key }) => key));
  const values = new ShownValues(site, tour);
  const cells: Cells = new Map();
  const budget = { wholeBytesMax: CELL_BYTES_MAX, startBytes: START_BYTES, left: TABLE_BYTES_MAX };
  const rows: Markup[] = [];
  for (let i = 0; i < countSelected(hits.rows); i++) {
    const row = selectedRow(hits.rows, i);
    const members = recordMembers(collection, row, wanted, budget);
    rows.push(rowOf(listing, columns, { id: ids[row]!, members }, { values, cells }));
  }
  const heads = columns.map((key) => heading(listing, key, ordered.has(key)));
  const caption = html`<caption class="unseen">
    ${collection.declaration.title}
  </caption>`;
  return scrollingTable(caption, heads, rows);
}

/**
 * A table that scrolls separately on a narrow screen. A table without links needs `name`, so that it can be reached by
 * keyboard.
 */
export function scrollingTable(caption: Child, heads: Child, rows: Child, name?: string): Markup {
  const reached = name !== undefined && html` role="region" aria-label="${name}" tabindex="0"`;
  return html`<div class="scroll" ${reached}>
    <table role="table">
      ${caption}
      <thead role="rowgroup">
        <tr role="row">
          ${heads}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function heading({ collection, ask, pairs, hasChoices }: Listing, key: string, isOrdered: boolean): Markup {
  if (!isOrdered || !hasChoices) return html`<th scope="col" role="columnheader"><bdi>${key}</bdi></th>`;
  const { order } = ask.page;
  const isById = order.length === 0 && key === collection.declaration.idField;
  const at = isById ? { isDescending: false } : order.find(({ path }) => path.join('__') === key);
  const next = at && !at.isDescending ? `-${key}` : key;
  const sorted = at && html` aria-sort="${at.isDescending ? 'descending' : 'ascending'}"`;
  const href = queryOf(orderedBy(pairs, next));
  return html`<th scope="col" role="columnheader" ${sorted}>
    <a href="${href}" rel="nofollow"><bdi>${key}</bdi></a>
  </th>`;
}

function orderedBy(pairs: readonly Pair[], key: string): readonly Pair[] {
  return withValue(fromStart(pairs), 'ordering', key);
}

/** Cells of short values, keyed by column and value, because most columns have few distinct values. */
type Cells = Map<string, Markup>;
const SHORT_CHARACTERS_MAX = 64;

function rowOf(
  { collection, tour }: Listing,
  columns: readonly string[],
  { id, members }: { readonly id: number; readonly members: readonly Member[] },
  { values, cells: made }: { readonly values: ShownValues; readonly cells: Cells },
): Markup {
  const byKey = new Map(members.map(({ key, value }) => [key, value]));
  const { idField, name } = collection.declaration;
  const generic = linkAmong(name, members);
  const cells = columns.map((key) => {
    if (key === idField) {
      const href = `${tour.up}browse/${name}/${id}/`;
      return html`<th scope="row" role="rowheader"><a href="${href}">${id}</a></th>`;
    }
    const value = byKey.get(key);
    const content = (): Child => (generic?.key === key ? values.linkTo(generic) : value && shown(key, value, values));
    const cell = (): Markup => html`<td role="cell" data-label="${key}"><div>${content()}</div></td>`;
    if (generic?.key === key) return cell();
    if (value?.kind !== 'whole' || value.json.length > SHORT_CHARACTERS_MAX) return cell();
    const said = `${key} ${value.json}`;
    const known = made.get(said) ?? cell();
    made.set(said, known);
    return known;
  });
  return html`<tr role="row">
    ${cells}
  </tr> `;
}

function shown(key: string, value: Member['value'], values: ShownValues): Child {
  switch (value.kind) {
    case 'whole':
      return values.cell(value.json, key);
    case 'start':
      return values.start(value.text, CELL_CHARACTERS_MAX);
    case 'long':
      // A short value is unread only if the budget is used up.
      return html`<span class="quiet">${value.bytes > CELL_BYTES_MAX ? bytesText(value.bytes) : '…'}</span>`;
  }
}
