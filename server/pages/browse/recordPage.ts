// The page of a record: its fields, and the number of records that refer to it through each field that links to its
// collection. Posting lists give the numbers.
import { bytesText, countText } from '../../observe/quantities.ts';
import { type Collection, COLLECTIONS, percentEncode, rowOfId } from '../../../engine/engine.ts';
import {
  distantReferences,
  fieldSentence,
  hasMoreMembers,
  type Member,
  type MemberBudget,
  recordMembers,
  type Reference,
  referencesFrom,
} from '../../../engine/described.ts';
import { foundList } from './find.ts';
import type { BrowsePage, Site, Tour } from './site.ts';
import { type Child, html, type Markup } from './template.ts';
import { apiPath } from './address.ts';
import { inStep, noRecordPage } from './errorPage.ts';
import { amountOf, framed, requestPanel } from './frame.ts';
import { jsonPanel } from './jsonPanel.ts';
import { placesAndPeriods } from './placesAndPeriods.ts';
import { cutAtWord, labelOf, linkAmong, ShownValues } from './values.ts';

/** Linking fields whose references to a record are counted. Each takes a separate list query. */
const REFERENCES_MAX = 24;
/** List queries of one page that run at the same time. More of them would keep other clients out of the pool. */
const ASKED_AT_ONCE = 6;

/** The records that refer to a record. */
interface BackReferences {
  readonly shown: Markup | false;
  /** False if some references could not be counted now. */
  readonly isWhole: boolean;
}

/** Keyed by the collections of a generation, which do not change. */
const known = new WeakMap<Site['collections'], ReadonlyMap<string, readonly Reference[]>>();

/** The fields that link to a collection. Cost: all fields of the catalogue, once for each generation. */
function referencesTo({ collections }: Site, name: string): readonly Reference[] {
  let all = known.get(collections);
  if (!all) {
    const found = new Map<string, Reference[]>();
    for (const declared of COLLECTIONS) {
      for (const [to, references] of referencesFrom(collections(declared.name))) {
        found.set(to, [...(found.get(to) ?? []), ...references]);
      }
    }
    known.set(collections, (all = found));
  }
  return [...distantReferences(name), ...(all.get(name) ?? [])].slice(0, REFERENCES_MAX);
}

/**
 * Counts the references to a record. A field that could not be counted in time is shown without its count. Cost: one
 * count for each field.
 */
async function backReferences(site: Site, tour: Tour, { name }: Collection, id: number): Promise<BackReferences> {
  const references = referencesTo(site, name);
  const counts: ('missed' | number)[] = [];
  for (let start = 0; start < references.length; start += ASKED_AT_ONCE) {
    const together = references.slice(start, start + ASKED_AT_ONCE);
    counts.push(...(await Promise.all(together.map((reference) => countOf(site, tour, reference, id)))));
  }
  const lines = references.flatMap((reference, i) =>
    counts[i] === 0 ? [] : [lineOf(site, tour, reference, { id, count: counts[i]! })],
  );
  return { shown: lines.length > 0 && sectionOf(lines), isWhole: !counts.includes('missed') };
}

async function countOf(site: Site, tour: Tour, reference: Reference, id: number): Promise<'missed' | number> {
  const { collection, kind } = reference;
  const found = await foundList(site, tour, site.collections(collection), `${queryOf(reference, id)}&limit=1`);
  if (found.kind === 'missed') return found.kind;
  if (found.kind === 'refused') return 0;
  // If a key is not a filter under these settings, the query lacks its condition and would count other records too.
  return found.list.ask.conditions.length < (kind ? 2 : 1) ? 0 : found.hits.count;
}

/** The list of records that refer to a record. */
function queryOf({ key, kind }: Reference, id: number): string {
  const decided = kind ? `&${percentEncode(kind.key)}=${percentEncode(kind.value)}` : '';
  return `${percentEncode(key)}=${id}${decided}`;
}

function lineOf(
  site: Site,
  { up }: Tour,
  reference: Reference,
  { id, count }: { readonly id: number; readonly count: 'missed' | number },
): Markup {
  const { collection, key, kind } = reference;
  const { title } = site.collections(collection).declaration;
  const href = `${up}browse/${collection}/?${queryOf(reference, id)}`;
  const counted = count === 'missed' ? 'not counted now' : countText(count);
  return html`<li>
    <div><a href="${href}">${title}</a> <span class="count">${counted}</span></div>
    <small>${key.split('__').join(' › ')}${kind && html` (<bdi>${kind.value}</bdi>)`}</small>
  </li>`;
}

function sectionOf(lines: readonly Markup[]): Markup {
  return html`<section class="references">
    <h2>Referred to by</h2>
    <ul>
      ${lines}
    </ul>
  </section>`;
}

/** Bytes that a page reads of its record, of one value, and of the start of a longer text. */
const RECORD_BYTES_MAX = 1024 * 1024;
const VALUE_BYTES_MAX = 256 * 1024;
const START_BYTES = 64 * 1024;

const TITLE_CHARACTERS_MAX = 120;

/** Identifies a record: it is in the first of these collections that has the id. */
export interface RecordPlace {
  readonly collections: readonly Collection[];
  readonly id: number;
}

/** Builds the page, or a 404 page. Cost: the record, its places and periods, and the counts of references to it. */
export async function recordPage(site: Site, tour: Tour, place: RecordPlace): Promise<BrowsePage> {
  const { id } = place;
  const declared = place.collections.find(({ name }) => rowOfId(site.collections(name), id) >= 0);
  if (!declared) return noRecordPage(site, tour, place.collections[0]!);
  const collection = site.collections(declared.name);
  const row = rowOfId(collection, id);
  const budget: MemberBudget = { wholeBytesMax: VALUE_BYTES_MAX, startBytes: START_BYTES, left: RECORD_BYTES_MAX };
  const members = recordMembers(collection, row, undefined, budget);
  const references = await backReferences(site, tour, declared, id);
  // Like any other page, it is built in a step. The step starts after all counts have arrived.
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

/** The id comes first, because a browser tab shows little more and many names begin alike. */
function titleOf({ title }: Collection, id: number, label: string | undefined): string {
  return label === undefined ? `${id} – ${title}` : `${id}: ${cutAtWord(label, TITLE_CHARACTERS_MAX)} – ${title}`;
}

function fieldCount(shown: number, hasMore: boolean): string {
  return hasMore ? `the first ${amountOf(shown, 'field')}, see the JSON` : amountOf(shown, 'field');
}

function keyValues(site: Site, tour: Tour, declared: Collection, members: readonly Member[]): Markup {
  const values = new ShownValues(site, tour);
  const generic = linkAmong(declared.name, members);
  const rows = members.map(
    ({ key, value }) =>
      html`<div>
        <dt><bdi>${key}</bdi>${meaningOf(declared, key)}</dt>
        <dd>${generic?.key === key ? values.linkTo(generic) : shown(key, value, values)}</dd>
      </div> `,
  );
  return html`<dl class="record">${rows}</dl>`;
}

function meaningOf({ name, fields }: Collection, key: string): Markup | false {
  if (!fields.some((field) => field.name === key)) return false;
  return html`<small>${fieldSentence([name, key])}</small>`;
}

function shown(key: string, value: Member['value'], values: ShownValues): Child {
  switch (value.kind) {
    case 'whole':
      return values.whole(value.json, key);
    case 'start':
      return html`${values.start(value.text)} <span class="quiet">${bytesText(value.bytes)}, see the JSON</span>`;
    case 'long':
      return html`<span class="quiet">${bytesText(value.bytes)}, see the JSON</span>`;
  }
}
