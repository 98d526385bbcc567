// Search, place and period, as far as the specification does not cover them. Over a real socket, on the sample.
import { describe, expect } from 'vitest';
import { assumption } from './quotes.ts';
import { servedSample, type JsonObject } from './sample.ts';

const sample = servedSample();
const LIST = '/api/v3/observations/';

async function idsOf(query: string, collection = 'observations'): Promise<readonly unknown[]> {
  const { count, results } = await sample.page(`/api/v3/${collection}/?limit=10000&fields=ob_id,title&${query}`);
  expect(results).toHaveLength(count);
  return results.map(({ ob_id: id }) => id);
}

async function refusal(query: string): Promise<unknown> {
  const { status, body } = await sample.get(`${LIST}?${query}`);
  expect(status, query).toBe(400);
  return JSON.parse(body);
}

/** The records of a collection by their URL without the base URL. */
async function byUrl(collection: string): Promise<ReadonlyMap<string, JsonObject>> {
  const records = await sample.all(collection);
  return new Map(records.map((record) => [`/${collection}/${String(record['ob_id'])}/`, record]));
}

function linked(record: JsonObject, key: string, records: ReadonlyMap<string, JsonObject>): JsonObject | undefined {
  const link = record[key];
  return typeof link === 'string' ? records.get(link.replace(/^.*\/api\/v3/, '').replace(/\?.*$/, '')) : undefined;
}

describe('bbox', () => {
  assumption('A166', 'finds the records whose box overlaps, borders included', async () => {
    const boxes = await byUrl('bboxes');
    const overlaps = (box: JsonObject | undefined): boolean =>
      box !== undefined &&
      Number(box['southBoundLatitude']) <= 68 &&
      Number(box['northBoundLatitude']) >= 60 &&
      Number(box['westBoundLongitude']) <= Number(box['eastBoundLongitude']) &&
      Number(box['westBoundLongitude']) <= -10 &&
      Number(box['eastBoundLongitude']) >= -25;
    const expected = (await sample.all('observations')).filter((one) =>
      overlaps(linked(one, 'geographicExtent', boxes)),
    );
    expect(expected.length).toBeGreaterThan(5);
    const found = await idsOf('bbox=-25,60,-10,68&geographicExtent__eastBoundLongitude__gte=-90');
    expect(found).toEqual(expect.arrayContaining(expected.map(({ ob_id: id }) => id)));
    expect(await idsOf('bbox=-24.6,63.2,-24.6,63.2')).toContain(157);
  });

  assumption(
    'A166',
    'crosses the date line if west is greater than east, in the parameter and in records',
    async () => {
      const fiji = 'geographicExtent__westBoundLongitude__gt=176&geographicExtent__eastBoundLongitude__lt=-178';
      const crossing = await idsOf(fiji);
      expect(crossing.length).toBeGreaterThan(1);
      for (const box of ['177,-17,178,-16', '-179.5,-17,-179,-16', '179,-17,-179,-16']) {
        expect(await idsOf(`bbox=${box}&${fiji}`), box).toEqual(crossing);
      }
      expect(await idsOf(`bbox=0,-17,1,-16&${fiji}`)).toEqual([]);
    },
  );

  assumption('A166', 'compares bboxes themselves, and links to them elsewhere', async () => {
    expect(await idsOf('bbox=-25,60,-10,68', 'bboxes')).toContain(8);
    const platforms = await idsOf('bbox=-180,-90,180,90', 'platforms');
    expect(platforms).toEqual(
      await idsOf('location__isnull=false&location__westBoundLongitude__isnull=false', 'platforms'),
    );
  });

  assumption('A166', 'refuses what is no box', async () => {
    const box = ['Enter west, south, east and north in degrees, with commas between them.'];
    for (const value of ['', '1,2,3', '1,2,3,4,5', '1,2,3,4,5,6', 'a,b,c,d']) {
      expect(await refusal(`bbox=${value}`)).toEqual({ bbox: box });
    }
    expect(await refusal('bbox=0,5,1,4')).toEqual({ bbox: ['South must not be greater than north.'] });
    const degrees = ['Longitudes are from -180 to 180, latitudes from -90 to 90.'];
    for (const value of ['-181,0,1,1', '0,0,1,91']) expect(await refusal(`bbox=${value}`)).toEqual({ bbox: degrees });
  });

  assumption('A166', 'has no effect on records without a place', async () => {
    const { headers } = await sample.get('/api/v3/projects/?bbox=-25,60,-10,68&limit=1');
    expect(headers['x-ignored-params']).toBe('bbox');
    expect((await sample.get('/api/v3/projects/?bbox=-25,60,-10,68&strict=1')).status).toBe(400);
  });
});

