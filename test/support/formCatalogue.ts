// A catalogue in which every form of a response occurs, and a request for each form. Tests use it to see what the bytes
// of responses depend on. If you add a form of a response, add its request here.
import { gunzipSync } from 'node:zlib';
import { decodeFeed, encodeFeed } from '../../data/changeFeed.ts';
import type { RecordBlocks } from '../../engine/column/blocks.ts';
import type { CollectionIndex } from '../../engine/index/table.ts';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { CatalogueSettings } from '../../server/catalogue/catalogue.ts';
import type { Answer, Handler } from '../../server/http/exchange.ts';
import { type Documents, openApiDocuments } from '../../server/pages/openapi/documents.ts';
import { pagesOf } from '../../server/pages/pages.ts';
import { readSettings } from '../../server/settings/declarations.ts';
import { queryOptionsOf } from '../../server/catalogue/queryOptions.ts';
import { recordBlocksOf, collectionOf } from './records.ts';
import { bytesOf } from './pages.ts';
import type { RequestParts } from './requests.ts';
import { BASE_URL, GENERATION, handlerWith, NEVER_HEAVY } from './smallCatalogue.ts';

/** A base URL that a request may choose. */
const OTHER_URL = 'https://mirror.example.org/catalogue';

const LINK = (path: string, id: number): string => `"{base_url}/api/v3/${path}/${id}/?format=api"`;
const TITLES = [
  'ocean',
  'land',
  'a \\"b\\" \\\\ c',
  'snow, ice; \\u2028',
  'Straße ☃ 😀',
  '',
  'line\\nbreak',
  '</script>',
];

const observation = (id: number): string =>
  `{"ob_id":${id},"uuid":"u${id}","title":"${TITLES[id % TITLES.length]}","abstract":"${'text '.repeat(id)}",` +
  `"status":${id % 3 === 0 ? 'null' : `"s${id % 2}"`},"dataLineage":null,"timePeriod":${LINK('times', id)},` +
  `"permissions":[{"ob_id":${id % 4},"accessConstraints":null}],"dataPublishedTime":"2020-01-0${1 + (id % 9)}T00:00:00",` +
  `"extra":{"a":[1,2.50,1e3,-0],"b":true},"numbers":[${id},2]}`;

const TEXTS: Readonly<Record<string, readonly string[]>> = {
  observations: Array.from({ length: 40 }, (_, i) => observation(i + 1)),
  times: Array.from({ length: 5 }, (_, i) => `{"ob_id":${i + 1},"startTime":"2020-01-01T00:00:00","endTime":null}`),
  computations: ['{"ob_id":1,"title":"a"}', '{"ob_id":2,"title":"b"}'],
  identifiers: [
    '{"ob_id":1,"relatedTo":{"ob_id":2,"uuid":"c2","short_code":"comp"},"url":"https://a.example.org/1?a=b",' +
      '"identifierType":"doi","shortUrl":""}',
  ],
  composites: ['{"ob_id":2,"title":"c"}', '{"ob_id":3,"title":"d"}'],
};

/** The generation before, since which one record has changed. */
const BEFORE = 'b'.repeat(64);
const CHANGE = `{"time":"2024-01-01T00:00:00.000Z","generation":"${GENERATION.slice(0, 12)}","collection":"notes","id":1,"change":"created"}`;
const FEED = encodeFeed([
  { generation: BEFORE, lines: [] },
  { generation: GENERATION, lines: [Buffer.from(`${CHANGE}\n`)] },
]);

