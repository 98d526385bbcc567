// A handler with a response cache responds like one without, whatever the earlier requests. Requests that differ in
// everything that a response depends on are drawn in random order: each comes first, again, and between others that
// differ from it in one thing.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { IGNORED_PARAMETERS } from '../../../../server/catalogue/tally.ts';
import { newTally } from '../../../../server/observe/tally.ts';
import { steadyMs } from '../../../../server/observe/clock.ts';
import type { CatalogueSettings } from '../../../../server/catalogue/catalogue.ts';
import { catalogueHandler } from '../../../../server/catalogue/handler.ts';
import { readSettings } from '../../../../server/settings/declarations.ts';
import type { Answer, Handler, Request } from '../../../../server/http/exchange.ts';
import { routerOver } from '../../../../workers/router.ts';
import { RowSetCache } from '../../../../workers/rowSetCache.ts';
import { Slices } from '../../../../workers/slices.ts';
import { randomOf } from '../../../support/random.ts';
import { collectionOf, recordBlocksOf } from '../../../support/records.ts';
import { requestOf, STAYING, type RequestParts } from '../../../support/requests.ts';
import { BASE_URL, NEVER_HEAVY, PAGES, replyOf } from '../../../support/smallCatalogue.ts';

const OTHER_URL = 'https://mirror.example.org/catalogue';
const GENERATION = '0123456789abcdef'.repeat(4);
const SEED = 7;
const REQUESTS = 6000;
/** A response is made this many times, the last time for the cache. */
const TIMES_MADE = 8;
const TIMES = 20;

const OBSERVATIONS = collectionOf(
  'observations',
  Array.from({ length: 300 }, (_, i) => {
    return `{"ob_id":${i + 1},"title":"t${i % 7} ${'text '.repeat(40)}","timePeriod":"{base_url}/api/v3/times/${i}/?format=api"}`;
  }),
  BASE_URL,
);
const EMPTY = new Map(['computations', 'composites'].map((name) => [name, collectionOf(name, [], BASE_URL)]));

function handlerKeeping(
  answerCacheMb: number,
  settings: Partial<CatalogueSettings>,
): Handler<Answer | Promise<Answer>> {
  return catalogueHandler({
    generation: GENERATION,
    created: '2024-01-01T00:00:00Z',
    sinceMs: 0,
    blocks: () => recordBlocks,
    pages: PAGES,
    collections: (name) => EMPTY.get(name) ?? OBSERVATIONS,
    settings: { ...readSettings({}, {}), baseUrl: BASE_URL, answerCacheMb, ...settings },
    ignored: newTally(IGNORED_PARAMETERS),
    slices: new Slices(steadyMs),
    router: routerOver({ generation: GENERATION, cache: new RowSetCache(0), runHeavy: NEVER_HEAVY }),
  });
}

const recordBlocks = recordBlocksOf(OBSERVATIONS.records);

