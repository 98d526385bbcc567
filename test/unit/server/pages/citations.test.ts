// The citation of an observation, through the handler: its authors, publisher, year and identifier, its forms, and
// texts that would break them. The BibTeX is read by bibtexparser.
import { describe, expect, test } from 'vitest';
import type { CatalogueSettings } from '../../../../server/catalogue/catalogue.ts';
import { python } from '../../../clients/python.ts';
import { hasLibrary } from '../../../support/debian.ts';
import { collectionOf } from '../../../support/records.ts';
import { type RequestParts, requestOf, STAYING } from '../../../support/requests.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY, type Reply, replyOf } from '../../../support/smallCatalogue.ts';

const link = (to: string, id: number): string => `{base_url}/api/v3/${to}/${id}/?format=api`;
const rpi = (ob_id: number, role: string, party: number, priority: number): object => {
  return { ob_id, role, party: link('parties', party), priority };
};
const HOSTILE = 'Line\r\nER  - \nT1 \\ {a}} ~^#$%&_ "<script>" \u2028 ü';

const RECORDS: Readonly<Record<string, readonly object[]>> = {
  observations: [
    {
      ob_id: 1,
      uuid: 'u1',
      title: 'Soil moisture.',
      abstract: 'Of soil.',
      keywords: 'soil, water, soil',
      doiPublishedTime: '2023-01-02T00:00:00',
      dataPublishedTime: '2022-05-12T00:00:00',
      responsiblepartyinfo_set: [1, 2, 3, 4, 9].map((id) => link('rpis', id)),
      identifier_set: [link('identifiers', 1), link('identifiers', 2)],
    },
    {
      ob_id: 2,
      title: 'Investigated',
      dataPublishedTime: '2022-05-12T00:00:00',
      responsiblepartyinfo_set: [link('rpis', 5), link('rpis', 4)],
    },
    { ob_id: 3, title: 'Published', dataPublishedTime: 'soon', responsiblepartyinfo_set: [link('rpis', 4)] },
    {
      ob_id: 4,
      responsiblepartyinfo_set: [link('rpis', 99), link('rpis', 8)],
      identifier_set: [link('identifiers', 3)],
    },
    {
      ob_id: 5,
      title: HOSTILE,
      keywords: HOSTILE,
      abstract: HOSTILE,
      responsiblepartyinfo_set: [link('rpis', 6), link('rpis', 7)],
    },
  ],
  rpis: [
    rpi(1, 'author', 1, 2),
    rpi(2, 'author', 2, 1),
    rpi(3, 'principal_investigator', 3, 1),
    rpi(4, 'publisher', 4, 1),
    rpi(5, 'principal_investigator', 3, 1),
    rpi(6, 'author', 5, 1),
    rpi(7, 'author', 6, 2),
    { ob_id: 8, role: 'author', party: link('parties', 99), priority: 'first' },
    rpi(9, 'author', 1, 3),
  ],
  parties: [
    { ob_id: 1, firstName: 'Chidi', lastName: 'Jørgensen', partyType: 'individual' },
    { ob_id: 2, firstName: '', lastName: 'Survey of Lands and Seas', partyType: 'organisation' },
    { ob_id: 3, firstName: 'Ada', lastName: 'van der Berg', partyType: 'individual' },
    { ob_id: 4, firstName: '', lastName: 'Data Archive', partyType: 'organisation' },
    { ob_id: 5, firstName: HOSTILE, lastName: 'A, B and C', partyType: 'individual' },
    { ob_id: 6, firstName: '', lastName: HOSTILE, partyType: 'organisation' },
  ],
  identifiers: [
    { ob_id: 1, url: 'https://old.example.org/1', identifierType: 'legacy2_url' },
    { ob_id: 2, url: 'https://doi.org/10.5072/ab_c', identifierType: 'doi' },
    { ob_id: 3, url: 'javascript:alert(1)', identifierType: 'doi' },
  ],
};