const LIST = '/api/v3/observations/';
const URLS: readonly string[] = [
  '/',
  '/api/v2/',
  '/api/v3/',
  '/api/v3.json',
  LIST,
  `${LIST}?limit=2`,
  `${LIST}?limit=2&offset=3`,
  `${LIST}?limit=2&offset=900`,
  `${LIST}?limit=0`,
  `${LIST}?limit=2&nonsense=a%20b`,
  `${LIST}?limit=2&page=1&format=json`,
  `${LIST}?limit=3&format=ndjson`,
  `${LIST}?limit=3&format=csv`,
  `${LIST}?format=csv`,
  `${LIST}?format=parquet`,
  `${LIST}?limit=3&fields=title,extra&format=parquet`,
  `${LIST}?limit=3&fields=title,extra,nonsense`,
  `${LIST}?limit=3&fields=title&format=csv`,
  `${LIST}?limit=3&fields=nonsense&format=csv`,
  `${LIST}?limit=3&after=4`,
  `${LIST}?limit=3&ordering=-title,status,nonsense`,
  `${LIST}?limit=1&facets=status,title`,
  `${LIST}?title=ocean`,
  `${LIST}?title__startswith=s&limit=3`,
  `${LIST}?status__isnull=true&limit=3`,
  `${LIST}?ob_id=x`,
  `${LIST}?uuid__foo=u1`,
  `${LIST}?numbers=3`,
  `${LIST}?generation=${GENERATION.slice(0, 12)}&limit=1`,
  `${LIST}?limit=2&explain=0`,
  '/api/v3/observations.json?limit=2',
  '/api/v2/observations/?limit=2',
  '/api/v3/procedurecomputations/',
  '/api/v3/times/',
  '/api/v3/parties/',
  `${LIST}7/`,
  `${LIST}7.json`,
  `${LIST}7/?format=csv`,
  `${LIST}7/?format=ndjson&fields=title`,
  `${LIST}39/`,
  '/api/v2/observations/7/',
  '/api/v3/procedurecomputations/3/',
  '/api/v0/obs/get_info/a/b',
  '/api/v0/obs/all',
  '/api/v0/obs/all?pretty=1',
  '/api/v0/complete/',
  '/api/v0/drs_lookup/a.b.v1',
  '/api/v0/drs_listing/a',
  '/api/legacy_lookup/?identifier=https://a.example.org/1?a%3Db',
  '/api/legacy_lookup/?identifier=a&pretty=1',
  `/api/v3/changes/?since=${BEFORE}`,
];

/** Every form by its URL: plain, with gzip, and for another host. */
export const FORM_REQUESTS: readonly RequestParts[] = URLS.flatMap((url) => [
  { url, headers: { host: 'localhost:8080' } },
  { url, headers: { 'accept-encoding': 'gzip' } },
  { url, headers: { host: new URL(OTHER_URL).host } },
]);

let collections: ReadonlyMap<string, CollectionIndex> | undefined;
const blocks = new Map<string, RecordBlocks>();

function collectionNamed(name: string): CollectionIndex {
  collections ??= new Map(
    COLLECTIONS.map((one) => [one.name, collectionOf(one.name, TEXTS[one.name] ?? [], BASE_URL)]),
  );
  return collections.get(name)!;
}

function blocksNamed(name: string): RecordBlocks {
  const made = blocks.get(name) ?? recordBlocksOf(collectionNamed(name).records);
  blocks.set(name, made);
  return made;
}

/** The documents of the catalogue for these base URLs. */
export function formDocuments(...baseUrls: readonly string[]): Promise<Documents> {
  return openApiDocuments(collectionNamed, queryOptionsOf(readSettings({}, {})), [BASE_URL, ...baseUrls]);
}

/** A handler over the catalogue. Clients may choose OTHER_URL unless the settings forbid it. */
export function formHandler(
  settings: Partial<CatalogueSettings> = {},
  sinceMs = 0,
  documents: Documents = new Map(),
): Handler<Answer | Promise<Answer>> {
  return handlerWith(NEVER_HEAVY, { allowBaseUrls: [OTHER_URL], ...settings }, collectionNamed, {
    sinceMs,
    changes: decodeFeed(FEED, GENERATION, 'the feed'),
    blocks: (settings.gzip ?? 'stored') === 'stored' ? blocksNamed : undefined,
    pages: pagesOf({ documents, trustedHosts: () => undefined }),
  });
}

/** The body of a response without its content coding. */
export function plainBytesOf({ headers, body }: Answer): Buffer {
  return headers.some(([name]) => name === 'Content-Encoding') ? gunzipSync(bytesOf(body)) : bytesOf(body);
}
