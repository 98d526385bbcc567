// The references to a record on its page: they are counted together, or the page says that there was no time to count
// them.
import { expect, test } from 'vitest';
import { type Router, routerOver } from '../../../../../workers/router.ts';
import { RowSetCache } from '../../../../../workers/rowSetCache.ts';
import { browseRecords } from '../../../../support/htmlPages.ts';
import { GENERATION, NEVER_HEAVY } from '../../../../support/smallCatalogue.ts';

const LINK = '{base_url}/api/v3/platforms/3/?format=api';
const RECORDS = {
  platforms: [{ ob_id: 3, title: 'ship' }],
  ipps: [
    { ob_id: 1, platform: LINK },
    { ob_id: 2, platform: LINK },
  ],
};
const router = routerOver({ generation: GENERATION, cache: new RowSetCache(0), runHeavy: NEVER_HEAVY });

test.each(['busy', 'overtime'] as const)(
  'shows links without a count while a server is %s, on a page that is not cached',
  async (why) => {
    const find: Router['find'] = (list, waiter) =>
      list.collection.declaration.name === 'ipps' ? Promise.resolve(why) : router.find(list, waiter);
    const { reply, page } = await browseRecords(RECORDS, { ...router, find })('/browse/platforms/3/');
    const [line = ''] = [...page.querySelectorAll('.references li')].map(({ textContent }) => textContent);
    expect(line.trim().split(/\s+/).join(' ')).toBe('Instruments on platforms not counted now Platform');
    expect(page.querySelector('.references a')!.getAttribute('href')).toBe('../../../browse/ipps/?platform=3');
    expect([reply.status, reply.etag, reply.headers['Cache-Control']]).toEqual([200, undefined, 'no-store']);
  },
);

test('shows counted links with their count, on a page that is cached', async () => {
  const { reply, page } = await browseRecords(RECORDS, router)('/browse/platforms/3/');
  expect(page.querySelector('.references .count')!.textContent).toBe('2');
  expect([reply.status, reply.headers['Cache-Control']]).not.toContain('no-store');
  expect(reply.etag).toMatch(/^W\//);
});

test('counts several paths to a record together', async () => {
  let [asked, now, most] = [0, 0, 0];
  const find: Router['find'] = async (list, waiter) => {
    asked++;
    most = Math.max(most, ++now);
    await new Promise((resolve) => setImmediate(resolve));
    now--;
    return router.find(list, waiter);
  };
  const identifier_set = ['{base_url}/api/v3/identifiers/1/?format=api'];
  const linking = { observations: [{ ob_id: 1, identifier_set }], computations: [{ ob_id: 1, identifier_set }] };
  const browsed = browseRecords({ ...linking, identifiers: [{ ob_id: 1, url: 'u' }] }, { ...router, find });
  const { page } = await browsed('/browse/identifiers/1/');
  expect(page.querySelectorAll('.references li').length).toBe(2);
  expect([asked, most]).toEqual([asked, asked]);
  expect(asked).toBeGreaterThan(1);
});

test('omits a path that is not a filter here, and counts nothing else for it', async () => {
  const times = [{ ob_id: 1 }, { ob_id: 2 }];
  const timePeriod = '{base_url}/api/v3/times/1/?format=api';
  const observations = [{ ob_id: 1, timePeriod }, { ob_id: 2 }, { ob_id: 3 }];
  const linesWith = async (settings: Parameters<typeof browseRecords>[2]): Promise<readonly string[]> => {
    const { page } = await browseRecords({ times, observations }, router, settings)('/browse/times/1/');
    return [...page.querySelectorAll('.references li')].map(({ textContent }) =>
      textContent.trim().split(/\s+/).join(' '),
    );
  };
  expect(await linesWith({})).toEqual(['Observations 1 Period']);
  expect(await linesWith({ filters: 'documented' })).toEqual([]);
});