async function cited(parts: RequestParts | string, settings: Partial<CatalogueSettings> = {}): Promise<Reply> {
  const handler = handlerWith(NEVER_HEAVY, settings, (name) => {
    const texts = (RECORDS[name] ?? []).map((record) => JSON.stringify(record).replaceAll('\u2028', '\\u2028'));
    return collectionOf(name, texts, BASE_URL);
  });
  return replyOf(await handler(requestOf(typeof parts === 'string' ? { url: parts } : parts), STAYING));
}

const textOf = async (id: number, form = 'txt'): Promise<string> =>
  (await cited(`/cite/observations/${id}.${form}`)).text;

describe('the text of a citation', () => {
  test.each([
    [
      1,
      'Survey of Lands and Seas; Jørgensen, Chidi (2023): Soil moisture. Data Archive. https://doi.org/10.5072/ab_c\n',
    ],
    [2, `van der Berg, Ada (2022): Investigated. Data Archive. ${BASE_URL}/browse/observations/2/\n`],
    [3, `Data Archive (n.d.): Published. ${BASE_URL}/browse/observations/3/\n`],
    [4, `Catalogue (n.d.): Observation 4. ${BASE_URL}/browse/observations/4/\n`],
  ])('of observation %d names authors by priority, year, title, publisher and identifier', async (id, text) => {
    expect(await textOf(id)).toBe(text);
  });

  test('has the page of --record-url, unless the record has no uuid for it', async () => {
    const settings = { recordUrl: 'https://c.example.org/uuid/{uuid}' };
    const pages = [1, 2].map(async (id) => (await cited(`/cite/observations/${id}.json`, settings)).text);
    expect(await pages[0]).toContain('"doi": "10.5072/ab_c"');
    expect(await pages[1]).toContain(`"${BASE_URL}/browse/observations/2/"`);
  });
});

test('writes a DataCite record', async () => {
  expect(JSON.parse(await textOf(1, 'json'))).toEqual({
    doi: '10.5072/ab_c',
    types: { resourceType: 'Dataset', resourceTypeGeneral: 'Dataset' },
    creators: [
      { name: 'Survey of Lands and Seas', nameType: 'Organizational' },
      { name: 'Jørgensen, Chidi', nameType: 'Personal', givenName: 'Chidi', familyName: 'Jørgensen' },
    ],
    titles: [{ title: 'Soil moisture.' }],
    publisher: { name: 'Data Archive' },
    publicationYear: '2023',
    subjects: [{ subject: 'soil' }, { subject: 'water' }],
    dates: [{ date: '2023-01-02', dateType: 'Issued' }],
    alternateIdentifiers: [{ alternateIdentifier: 'u1', alternateIdentifierType: 'UUID' }],
    descriptions: [{ description: 'Of soil.', descriptionType: 'Abstract' }],
    schemaVersion: 'http://datacite.org/schema/kernel-4',
  });
});

test('writes a field of RIS in one line, whatever its text', async () => {
  const lines = (await textOf(5, 'ris')).split('\r\n');
  const tags = ['TY', 'AU', 'AU', 'TI', 'PB', 'UR', 'KW', 'AB', 'ER', ''];
  expect(lines.map((line) => line.slice(0, 2))).toEqual(tags);
  for (const line of lines.slice(0, -1)) expect(line).toMatch(/^[A-Z]{2} {2}- [^\r\n\u2028]*$/);
  expect(lines[3]).toBe('TI  - Line ER - T1 \\ {a}} ~^#$%&_ "<script>" ü');
  expect(await textOf(1, 'ris')).toContain('AU  - Survey of Lands and Seas\r\nAU  - Jørgensen, Chidi\r\nTI  - Soil');
});

const PARSE = `
import bibtexparser, json, sys
from bibtexparser.customization import splitname
entries = bibtexparser.loads(sys.argv[1]).entries
for entry in entries: entry['author'] = [splitname(name) for name in entry['author'].split(' and ')]
print(json.dumps(entries))`;
const named = (last: string, first?: string): object => {
  return { first: first === undefined ? [] : [first], von: [], last: [last], jr: [] };
};