const LIST = '/api/v3/observations/';
const URLS = [
  LIST,
  `${LIST}?`,
  `${LIST}?limit=2`,
  `${LIST}?limit=2&offset=4`,
  `${LIST}?offset=4&limit=2`,
  `${LIST}?limit=0`,
  `${LIST}?limit=2&offset=900`,
  `${LIST}?limit=2&nonsense=1`,
  `${LIST}?limit=2&explain=1`,
  `${LIST}?limit=2&format=json`,
  `${LIST}?limit=2&format=ndjson`,
  `${LIST}?limit=2&format=csv`,
  `${LIST}?limit=2&format=xml`,
  `${LIST}?limit=2&fields=title`,
  `${LIST}?limit=2&after=4`,
  `${LIST}?limit=2&generation=${GENERATION.slice(0, 12)}`,
  `${LIST}?limit=2&generation=gone`,
  `${LIST}?limit=2#x`,
  `${LIST}?ob_id=3`,
  `${LIST}?ob_id=x`,
  `${LIST}?title__startswith=t3&limit=3`,
  '/api/v3/observations.json?limit=2',
  '/api/v3/%6fbservations/?limit=2',
  '/api/v3/observations?limit=2',
  '/api/v2/observations/?limit=2',
  `${LIST}7/`,
  `${LIST}7`,
  `${LIST}7.json`,
  `${LIST}7/?format=json`,
  `${LIST}7/?x=1`,
  `${LIST}8/`,
  `${LIST}999/`,
  '/api/v3/',
  '/',
];
const METHODS = ['GET', 'GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'POST'];
const ACCEPTS = [undefined, undefined, '*/*', 'application/json', 'text/html', 'text/html, */*;q=0.1', ''];
const CODINGS = [undefined, undefined, 'gzip', 'identity;q=0, gzip', 'br'];
const HOSTS = ['localhost:8080', 'localhost:8080', 'mirror.example.org', 'evil.example.org'];
const FORWARDED = [undefined, undefined, undefined, 'mirror.example.org', 'evil.example.org'];
const SCHEMES = [undefined, 'http', 'https'];
const PEERS = ['127.0.0.1', '127.0.0.1', '10.0.0.1'];
const SINCE = [undefined, undefined, undefined, 'Mon, 01 Jan 2024 00:00:00 GMT', 'Sun, 31 Dec 2023 23:59:59 GMT'];
const RANGES = [undefined, undefined, undefined, undefined, 'bytes=0-99', 'bytes=-5', 'bytes=0-1,5-6'];
const CONDITIONS = [undefined, undefined, undefined, '*', '"none"', 'own'];

const SETTINGS: readonly (readonly [string, Partial<CatalogueSettings>])[] = [
  ['as they are', {}],
  ['with base URLs from requests', { allowBaseUrls: [OTHER_URL], trustedProxies: ['10.0.0.0/8'] }],
  ['with walks pinned', { pinWalks: true }],
  ['with links as requests have them', { links: 'request', strict: true }],
  ['with gzip off', { gzip: 'off' }],
];

/** The headers that were read of any request. */
const read = new Set<string>();

function watched(request: Request): Request {
  return { ...request, header: (name) => (read.add(name), request.header(name)) };
}

test.each(SETTINGS)('responds with a cache as without one under the settings %s', async (_, settings) => {
  const [keeping, plain] = [handlerKeeping(4, settings), handlerKeeping(0, settings)];
  const random = randomOf(SEED);
  const tags = new Map<string, string>();
  let same = 0;
  for (let i = 0; i < REQUESTS; i++) {
    // Live compression within one turn of the event loop is bounded.
    await setImmediate();
    const url = random.pick(URLS);
    const condition = random.pick(CONDITIONS);
    const drawn = {
      accept: random.pick(ACCEPTS),
      'accept-encoding': random.pick(CODINGS),
      host: random.pick(HOSTS),
      'x-forwarded-host': random.pick(FORWARDED),
      'x-forwarded-proto': random.pick(SCHEMES),
      'if-modified-since': random.pick(SINCE),
      range: random.pick(RANGES),
      'if-range': random.pick([undefined, undefined, tags.get(url), '"other"']),
      'if-none-match': condition === 'own' ? tags.get(url) : condition,
    };
    const headers = Object.entries(drawn).filter(
      (line): line is [string, string] => line[1] !== undefined && line[1] !== '',
    );
    const parts: RequestParts = {
      method: random.pick(METHODS),
      url,
      headers: Object.fromEntries(headers),
      peer: random.pick(PEERS),
    };
    const [kept, made] = [await keeping(requestOf(parts), STAYING), await plain(watched(requestOf(parts)), STAYING)];
    // Every header that the product reads is drawn here, so that its effect on the cache is tested.
    expect([...read].filter((name) => !(name in drawn))).toEqual([]);
    if (kept === (await keeping(requestOf(parts), STAYING))) same++;
    expect(replyOf(kept), `seed ${SEED}, ${JSON.stringify(parts)}`).toEqual(replyOf(made));
    if (made.etag !== undefined) tags.set(url, made.etag);
  }
  // A repeated unconditional request gets the very same object: the cache is used.
  expect(same).toBeGreaterThan(REQUESTS / 10);
});

test('explains a list again each time, also if the list itself is cached', async () => {
  const handler = handlerKeeping(4, { explain: true });
  const answersOf = async (url: string): Promise<readonly Answer[]> => {
    const answers: Answer[] = [];
    for (let i = 0; i < TIMES; i++) answers.push(await handler(requestOf({ url }), STAYING));
    return answers;
  };
  const kept = (await answersOf(`${LIST}?limit=2`)).at(-1);
  expect(await handler(requestOf({ url: `${LIST}?limit=2` }), STAYING)).toBe(kept);
  expect(new Set(await answersOf(`${LIST}?limit=2&explain=1`)).size).toBe(TIMES);
  expect(await handler(requestOf({ url: `${LIST}?limit=2` }), STAYING)).toBe(kept);
});

test('has a new handler for another generation, with an empty cache', async () => {
  const request = requestOf({ url: LIST });
  const first = handlerKeeping(4, {});
  const answers: Answer[] = [];
  for (let i = 0; i < TIMES; i++) answers.push(await first(request, STAYING));
  expect(new Set(answers).size).toBe(TIMES_MADE);
  expect(await handlerKeeping(4, {})(request, STAYING)).not.toBe(answers.at(-1));
});
