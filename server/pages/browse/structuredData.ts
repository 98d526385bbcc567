// The structured data of published observations (schema.org, JSON-LD), by which search engines for data find them, and
// the rest of what the head of a record's page says about it (A174).
import { type CollectionIndex, rowOfId } from '../../../engine/engine.ts';
import { collectionSentence, publishedTest } from '../../../engine/described.ts';
import { readCitation, CITED_RECORDS_MAX, type Creator } from '../citation.ts';
import type { PageAbout } from './frame.ts';
import { readBox } from './map.ts';
import { type Data, dataOf, isWebAddress, listOf, RecordReader } from './records.ts';
import { rfc3339, type Site, type Tour } from './site.ts';
import { jsonScript } from './template.ts';
import { cutAtWord } from './values.ts';

/** A file, or a folder of files, at a web address. */
export interface Download {
  readonly url: string;
  readonly name?: string;
}

/** Search engines read up to this much. */
const DESCRIPTION_CHARACTERS_MAX = 5000;
/** Licences and files that are named; more would only lengthen the page. */
const LISTED_MAX = 20;

/** The head of the page of a record. Cost: the record, and for a published observation those that it cites. */
export function recordAbout(
  site: Site,
  tour: Tour,
  collection: CollectionIndex,
  { id, downloads }: { readonly id: number; readonly downloads: readonly Download[] },
): PageAbout {
  const { name } = collection.declaration;
  const reader = new RecordReader(site, tour.baseUrl, CITED_RECORDS_MAX);
  const record = reader.record(name, id) ?? {};
  const isDataset = name === 'observations' && publishedTest(collection)(rowOfId(collection, id));
  const dataset = isDataset ? describeDataset(site, tour, { id, record, reader, downloads }) : undefined;
  return {
    path: `browse/${name}/${id}/`,
    description: reader.text(record['abstract']) || collectionSentence({ name }),
    head: dataset && jsonScript('application/ld+json', dataset),
  };
}

/** A node of schema.org. A test compares all with the types of schema-dts. */
type Node = Readonly<Record<string, unknown>>;

interface Described {
  readonly id: number;
  readonly record: Data;
  readonly reader: RecordReader;
  readonly downloads: readonly Download[];
}

function describeDataset(site: Site, { baseUrl }: Tour, of: Described): Node | undefined {
  const { id, record, reader, downloads } = of;
  const { siteName, siteLicence, recordUrl } = site.settings;
  const citation = readCitation(reader, id, { siteName, pages: { baseUrl, template: recordUrl } });
  if (!citation) return undefined;
  const catalogue = { '@type': 'Organization', name: siteName, url: `${baseUrl}/browse/` };
  const published = rfc3339(reader.text(record['dataPublishedTime']));
  const period = formatInterval(reader, reader.linked(record['timePeriod']));
  const place = describePlace(reader.linked(record['geographicExtent']));
  const licences = listLicences(reader, record);
  return {
    '@context': 'https://schema.org',
    '@type': 'Dataset',
    name: citation.title,
    ...(citation.abstract !== '' && { description: cutAtWord(citation.abstract, DESCRIPTION_CHARACTERS_MAX) }),
    url: `${baseUrl}/browse/observations/${id}/`,
    identifier: citation.identifier,
    creator: citation.authors.map(describeAgent),
    publisher: describeAgent(citation.publisher),
    ...(published !== undefined && { datePublished: published }),
    ...(licences.length > 0 && { license: licences }),
    ...(citation.keywords.length > 0 && { keywords: citation.keywords }),
    ...(period !== undefined && { temporalCoverage: period }),
    ...(place && { spatialCoverage: place }),
    ...(downloads.length > 0 && {
      distribution: downloads.slice(0, LISTED_MAX).map((file) => describeFile(file, dataOf(record['result_field']))),
    }),
    includedInDataCatalog: { '@type': 'DataCatalog', name: siteName, url: `${baseUrl}/browse/` },
    sdPublisher: catalogue,
    ...(siteLicence !== undefined && { sdLicense: siteLicence }),
  };
}

function describeAgent({ given, family, isPerson }: Creator): Node {
  return isPerson
    ? { '@type': 'Person', name: `${given} ${family}`, givenName: given, familyName: family }
    : { '@type': 'Organization', name: family };
}

/** An interval of ISO 8601; `..` for an end that is open. */
function formatInterval(reader: RecordReader, period: Data = {}): string | undefined {
  const [start, end] = ['startTime', 'endTime'].map((key) => rfc3339(reader.text(period[key])));
  return start === undefined ? undefined : `${start}/${end ?? '..'}`;
}

/** A point, or a box from its south-western to its north-eastern corner. */
function describePlace(record: Data = {}): Node | undefined {
  const box = readBox(record);
  if (!box) return undefined;
  const { south, west, north, east } = box;
  const name = typeof record['bboxName'] === 'string' && { name: record['bboxName'] };
  const isPoint = south === north && west === east;
  return isPoint
    ? { '@type': 'Place', ...name, geo: { '@type': 'GeoCoordinates', latitude: south, longitude: west } }
    : { '@type': 'Place', ...name, geo: { '@type': 'GeoShape', box: `${south} ${west} ${north} ${east}` } };
}

function listLicences(reader: RecordReader, record: Data): readonly string[] {
  const urls = listOf(record['permissions']).map((permission) => reader.text(dataOf(permission)['licenceURL']));
  return [...new Set(urls.filter(isWebAddress))].slice(0, LISTED_MAX);
}

/** The stored data have one format, which is that of each file. */
function describeFile({ url, name }: Download, { fileFormat }: Data): Node {
  return {
    '@type': 'DataDownload',
    contentUrl: url,
    ...(name !== undefined && { name }),
    ...(typeof fileFormat === 'string' && fileFormat !== '' && { encodingFormat: fileFormat }),
  };
}
