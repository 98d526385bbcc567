// A crawler that follows the links of the pages, as search engines do: it obeys `nofollow`, and robots.txt if it reads
// it (RFC 9309). Both kinds find every record and come to an end.
import { expect, test } from 'vitest';
import { browseRecords } from '../support/htmlPages.ts';

const OBSERVATIONS = 130;
const browse = browseRecords({
  observations: Array.from({ length: OBSERVATIONS }, (_, i) => ({
    ob_id: i + 1,
    uuid: `u${i}`,
    title: `title ${i % 7}`,
    status: i % 3 === 0 ? 'final' : 'planned',
    procedureAcquisition: `{base_url}/api/v3/acquisitions/${(i % 5) + 1}/?format=api`,
  })),
  acquisitions: Array.from({ length: 5 }, (_, i) => ({ ob_id: i + 1, title: `acquisition ${i}` })),
});
const ORIGIN = 'http://crawled.test';
/** More pages than a crawl of these records needs. */
const PAGES_MAX = 1000;

/** Visits all pages that can be reached over permitted links. Returns their addresses. */
async function crawled(mayVisit: (address: string) => boolean): Promise<ReadonlySet<string>> {
  const visited = new Set(['/browse/']);
  for (const address of visited) {
    const { page, reply } = await browse(address);
    if (!reply.headers['Content-Type']?.startsWith('text/html')) continue;
    const robots = page.querySelector('meta[name=robots]')?.getAttribute('content');
    expect(robots, address).toBe(address.includes('?') ? 'noindex, follow' : undefined);
    for (const link of page.querySelectorAll('a[href]:not([rel~=nofollow])')) {
      const { origin, pathname, search } = new URL(link.getAttribute('href') ?? '', ORIGIN + address);
      if (origin === ORIGIN && mayVisit(pathname + search)) visited.add(pathname + search);
    }
    if (visited.size > PAGES_MAX) break;
  }
  return visited;
}

function expectComplete(visited: ReadonlySet<string>): void {
  expect(visited.size).toBeLessThan(PAGES_MAX);
  for (let id = 1; id <= OBSERVATIONS; id++) expect(visited).toContain(`/browse/observations/${id}/`);
}

test('a crawler that ignores robots.txt comes to an end, and meets every record', async () => {
  expectComplete(await crawled((address) => address.startsWith('/browse/')));
});

test('a crawler that obeys robots.txt reads whole lists and all records, and no filters', async () => {
  const { reply } = await browse('/robots.txt', '*/*');
  expect(reply.headers['Content-Type']).toBe('text/plain; charset=utf-8');
  const rules = [...reply.text.matchAll(/^(Allow|Disallow): (\S+)$/gm)].map(([, verb, path = '']) => {
    const pattern = path.split('*').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    return { isAllowed: verb === 'Allow', length: path.length, pattern: new RegExp(`^${pattern.join('.*')}`) };
  });
  expect(rules.length).toBeGreaterThan(0);
  const mayVisit = (address: string): boolean => {
    const [longest] = rules.filter(({ pattern }) => pattern.test(address)).sort((a, b) => b.length - a.length);
    return address.startsWith('/browse/') && (longest?.isAllowed ?? true);
  };
  const visited = await crawled(mayVisit);
  expectComplete(visited);
  const queries = [...visited].filter((address) => address.includes('?'));
  expect(queries.length).toBeGreaterThan(0);
  expect(queries.filter((address) => !/^\/browse\/\w+\/\?offset=\d+$/.test(address))).toEqual([]);
  expect(mayVisit('/browse/observations/')).toBe(true);
  expect(rules.some(({ pattern, isAllowed }) => !isAllowed && pattern.test('/api/v3/observations/1/'))).toBe(true);
});
