// The page of a record: its title, which names its tab and bookmark, its facts and parts, and missing values.
import { expect, test } from 'vitest';
import { BROWSER, browserOf, hrefsOf, pageOf, textsOf, browseRecords } from '../../../../support/htmlPages.ts';
import { collectionOf } from '../../../../support/records.ts';
import { requestOf, STAYING } from '../../../../support/requests.ts';
import { BASE_URL, GENERATION, handlerWith, NEVER_HEAVY, replyOf } from '../../../../support/smallCatalogue.ts';
import { routerOver } from '../../../../../workers/router.ts';
import { RowSetCache } from '../../../../../workers/rowSetCache.ts';

const WORDS = 'dust '.repeat(23);
const RECORDS = [
  { ob_id: 1, title: 'Saharan dust' },
  { ob_id: 2, title: null },
  { ob_id: 3, title: `${WORDS}ocean and land` },
  { ob_id: 4, title: `${WORDS}oceanography` },
  { ob_id: 5, title: `a ${'x'.repeat(200)}` },
  { ob_id: 6, title: `${'x'.repeat(119)}\u{1f30d}` },
  { ob_id: 7, title: 'deep', keywords: Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => 1)) },
];
const browsed = browseRecords({ observations: RECORDS });

test.each([
  [1, '1: Saharan dust – Observations'],
  [2, '2 – Observations'],
  [3, `3: ${WORDS}ocean… – Observations`],
  [4, `4: ${WORDS.trim()}… – Observations`],
  [5, `5: a ${'x'.repeat(118)}… – Observations`],
  [6, `6: ${'x'.repeat(119)}… – Observations`],
])('starts the title of record %d with its id and ends its name with a word', async (id, title) => {
  const { page } = await browsed(`/browse/observations/${id}/`);
  expect(page.querySelector('title')!.textContent).toBe(`${title} – Catalogue`);
});

test('shows nested members up to a number for the whole page, and reports that there are more', async () => {
  const { page } = await browsed('/browse/observations/7/');
  const items = page.querySelectorAll('ul.members li').length;
  expect(items).toBeGreaterThan(2000);
  expect(items).toBeLessThan(4000);
  expect(page.querySelector('main')!.textContent).toContain('and 290 more');
});

test('reports that a record has more fields than it shows', async () => {
  const fields = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
  const observations = [4095, 4200].map((count, i) => ({ ob_id: i + 1, ...fields(count) }));
  const browse = browseRecords({ observations });
  for (const [id, total] of [
    [1, '4,096 fields'],
    [2, 'the first 4,096 fields, see the JSON'],
  ] as const) {
    const { page } = await browse(`/browse/observations/${id}/`);
    expect(textsOf(page, '.total')).toEqual([total]);
    expect(textsOf(page, 'dl.record dt')).toHaveLength(4096);
  }
});

test('makes no link of a shortened address, whose target is unknown', async () => {
  const [short, long, longest] = [10, 3000, 300_000].map((length) => `https://x.test/${'y'.repeat(length)}`);
  const { page } = await browseRecords({ observations: [{ ob_id: 1, abstract: short, keywords: long }] })(
    '/browse/observations/?fields=abstract,keywords',
  );
  expect(hrefsOf(page, '.away')).toEqual([short]);
  expect(textsOf(page, 'tbody td:last-child')).toEqual([`${long!.slice(0, 160)}…`]);
  const { page: record } = await browseRecords({ observations: [{ ob_id: 1, abstract: long, keywords: longest }] })(
    '/browse/observations/1/',
  );
  expect(hrefsOf(record, '.away')).toEqual([long]);
  expect(textsOf(record, 'dl.record dd')[2]).toMatch(/^https:\/\/x\.test\/y{60000,}… /);
});