describe.skipIf(!hasLibrary('python3-bibtexparser'))('BibTeX', () => {
  const parsed = async (id: number): Promise<unknown> => python(PARSE, await textOf(id, 'bib'));

  test('is read by bibtexparser, with its authors apart', async () => {
    expect(await parsed(1)).toEqual([
      {
        ENTRYTYPE: 'misc',
        ID: 'observation_1',
        author: [named('{Survey of Lands {and} Seas}'), named('Jørgensen', 'Chidi')],
        title: '{Soil moisture.}',
        publisher: 'Data Archive',
        year: '2023',
        doi: '10.5072/ab_c',
        url: 'https://doi.org/10.5072/ab_c',
        keywords: 'soil, water',
        note: 'Dataset',
      },
    ]);
  });

  test('is read by bibtexparser whatever its texts are, and has only balanced braces', async () => {
    const [entry] = (await parsed(5)) as readonly [Record<string, unknown>];
    const special =
      'Line ER - T1 {\\textbackslash} {\\textbraceleft}a{\\textbraceright}{\\textbraceright} ' +
      '{\\textasciitilde}{\\textasciicircum}\\#\\$\\%\\&\\_ "<script>" ü';
    expect(entry).toMatchObject({ title: `{${special}}`, keywords: special });
    expect(entry['author']).toEqual([{ ...named('{A, B {and} C}'), first: special.split(' ') }, named(`{${special}}`)]);
  });
});

describe('a request for a citation', () => {
  const url = '/cite/observations/1.bib';

  test('has the type of its form, a tag and a 304', async () => {
    const types = ['txt', 'bib', 'ris', 'json'].map(async (form) => {
      const { status, headers } = await cited(`/cite/observations/1.${form}`);
      expect([status, headers['X-Content-Type-Options']]).toEqual([200, 'nosniff']);
      return headers['Content-Type'];
    });
    expect(await Promise.all(types)).toEqual([
      'text/plain; charset=utf-8',
      'application/x-bibtex; charset=utf-8',
      'application/x-research-info-systems; charset=utf-8',
      'application/vnd.datacite.datacite+json',
    ]);
    const { etag } = await cited(url);
    expect((await cited({ url, headers: { 'if-none-match': etag! } })).status).toBe(304);
    expect((await cited({ url: '/cite/observations/1.ris', headers: { 'if-none-match': etag! } })).status).toBe(200);
  });

  test('is a 404 without such a record or form, a 405 for writes, and a 400 for unknown parameters if strict', async () => {
    for (const path of ['7.txt', '1', '1.txt/', '01x.txt', `${'9'.repeat(16)}.txt`, '1.TXT']) {
      expect([path, (await cited(`/cite/observations/${path}`)).status]).toEqual([path, 404]);
    }
    expect((await cited('/cite/projects/1.txt')).status).toBe(404);
    expect((await cited('/cite/observations/1.xml')).text).toContain('Formats are txt, bib, ris and json.');
    expect((await cited('/cite/observations/1.constructor')).status).toBe(404);
    expect((await cited({ url, method: 'POST' })).status).toBe(405);
    expect((await cited({ url, method: 'OPTIONS' })).text).toContain('"Citation"');
    expect((await cited(`${url}?x=1`)).headers['X-Ignored-Params']).toBe('x');
    expect((await cited(`${url}?x=1&strict=1`)).status).toBe(400);
  });

  test('also works below the path of a base URL, whether or not a proxy removes it', async () => {
    for (const path of ['', '/some/catalogue', '/cite', '/docs']) {
      const settings = { baseUrl: `http://localhost:8080${path}` };
      expect([path, (await cited(`${path}/cite/observations/1.txt`, settings)).status]).toEqual([path, 200]);
      expect([path, (await cited('/cite/observations/1.txt', settings)).status]).toEqual([path, 200]);
    }
  });
});
