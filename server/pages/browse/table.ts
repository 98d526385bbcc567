// The records of a page as a table. Its columns are those of the declaration, or those that `fields` names. Each
// heading is a link that orders by its column. Links to periods, places, phenomena and other records that no field
// names are shown as their labels, and times as days. Other values are read member by member, within a byte budget for
// the page.
import { type CollectionIndex, countSelected, selectedRow } from '../../../engine/engine.ts';
import {
  collectionLabel,
  fieldLabel,
  fieldText,
  GENERIC_LINKS,
  kindLabel,
  labelKeys,
  linkedTo,
  makeLinkReader,
  markedParts,
  type Member,
  recordMembers,
  shownColumns,
} from '../../../engine/described.ts';
import { bytesText } from '../../observe/quantities.ts';
import { fromStart, type Pair, queryOf, withValue } from './address.ts';
import type { Listing } from './listing.ts';
import { hasDerivedLabels, labelOf } from './names.ts';
import { type Child, html, type Markup } from './template.ts';
import { CELL_CHARACTERS_MAX, linkAmong, ShownValues } from './values.ts';

/** Bytes of values that one page reads, and of a single value. */
const TABLE_BYTES_MAX = 256 * 1024;
const CELL_BYTES_MAX = 2048;
/** Bytes that are read of a longer text. */
const START_BYTES = 512;
/** Columns of a table. Documented collections have up to 28, but `fields` may name a thousand. */
const COLUMNS_MAX = 64;

/** Linked records that a cell describes. */
const CELL_LINKS_MAX = 2;

/**
 * Keys of the columns: those that `fields` names, otherwise those of the declaration. The first one has the links: the
 * label of the records if it is shown, otherwise the id.
 */
export function columnsOf(collection: CollectionIndex, keys: ReadonlySet<string> | undefined): readonly string[] {
  const columns = keys && keys.size > 0 ? [...keys] : shownColumns(collection);
  const names = labelKeys(collection);
  const first = names.length === 1 && columns.includes(names[0]!) ? names[0]! : collection.declaration.idField;
  return [first, ...columns.filter((key) => key !== first)].slice(0, COLUMNS_MAX);
}

/** Cost: the values that are shown, within the budget. */
export function recordTable(listing: Listing): Markup {
  const { collection, hits, ask, fields } = listing;
  const columns = columnsOf(collection, ask.page.keys);
  const others = columns.slice(1);
  const drawName = makeNameDrawer(listing, columns[0] !== collection.declaration.idField);
  const values = new ShownValues(listing.site, listing.tour);
  const drawCells = others.map((key) => makeCellDrawer(listing, key, values));
  const wanted = new Set(others.filter((key) => findDescribedTarget(collection, key) === undefined));
  for (const { parent, id, discriminator } of GENERIC_LINKS) {
    if (parent === collection.declaration.name && wanted.has(id)) wanted.add(discriminator);
  }
  const budget = { wholeBytesMax: CELL_BYTES_MAX, startBytes: START_BYTES, left: TABLE_BYTES_MAX };
  const rows: Markup[] = [];
  for (let i = 0; i < countSelected(hits.rows); i++) {
    const row = selectedRow(hits.rows, i);
    let members: readonly Member[] | undefined;
    const read = (): readonly Member[] => (members ??= recordMembers(collection, row, wanted, budget));
    rows.push(
      html`<tr role="row">
        ${drawName(row)}${drawCells.map((draw) => draw(row, read))}
      </tr> `,
    );
  }
  const ordered = new Set(fields.filter(({ isOrdered }) => isOrdered).map(({ key }) => key));
  const heads = columns.map((key) => heading(listing, key, ordered));
  const caption = html`<caption class="unseen">
    ${collectionLabel(collection.declaration.name)}
  </caption>`;
  return scrollingTable(caption, heads, rows);
}

/** A table of a few rows without links to order it. The first cell of a row is its heading. */
export function smallTable(name: string, heads: readonly string[], rows: readonly (readonly Child[])[]): Markup {
  const lines = rows.map(([first, ...others]) => {
    const cells = others.map((cell, i) => html`<td role="cell" data-label="${heads[i + 1]}"><div>${cell}</div></td>`);
    return html`<tr role="row">
      <th scope="row" role="rowheader">${first}</th>
      ${cells}
    </tr>`;
  });
  const labels = heads.map((head) => html`<th scope="col" role="columnheader">${head}</th>`);
  return scrollingTable(false, labels, lines, name);
}

/**
 * A table that scrolls separately on a narrow screen. A table without links needs `name`, so that it can be reached by
 * keyboard.
 */
