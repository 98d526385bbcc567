// Documented types hold in open collections too: the embedded sample with values that do not fit, over a real socket.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dataSetOf, ndjsonOf, temporaryDirectory } from '../support/dataSets.ts';
import { askedOf } from './asked.ts';
import { assumption } from './quotes.ts';
import { type JsonObject, servedSample } from './sample.ts';

const SAMPLE = join(import.meta.dirname, '../../data/sample');
const files = readdirSync(SAMPLE).filter((name) => name.endsWith('.ndjson'));
const sample = Object.fromEntries(files.map((name) => [name, readFileSync(join(SAMPLE, name), 'utf8')]));
const recordsOf = (name: string): readonly JsonObject[] =>
  sample[`${name}.ndjson`]!.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
const link = (to: string, id: number): string => `{base_url}/api/v3/${to}/${id}/?format=api`;

const catalogue = servedSample(
  [],
  dataSetOf(temporaryDirectory(), {
    ...sample,
    // The first of many times.
    'times.ndjson': sample['times.ndjson']!.replace(/"startTime":"[^"]*"/, '"startTime":"2020-02-30T00:00:00"'),
    'bboxes.ndjson': ndjsonOf(
      { ob_id: 1, southBoundLatitude: -70 },
      { ob_id: 2, southBoundLatitude: 9 },
      { ob_id: 3, southBoundLatitude: '55' },
    ),
    'results.ndjson': ndjsonOf(
      { ob_id: 1, volume: 9, dataPath: 'b' },
      { ob_id: 2, volume: 100, dataPath: 7 },
      { ob_id: 3, volume: '7', dataPath: 'a' },
      { ob_id: 4, volume: 7, dataPath: null },
      { ob_id: 5, volume: { days: [7] }, dataPath: ['a'] },
      { ob_id: 6, volume: 7.5, oldDataPath: 'a' },
    ),
    'rpis.ndjson': ndjsonOf(
      { ob_id: 1, relatedTo: 7, party: 'nobody' },
      { ob_id: 2, relatedTo: { ob_id: '7', uuid: 8 }, party: link('parties', 1) },
      { ob_id: 3, relatedTo: null, party: null },
    ),
  }),
);
const { expectIds } = askedOf(catalogue);

describe('a documented field of an open collection', () => {
  test('keeps comparing as a number if one value is a text', async () => {
    await expectIds({ 'southBoundLatitude__gt=60': [], 'southBoundLatitude__gt=-71': [1, 2] }, 'bboxes');
    await expectIds({ 'volume__gt=50': [2], 'volume=7': [4], 'volume__in=7,9': [1, 4] }, 'results');
  });

  test('keeps comparing as a time if one value is invalid', async () => {
    const { count } = await catalogue.page('/api/v3/observations/?timePeriod__startTime__year=2020&strict=1');
    const [first, ...others] = recordsOf('times');
    const links = others
      .filter(({ startTime }) => String(startTime).startsWith('2020-'))
      .map(({ ob_id }) => link('times', Number(ob_id)));
    const expected = recordsOf('observations').filter(({ timePeriod }) => links.includes(String(timePeriod))).length;
    expect(expected).toBeGreaterThan(0);
    expect(count).toBe(expected);
    const { results } = await catalogue.page('/api/v3/times/?startTime__startswith=2020-02-30&strict=1');
    expect(results).toMatchObject([{ ob_id: first!['ob_id'], startTime: '2020-02-30T00:00:00' }]);
  });

  assumption(
    'A150',
    'serves a value that does not fit as it is, finds it by lookups of texts, isnull and negations, and sorts it with the nulls',
    async () => {
      await expectIds(
        {
          'volume__contains=7': [3, 4, 5, 6],
          'volume__iexact=7': [3, 4],
          'volume__regex=days': [5],
          'volume__isnull=false': [1, 2, 3, 4, 5, 6],
          'volume!=7': [1, 2, 3, 5, 6],
          'dataPath=7': [],
          'dataPath__startswith=7': [2],
          'dataPath__gte=': [1, 3],
          'dataPath__isnull=true': [4, 6],
          'oldDataPath__iexact=a': [6],
          'ordering=volume': [4, 1, 2, 3, 5, 6],
          'ordering=-volume': [3, 5, 6, 2, 1, 4],
          'ordering=dataPath': [3, 1, 2, 4, 5, 6],
        },
        'results',
      );
      const { results } = await catalogue.page('/api/v3/results/?ob_id__in=3,5');
      expect(results.map(({ volume }) => volume)).toEqual(['7', { days: [7] }]);
    },
  );

  test('reads a value in place of a link or record as an id that does not fit', async () => {
    const none: readonly number[] = [];
    await expectIds(
      {
        'party__isnull=false': [1, 2],
        'party__lastName__isnull=true': [1, 2, 3],
        'party=1': [2],
        'relatedTo__isnull=true': [3],
        'relatedTo=7': none,
        'relatedTo__uuid__contains=8': [2],
        'relatedTo__ob_id__contains=7': [1, 2],
      },
      'rpis',
    );
  });

  test('counts values that do not fit as null in facets', async () => {
    const { body } = await catalogue.get('/api/v3/results/?facets=volume,dataPath&limit=1');
    expect(JSON.parse(body)).toMatchObject({
      facets: { volume: { null: 3, 7: 1, 9: 1, 100: 1 }, dataPath: { null: 4, a: 1, b: 1 } },
    });
  });

  test('has its filter type in the OpenAPI document, which allows any value in such records', async () => {
    const { components } = JSON.parse((await catalogue.get('/openapi.json?spellings=all')).body) as {
      components: { schemas: Record<string, { properties: Record<string, object> }> };
    };
    const { ResultsFilters: filters, ResultsRecord: records } = components.schemas;
    expect(filters!.properties['volume']).toMatchObject({ $ref: '#/components/schemas/Integer' });
    expect(records!.properties['volume']).toEqual({ description: expect.any(String) as string });
    expect(records!.properties['numberOfFiles']).toHaveProperty('anyOf');
  });
});
