// spec 4.3: filters. Each is compared with a plain filter over all records of the sample, as a client reads them.
import { describe, expect } from 'vitest';
import { spec } from './quotes.ts';
import { servedSample, type JsonObject } from './sample.ts';

const sample = servedSample();

type Predicate = (record: JsonObject) => boolean;

/** The filter matches exactly the records that the predicate matches, in order, and they are some but not all. */
async function expectFilter(collection: string, query: string, predicate: Predicate): Promise<void> {
  const records = await sample.all(collection);
  const wanted = records.filter(predicate);
  const page = await sample.page(`/api/v3/${collection}/?limit=1000000&${query}`);
  expect(page.count, query).toBe(wanted.length);
  expect(page.results, query).toEqual(wanted);
  expect(wanted.length, `${query} finds something`).toBeGreaterThan(0);
  expect(wanted.length, `${query} leaves something out`).toBeLessThan(records.length);
}

/** The value of a text field in the record at `index`. */
async function someText(collection: string, field: string, index = 5): Promise<string> {
  return String((await sample.all(collection))[index]?.[field]);
}

const query = encodeURIComponent;
const has =
  (relation: string, member: string, matches: (value: string) => boolean): Predicate =>
  (record) =>
    (record[relation] as JsonObject[]).some((related) =>
      matches(String((related[member] as string | number | null) ?? '')),
    );

/** A filter on every field of a list, by a value that the sample contains. */
async function expectExact(collection: string, fields: readonly string[]): Promise<void> {
  for (const field of fields) {
    const value = await someText(collection, field);
    await expectFilter(collection, `${field}=${query(value)}`, (record) => record[field] === value);
  }
}

describe('spec 4.3, filters', () => {
  spec('Filters are query parameters of the form `<field>=<value>` or `<field>__<lookup>=<value>`.', async () => {
    await expectExact('observations', ['uuid', 'title', 'status']);
    await expectFilter('observations', 'title__contains=sea', ({ title }) => String(title).includes('sea'));
  });

  spec('A double underscore also crosses a relationship: `<relation>__<field>__<lookup>=<value>`.', async () => {
    const keywords = (await sample.all('observations')).flatMap(
      (record) => record['discoveryKeywords'] as JsonObject[],
    );
    const part = String(keywords[0]?.['name']).slice(1, 3);
    const containsPart = has('discoveryKeywords', 'name', (name) => name.includes(part));
    await expectFilter('observations', `discoveryKeywords__name__contains=${query(part)}`, containsPart);
  });

  spec(
    'Lookups that occur: contains, startswith, in (value is a comma-separated list), and a negated form written as the lookup followed by `!` (for example `startswith!=`).',
    async () => {
      const title = await someText('observations', 'title');
      const [first = ''] = title.split(' ');
      await expectFilter('observations', `title__contains=${query(first)}`, (record) =>
        String(record['title']).includes(first),
      );
      const starts: Predicate = (record) => String(record['title']).startsWith(first);
      await expectFilter('observations', `title__startswith=${query(first)}`, starts);
      await expectFilter('observations', `title__startswith!=${query(first)}`, (record) => !starts(record));
      await expectFilter('observations', `title__startswith%21=${query(first)}`, (record) => !starts(record));
      const uuids = [await someText('observations', 'uuid', 3), await someText('observations', 'uuid', 8)];
      const listed: Predicate = ({ uuid }) => uuids.includes(String(uuid));
      await expectFilter('observations', `uuid__in=${uuids.join(',')}`, listed);
      await expectFilter('observations', `uuid__in!=${uuids.join('%2C')}`, (record) => !listed(record));
    },
  );

  spec('Several filters joined with `&` combine with AND.', async () => {
    await expectFilter(
      'observations',
      'status=completed&publicationState=citable&title__contains=a',
      ({ status, publicationState, title }) =>
        status === 'completed' && publicationState === 'citable' && String(title).includes('a'),
    );
  });

  spec('The record field names are authoritative.', async () => {
    for (const name of ['results_field__dataPath', 'discoveryKeyword__name']) {
      const { status, headers } = await sample.get(`/api/v3/observations/?limit=1&${name}=x`);
      expect(status).toBe(200);
      expect(headers['x-ignored-params']).toBe(name);
    }
    expect(
      (await sample.get('/api/v3/observations/?result_field__dataPath=x')).headers['x-ignored-params'],
    ).toBeUndefined();
  });

  spec('phenomena | names (for example names__name__contains), terms (for example terms__vocabulary)', async () => {
    await expectFilter(
      'phenomona',
      'names__name__contains=a',
      has('names', 'name', (name) => name.includes('a')),
    );
    await expectFilter(
      'phenomona',
      'terms__vocabulary=cf_standard_names',
      has('terms', 'vocabulary', (vocabulary) => vocabulary === 'cf_standard_names'),
    );
  });

  spec('computations | uuid, title, keywords, abstract', () =>
    expectExact('computations', ['uuid', 'title', 'keywords', 'abstract']),
  );

  spec('identifiers | url, identifierType', () => expectExact('identifiers', ['url', 'identifierType']));

  spec(
    'observations | title, uuid, keywords, status, result_field, discoveryKeywords, updateFrequency, nonGeographicFlag, publicationState, permissions',
    async () => {
      await expectExact('observations', ['title', 'uuid', 'keywords', 'status', 'updateFrequency', 'publicationState']);
      const [first] = await sample.all('observations');
      const id = Number(first?.['ob_id']);
      await expectFilter('observations', `result_field=${id}`, ({ ob_id }) => ob_id === id);
      await expectFilter('observations', `permissions=${id}`, ({ ob_id }) => ob_id === id);
      await expectFilter(
        'observations',
        'permissions__accessCategory=registered',
        has('permissions', 'accessCategory', (category) => category === 'registered'),
      );
    },
  );

  spec(
    'Examples of observation filter shapes: `status=<status>`, `nonGeographicFlag=<boolean>`, `publicationState__in=<state>,<state>`, `discoveryKeywords__name=<name>`, `result_field__dataPath__startswith=<path>`.',
    async () => {
      const records = await sample.all('observations');
      await expectFilter('observations', 'status=completed', ({ status }) => status === 'completed');
      await expectFilter(
        'observations',
        'nonGeographicFlag=true',
        ({ nonGeographicFlag }) => nonGeographicFlag === true,
      );
      await expectFilter('observations', 'publicationState__in=published,citable', ({ publicationState }) =>
        ['published', 'citable'].includes(String(publicationState)),
      );
      const keywords = records.flatMap((record) => record['discoveryKeywords'] as JsonObject[]);
      const name = String(keywords[0]?.['name']);
      await expectFilter(
        'observations',
        `discoveryKeywords__name=${query(name)}`,
        has('discoveryKeywords', 'name', (text) => text === name),
      );
      const pathOf = (record: JsonObject): string => String((record['result_field'] as JsonObject)['dataPath']);
      const start = pathOf(records[0] ?? {})
        .split('/')
        .slice(0, 3)
        .join('/');
      await expectFilter('observations', `result_field__dataPath__startswith=${query(start)}`, (record) =>
        pathOf(record).startsWith(start),
      );
    },
  );
});
