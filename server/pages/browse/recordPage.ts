// The page of a record: what it is in a few facts, where its data are and how to cite it, lists of related records, and
// all its fields. Tables in engine/schema/browse.ts say which fields are facts.
import { bytesText } from '../../observe/quantities.ts';
import { type Collection, type CollectionIndex, rowOfId } from '../../../engine/engine.ts';
import {
  collectionLabel,
  collectionSentence,
  fieldLabel,
  fieldSentence,
  hasMoreMembers,
  isPublished,
  kindLabel,
  type Member,
  type MemberBudget,
  recordMembers,
} from '../../../engine/described.ts';
import { readCitation } from '../citation.ts';
import type { BrowsePage, Site, Tour } from './site.ts';
import { type Child, html, type Markup } from './template.ts';
import { datasetScript } from './structuredData.ts';
import { apiPath } from './address.ts';
import { countLinks, linkSection, referenceLinks } from './counted.ts';
import { citePart, dataPart, findResources, type Group, readGroups, relatedLinks } from './dataset.ts';
import { inStep, noRecordPage } from './errorPage.ts';
import { factList, type Facts, readFacts } from './facts.ts';
import { amountOf, framed, requestPanel } from './frame.ts';
import { boxParameter, boxText, drawMap } from './map.ts';
import { labelOf } from './names.ts';
import { type Data, dataFrom, RecordReader } from './records.ts';
import { cutAtWord, linkAmong, ShownValues } from './values.ts';

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

const SEPARATOR = ' · ';
/** The collection whose records are data sets: its pages start with their data and fold their fields. */
const DATASETS = 'observations';

/** A record with what its page reads before it is built. */
interface ShownRecord {
  readonly collection: CollectionIndex;
  readonly id: number;
  readonly row: number;
  readonly members: readonly Member[];
  readonly data: Data;
  readonly facts: Facts;
  readonly groups: readonly Group[];
  readonly reader: RecordReader;
  readonly counted: Awaited<ReturnType<typeof countLinks>>;
  readonly resources: Awaited<ReturnType<typeof findResources>>;
}

/**
 * Builds the page, or a 404 page. Cost: the record, the records of its facts, and a list query for each link to one.
 */
export async function recordPage(site: Site, tour: Tour, place: RecordPlace): Promise<BrowsePage> {
  const { id } = place;
  const declared = place.collections.find(({ name }) => rowOfId(site.collections(name), id) >= 0);
  if (!declared) return noRecordPage(site, tour, place.collections[0]!);
  const { name } = declared;
  const collection = site.collections(name);
  const row = rowOfId(collection, id);
  const budget: MemberBudget = { wholeBytesMax: VALUE_BYTES_MAX, startBytes: START_BYTES, left: RECORD_BYTES_MAX };
  const members = recordMembers(collection, row, undefined, budget);
  const data = dataFrom(members);
  const reader = new RecordReader(site, tour);
  const facts = readFacts(reader, tour.up, name, data);
  const groups = readGroups(reader, name, data);
  const [counted, resources] = await Promise.all([
    countLinks(site, tour, [...relatedLinks(name, groups, facts), ...referenceLinks(site, name, id)]),
    name === DATASETS ? findResources(site, tour, id) : [],
  ]);
  const record: ShownRecord = { collection, id, row, members, data, facts, groups, reader, counted, resources };
  const isPassing = resources === undefined || counted.some(({ count }) => count === 'missed');
  // Like any other page, it is built in a step. The step starts after all counts have arrived.
  return inStep(site, tour, () => ({ status: 200, isPassing, html: htmlOf(site, tour, record) }));
}

function htmlOf(site: Site, tour: Tour, record: ShownRecord): Buffer {
  const { collection, id, row, data, facts, reader, counted, resources } = record;
  const { declaration } = collection;
  const { name } = declaration;
  const citation = name === DATASETS ? readCitation(reader, site.settings, record) : undefined;
  const label = labelOf(site, tour, collection, row);
  const abstract = reader.text(data['abstract']);
  const main = html`<div class="title">
      <h1 class="record"><bdi>${label ?? `${kindLabel(name)} ${id}`}</bdi></h1>
      ${stateLine(tour, record)}
    </div>
    <div class="about">
      ${factList(facts)} ${placeFigure(tour, facts)}
      <div class="rest">
        ${citation && [dataPart(reader, data, resources), citePart(tour, citation)]}
        ${
          abstract !== '' &&
          html`<section>
            <h2>Abstract</h2>
            <p class="abstract"><bdi>${abstract}</bdi></p>
          </section>`
        }
        ${linkSection(tour, 'Related data', counted, 2)} ${linkSection(tour, 'Referred to by', counted, 1)}
        ${fieldsPart(site, tour, record, !citation)} ${requestPanel(tour, '')}
      </div>
    </div>`;
  const crumbs = [{ label: collectionLabel(name), href: `${tour.up}browse/${name}/` }, { label: String(id) }];
  const downloads = (resources ?? []).filter(({ isDownload }) => isDownload);
  const about = {
    path: `browse/${name}/${id}/`,
    description: abstract || collectionSentence(declaration),
    head: citation && isPublished(collection, row) && datasetScript(site, tour, { citation, data, reader, downloads }),
  };
  return framed(site, tour, { title: titleOf(declaration, id, label), about, crumbs, main });
}

