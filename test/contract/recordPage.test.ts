// The page of an observation, from a server with a few records: its facts by names, where its data are, its citation,
// and lists of related data.
import { parseHTML } from 'linkedom';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runServer } from '../support/commandProcess.ts';
import { dataSetOf, ndjsonOf, temporaryDirectory } from '../support/dataSets.ts';
import { BROWSER, hrefsOf, type Page, textsOf } from '../support/htmlPages.ts';

const link = (to: string, id: number): string => `{base_url}/api/v3/${to}/${id}/?format=api`;
const links = (to: string, ...ids: readonly number[]): readonly string[] => ids.map((id) => link(to, id));
const HOSTILE = '<script>alert(1)</script>"\'&';

describe('the page of an observation', () => {
  const pair = { ob_id: 1, instrument: link('instruments', 1), platform: link('platforms', 1) };
  const related = (ob_id: number, url: string, name: string, fn = 'download', of = 1): object => {
    return { ob_id, url, name, function: fn, relatedTo: { ob_id: of, uuid: '', short_code: 'ob' } };
  };
  const records = {
    observations: [
      {
        ob_id: 1,
        title: 'Soil moisture',
        abstract: `One.\nTwo ${HOSTILE}.`,
        publicationState: 'citable',
        dataPublishedTime: '2022-05-12T10:00:00',
        status: 'completed',
        result_field: {
          dataPath: '/a/b',
          fileFormat: 'NetCDF',
          numberOfFiles: 1200,
          volume: 357_000_000,
          storageStatus: 'online',
        },
        timePeriod: link('times', 1),
        geographicExtent: link('bboxes', 1),
        phenomena: links('phenomona', 1, 2),
        projects: links('projects', 1),
        responsiblepartyinfo_set: links('rpis', 1),
        procedureAcquisition: link('acquisitions', 1),
        permissions: [{ accessCategory: 'registered', licenceURL: 'https://l.example.org/1', useLimitation: HOSTILE }],
      },
      {
        ob_id: 2,
        title: 'Other',
        timePeriod: link('times', 1),
        geographicExtent: link('bboxes', 1),
        projects: links('projects', 1),
      },
      {
        ob_id: 3,
        title: HOSTILE,
        result_field: { dataPath: HOSTILE },
        removedDataReason: HOSTILE,
        responsiblepartyinfo_set: links('rpis', 2),
        phenomena: links('phenomona', 3),
      },
    ],
    times: [{ ob_id: 1, startTime: '2003-04-22T00:00:00', endTime: '2004-03-01T00:00:00' }],
    bboxes: [
      {
        ob_id: 1,
        bboxName: 'Iceland',
        westBoundLongitude: -27.7,
        eastBoundLongitude: -6.2,
        southBoundLatitude: 61.1,
        northBoundLatitude: 68.2,
      },
    ],
    phenomona: [
      {
        ob_id: 1,
        names: [],
        terms: [
          { ob_id: 1, label: 'long_name', value: 'Ozone' },
          { ob_id: 2, label: 'units', value: '1e-9' },
        ],
      },
      { ob_id: 2, names: [{ ob_id: 1, name: 'Rain' }], terms: [] },
      { ob_id: 3, names: [], terms: [{ ob_id: 1, label: 'long_name', value: HOSTILE }] },
    ],
    projects: [{ ob_id: 1, title: 'Langwick' }],
    rpis: [
      { ob_id: 1, role: 'principal_investigator', party: link('parties', 1) },
      { ob_id: 2, role: HOSTILE, party: link('parties', 2) },
    ],
    parties: [
      { ob_id: 1, firstName: 'Nadia', lastName: 'Nakamura' },
      { ob_id: 2, firstName: '', lastName: HOSTILE },
    ],
    acquisitions: [{ ob_id: 1, instrumentplatformpair_set: [pair] }],
    instruments: [{ ob_id: 1, title: 'Ceilometer' }],
    platforms: [{ ob_id: 1, title: 'Glenfirth Mast' }],
    onlineresources: [
      related(1, 'https://d.example.org/about', 'About', 'information'),
      related(2, 'https://d.example.org/1', 'Files'),
      related(3, 'javascript:alert(1)', 'Harm'),
      related(4, 'https://d.example.org/2', 'Other files', 'download', 2),
    ],
  };
  let server: Awaited<ReturnType<typeof runServer>>;
  beforeAll(async () => {
    const files = Object.entries(records).map(([name, lines]) => [`${name}.ndjson`, ndjsonOf(...lines)] as const);
    server = await runServer(['--data', dataSetOf(temporaryDirectory(), Object.fromEntries(files)), '--threads', '1']);
  }, 60_000);
  afterAll(() => server.stop());

  const visit = async (path: string): Promise<{ readonly page: Page; readonly text: string }> => {
    const text = await (await fetch(server.url + path, { headers: BROWSER })).text();
    return { page: parseHTML(text).document, text };
  };

  test('answers when, what, how, who and where by names', async () => {
    const { page } = await visit('/browse/observations/1/');
    expect(textsOf(page, '.facts > div')).toEqual([
      'When 2003-04-22 to 2004-03-01 10 months',
      'What Ozone (1e-9) Rain',
      'How Ceilometer on Glenfirth Mast',
      'Who Nadia Nakamura principal investigator',
    ]);
    const places = ['phenomona/1/', 'phenomona/2/', 'instruments/1/', 'platforms/1/', 'parties/1/'];
    expect(hrefsOf(page, '.facts a')).toEqual(places.map((place) => `../../../browse/${place}`));
    expect(textsOf(page, 'figcaption')).toEqual(['Iceland 61.1° N to 68.2° N, 27.7° W to 6.2° W · data from here']);
    expect(textsOf(page, '.lead')).toEqual(['Published 2022-05-12 · citable · completed · Langwick']);
    expect(textsOf(page, '.abstract')).toEqual([`One. Two ${HOSTILE}.`]);
  });

  test('leads to the data, downloads first, with path, format, size and access', async () => {
    const { page } = await visit('/browse/observations/1/');
    expect(hrefsOf(page, '.gets a')).toEqual(['https://d.example.org/1', 'https://d.example.org/about']);
    expect(textsOf(page, '.gets .get')).toEqual(['Files']);
    expect(textsOf(page, '.panel')[0]).toBe(
      `Get the data Files About /a/b NetCDF · 1,200 files · 357.0 MB · online Access: registered · licence ${HOSTILE}`,
    );
    expect(hrefsOf(page, '.panel a[rel~=license]')).toEqual(['https://l.example.org/1']);
  });

  test('has its citation as text and links to the other forms', async () => {
    const { page } = await visit('/browse/observations/1/');
    const { text } = await visit('/cite/observations/1.txt');
    expect(textsOf(page, '.citation')).toEqual([text.trim()]);
    const forms = ['txt', 'bib', 'ris', 'json'].map((form) => `../../../cite/observations/1.${form}`);
    expect(hrefsOf(page, '[aria-label="Other forms of this citation"] a')).toEqual(forms);
  });

  test('leads to lists of related data that have other records', async () => {
    const { page } = await visit('/browse/observations/1/');
    const [first] = page.querySelectorAll('.references');
    expect(textsOf(page, '.references h2')[0]).toBe('Related data');
    expect([...first!.querySelectorAll('li')].map((item) => item.textContent.trim().replace(/\s+/g, ' '))).toEqual([
      'Langwick 2 Same project',
      'Same place and time 2',
    ]);
    const [, list = ''] = hrefsOf(page, '.references a');
    expect(list).toBe('../../../browse/observations/?bbox=-27.7%2C61.1%2C-6.2%2C68.2&datetime=2003-04-22%2F2004-03-01');
    expect(textsOf((await visit(list.slice('../../..'.length))).page, 'tbody th')).toHaveLength(2);
  });

  test('folds its fields; other records show theirs', async () => {
    const opened = ['observations/1', 'projects/1'].map(async (path) =>
      (await visit(`/browse/${path}/`)).page.querySelector('.fields')!.hasAttribute('open'),
    );
    expect(await Promise.all(opened)).toEqual([false, true]);
  });

  test('shows hostile texts as texts, and no address that is not of the web', async () => {
    const { page } = await visit('/browse/observations/3/');
    expect(textsOf(page, '.facts > div')).toEqual([`What ${HOSTILE}`, `Who ${HOSTILE} ${HOSTILE}`]);
    expect(textsOf(page, '.panel .note')).toEqual([`The data were removed. ${HOSTILE}`]);
    expect(page.querySelectorAll('script:not([src])').length).toBe(0);
    expect(page.querySelectorAll('[href^=javascript]').length).toBe(0);
  });
});
