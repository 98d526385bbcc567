// The structured data of observations: its values, and that it is a `Dataset` by the types of schema-dts.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { browseRecords, type Page } from '../../../../support/htmlPages.ts';
import { BASE_URL } from '../../../../support/smallCatalogue.ts';

const link = (path: string): string => `{base_url}/api/v3/${path}/?format=api`;
const observation = (ob_id: number, more: object = {}): object => ({
  ob_id,
  uuid: `u${ob_id}`,
  title: 'Sea ice </script><script>alert(1)</script> ø',
  abstract: 'Ice & snow.',
  keywords: 'ice, snow',
  publicationState: 'citable',
  dataPublishedTime: '2020-01-02T03:04:05',
  doiPublishedTime: null,
  result_field: { ob_id: link(`observations/${ob_id}`), fileFormat: 'NetCDF' },
  timePeriod: link('times/1'),
  geographicExtent: link('bboxes/1'),
  permissions: [{ licenceURL: 'https://licences.example.org/open' }, { licenceURL: 'ask' }],
  identifier_set: [link('identifiers/1')],
  responsiblepartyinfo_set: [link('rpis/1'), link('rpis/2')],
  ...more,
});
const RECORDS = {
  observations: [
    observation(1),
    observation(2, {
      geographicExtent: link('bboxes/2'),
      timePeriod: link('times/2'),
      identifier_set: [],
      responsiblepartyinfo_set: [],
      permissions: [],
      abstract: '',
      keywords: '',
    }),
    observation(3, { publicationState: 'working' }),
  ],
  times: [
    { ob_id: 1, startTime: '2003-01-01T00:00:00', endTime: '2004-01-01T00:00:00' },
    { ob_id: 2, startTime: '2003-01-01T00:00:00', endTime: null },
  ],
  bboxes: [
    box(1, { bboxName: 'Iceland', west: -24.6, south: 63.2, east: -13.4, north: 66.6 }),
    box(2, { bboxName: null, west: 7.5, south: 47, east: 7.5, north: 47 }),
  ],
  identifiers: [{ ob_id: 1, url: 'https://doi.org/10.5072/abc', identifierType: 'doi' }],
  rpis: [
    { ob_id: 1, role: 'author', priority: 1, party: link('parties/1') },
    { ob_id: 2, role: 'publisher', priority: 1, party: link('parties/2') },
  ],
  parties: [
    { ob_id: 1, firstName: 'Ada', lastName: 'Frost', partyType: 'person' },
    { ob_id: 2, firstName: '', lastName: 'Polar Centre', partyType: 'organisation' },
  ],
};
const browse = browseRecords(RECORDS, undefined, { siteLicence: 'https://licences.example.org/metadata' });

interface Edges {
  readonly bboxName: string | null;
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

function box(ob_id: number, { bboxName, west, south, east, north }: Edges): object {
  const [westBoundLongitude, southBoundLatitude] = [west, south];
  return {
    ob_id,
    bboxName,
    westBoundLongitude,
    southBoundLatitude,
    eastBoundLongitude: east,
    northBoundLatitude: north,
  };
}

const CACHE = 'node_modules/.cache';

const scriptIn = (page: Page): string | undefined =>
  page.querySelector('script[type="application/ld+json"]')?.textContent;

async function dataAt(id: number): Promise<unknown> {
  return JSON.parse(scriptIn((await browse(`/browse/observations/${id}/`)).page) ?? 'null');
}

describe('the structured data of an observation', () => {
  test('has its citation, coverage, licences and keywords', async () => {
    expect(await dataAt(1)).toMatchObject({
      '@context': 'https://schema.org',
      '@type': 'Dataset',
      name: 'Sea ice </script><script>alert(1)</script> ø',
      description: 'Ice & snow.',
      url: `${BASE_URL}/browse/observations/1/`,
      identifier: 'https://doi.org/10.5072/abc',
      creator: [{ '@type': 'Person', name: 'Ada Frost', givenName: 'Ada', familyName: 'Frost' }],
      publisher: { '@type': 'Organization', name: 'Polar Centre' },
      datePublished: '2020-01-02T03:04:05.000Z',
      license: ['https://licences.example.org/open'],
      keywords: ['ice', 'snow'],
      temporalCoverage: '2003-01-01T00:00:00.000Z/2004-01-01T00:00:00.000Z',
      spatialCoverage: { name: 'Iceland', geo: { '@type': 'GeoShape', box: '63.2 -24.6 66.6 -13.4' } },
      sdLicense: 'https://licences.example.org/metadata',
    });
  });

  test('has defaults, an open period and a point', async () => {
    const data = await dataAt(2);
    expect(data).toMatchObject({
      identifier: `${BASE_URL}/browse/observations/2/`,
      creator: [{ '@type': 'Organization', name: 'Catalogue' }],
      publisher: { name: 'Catalogue' },
      temporalCoverage: '2003-01-01T00:00:00.000Z/..',
      spatialCoverage: { geo: { '@type': 'GeoCoordinates', latitude: 47, longitude: 7.5 } },
    });
    for (const name of ['description', 'license', 'keywords', 'distribution']) expect(data).not.toHaveProperty(name);
  });

  test('is on pages of published and citable observations only', async () => {
    expect(await dataAt(3)).toBeNull();
    expect(scriptIn((await browse('/browse/times/1/')).page)).toBeUndefined();
    expect(scriptIn((await browse('/browse/observations/')).page)).toBeUndefined();
  });

  test('cannot end its script', async () => {
    const { reply } = await browse('/browse/observations/1/');
    expect(reply.text).not.toContain('alert(1)</script>');
    expect([...reply.text.matchAll(/<script/g)]).toHaveLength(2);
  });

  test('is a Dataset by the types of schema-dts', { timeout: 120_000 }, async () => {
    // Below the modules, because they are resolved from the file.
    mkdirSync(CACHE, { recursive: true });
    const folder = mkdtempSync(`${CACHE}/types-`);
    try {
      const samples = await Promise.all([dataAt(1), dataAt(2)]);
      const [first, second] = samples.map((data) => JSON.stringify(data)) as [string, string];
      const wrong = first.replace('"GeoShape"', '"GeoShapes"');
      const lines = [first, second, wrong].map((data, i) => `export const d${i}: WithContext<Dataset> = ${data};`);
      const head = `import type { Dataset, WithContext } from 'schema-dts';`;
      writeFileSync(`${folder}/sample.ts`, [head, ...lines].join('\n'));
      const flags = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--types', '', '--module', 'nodenext'];
      const { stdout } = spawnSync('node_modules/.bin/tsc', [...flags, `${folder}/sample.ts`], { encoding: 'utf8' });
      // Only the wrong one, on line 4, has an error. One run of the compiler for all takes half the time of two.
      expect([...stdout.matchAll(/sample\.ts\((\d+),\d+\): (.*)/g)].map(([, line]) => line)).toEqual(['4']);
      expect(stdout).toContain('is not assignable');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