/** When the record was published, its states, and the records that group it. */
function stateLine({ up }: Tour, { data, groups, reader }: ShownRecord): Markup | false {
  const published = reader.text(data['doiPublishedTime']) || reader.text(data['dataPublishedTime']);
  const states = ['publicationState', 'status'].map((key) => reader.text(data[key])).filter(Boolean);
  const texts = [...(published === '' ? [] : [`Published ${published.slice(0, 10)}`]), ...states];
  const links = groups.map(
    ({ declared, id, label }) =>
      html`${SEPARATOR}<a href="${up}browse/${declared.name}/${id}/"><bdi>${label}</bdi></a>`,
  );
  return (
    (texts.length > 0 || links.length > 0) && html`<p class="lead"><bdi>${texts.join(SEPARATOR)}</bdi>${links}</p>`
  );
}

/** The map of the place, with its name and a link to other data there. */
function placeFigure({ up }: Tour, { box, place }: Facts): Markup | false {
  if (!box) return false;
  const link = `${up}browse/${DATASETS}/?bbox=${boxParameter(box)}`;
  return html`<figure>
    ${drawMap(up, [box], `Map: ${boxText(box)}`)}
    <figcaption>${place}${SEPARATOR}<a href="${link}" rel="nofollow">data from here</a></figcaption>
  </figure>`;
}

/** The id comes first, because a browser tab shows little more and many names begin alike. */
function titleOf({ name }: Collection, id: number, label: string | undefined): string {
  const kind = collectionLabel(name);
  return label === undefined ? `${id} – ${kind}` : `${id}: ${cutAtWord(label, TITLE_CHARACTERS_MAX)} – ${kind}`;
}

function fieldCount(shown: number, hasMore: boolean): string {
  return hasMore ? `the first ${amountOf(shown, 'field')}, see the JSON` : amountOf(shown, 'field');
}

/** All fields with their values, and the links to the record as data. */
function fieldsPart(site: Site, tour: Tour, { collection, row, members }: ShownRecord, isOpen: boolean): Markup {
  const { declaration } = collection;
  const { name } = declaration;
  const values = new ShownValues(site, tour);
  const generic = linkAmong(name, members);
  const rows = members.map(
    ({ key, value }) =>
      html`<div>
        <dt><bdi>${fieldLabel(name, key)}</bdi> <code>${key}</code>${meaningOf(declaration, key)}</dt>
        <dd>${generic?.key === key ? values.linkTo(generic) : shown(value, values, name, key)}</dd>
      </div> `,
  );
  return html`<details class="fields" id="fields" ${isOpen && html` open`}>
    <summary>All fields</summary>
    <ul class="data" aria-label="This record as data">
      <li class="total quiet">${fieldCount(members.length, hasMoreMembers(collection, row))}</li>
      <li><a href="${apiPath(tour)}?format=json&amp;pretty=1">JSON</a></li>
      <li><a href="${apiPath(tour)}?format=csv">CSV</a></li>
    </ul>
    <dl class="record">${rows}</dl>
  </details>`;
}

function meaningOf({ name, fields }: Collection, key: string): Markup | false {
  if (!fields.some((field) => field.name === key)) return false;
  return html`<small>${fieldSentence([name, key])}</small>`;
}

function shown(value: Member['value'], values: ShownValues, collection: string, key: string): Child {
  switch (value.kind) {
    case 'whole':
      return values.whole(value.json, collection, key);
    case 'start':
      return html`${values.start(value.text)} <span class="quiet">${bytesText(value.bytes)}, see the JSON</span>`;
    case 'long':
      return html`<span class="quiet">${bytesText(value.bytes)}, see the JSON</span>`;
  }
}
