// The page of a record: all it says, what it links to by name, what links to it with counts, where and when it is, and
// its JSON. Read member by member within a budget, since a record may be as long as memory.
import { type Collection, rowOfId } from '../../../engine/engine.ts';
import {
  fieldSentence,
  hasMoreMembers,
  type Member,
  type MemberBudget,
  recordMembers,
} from '../../../engine/described.ts';
import { bytesText } from '../../observe/quantities.ts';
import { apiPath } from './address.ts';
import { noRecordPage } from './errorPage.ts';
import { amountOf, framed } from './frame.ts';
import { inStep } from './inStep.ts';
import { jsonPanel } from './jsonPanel.ts';
import { placesAndPeriods } from './placesAndPeriods.ts';
import { backReferences } from './backReferences.ts';
import { requestPanel } from './requestPanel.ts';
import type { BrowsePage, Site, Tour } from './site.ts';
import { type Child, html, type Markup } from './template.ts';
import { cutAtWord, labelOf, ShownValues } from './values.ts';

/** Bytes of a record that its page reads, of one value, and of a longer text. */
const RECORD_BYTES_MAX = 1024 * 1024;
const VALUE_BYTES_MAX = 256 * 1024;
const START_BYTES = 64 * 1024;

/** Characters of a record's name in the title of its page. */
const TITLE_CHARACTERS_MAX = 120;

/** Which record: of the first of these collections that has the id. */
export interface RecordPlace {
  readonly collections: readonly Collection[];
  readonly id: number;
}

/** The page, or that there is no such record. Cost: it, its places and periods, counts of ways to it. */
export async function recordPage(site: Site, tour: Tour, place: RecordPlace): Promise<BrowsePage> {
  const { id } = place;
  const declared = place.collections.find(({ name }) => rowOfId(site.collections(name), id) >= 0);
  if (!declared) return noRecordPage(site, tour, place.collections[0]!);
  const collection = site.collections(declared.name);
  const row = rowOfId(collection, id);
  const budget: MemberBudget = { wholeBytesMax: VALUE_BYTES_MAX, startBytes: START_BYTES, left: RECORD_BYTES_MAX };
  const members = recordMembers(collection, row, undefined, budget);
  const references = await backReferences(site, tour, declared, id);
  // Its values are read behind what was waited for, in a step like any other page.
  return inStep(site, tour, () => pageOf(site, tour, { declared, id, row, members, references }));
}

interface ShownRecord {
  readonly declared: Collection;
  readonly id: number;
  readonly row: number;
  readonly members: readonly Member[];
  readonly references: Awaited<ReturnType<typeof backReferences>>;
}

function pageOf(site: Site, tour: Tour, { declared, id, row, members, references }: ShownRecord): BrowsePage {
  const collection = site.collections(declared.name);
  const label = labelOf(site, tour, collection, row);
  const heading = label ?? `${declared.title} ${id}`;
  const main = html`<div class="title">
      <p class="kind"><a href="${tour.up}browse/${declared.name}/">${declared.title}</a> ${id}</p>
      <h1 class="record"><bdi>${heading}</bdi></h1>
    </div>
    <div class="summary">
      <p class="total quiet">${fieldCount(members.length, hasMoreMembers(collection, row))}</p>
      <ul class="data" aria-label="This record as data">
        <li><a href="${apiPath(tour)}?format=json">JSON</a></li>
        <li><a href="${apiPath(tour)}?format=csv">CSV</a></li>
      </ul>
    </div>
    <div class="columns">
      <div class="found">
        ${keyValues(site, tour, declared, members)} ${jsonPanel(collection, row, tour)} ${requestPanel(tour, '')}
      </div>
      <aside class="filters" aria-label="Around this record">
        ${placesAndPeriods(site, tour, { collection, row, members })} ${references.shown}
      </aside>
    </div>`;
  const crumbs = [
    { label: 'Catalogue', href: `${tour.up}browse/` },
    { label: declared.title, href: `${tour.up}browse/${declared.name}/` },
    { label: String(id) },
  ];
  return {
    status: 200,
    isPassing: !references.isWhole,
    html: framed(site, tour, { title: titleOf(declared, id, label), crumbs, main }),
  };
}

/** The id comes first: of a tab little more is seen, and many names begin alike. */
function titleOf({ title }: Collection, id: number, label: string | undefined): string {
  return label === undefined ? `${id} – ${title}` : `${id}: ${cutAtWord(label, TITLE_CHARACTERS_MAX)} – ${title}`;
}

function fieldCount(shown: number, hasMore: boolean): string {
  return hasMore ? `the first ${amountOf(shown, 'field')}, see the JSON` : amountOf(shown, 'field');
}

function keyValues(site: Site, tour: Tour, declared: Collection, members: readonly Member[]): Markup {
  const values = new ShownValues(site, tour);
  const rows = members.map(
    ({ key, value }) =>
      html`<div>
        <dt><bdi>${key}</bdi>${meaningOf(declared, key)}</dt>
        <dd>${shown(value, values)}</dd>
      </div> `,
  );
  return html`<dl class="record">${rows}</dl>`;
}

function meaningOf({ name, fields }: Collection, key: string): Markup | false {
  if (!fields.some((field) => field.name === key)) return false;
  return html`<small>${fieldSentence([name, key])}</small>`;
}

function shown(value: Member['value'], values: ShownValues): Child {
  switch (value.kind) {
    case 'whole':
      return values.whole(value.json);
    case 'start':
      return html`${values.start(value.text)} <span class="quiet">${bytesText(value.bytes)}, see the JSON</span>`;
    case 'long':
      return html`<span class="quiet">${bytesText(value.bytes)}, see the JSON</span>`;
  }
}
