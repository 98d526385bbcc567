// Counts of names without effect: through the catalogue's handler, and as a metric of a served data set.
import { afterAll, describe, expect, test } from 'vitest';
import { countIgnored, IGNORED_PARAMETERS } from '../../../../server/catalogue/tally.ts';
import { newTally } from '../../../../server/observe/tally.ts';
import { clientOf } from '../../../support/client.ts';
import { runServer } from '../../../support/commandProcess.ts';
import { dataSetOf, temporaryDirectory } from '../../../support/dataSets.ts';
import { requestOf, STAYING } from '../../../support/requests.ts';
import { handlerWith, HEAVY, NEVER_HEAVY } from '../../../support/smallCatalogue.ts';

test('has a cell for each collection and one for views without one', () => {
  const tally = newTally(IGNORED_PARAMETERS);
  IGNORED_PARAMETERS.cells.forEach(({ collection = '' }, i) => countIgnored(tally, collection, Array(i)));
  expect([...tally]).toEqual(IGNORED_PARAMETERS.cells.map((_, i) => i));
  expect(IGNORED_PARAMETERS.cells.at(-1)).toEqual({ collection: '' });
});

describe('a request', () => {
  const START = '/api/v3/observations/';
  const LIST = { collection: 'observations' };

  async function countedBy(url: string, settings = {}): Promise<readonly unknown[]> {
    const tally = newTally(IGNORED_PARAMETERS);
    await handlerWith(NEVER_HEAVY, settings, () => HEAVY, { ignored: tally })(requestOf({ url }), STAYING);
    return [...tally].flatMap((count, i) => (count > 0 ? [IGNORED_PARAMETERS.cells[i], count] : []));
  }

  test.each([
    [`${START}?page=1&per_page=2&page=3&ordering=foo,-title`, [LIST, 3]],
    [`${START}7/?limit=1&fields=foo`, [LIST, 2]],
    ['/api/v3/?limit=1', [{ collection: '' }, 1]],
    [`${START}?limit=1&title=x`, []],
    [`${START}?page=1&strict=1`, []],
    [`${START}?page=1&title__foo=1`, []],
    [`${START}777/?page=1`, []],
  ])('for %s counts %j', async (url, counted) => {
    expect(await countedBy(url)).toEqual(counted);
  });

  test('counts filters that a setting has ignored', async () => {
    expect(await countedBy(`${START}?title__foo=1`, { filterErrors: 'ignore' })).toEqual([LIST, 1]);
  });
});

describe('the metric of ignored parameters', async () => {
  const data = dataSetOf(temporaryDirectory(), { 'projects.ndjson': '{"ob_id":1}\n' });
  const server = await runServer(['--data', data, '--admin-port', '0', '--threads', '2']);
  afterAll(() => server.stop());

  test('has the sums of all serving threads, by collection', async () => {
    const scraper = clientOf(server.adminUrl);
    for (let i = 0; i < 8; i++) {
      const client = clientOf(server.url);
      expect((await client.get('/api/v3/projects/?publicationStatus__in=x&page=2')).status).toBe(200);
      client.close();
    }
    // A conditional request for a known response still has the names, so it counts each time.
    const client = clientOf(server.url);
    const target = '/api/v3/projects/?page=2';
    const { etag = '' } = (await client.get(target)).headers;
    for (let i = 0; i < 3; i++) {
      const { status } = await client.send({ method: 'GET', target, headers: { 'if-none-match': etag }, body: '' });
      expect(status).toBe(304);
    }
    client.close();
    const { body } = await scraper.get('/metrics');
    scraper.close();
    expect(body).toContain('\ncatalogue_replica_ignored_parameters_total{collection="projects"} 20\n');
    expect(body).not.toContain('publicationStatus');
  });
});