describe('datetime', () => {
  assumption('A167', 'finds the records whose period overlaps, with open ends of both', async () => {
    const times = await byUrl('times');
    const periods = (await sample.all('observations')).map((one) => ({
      id: one['ob_id'],
      period: linked(one, 'timePeriod', times),
    }));
    const within = (from: string, to: string): readonly unknown[] =>
      periods
        .filter(({ period }) => {
          const [start, end] = [period?.['startTime'], period?.['endTime']];
          return typeof start === 'string' && start <= to && (typeof end !== 'string' || end >= from);
        })
        .map(({ id }) => id);
    expect(await idsOf('datetime=2003-01-01/2003-12-31')).toEqual(within('2003-01-01', '2003-12-31T24'));
    expect(await idsOf('datetime=../1987-06-01T12:00:00Z')).toEqual(within('', '1987-06-01T12:00:00'));
    const running = await idsOf('datetime=2024-01-01/..');
    expect(running).toEqual(within('2024-01-01', '9'));
    expect(running).toEqual(expect.arrayContaining([145, 149]));
  });

  assumption('A167', 'includes the whole day of a date without a time', async () => {
    expect(await idsOf('datetime=2003-05-01')).toContain(157);
    expect(await idsOf('datetime=2003-09-28')).toContain(157);
    expect(await idsOf('datetime=2003-09-28T12:00:00Z')).toContain(157);
    expect(await idsOf('datetime=2003-09-28T12:00:01Z')).not.toContain(157);
    expect(await idsOf('datetime=../2003-05-01')).toContain(157);
    expect(await idsOf('datetime=../2003-04-30')).not.toContain(157);
  });

  assumption('A167', 'refuses what is no interval', async () => {
    for (const value of ['', '..', '../..', '/2003-01-01', '2003', 'x/y', '2003-01-01/2004-01-01/..']) {
      expect((await refusal(`datetime=${value}`)) as object, value).toHaveProperty('datetime', [
        'Enter a date or time, or an interval such as 2003-01-01/2003-12-31, ../2003-12-31 or 2003-01-01/..',
      ]);
    }
    expect(await refusal('datetime=2004-01-01/2003-01-01')).toEqual({
      datetime: ['The start must not be after the end.'],
    });
  });
});