function scrollingTable(caption: Child, heads: Child, rows: Child, name?: string): Markup {
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

function heading({ collection, ask, pairs, hasChoices }: Listing, key: string, ordered: ReadonlySet<string>): Markup {
  const { name, idField } = collection.declaration;
  const label = html`<bdi>${fieldLabel(name, key)}</bdi>`;
  const to = linkedTo(collection, key)?.name ?? '';
  const by = to in LINK_ORDER ? `${key}__${LINK_ORDER[to]!}` : key;
  if (!ordered.has(key) || !hasChoices) return html`<th scope="col" role="columnheader">${label}</th>`;
  const { order } = ask.page;
  const isById = order.length === 0 && key === idField && !ask.page.ranking;
  const at = isById ? { isDescending: false } : order.find(({ path }) => path.join('__') === by);
  const next = at && !at.isDescending ? `-${by}` : by;
  const sorted = at && html` aria-sort="${at.isDescending ? 'descending' : 'ascending'}"`;
  const href = queryOf(orderedBy(pairs, next));
  return html`<th scope="col" role="columnheader" ${sorted}>
    <a href="${href}" rel="nofollow">${label}</a>
  </th>`;
}

function orderedBy(pairs: readonly Pair[], key: string): readonly Pair[] {
  return withValue(fromStart(pairs), 'ordering', key);
}

/**
 * Draws the name of the record in a row as a link to its page: its label, in which the words of a search are marked, or
 * its id. It is read without the record, so that it remains a link after the budget is used up.
 */
function makeNameDrawer({ collection, tour, site, pairs }: Listing, isLabelled: boolean): (row: number) => Markup {
  const { name } = collection.declaration;
  const ids = collection.ids.dictionary.numbers!;
  const start = html`${tour.up}browse/${name}/`;
  const attributes = html`scope="row" role="rowheader" ${isLabelled && html` class="named"`}`;
  const search = isLabelled ? pairs.findLast(([key]) => key === 'search')?.[1] : undefined;
  const marked = search === undefined ? undefined : markedParts(search);
  return (row) => {
    const id = ids[row]!;
    const label = isLabelled ? labelOf(site, tour, collection, row) : String(id);
    const text =
      marked && label !== undefined
        ? marked(label).map((part, i) => (i % 2 === 0 ? part : html`<mark>${part}</mark>`))
        : (label ?? `${kindLabel(name)} ${id}`);
    const link = html`<a href="${start}${id}/"><bdi>${text}</bdi></a>`;
    return html`<th ${attributes}>${link}</th>`;
  };
}

/** Draws the cell of a row. `read` returns the members of its record, for values that are not read from columns. */
type DrawCell = (row: number, read: () => readonly Member[]) => Markup;

function makeCellDrawer({ site, tour, collection, ask }: Listing, key: string, values: ShownValues): DrawCell {
  const { name } = collection.declaration;
  const label = html`${fieldLabel(name, key)}`;
  const target = findDescribedTarget(collection, key);
  if (target !== undefined) {
    const to = site.collections(target);
    const readLinked = makeLinkReader(collection, key, to, CELL_LINKS_MAX);
    const number = target === 'times' && html` class="number"`;
    return (row) => {
      const { rows, count } = readLinked(row);
      let text = '';
      for (const each of rows) text += (text && ', ') + (labelOf(site, tour, to, each) ?? '');
      const more = count > CELL_LINKS_MAX && ` +${count - CELL_LINKS_MAX}`;
      return html`<td role="cell" data-label="${label}"><div><bdi${number}>${text}${more}</bdi></div></td>`;
    };
  }
  const isShort = ask.page.keys === undefined;
  const draw = (row: number, read: () => readonly Member[]): Child => {
    const day = isShort && drawDay(fieldText(collection, row, key));
    if (day) return day;
    const members = read();
    const generic = linkAmong(name, members);
    if (generic?.key === key) return values.linkTo(generic);
    const value = members.find((member) => member.key === key)?.value;
    return value && shown(key, value, values);
  };
  return (row, read) => html`<td role="cell" data-label="${label}"><div>${draw(row, read)}</div></td>`;
}

/** The collection whose records a column describes by their derived labels, instead of showing its links. */
function findDescribedTarget(collection: CollectionIndex, key: string): string | undefined {
  const target = linkedTo(collection, key)?.name ?? '';
  return hasDerivedLabels(target) ? target : undefined;
}

/** The field of linked records by which a column is ordered. */
const LINK_ORDER: Readonly<Record<string, string>> = { times: 'startTime', bboxes: 'bboxName' };

/** The day of a time; false for any other value. */
function drawDay(text = ''): Markup | false {
  const [time, day] = /^(\d{4}-\d\d-\d\d)T[\d:.Z+-]*$/.exec(text) ?? [];
  return day !== undefined && html`<time class="number" datetime="${time}">${day}</time>`;
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
