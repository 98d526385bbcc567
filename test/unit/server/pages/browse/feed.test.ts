// The feed of a list: entries, order, bounds, and validity by the schema.
import { describe, expect, test } from 'vitest';
import { hasProgram } from '../../../../support/debian.ts';
import { browseRecords } from '../../../../support/htmlPages.ts';
import { BASE_URL } from '../../../../support/smallCatalogue.ts';
import { schemaErrors } from '../../../../support/xmlSchemas.ts';

const UUID = '0123456789abcdef0123456789abcdef';
const observation = (ob_id: number, more: object = {}): object => ({
  ob_id,
  uuid: ob_id === 3 ? UUID : `u${ob_id}`,
  title: `Ice & <snow> ${ob_id}`,
  abstract: `\u0001About ${ob_id}. ${'Words. '.repeat(300)}`,
  publicationState: 'published',
  dataPublishedTime: `20${String(ob_id + 10).padStart(2, '0')}-01-02T03:04:05`,
  doiPublishedTime: null,
  ...more,
});
const OBSERVATIONS = [
  ...Array.from({ length: 60 }, (_, i) => observation(i + 1)),
  observation(70, { publicationState: 'working' }),
  observation(71, { dataPublishedTime: null }),
  observation(72, { title: 'Glacier', publicationState: 'citable', doiPublishedTime: '2099-05-06T00:00:00+02:00' }),
];
const browse = browseRecords({ observations: OBSERVATIONS }, undefined, { siteName: 'Polar & Co' });
const FEED = '/browse/observations/?format=atom';

const textsIn = (xml: string, name: string): readonly string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}\\s*>`, 'g'))].map(([, text = '']) => text);

describe('the feed of a list', () => {
  test('has the newest fifty published records, and no others', async () => {
    const { reply } = await browse(FEED);
    expect(reply.headers['Content-Type']).toBe('application/atom+xml');
    const titles = textsIn(reply.text, 'title');
    expect(titles.slice(0, 3)).toEqual(['Polar &amp; Co: Observations', 'Glacier', 'Ice &amp; &lt;snow&gt; 60']);
    expect(titles).toHaveLength(51);
    expect(textsIn(reply.text, 'published')).toEqual(textsIn(reply.text, 'published').toSorted().toReversed());
  });

  test('was updated with its newest record or DOI', async () => {
    const { reply } = await browse(FEED);
    expect(textsIn(reply.text, 'updated').slice(0, 2)).toEqual([
      '2099-05-05T22:00:00.000Z',
      '2099-05-05T22:00:00.000Z',
    ]);
    expect(textsIn((await browse(`${FEED}&title=none`)).reply.text, 'updated')).toHaveLength(1);
  });

  test('names its filters, and records by UUID', async () => {
    const { reply } = await browse(`${FEED}&ob_id__in=3,4&ordering=title&offset=1&limit=1`);
    expect(textsIn(reply.text, 'title')[0]).toBe('Polar &amp; Co: Observations, Id is 3 or 4');
    const self = `${BASE_URL}/browse/observations/?ob_id__in=3%2C4&format=atom`.replace('&', '&amp;');
    const urn = 'urn:uuid:01234567-89ab-cdef-0123-456789abcdef';
    expect(textsIn(reply.text, 'id')).toEqual([self, `${BASE_URL}/browse/observations/4/`, urn]);
  });

  test('keeps a state that a filter names', async () => {
    const { reply } = await browse(`${FEED}&publicationState=working`);
    expect(textsIn(reply.text, 'title')).toHaveLength(2);
  });

  test('refuses a wrong filter with a page, and has a tag', async () => {
    const { reply } = await browse(`${FEED}&title__foo=1`);
    expect([reply.status, reply.headers['Content-Type']]).toEqual([400, 'text/html; charset=utf-8']);
    expect((await browse(FEED)).reply.etag).toMatch(/^W\//);
  });

  test('is linked from the page of the list', async () => {
    const { page } = await browse('/browse/observations/?title__contains=Ice&offset=10');
    const href = page.querySelector('link[type="application/atom+xml"]')?.getAttribute('href');
    expect(href).toBe('?title__contains=Ice&format=atom');
  });

  test('exists only for records with a time of publication', async () => {
    const { reply, page } = await browse('/browse/times/?format=atom');
    expect(reply.headers['Content-Type']).toBe('text/html; charset=utf-8');
    expect(page.querySelector('link[type="application/atom+xml"]')).toBeNull();
  });

  test.skipIf(!hasProgram('xmllint'))('is valid by the schema of Atom', async () => {
    for (const url of [FEED, `${FEED}&title=none`, '/browse/observationcollections/?format=atom']) {
      expect(schemaErrors('atom', (await browse(url)).reply.text), url).toBe('');
    }
    expect(schemaErrors('atom', '<feed xmlns="http://www.w3.org/2005/Atom"/>')).not.toBe('');
  });
});
