// The pages of lists, asked of the handler with what people and others put into addresses: they stay bounded, and the
// request of the API that a page names is the one that it shows.
import { describe, expect, test } from 'vitest';
import { COLLECTIONS } from '../../../../engine/schema/catalogue.ts';
import { collectionOf } from '../../../support/collections.ts';
import { browserOf, hrefsOf, textsOf } from '../../../support/htmlPages.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY } from '../../../support/smallCatalogue.ts';

const LIST = '/browse/observations/';
const RECORDS = Array.from(
  { length: 120 },
  (_, i) =>
    `{"ob_id":${i + 1},"uuid":"u${i}","title":"t${i}","abstract":"${`a${i} `.repeat(100)}","language":"l${i}",` +
    `"keywords":"k${i}","status":${i % 3 === 0 ? 'null' : '"completed"'},"dataPublishedTime":"2020-01-02T10:00:00"}`,
);
const collections = new Map(
  COLLECTIONS.map(({ name }) => [name, collectionOf(name, name === 'observations' ? RECORDS : [], BASE_URL)]),
);
const { pageAt } = browserOf(handlerWith(NEVER_HEAVY, {}, (name) => collections.get(name)!));

describe('the rows of a page', () => {
  test.each(['format=csv', '%66ormat=ndjson&limit=1100', 'format=parquet'])(
    'are at most 100 with %s, and the request that it names has as many',
    async (query) => {
      const page = await pageAt(`${LIST}?${query}`);
      expect(textsOf(page, 'tbody th')).toHaveLength(100);
      const limit = query.includes('limit') ? '?limit=100' : '';
      expect(textsOf(page, '.snippet pre')[0]).toBe(`${BASE_URL}/api/v3/observations/${limit}`);
    },
  );

  test('are as many as the request of the API that it names has, whatever limit is asked for', async () => {
    for (const query of ['limit=1000&strict=1', 'limit=%2B1000']) {
      const page = await pageAt(`${LIST}?${query}`);
      expect(textsOf(page, '.range')).toEqual(['1 to 100 of 120']);
      const [address = '', curl, python] = textsOf(page, '.snippet pre');
      expect(address).toContain('limit=100');
      for (const text of [address, curl, python, ...hrefsOf(page, 'a')]) expect(text).not.toContain('1000');
    }
  });
});

describe('what a list is filtered by', () => {
  test('is said once where a filter is repeated: the last one holds', async () => {
    const page = await pageAt(`${LIST}?title__icontains=t1&title__icontains=t2`);
    expect(textsOf(page, '.chips li > span')).toEqual(['title › icontains t2']);
    expect(hrefsOf(page, '.chips a')).toEqual(['?']);
    expect(textsOf(page, '.snippet pre')[0]).toMatch(/\?title__icontains=t2$/);
  });
});
