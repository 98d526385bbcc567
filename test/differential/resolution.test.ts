// Resolution of paths and ids outside the API, on random catalogues, compared with plain loops over their records. The
// requests go to the real handler over an imported snapshot. A disagreement prints its seed.
import { afterAll, describe, expect, test } from 'vitest';
import { openData } from '../../data/open.ts';
import { openSnapshot } from '../../engine/snapshot/open.ts';
import { dataSetOf, temporaryDirectory } from '../support/dataSets.ts';
import { type Random, randomOf, RUN_SEED } from '../support/random.ts';
import { requestOf, STAYING } from '../support/requests.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY, replyOf } from '../support/smallCatalogue.ts';
import { type PlainCatalogue, type PlainRecord, ResolutionTwin } from './resolutionTwin.ts';

const CATALOGUES = 12;
const QUESTIONS = 60;
const SEGMENTS = ['a', 'b', 'a b', 'a-1', 'a.b', 'é', '日本', '"q"', '\\', 'a\u2028', 'a\nb', '%41', '~', '...', '😀'];
const IDS = ['m', 'm.a', 'm.a.b', 'm.a.v1', 'n', 'é.x', 'm.a.v1.v2'];
const ADDRESSES = ['https://a.example.org/1', 'https://a.example.org/?a=b&c', '{base_url}/x', 'é', ''];

const directory = temporaryDirectory();
const seed = RUN_SEED;
let asked = 0;
let found = 0;

const linkTo = (id: number): string => `{base_url}/api/v3/observations/${id}/?format=api`;

function pathIn(random: Random): string {
  const path = random.several(1, 5, () => `/${random.pick(SEGMENTS)}`).join('');
  return random.chance(0.25) ? `${path}/` : path;
}

function storedPath(random: Random): string {
  return random.chance(0.15)
    ? random.pick(['', '/', '//a', 'a/b', '{base_url}/a', '/a', '/a/', '/a//', '/a//b'])
    : pathIn(random);
}

function titled(random: Random): PlainRecord {
  const state = random.pick(['citable', 'published', 'working', 'old']);
  const status = random.pick(['completed', 'completed', 'ongoing']);
  return {
    title: random.pick(['t', '"q"', '{base_url}/t', 'é \u2028', '']),
    ...(random.chance(0.9) ? { publicationState: state } : {}),
    status,
  };
}

function catalogueOf(random: Random): PlainCatalogue {
  const ids = (count: number): number[] => Array.from({ length: random.integer(0, count) }, (_, i) => i * 2 + 1);
  const hasSets = random.chance(0.7);
  const versions = random.chance(0.5) ? [1, 2, 3, 9, 10] : ['1', '3', '9', '10', '010', '0', 'v10', 'v9', 'é'];
  return {
    observations: ids(80).map((id) => {
      const place = random.chance(0.9) ? { result_field: { dataPath: storedPath(random) } } : {};
      return { ob_id: id, ...titled(random), ...place };
    }),
    observationcollections: ids(20).map((id) => {
      return { ob_id: id, ...titled(random), ...(hasSets ? { dataPath: storedPath(random) } : {}) };
    }),
    drsdatasets: ids(40).map((id) => ({
      ob_id: id,
      drsId: random.pick(IDS),
      version: random.chance(0.9) ? random.pick<unknown>(versions) : null,
      isLatest: random.chance(0.3),
      observation: linkTo(random.integer(0, 60)),
    })),
    identifiers: ids(20).map((id) => ({
      ob_id: id,
      url: random.pick(ADDRESSES),
      ...(random.chance(0.9) ? { identifierType: 'doi' } : {}),
      relatedTo: { ob_id: random.integer(0, 8), uuid: '', short_code: random.pick(['ob', 'coll', 'proj', 'none']) },
    })),
    projects: ids(5).map((id) => ({ ob_id: id })),
  };
}