describe('search', () => {
  assumption('A168', 'finds the data sets of a question in words, with their place and period', async () => {
    const found = await idsOf('search=soil+moisture+iceland&bbox=-25,60,-10,68&datetime=2003-01-01/2003-12-31');
    expect(found.length).toBeGreaterThan(2);
    expect(found.slice(0, 3)).toEqual([157, 165, 182]);
  });

  assumption('A168', 'folds case, accents and plurals, and takes parts of words and phrases', async () => {
    const words = await idsOf('search=angstrom+cafe');
    expect(words).toContain(146);
    expect(await idsOf('search=%C3%85NGSTR%C3%96M+caf%C3%A9s')).toEqual(words);
    expect(await idsOf('search=moist')).toEqual(expect.arrayContaining([...(await idsOf('search=moistures'))]));
    const phrase = await idsOf('search=%22moisture+probe%22');
    expect(phrase).toContain(145);
    expect(await idsOf('search=%22probe+moisture%22')).toEqual([]);
  });

  assumption('A168', 'reads the names of phenomena and the titles of projects', async () => {
    const { results } = await sample.page('/api/v3/projects/?limit=1&fields=title');
    const title = String(results[0]!['title']);
    const found = await idsOf(`search=%22${encodeURIComponent(title)}%22`);
    expect(found).toEqual(expect.arrayContaining([...(await idsOf(`projects__title=${encodeURIComponent(title)}`))]));
    expect(found.length).toBeGreaterThan(0);
  });

  assumption(
    'A168',
    'shows records with all words in the title first, then with some, and obeys an order',
    async () => {
      const { results } = await sample.page(`${LIST}?limit=10000&fields=ob_id,title&search=soil+moisture`);
      const counts = results.map(
        ({ title }) => ['soil', 'moisture'].filter((word) => String(title).includes(word)).length,
      );
      const tiers = counts.map((count) => (count === 2 ? 0 : count === 1 ? 1 : 2));
      expect(tiers).toEqual(tiers.toSorted((a, b) => a - b));
      expect(new Set(tiers).size).toBeGreaterThan(1);
      const byId = results.map(({ ob_id: id }) => Number(id)).toSorted((a, b) => a - b);
      expect(await idsOf('search=soil+moisture&ordering=ob_id')).toEqual(byId);
    },
  );

  assumption('A168', 'keeps its order over pages', async () => {
    const all = await idsOf('search=ice');
    const pages: unknown[] = [];
    for (let offset = 0; offset < all.length; offset += 7) {
      const page = await sample.page(`${LIST}?limit=7&offset=${offset}&search=ice&fields=ob_id`);
      expect(page.count).toBe(all.length);
      pages.push(...page.results.map(({ ob_id: id }) => id));
    }
    expect(pages).toEqual(all);
  });

  assumption('A168', 'is no condition without words, and refuses more than 16', async () => {
    const { count } = await sample.page(`${LIST}?limit=1`);
    for (const value of ['', '+', '%22%22']) {
      expect((await sample.page(`${LIST}?limit=1&search=${value}`)).count).toBe(count);
    }
    expect(await refusal(`search=${Array.from({ length: 17 }, (_, i) => `w${i}`).join('+')}`)).toEqual({
      search: ['At most 16 words can be searched for at once.'],
    });
  });
});

describe('order and facets over links', () => {
  assumption('A64', 'orders by fields of the record that a link leads to, null last', async () => {
    const times = await byUrl('times');
    const list = await sample.page(`${LIST}?limit=10000&ordering=-timePeriod__endTime,timePeriod__startTime`);
    const ends = list.results.map((one) => linked(one, 'timePeriod', times)?.['endTime'] ?? null);
    const known = ends.filter((end) => end !== null).map(String);
    expect(ends.slice(0, ends.length - known.length).every((end) => end === null)).toBe(true);
    expect(known.map((end) => Date.parse(`${end}Z`))).toEqual(
      known.map((end) => Date.parse(`${end}Z`)).toSorted((a, b) => b - a),
    );
    expect(list.count).toBe(500);
    const { headers } = await sample.get(`${LIST}?limit=1&ordering=projects__title`);
    expect(headers['x-ignored-params']).toBe('ordering=projects__title');
  });

  assumption('A67', 'counts each value over links as a filter on it does, and years', async () => {
    const names = ['projects__title', 'phenomena__names__name', 'timePeriod__startTime__year'];
    const { body } = await sample.get(`${LIST}?limit=1&facets=${names.join(',')}`);
    const { facets } = JSON.parse(body) as { facets: Record<string, Record<string, number>> };
    for (const name of names) {
      const values = Object.entries(facets[name]!).filter(([value]) => value !== 'null');
      expect(values.length, name).toBeGreaterThan(3);
      for (const [value, count] of values.slice(0, 5)) {
        const { count: found } = await sample.page(`${LIST}?limit=1&${name}=${encodeURIComponent(value)}`);
        expect(found, `${name}=${value}`).toBe(count);
      }
    }
  });
});
