// The records of a page as a table. Its columns are those of the declaration, or those that `fields` names. Each
// heading is a link that orders by its column. Links to periods, places, phenomena and other records that no field
// names are shown as their labels. Other values are read member by member, within a byte budget for the page.
import { type CollectionIndex, countSelected, selectedRow } from '../../../engine/engine.ts';
import {
  collectionLabel,
  fieldLabel,
  GENERIC_LINKS,
  kindLabel,
  labelKeys,
  linkedTo,
  linkReader,
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
import { CELL_CHARACTERS_MAX, linkAmong, type ShownLink, ShownValues } from './values.ts';

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
  const { collection, hits, tour, site, ask, fields, pairs } = listing;
  const columns = columnsOf(collection, ask.page.keys);
  const cells = columns.slice(1).map((key) => makeColumn(listing, key));
  const { name: collectionName } = collection.declaration;
  const wanted = new Set(cells.filter(({ describe }) => !describe).map(({ key }) => key));
  for (const { parent, id, discriminator } of GENERIC_LINKS) {
    if (parent === collectionName && wanted.has(id)) wanted.add(discriminator);
  }
  const ids = collection.ids.dictionary.numbers!;
  const ordered = new Set(fields.filter(({ isOrdered }) => isOrdered).map(({ key }) => key));
  const values = new ShownValues(site, tour);
  const budget = { wholeBytesMax: CELL_BYTES_MAX, startBytes: START_BYTES, left: TABLE_BYTES_MAX };
  const search = pairs.findLast(([name]) => name === 'search')?.[1];
  const marked = search === undefined ? undefined : markedParts(search);
  const rows: Markup[] = [];
  for (let i = 0; i < countSelected(hits.rows); i++) {
    const row = selectedRow(hits.rows, i);
    const members = wanted.size > 0 ? recordMembers(collection, row, wanted, budget) : [];
    // The name is known without reading the record, so it remains a link after the budget is used up.
    const name = drawName(listing, row, {
      id: ids[row]!,
      isLabelled: columns[0] !== collection.declaration.idField,
      marked,
    });
    rows.push(
      html`<tr role="row">
        ${name}${drawCells(cells, values, { row, members, generic: linkAmong(collectionName, members) })}
      </tr> `,
    );
  }
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

/** The name of a record as a link to its page. `marked` splits a text at the words of a search. */
function drawName(
  { collection, tour, site }: Listing,
  row: number,
  {
    id,
    isLabelled,
    marked,
  }: { readonly id: number; readonly isLabelled: boolean; readonly marked: MarkedParts | undefined },
): Markup {
  const { name } = collection.declaration;
  const label = isLabelled ? labelOf(site, tour, collection, row) : String(id);
  const parts = marked && isLabelled && label !== undefined ? marked(label) : [label ?? `${kindLabel(name)} ${id}`];
  const text =
    parts.length === 1 ? parts[0] : parts.map((part, i) => (i % 2 === 0 ? part : html`<mark>${part}</mark>`));
  const link = html`<a href="${tour.up}browse/${name}/${id}/"><bdi>${text}</bdi></a>`;
  return html`<th scope="row" role="rowheader" ${isLabelled && html` class="named"`}>${link}</th>`;
}

type MarkedParts = ReturnType<typeof markedParts>;

interface Column {
  readonly key: string;
  readonly label: Markup;
  /** Whether times are shown as days. */
  readonly isShort: boolean;
  readonly isPeriod: boolean;
  /** Describes the records that a row links to, instead of showing the links. */
  readonly describe: ((row: number) => string) | undefined;
}

function makeColumn({ site, tour, collection, ask }: Listing, key: string): Column {
  const target = linkedTo(collection, key)?.name ?? '';
  const to = hasDerivedLabels(target) ? site.collections(target) : undefined;
  const read = to && linkReader(collection, key, to, CELL_LINKS_MAX);
  const describe = (row: number): string => {
    const { rows, count } = read!(row);
    const text = rows.map((linked) => labelOf(site, tour, to!, linked) ?? '').join(', ');
    return count > CELL_LINKS_MAX ? `${text} +${count - CELL_LINKS_MAX}` : text;
  };
  const label = html`${fieldLabel(collection.declaration.name, key)}`;
  return { key, label, isShort: ask.page.keys === undefined, isPeriod: target === 'times', describe: to && describe };
}

/** The field of linked records by which a column is ordered. */
const LINK_ORDER: Readonly<Record<string, string>> = { times: 'startTime', bboxes: 'bboxName' };

function drawCells(
  columns: readonly Column[],
  values: ShownValues,
  {
    row,
    members,
    generic,
  }: { readonly row: number; readonly members: readonly Member[]; readonly generic: ShownLink | undefined },
): readonly Markup[] {
  const byKey = new Map(members.map(({ key, value }) => [key, value]));
  return columns.map(({ key, label, isShort, isPeriod, describe }) => {
    const cell = (content: Child): Markup => html`<td role="cell" data-label="${label}"><div>${content}</div></td>`;
    if (generic?.key === key) return cell(values.linkTo(generic));
    if (describe) return cell(html`<bdi${isPeriod && html` class="number"`}>${describe(row)}</bdi>`);
    const value = byKey.get(key);
    const day = isShort && value?.kind === 'whole' && drawDay(value.json);
    return cell(day || (value && shown(key, value, values)));
  });
}

/** The day of a time as JSON; false for any other value. */
function drawDay(json: string): Markup | false {
  const [, time = '', day] = /^"((\d{4}-\d\d-\d\d)T[^"\\]*)"$/.exec(json) ?? [];
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
