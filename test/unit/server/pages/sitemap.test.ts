// The sitemap: its addresses, its parts, and validity by the schema of the protocol.
import { describe, expect, test } from 'vitest';
import { COLLECTIONS } from '../../../../engine/schema/catalogue.ts';
import { hasProgram } from '../../../support/debian.ts';
import { indexOf } from '../../../support/index.ts';
import { requestOf, STAYING } from '../../../support/requests.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY, type Reply, replyOf } from '../../../support/smallCatalogue.ts';
import { schemaErrors } from '../../../support/xmlSchemas.ts';

type Records = Readonly<Record<string, readonly { readonly ob_id: number; readonly publicationState?: string }[]>>;

/** Requests paths of a catalogue of these records. */
function catalogueOf(records: Records): (url: string, headers?: Readonly<Record<string, string>>) => Promise<Reply> {
  const collections = new Map(COLLECTIONS.map(({ name }) => [name, indexOf(name, records[name] ?? [])]));
  const handler = handlerWith(NEVER_HEAVY, {}, (name) => collections.get(name)!);
  return async (url, headers = {}) => replyOf(await handler(requestOf({ url, headers }), STAYING));
}

function addressesIn({ text }: Reply): readonly string[] {
  return [...text.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, address = '']) => address.replace(BASE_URL, ''));
}

const LISTS = COLLECTIONS.map(({ name }) => `/browse/${name}/`);
const FEW = {
  observations: ['published', 'working', 'citable', 'removed'].map((publicationState, i) => ({
    ob_id: i + 1,
    publicationState,
  })),
  projects: [{ ob_id: 9, publicationState: 'published' }],
  times: [{ ob_id: 5 }],
};
const few = catalogueOf(FEW);
/** With the start page and the lists, this many addresses fill two sitemaps and begin a third. */
const MANY = 100_000;
const many = catalogueOf({
  observations: Array.from({ length: MANY }, (_, i) => ({
    ob_id: i,
    publicationState: i < MANY / 2 ? 'old' : 'citable',
  })),
});

describe('the sitemap', () => {
  test('has the start page, the lists, and the published records of the first collections', async () => {
    const reply = await few('/sitemap.xml');
    expect(reply.headers['Content-Type']).toBe('application/xml; charset=utf-8');
    const records = ['/browse/observations/1/', '/browse/observations/3/', '/browse/projects/9/'];
    expect(addressesIn(reply)).toEqual(['/browse/', ...LISTS, ...records]);
  });

  test('is one index beyond 50,000 addresses', async () => {
    const index = await many('/sitemap.xml');
    expect(index.text).toContain('<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>');
    expect(addressesIn(index)).toEqual([1, 2, 3].map((part) => `/sitemap-${part}.xml`));
    const parts = await Promise.all([1, 2, 3].map(async (part) => addressesIn(await many(`/sitemap-${part}.xml`))));
    const all = parts.flat();
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(50_000);
    expect(all).toHaveLength(1 + LISTS.length + MANY / 2);
    expect(new Set(all).size).toBe(all.length);
  });

  test('has at least one address in each part', async () => {
    const old = Array.from({ length: MANY }, (_, i) => ({ ob_id: i, publicationState: 'old' }));
    expect(addressesIn(await catalogueOf({ observations: old })('/sitemap-2.xml'))).toEqual(['/browse/']);
  });

  test.each(['/sitemap-0.xml', '/sitemap-4.xml', '/sitemap-x.xml', '/sitemap-.xml', '/sitemap.xml/'])(
    'is not at %s',
    async (url) => {
      expect((await many(url)).status).toBe(404);
    },
  );

  test('has a tag that gives 304, compressed or not', async () => {
    for (const coding of ['identity', 'gzip']) {
      const headers = { 'accept-encoding': coding };
      const { etag } = await few('/sitemap.xml', headers);
      expect(etag).toBeDefined();
      for (const tags of [etag!, `"x", W/${etag!}`, '*', etag!.replace(/"$/, '-gzip"')]) {
        expect((await few('/sitemap.xml', { ...headers, 'if-none-match': tags })).status, tags).toBe(304);
      }
    }
    expect((await few('/sitemap.xml')).etag).not.toBe((await few('/sitemap-1.xml')).etag);
  });

  test('is named by robots.txt', async () => {
    expect((await few('/robots.txt')).text).toContain(`\nSitemap: ${BASE_URL}/sitemap.xml\n`);
  });

  test.skipIf(!hasProgram('xmllint'))('is valid by its schema', async () => {
    for (const reply of [await few('/sitemap.xml'), await many('/sitemap-1.xml')]) {
      expect(schemaErrors('sitemap', reply.text)).toBe('');
    }
    expect(schemaErrors('sitemap', '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"/>')).not.toBe('');
  });
});