test('starts own URLs with the base URL that the visitor chose, also as names, and no others that begin alike', async () => {
  const chosen = 'https://mirror.example.org/catalogue';
  const urls = ['{base_url}/files/a.nc', '{base_url}', `${BASE_URL}ish/a`];
  const text = JSON.stringify({
    ob_id: 1,
    title: '{base_url}/uuid/x',
    keywords: urls,
    permissions: [{ n: 1, to: urls[0] }],
  });
  const collections = (name: string) => collectionOf(name, name === 'observations' ? [text] : [], BASE_URL);
  const { asked } = browserOf(handlerWith(NEVER_HEAVY, { allowBaseUrls: [chosen] }, collections));
  const headers = { ...BROWSER, host: new URL(chosen).host };
  const [record, list] = await Promise.all(
    ['1/', '?fields=keywords,permissions'].map(async (rest) =>
      pageOf(await asked(`/browse/observations/${rest}`, { headers })),
    ),
  );
  expect(textsOf(record, 'h1')).toEqual([`${chosen}/uuid/x`]);
  expect(textsOf(record, '.members li').slice(0, 3)).toEqual([`${chosen}/files/a.nc`, chosen, `${BASE_URL}ish/a`]);
  const links = [`${chosen}/files/a.nc`, chosen, `${chosen}/files/a.nc`];
  expect(hrefsOf(record, '.away')).toEqual([`${chosen}/uuid/x`, ...links]);
  expect(hrefsOf(list, 'tbody .away')).toEqual(links);
});

test('links an own URL that the documents spell for two collections to the one that has its id', async () => {
  const keywords = [2, 3, 4].map((id) => `{base_url}/api/v3/ProcedureComputations/${id}/`);
  const { page } = await browseRecords({
    observations: [{ ob_id: 1, keywords }],
    computations: [{ ob_id: 2, title: 'of both' }],
    composites: [{ ob_id: 2 }, { ob_id: 3 }],
  })('/browse/observations/1/');
  expect(textsOf(page, '.members li')).toEqual([
    'of both',
    'Composite process 3',
    'Computation 4 (not in this catalogue)',
  ]);
  const places = ['computations/2/', 'composites/3/', 'computations/4/'];
  expect(hrefsOf(page, '.members a')).toEqual(places.map((place) => `../../../browse/${place}`));
});

test('shows bytes of a record that are not JSON, as in a forged file, as they are', async () => {
  const collection = collectionOf('observations', ['{"ob_id":1,"keywords":"a title"}'], BASE_URL);
  const [chunk] = collection.records.chunks;
  chunk!.bytes.set(Buffer.from('"a"titl<"'), Buffer.from(chunk!.bytes).indexOf('"a title"'));
  const handler = handlerWith(NEVER_HEAVY, {}, (name) =>
    name === 'observations' ? collection : collectionOf(name, [], BASE_URL),
  );
  for (const url of ['/browse/observations/1/', '/browse/observations/?fields=keywords']) {
    const reply = replyOf(await handler(requestOf({ url, headers: { accept: 'text/html' } }), STAYING));
    expect([reply.status, reply.text.includes('titl&lt;')]).toEqual([200, true]);
  }
});

const link = (to: string, id: number): string => `{base_url}/api/v3/${to}/${id}/?format=api`;
const links = (to: string, ...ids: readonly number[]): readonly string[] => ids.map((id) => link(to, id));
test('says that links could not be looked up while a server is busy, on a page that is not cached', async () => {
  const find = async (): Promise<'busy'> => 'busy';
  const router = {
    ...routerOver({ generation: GENERATION, cache: new RowSetCache(0), runHeavy: NEVER_HEAVY }),
    find,
  };
  const { reply, page } = await browseRecords(
    { observations: [{ ob_id: 1, projects: links('projects', 1) }], projects: [{ ob_id: 1, title: 'p' }] },
    router,
  )('/browse/observations/1/');
  expect(textsOf(page, '.gets')).toEqual(['The links could not be looked up now.']);
  expect(textsOf(page, '.references .count')[0]).toBe('not counted now');
  expect([reply.status, reply.etag]).toEqual([200, undefined]);
});

