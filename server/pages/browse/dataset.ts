// The parts of the page of an observation that other records do not have: how to get its data, how to cite it, and
// lists of related data.
import { countSelected, percentEncode, selectedRow } from '../../../engine/engine.ts';
import { groupKeys, inSentence, kindLabel } from '../../../engine/described.ts';
import { bytesText } from '../../observe/quantities.ts';
import { CITATION_FORMS, type Citation, citationText } from '../citation.ts';
import { queryTextOf } from './address.ts';
import type { Facts } from './facts.ts';
import type { ListLink } from './counted.ts';
import { foundList } from './find.ts';
import { amountOf } from './frame.ts';
import { boxParameter } from './map.ts';
import { type Data, dataOf, isWebAddress, type LinkTarget, listOf, RecordReader } from './records.ts';
import type { Site, Tour } from './site.ts';
import { html, type Markup } from './template.ts';

/** Addresses of data that a page shows. */
const RESOURCES_MAX = 12;
/** Records of each kind that group others and that a page names. */
const GROUPS_MAX = 3;

/** An address outside this service. */
export interface Resource {
  readonly url: string;
  readonly name: string;
  readonly isDownload: boolean;
}

/**
 * The addresses of the data of an observation, downloads first. Undefined if they could not be found now. Cost: a list
 * query.
 */
export async function findResources(site: Site, tour: Tour, id: number): Promise<readonly Resource[] | undefined> {
  const collection = site.collections('onlineresources');
  const query = `relatedTo__ob_id=${id}&relatedTo__short_code=ob&limit=${RESOURCES_MAX}`;
  const found = await foundList(site, tour, collection, query);
  if (found.kind === 'missed') return undefined;
  // If a key is not a filter under these settings, the list has other records.
  if (found.kind === 'refused' || found.list.ask.ignored.length > 0) return [];
  const { rows } = found.hits;
  const reader = new RecordReader(site, tour);
  const resources = Array.from({ length: countSelected(rows) }, (_, i) =>
    readResource(reader, dataOf(reader.row(collection, selectedRow(rows, i)))),
  );
  const known = resources.filter((resource) => resource !== undefined);
  return [...known.filter(({ isDownload }) => isDownload), ...known.filter(({ isDownload }) => !isDownload)];
}

function readResource(reader: RecordReader, record: Data): Resource | undefined {
  const url = webAddress(reader, record['url']);
  return url === undefined
    ? undefined
    : { url, name: reader.text(record['name']) || url, isDownload: record['function'] === 'download' };
}

function webAddress(reader: RecordReader, value: unknown): string | undefined {
  const url = reader.text(value);
  return isWebAddress(url) ? url : undefined;
}

/**
 * The addresses, the path, format and size of the data, and who may use them. False if the record has none of these.
 */
export function dataPart(
  reader: RecordReader,
  record: Data,
  resources: readonly Resource[] | undefined,
): Markup | false {
  const result = dataOf(record['result_field']);
  const path = reader.text(result['dataPath']);
  const { numberOfFiles: files, volume } = result;
  const about = [
    reader.text(result['fileFormat']),
    typeof files === 'number' && amountOf(files, 'file'),
    typeof volume === 'number' && volume >= 0 && bytesText(volume),
    reader.text(result['storageStatus']),
  ].filter(Boolean);
  const access = listOf(record['permissions'])
    .slice(0, RESOURCES_MAX)
    .map((each) => accessLine(reader, dataOf(each)));
  const links = resources?.map(
    ({ url, name, isDownload }) =>
      html`<a href="${url}" rel="noreferrer nofollow" ${isDownload && html` class="get"`}><bdi>${name}</bdi></a> `,
  );
  if (path === '' && about.length === 0 && access.length === 0 && links?.length === 0) return false;
  return html`<section class="panel">
    <h2>Get the data</h2>
    ${removalLine(reader, record)}
    <p class="gets">${links ?? html`<span class="note">The links could not be looked up now.</span>`}</p>
    ${path !== '' && html`<p><code>${path}</code></p>`}
    <p class="quiet"><bdi>${about.join(' · ')}</bdi></p>
    ${access}
  </section>`;
}

function removalLine(reader: RecordReader, record: Data): Markup | false {
  const [time, reason] = ['removedDataTime', 'removedDataReason'].map((key) => reader.text(record[key]));
  if (!time && !reason) return false;
  return html`<p class="note"><bdi>The data were removed${time && ` on ${time.slice(0, 10)}`}. ${reason}</bdi></p>`;
}

function accessLine(reader: RecordReader, permission: Data): Markup {
  const licence = webAddress(reader, permission['licenceURL']);
  const [category, constraints, limitation] = ['accessCategory', 'accessConstraints', 'useLimitation'].map((key) =>
    reader.text(permission[key]),
  );
  return html`<p class="quiet">
    Access: <bdi>${category || 'not stated'}</bdi>${
      licence !== undefined && html`${' · '}<a href="${licence}" rel="noreferrer nofollow license">licence</a>`
    } <br /><bdi>${[constraints, limitation].filter(Boolean).join(' ')}</bdi>
  </p>`;
}

/** The citation as text, which browse.js adds a button to, and its other forms. */
export function citePart({ up }: Tour, citation: Citation): Markup {
  const { id, identifier } = citation;
  const text = citationText(citation);
  const forms = Object.entries(CITATION_FORMS).map(
    ([form, { name }]) => html`<li><a href="${up}cite/observations/${id}.${form}">${name}</a></li> `,
  );
  return html`<section class="panel">
    <h2>Cite</h2>
    <p class="citation" data-copy="citation">
      <span><bdi>${text.slice(0, -identifier.length)}</bdi><a href="${identifier}">${identifier}</a></span>
    </p>
    <ul class="data" aria-label="Other forms of this citation">
      ${forms}
    </ul>
  </section>`;
}

/** A record that groups others, and the field that links to it. */
export interface Group extends LinkTarget {
  readonly key: string;
  readonly label: string;
}

/** The named groups of a record. */
export function readGroups(reader: RecordReader, name: string, record: Data): readonly Group[] {
  return groupKeys(name).flatMap((key) =>
    listOf(record[key])
      .slice(0, GROUPS_MAX)
      .flatMap((value): Group | readonly [] => {
        const [target, label] = [reader.target(value), reader.name(value)];
        return target && label !== '' ? { ...target, key, label } : [];
      }),
  );
}

/** Lists of records of the same groups, and of the same place and time if the collection has groups. */
export function relatedLinks(name: string, groups: readonly Group[], { box, period }: Facts): readonly ListLink[] {
  const same = groups.map(({ key, declared, id, label }) => ({
    collection: name,
    query: `${percentEncode(key)}=${id}`,
    label,
    note: `Same ${inSentence(kindLabel(declared.name))}`,
    countMin: 2,
  }));
  if (groupKeys(name).length === 0) return same;
  const place = box ? [['bbox', boxParameter(box)] as const] : [];
  const time = period ? [['datetime', `${period.start}/${period.end ?? '..'}`] as const] : [];
  const label = ['Same', [...place.map(() => 'place'), ...time.map(() => 'time')].join(' and ')].join(' ');
  const query = queryTextOf([...place, ...time]);
  return query === '' ? same : [...same, { collection: name, query, label, countMin: 2 }];
}
