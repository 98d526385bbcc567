// Joined fields and expanded links, compared with the linked records as they are served alone. Over a real socket, on
// the sample and on edge records.
import { describe, expect } from 'vitest';
import { gunzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { askedOf } from './asked.ts';
import { edgeRecords } from './edgeRecords.ts';
import { assumption } from './quotes.ts';
import { type JsonObject, servedSample } from './sample.ts';

const sample = servedSample();
const LIST = '/api/v3/observations/';

/** The record that a link leads to, read alone. */
async function linked(link: unknown): Promise<JsonObject> {
  return sample.record(String(link).replace('http://catalogue.test', ''));
}

async function results(target: string): Promise<readonly JsonObject[]> {
  return (await sample.page(target)).results;
}

async function text(target: string): Promise<string> {
  const { status, body } = await sample.get(target);
  expect(status, target).toBe(200);
  return body;
}

async function refusal(target: string): Promise<unknown> {
  const { status, body } = await sample.get(target);
  expect(status, target).toBe(400);
  return JSON.parse(body);
}

describe('joined fields', () => {
  const QUERY = 'limit=5&offset=40&fields=ob_id,timePeriod,projects,timePeriod__startTime,projects__title';

  assumption('A169', 'have the values of embedded and linked records, arrays for several', async () => {
    for (const record of await results(`${LIST}?${QUERY},result_field__volume,permissions__label`)) {
      const whole = await sample.record(`${LIST}${Number(record['ob_id'])}/`);
      const { startTime } = await linked(whole['timePeriod']);
      const projects = await Promise.all((whole['projects'] as readonly string[]).map(linked));
      const permissions = whole['permissions'] as readonly JsonObject[];
      expect(Object.entries(record)).toEqual([
        ['ob_id', whole['ob_id']],
        ['timePeriod', whole['timePeriod']],
        ['projects', whole['projects']],
        ['timePeriod__startTime', startTime],
        ['projects__title', projects.map(({ title }) => title)],
        ['result_field__volume', (whole['result_field'] as JsonObject)['volume']],
        ['permissions__label', permissions.map(({ label }) => label)],
      ]);
    }
  });

  assumption('A169', 'are columns of CSV and typed columns of Parquet', async () => {
    const query = 'limit=3&fields=ob_id,timePeriod__startTime,projects__title,timePeriod__ob_id,result_field__volume';
    const json = await results(`${LIST}?${query}`);
    const lines = (await text(`${LIST}?${query}&format=csv`)).trimEnd().split('\r\n');
    expect(lines[0]).toBe('ob_id,timePeriod__startTime,projects__title,timePeriod__ob_id,result_field__volume');
    const quoted = (value: unknown): string => `"${JSON.stringify(value).replaceAll('"', '""')}"`;
    expect(lines.slice(1)).toEqual(
      json.map((one) =>
        Object.entries(one)
          .map(([name, value]) => (name === 'projects__title' ? quoted(value) : String(value)))
          .join(','),
      ),
    );
    const { bytes } = await sample.get(`${LIST}?${query}&format=parquet`);
    const rows = await parquetReadObjects({ file: Uint8Array.from(bytes).buffer });
    const typed = json.map((one) => ({
      ...one,
      ob_id: BigInt(Number(one['ob_id'])),
      projects__title: JSON.stringify(one['projects__title']),
      timePeriod__ob_id: BigInt(Number(one['timePeriod__ob_id'])),
      result_field__volume: BigInt(Number(one['result_field__volume'])),
    }));
    expect(rows).toEqual(typed);
  });

  assumption('A169', 'need no other field, in records, tables and lines', async () => {
    const [{ timePeriod__startTime: time } = {}] = await results(`${LIST}?limit=1&fields=timePeriod__startTime`);
    const { results: whole } = await sample.page(`${LIST}?limit=1`);
    const alone = await sample.record(`${LIST}${Number(whole[0]!['ob_id'])}/?fields=timePeriod__startTime`);
    expect(alone).toEqual({ timePeriod__startTime: time });
    const lines = await text(`${LIST}?limit=1&fields=timePeriod__startTime&format=csv`);
    expect(lines).toBe(`timePeriod__startTime\r\n${String(time)}\r\n`);
    const ndjson = await text(`${LIST}?limit=1&fields=timePeriod__startTime&format=ndjson`);
    expect(ndjson).toBe(`{"timePeriod__startTime":"${String(time)}"}\n`);
  });

  assumption('A169, A61', 'report names that lead to no field, and are at most 32', async () => {
    const { headers } = await sample.get(`${LIST}?limit=1&fields=timePeriod__nothing,title__x,projects__title`);
    expect(headers['x-ignored-params']).toBe('fields=timePeriod__nothing, fields=title__x');
    const member = ['result_field', 'permissions__ob_id'].flatMap((to) => OBSERVED.map((field) => `${to}__${field}`));
    expect(await refusal(`${LIST}?fields=${member.join(',')}`)).toEqual({
      fields: ['At most 32 joined fields can be requested at once.'],
    });
    await results(`${LIST}?limit=1&fields=${member.slice(0, 32).join(',')}`);
  });
});

/** Fields of observations. */
const OBSERVED = [
  'uuid',
  'title',
  'abstract',
  'keywords',
  'publicationState',
  'status',
  'language',
  'dataLineage',
  'dataPublishedTime',
  'doiPublishedTime',
  'updateFrequency',
  'nonGeographicFlag',
  'removedDataTime',
  'removedDataReason',
  'timePeriod',
  'geographicExtent',
  'projects',
];

describe('expand', () => {
  assumption('A170', 'replaces links by the records that they lead to, one by one in arrays', async () => {
    const query = 'limit=4&offset=20&fields=ob_id,timePeriod,projects,title';
    const plain = await results(`${LIST}?${query}`);
    const expanded = await results(`${LIST}?${query}&expand=timePeriod&expand=projects`);
    for (const [i, record] of plain.entries()) {
      const projects = await Promise.all((record['projects'] as readonly string[]).map(linked));
      expect(expanded[i]).toEqual({ ...record, timePeriod: await linked(record['timePeriod']), projects });
    }
  });

  assumption('A170', 'steps into linked and embedded records', async () => {
    const [plain] = await results(`${LIST}?limit=1&fields=responsiblepartyinfo_set`);
    const [expanded] = await results(
      `${LIST}?limit=1&fields=responsiblepartyinfo_set&expand=responsiblepartyinfo_set__party`,
    );
    const parties = (plain!['responsiblepartyinfo_set'] as readonly string[]).map(async (link) => {
      const one = await linked(link);
      return { ...one, party: await linked(one['party']) };
    });
    expect(expanded).toEqual({ responsiblepartyinfo_set: await Promise.all(parties) });
    const [pair] = await results('/api/v3/acquisitions/?limit=1&expand=instrumentplatformpair_set__platform');
    const [{ platform } = { platform: undefined }] = pair!['instrumentplatformpair_set'] as readonly JsonObject[];
    expect(await linked(`/api/v3/platforms/${String((platform as JsonObject)['ob_id'])}/`)).toEqual(platform);
  });

  assumption('A170', 'works with records, lines, v2, indentation, gzip and walks', async () => {
    const [first] = await results(`${LIST}?limit=1&fields=ob_id,timePeriod&expand=timePeriod`);
    const record = `${LIST}${Number(first!['ob_id'])}/?fields=ob_id,timePeriod&expand=timePeriod`;
    expect(await sample.record(record)).toEqual(first);
    expect(await text(`${record}&pretty=1`)).toBe(JSON.stringify(first, undefined, 2));
    const lines = await text(`${LIST}?format=ndjson&limit=2&fields=ob_id,timePeriod&expand=timePeriod`);
    expect(lines.split('\n')[0]).toBe(JSON.stringify(first));
    const v2 = await text(
      '/api/v2/observations/?limit=1&fields=projects,permissions&expand=projects,permissions__ob_id',
    );
    expect(v2).toContain('/api/v2/');
    expect(v2).not.toContain('/api/v3/');
    const { bytes, headers } = await sample.get(`${LIST}?expand=projects`, { 'accept-encoding': 'gzip' });
    expect(headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(bytes).toString()).toBe(await text(`${LIST}?expand=projects`));
    const { next, results: one } = await sample.page(`${LIST}?limit=1&after=141&expand=timePeriod`);
    expect(next).toContain('&expand=timePeriod&limit=1');
    expect(one[0]!['timePeriod']).toHaveProperty('startTime');
  });

  assumption('A170', 'reports names without effect, and refuses them in strict mode', async () => {
    const query = 'limit=1&fields=title,projects&expand=title,timePeriod,projetcs,nothing__x,permissions';
    const { headers } = await sample.get(`${LIST}?${query}`);
    expect(headers['x-ignored-params']).toBe(
      'expand=projetcs, expand=nothing__x, expand=title, expand=timePeriod, expand=permissions',
    );
    expect(await refusal(`${LIST}?${query}&strict=1`)).toEqual({
      expand: [
        'Unknown field "projetcs". Did you mean "projects"?',
        'Unknown field "nothing__x".',
        '"title" has no links.',
        '"timePeriod" is not among "fields".',
        '"permissions" has no links.',
      ],
    });
  });

  assumption('A170', 'refuses tables, more than ten names, and three links after one another', async () => {
    const table = /^A table has no embedded records\. Name joined fields, such as "fields=/;
    for (const target of [`${LIST}?format=csv`, '/api/v3/observations.parquet?', `${LIST}141/?format=csv`]) {
      expect(await refusal(`${target}&expand=projects`)).toEqual({ expand: [expect.stringMatching(table)] });
    }
    const names = Array.from({ length: 11 }, (_, i) => `name${i}`);
    expect(await refusal(`${LIST}?expand=${names.join(',')}`)).toEqual({
      expand: ['At most 10 names can be expanded at once.'],
    });
    expect(await refusal(`${LIST}?expand=observationcollection_set__member__projects`)).toEqual({
      expand: ['At most 2 links after one another can be expanded.'],
    });
  });

  assumption('A170', 'has no effect on pages, whose links to exports leave it out', async () => {
    const page = await fetch(`${sample.url()}/browse/observations/?expand=projects&fields=title,timePeriod__startTime`);
    const html = await page.text();
    expect([page.status, html.includes('format=csv'), html.includes('expand')]).toEqual([200, true, false]);
    expect(html).toContain('timePeriod__startTime');
  });

  assumption('A171', 'refuses a page beyond 16 MiB, with a smaller one as the cure, but no export', async () => {
    const query = 'fields=observationcollection_set&expand=observationcollection_set__member';
    const { status, body } = await sample.get(`${LIST}?limit=500&${query}`);
    expect([status, JSON.parse(body)]).toEqual([
      400,
      { expand: [expect.stringMatching(/16 MiB\. Use a smaller "limit"/)] },
    ]);
    await results(`${LIST}?limit=1&${query}`);
    const { headers } = await sample.send({ method: 'HEAD', target: `${LIST}?format=ndjson&${query}` });
    expect(Number(headers['content-length'])).toBeGreaterThan(16 << 20);
  });
});

describe('links of edge records', () => {
  const edges = servedSample([], edgeRecords());
  const { idsOf } = askedOf(edges);

  assumption('A169, A170', 'stay links if they dangle, with their ids and null fields', async () => {
    expect(await idsOf('projects=9')).toContain(1);
    const { projects, ...joined } = await edges.record(
      '/api/v3/observations/1/?fields=projects,projects__title,projects__ob_id&expand=projects',
    );
    expect(joined).toEqual({ projects__title: [expect.any(String), null], projects__ob_id: [1, 9] });
    expect(projects).toEqual([
      expect.objectContaining({ ob_id: 1 }),
      expect.stringMatching(/\/api\/v3\/projects\/9\/\?format=api$/),
    ]);
  });
});
