// The structured data of published observations (schema.org, JSON-LD), by which search engines for data find them
// (A174).
import type { Citation, Creator } from '../citation.ts';
import type { Resource } from './dataset.ts';
import { readBox } from './map.ts';
import { type Data, dataOf, isWebAddress, listOf, type RecordReader } from './records.ts';
import { rfc3339, type Site, type Tour } from './site.ts';
import { jsonScript, type Markup } from './template.ts';
import { cutAtWord } from './values.ts';

/** Search engines read up to this much. */
const DESCRIPTION_CHARACTERS_MAX = 5000;
/** Licences and files that are named; more would only lengthen the page. */
const LISTED_MAX = 20;

/** A node of schema.org. A test compares all with the types of schema-dts. */
type Node = Readonly<Record<string, unknown>>;

interface Described {
  readonly citation: Citation;
  readonly data: Data;
  readonly reader: RecordReader;
  readonly downloads: readonly Resource[];
}

/** The element of a page that describes an observation. Cost: the records of its place and time. */
export function datasetScript({ settings }: Site, { baseUrl }: Tour, of: Described): Markup {
  const { citation, data, reader, downloads } = of;
  const { siteName, siteLicence } = settings;
  const catalogue = { '@type': 'Organization', name: siteName, url: `${baseUrl}/browse/` };
  const published = rfc3339(reader.text(data['dataPublishedTime']));
  const period = formatInterval(reader, reader.linked(data['timePeriod']));
  const place = describePlace(reader.linked(data['geographicExtent']));
  const licences = listLicences(reader, data);
  return jsonScript('application/ld+json', {
    '@context': 'https://schema.org',
    '@type': 'Dataset',
    name: citation.title,
    ...(citation.abstract !== '' && { description: cutAtWord(citation.abstract, DESCRIPTION_CHARACTERS_MAX) }),
    url: `${baseUrl}/browse/observations/${citation.id}/`,
    identifier: citation.identifier,
    creator: citation.authors.map(describeAgent),
    publisher: describeAgent(citation.publisher),
    ...(published !== undefined && { datePublished: published }),
    ...(licences.length > 0 && { license: licences }),
    ...(citation.keywords.length > 0 && { keywords: citation.keywords }),
    ...(period !== undefined && { temporalCoverage: period }),
    ...(place && { spatialCoverage: place }),
    ...(downloads.length > 0 && {
      distribution: downloads.slice(0, LISTED_MAX).map((file) => describeFile(file, dataOf(data['result_field']))),
    }),
    includedInDataCatalog: { '@type': 'DataCatalog', name: siteName, url: `${baseUrl}/browse/` },
    sdPublisher: catalogue,
    ...(siteLicence !== undefined && { sdLicense: siteLicence }),
  });
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
function describeFile({ url, name }: Resource, { fileFormat }: Data): Node {
  return {
    '@type': 'DataDownload',
    contentUrl: url,
    name,
    ...(typeof fileFormat === 'string' && fileFormat !== '' && { encodingFormat: fileFormat }),
  };
}