const term = (label: string, value: string): object => ({ ob_id: 1, label, value });

test('shows a bounded number of values under a heading', async () => {
  const phenomona = Array.from({ length: 100 }, (_, i) => ({
    ob_id: i + 1,
    names: [{ ob_id: 1, name: `n${i}` }],
    terms: [],
  }));
  const observations = [{ ob_id: 1, phenomena: links('phenomona', ...phenomona.map(({ ob_id }) => ob_id)) }];
  const { page } = await browseRecords({ phenomona, observations })('/browse/observations/1/');
  expect(textsOf(page, '.facts dd')).toEqual([...Array.from({ length: 8 }, (_, i) => `n${i}`), '56 more']);
});

test.each([
  ['times', { startTime: '2011-12-08T19:13:24', endTime: '2012-01-20T13:19:52' }, '2011-12-08 to 2012-01-20'],
  ['times', { startTime: '2011-12-08', endTime: '2011-12-08T01:00:00' }, '2011-12-08'],
  ['times', { startTime: '2011-12-08T00:00:00', endTime: null }, 'from 2011-12-08 on'],
  ['times', { startTime: 'unknown', endTime: '2014-05-02' }, 'unknown 2014-05-02'],
  ['times', { startTime: '2019-01-01T00:00:00', endTime: '2019-12' }, '2019-01-01T00:00:00 2019-12'],
  [
    'bboxes',
    { bboxName: 'Here', westBoundLongitude: 1, eastBoundLongitude: 1, southBoundLatitude: 2, northBoundLatitude: 2 },
    'Here',
  ],
  [
    'bboxes',
    { bboxName: null, westBoundLongitude: 1, eastBoundLongitude: 1, southBoundLatitude: 2, northBoundLatitude: 2 },
    '2° N, 1° E',
  ],
  ['bboxes', { bboxName: null, westBoundLongitude: null }, 'Area 1'],
  ['ipps', { instrument: link('instruments', 1), platform: link('platforms', 1) }, 'Radar on Ship'],
  ['ipps', { instrument: link('instruments', 9), platform: link('platforms', 1) }, 'Ship'],
  [
    'phenomona',
    { names: [{ ob_id: 1, name: 'ice' }], terms: [term('var_id', 'siconc'), term('units', '%')] },
    'ice (%)',
  ],
  ['phenomona', { names: [], terms: [term('units', '1'), term('standard_name', 'sea_ice')] }, 'sea_ice'],
  ['acquisitions', { instrumentplatformpair_set: [] }, 'Acquisition 1'],
  ['rpis', { role: 'data_owner', party: link('parties', 1) }, 'Ada Berg, data owner'],
] as const)('names a record of %s, which has no title: %j', async (name, fields, heading) => {
  const { page } = await browseRecords({
    instruments: [{ ob_id: 1, title: 'Radar' }],
    platforms: [{ ob_id: 1, title: 'Ship' }],
    parties: [{ ob_id: 1, firstName: 'Ada', lastName: 'Berg' }],
    [name]: [{ ob_id: 1, ...fields }],
  })(`/browse/${name}/1/`);
  expect(textsOf(page, 'h1').map((text) => text.replaceAll('\u00a0', ' '))).toEqual([heading]);
});

test.each([
  ['2000-01-01', '2000-01-02', '1 day'],
  ['2000-01-01', '2000-03-01', '60 days'],
  ['2000-01-01', '2000-04-01', '3 months'],
  ['2000-01-01', '2003-01-01', '3 years'],
  ['2000-01-02', '2000-01-01', 'ends before it starts'],
])('gives the length of the period from %s to %s: %s', async (startTime, endTime, length) => {
  const { page } = await browseRecords({
    observations: [{ ob_id: 1, timePeriod: link('times', 1) }],
    times: [{ ob_id: 1, startTime, endTime }],
  })('/browse/observations/1/');
  expect(textsOf(page, '.facts .quiet')).toEqual([length]);
});