async function served(catalogue: PlainCatalogue): Promise<(url: string) => Promise<string>> {
  const files = Object.entries(catalogue).map(([name, records]) => {
    return [`${name}.ndjson`, (records as readonly object[]).map((record) => `${JSON.stringify(record)}\n`).join('')];
  });
  const data = dataSetOf(directory, Object.fromEntries(files) as Record<string, string>);
  const opened = openSnapshot(await openData(data, { baseUrl: BASE_URL, threads: 0 }, () => undefined));
  const handler = handlerWith(NEVER_HEAVY, {}, (name) => opened.collection(name));
  return async (url) => {
    const reply = replyOf(await handler(requestOf({ url }), STAYING));
    expect(reply.status, url).toBe(200);
    asked++;
    if (!/^\{\}$|UNKNOWN|"url":""/.test(reply.text)) found++;
    return reply.text;
  };
}

/** A path to request: below a stored one, next to one, some with dot segments or doubled slashes. */
function askedPath(random: Random, { observations }: PlainCatalogue): string {
  const record = observations.length > 0 && random.chance(0.7) ? random.pick(observations) : undefined;
  const stored = (record?.['result_field'] as PlainRecord | undefined)?.['dataPath'];
  const start = typeof stored === 'string' ? stored : pathIn(random);
  const path = random.chance(0.6) ? start + pathIn(random) : start;
  const dotted = random.chance(0.1) ? `${path}/${random.pick(['.', '..'])}/a` : path;
  return random.chance(0.2) ? dotted.replaceAll('/', '//') : dotted;
}

const encoded = (random: Random, path: string): string => {
  const escaped = path.split('/').map(encodeURIComponent).join('/');
  return random.chance(0.2) ? escaped.replaceAll('/', '%2F') : escaped;
};

describe.each(Array.from({ length: CATALOGUES }, (_, i) => (seed + i) >>> 0))(
  'resolution on the catalogue of seed %i',
  (one) => {
    test('agrees with plain loops', async () => {
      const random = randomOf(one);
      const catalogue = catalogueOf(random);
      const twin = new ResolutionTwin(catalogue, BASE_URL);
      const ask = await served(catalogue);
      expect(await ask('/api/v0/obs/all')).toBe(twin.allPlaced());
      expect(await ask('/api/v0/complete/')).toBe(twin.completeness());
      for (let i = 0; i < QUESTIONS; i++) {
        const path = askedPath(random, catalogue);
        const target = `/api/v0/obs/get_info${encoded(random, path.startsWith('/') ? path : `/${path}`)}`;
        expect(await ask(target), target).toBe(twin.placed(path.startsWith('/') ? path : `/${path}`));
      }
      for (const id of [...IDS, ...IDS.flatMap((name) => [`${name}.v1`, `${name}.v3`]), 'none']) {
        expect(await ask(`/api/v0/drs_lookup/${encodeURIComponent(id)}`), id).toBe(twin.dataset(id));
      }
      for (const prefix of ['', 'm', 'm.', 'm.a', 'é', 'z']) {
        expect(await ask(`/api/v0/drs_listing/${encodeURIComponent(prefix)}`), prefix).toBe(twin.datasets(prefix));
      }
      for (const address of ADDRESSES.map((text) => text.replace('{base_url}', BASE_URL))) {
        const target = `/api/legacy_lookup/?identifier=${encodeURIComponent(address)}`;
        expect(await ask(target), target).toBe(twin.identified(address));
      }
    });
  },
);

test.each<[string, readonly unknown[], string]>([
  ['numbers', [9, 10], '10'],
  ['texts of digits', ['9', '10', '010', '2'], '10'],
  ['other texts', ['v10', 'v9', null], 'v9'],
  ['both', ['zz', '1'], '1'],
])('returns the highest version, compared by number if possible: %s', async (_, all, highest) => {
  const drsdatasets = all.map((version, i) => ({ ob_id: i + 1, drsId: 'm', version, observation: linkTo(1) }));
  const observations = [{ ob_id: 1, result_field: { dataPath: '/a' } }];
  const others = { observationcollections: [], identifiers: [], projects: [] };
  const ask = await served({ observations, drsdatasets, ...others });
  expect(JSON.parse(await ask('/api/v0/drs_lookup/m'))).toMatchObject({ directory: '/a', version: highest });
});

afterAll(() => {
  expect(asked).toBeGreaterThanOrEqual(CATALOGUES * QUESTIONS);
  expect(found, 'of the answers, those that found something').toBeGreaterThan(asked / 5);
});
