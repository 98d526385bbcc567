// Pinned walks through the handler: what links carry, and what a generation that is not served is answered (A69).
import { describe, expect, test } from 'vitest';
import { ask, BASE_URL, GENERATION } from '../../../support/smallCatalogue.ts';

describe('a list whose walks are pinned', () => {
  const settings = { pinWalks: true };
  const PIN = GENERATION.slice(0, 12);
  const GONE = `{"detail":"This generation of the data is gone; ${PIN} is served now. Begin the walk again.","generation":"${PIN}"}`;

  /** The ids of a walk from a path over its next links, checking that each page links back to the one before. */
  async function walked(path: string): Promise<readonly number[]> {
    const ids: number[] = [];
    for (let url: string | null = path; url !== null;) {
      const { status, text } = await ask(url, settings);
      expect(status, url).toBe(200);
      const page = JSON.parse(text) as { next: string | null; results: readonly { readonly ob_id: number }[] };
      ids.push(...page.results.map((record) => record.ob_id));
      if (page.next !== null) expect(page.next).toContain(`generation=${PIN}`);
      url = page.next?.slice(BASE_URL.length) ?? null;
    }
    return ids;
  }

  test.each([
    ['limit=3', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['limit=1&title=ocean&ordering=-ob_id&fields=ob_id', [7, 5, 3, 1]],
    ['limit=2&after=2&strict=1', [3, 4, 5, 6, 7, 8]],
    ['limit=3&offset=1&facets=title', [2, 3, 4, 5, 6, 7, 8]],
  ])('leads through %s by its links alone', async (query, ids) => {
    expect(await walked(`/api/v3/observations/?${query}`)).toEqual(ids);
  });

  test.each([
    'generation=fedcba987654',
    `generation=${PIN}&generation=x`,
    'generation=0123',
    `generation=${PIN.toUpperCase()}`,
    'generation=x&after=3',
    'generation=x&format=ndjson',
    'generation=x&format=csv&limit=3',
    'generation=x&ob_id=abc',
    'generation=x&explain=1',
  ])('is gone for %s, which no cache keeps', async (query) => {
    const { status, headers, text } = await ask(`/api/v3/observations/?${query}`, { ...settings, explain: true });
    expect([status, text]).toEqual([410, GONE]);
    expect([headers['Content-Type'], headers['Cache-Control']]).toEqual(['application/json', 'no-store']);
  });

  test('is judged behind path and format, and nothing but lists heeds the parameter', async () => {
    expect((await ask('/api/v3/observations/?generation=x&format=xml', settings)).status).toBe(404);
    for (const path of ['/api/v3/observations/3/', '/api/v3/']) {
      const { status, headers } = await ask(`${path}?generation=x`, settings);
      expect([status, headers['X-Ignored-Params']]).toEqual([200, 'generation']);
    }
  });

  test('is not pinned without the setting: the parameter is unknown', async () => {
    const { status, headers, text } = await ask('/api/v3/observations/?limit=1&generation=x');
    expect([status, headers['X-Ignored-Params'], headers['X-Generation']]).toEqual([200, 'generation', undefined]);
    expect(text).toContain('?generation=x&limit=1&offset=1"');
    expect((await ask('/api/v3/observations/?generation=x&strict=1')).status).toBe(400);
  });
});
