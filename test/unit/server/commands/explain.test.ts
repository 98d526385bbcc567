// The output of the command `explain` for a list: plan, estimates, where it would run, and the rows that it read; and
// the refusals.
import { describe, expect, test } from 'vitest';
import { readSettings } from '../../../../server/settings/declarations.ts';
import { explainRequest } from '../../../../server/commands/explain.ts';
import { OperationError } from '../../../../data/operationError.ts';
import { dataSetOf, imported, temporaryDirectory } from '../../../support/dataSets.ts';

const link = (to: string, id: number): string => `{base_url}/api/v3/${to}/${id}/?format=api`;
const observations = Array.from({ length: 200 }, (_, i) => ({
  ob_id: i,
  title: `${'x'.repeat(3000)} ${i}`,
  status: i % 4 === 0 ? 'ongoing' : 'completed',
  projects: [link('projects', i % 10)],
}));
const projects = Array.from({ length: 10 }, (_, i) => ({ ob_id: i, uuid: `p${i}` }));
const linesOf = (records: readonly object[]): string => records.map((one) => `${JSON.stringify(one)}\n`).join('');
const files = { 'observations.ndjson': linesOf(observations), 'projects.ndjson': linesOf(projects) };
const { file: data } = await imported(dataSetOf(temporaryDirectory(), files));

async function explained(request: string, flags: Record<string, string | boolean> = {}): Promise<readonly string[]> {
  const settings = readSettings({ data, threads: '1', ...flags }, {});
  return (await explainRequest(settings, request)).split('\n');
}

/** The message with which a request is refused. */
async function refusalOf(request: string): Promise<string> {
  const error = await explained(request).catch((thrown: unknown) => thrown);
  if (!(error instanceof OperationError)) throw new Error(`${request} was not refused`, { cause: error });
  expect(error.code).toBe('usage');
  return error.message;
}

describe('the explanation of a list', () => {
  test('has its conditions in the order of execution, its order, its facets, and the rows read', async () => {
    const query = 'status=ongoing&projects__uuid=p4&projects__uuid!=p5&ordering=-title&facets=status&page=2';
    expect(await explained(`/api/v3/observations/?${query}`)).toEqual([
      'observations: about 20 rows, offset 0, limit 100',
      '  status exact "ongoing": 50 rows',
      '  about 20 rows with a row of projects',
      '    about 20 rows that link by projects to projects',
      '      projects__uuid exact "p4": 1 row',
      '  except',
      '    about 20 rows with a row of projects',
      '      about 20 rows that link by projects to projects',
      '        projects__uuid exact "p5": 1 row',
      '  ordered by title descending, then by id',
      '  counted by status',
      expect.stringMatching(
        /^found 10 of 200: about \d+ us, [1-9]\d* rows touched, \d+ postings visited, [1-9]\d* join steps, 0 bytes scanned, 10 rows ordered/,
      ),
      'in the serving thread',
      'ignored: page',
    ]);
  });

  test('has the place where it would run: in the serving thread or, after its budget is spent, in the pool', async () => {
    const cheap = await explained('http://localhost:8080/api/v3/observations/?after=190');
    expect(cheap.at(-1)).toBe('in the serving thread');
    const [, step, found, place] = await explained('/api/v2/observations.json?title__regex=x 1.$');
    expect(step).toBe('  title regex "x 1.$": about 200 rows');
    expect(found).toMatch(/^found 10 of 200: .* 60\d{4} bytes scanned$/);
    expect(place).toBe('in the pool: the budget of 200 us ran out at title__regex');
  });

  test('accepts a path without its final slash, which a server would redirect', async () => {
    expect(await explained('/api/v3/observations?status=ongoing')).toContain('  status exact "ongoing": 50 rows');
  });

  test('accepts a path below /api/v3/', async () => {
    expect(await explained('observations/?status=ongoing')).toContain('  status exact "ongoing": 50 rows');
  });

  test('accepts the path of a base URL, and covers all rows if the path names an export', async () => {
    const flags = { baseUrl: 'https://a.test/catalogue' };
    const [head] = await explained('https://a.test/catalogue/api/v3/observations/', flags);
    expect(head).toContain('offset 0, limit 100');
    const [exported] = await explained('/api/v3/observations.csv', flags);
    expect(exported).not.toContain('limit 100');
  });

  test('uses the embedded sample if no data is named, and reports it', async () => {
    const text = await explainRequest(readSettings({ threads: '1' }, {}), '/api/v3/platforms/');
    expect(text).toContain('found 17 of 17 of the embedded sample: ');
  });

  test('uses the settings that a server would have', async () => {
    const request = '/api/v3/observations/?title__foo=1&limit=9&ob_id=3';
    expect(await explained(request, { filterErrors: 'empty', limitMax: '5' })).toEqual([
      expect.stringContaining(', limit 5'),
      '  nothing: a filter is wrong',
      expect.stringMatching(/^found 0 of 200: .*, 0 rows touched/),
      'in the serving thread',
    ]);
    expect((await explained(request, { filterErrors: 'ignore' })).at(-1)).toBe('ignored: title__foo');
  });
});

describe('a request that is not a list, or that a server would refuse', () => {
  test.each([
    [
      '/api/v3/observations/1/',
      '/api/v3/observations/1/ is no list, such as /api/v3/<collection>/; only lists have a plan',
    ],
    [
      '/api/v3/observation/',
      '/api/v3/observation/ is no list, such as /api/v3/<collection>/; only lists have a plan; ' +
        'did you mean /api/v3/observations/?',
    ],
    ['/api/v3/nothing/?a=1', '/api/v3/nothing/ is no list, such as /api/v3/<collection>/; only lists have a plan'],
    ['/api/v3/observations/?format=xml&ob_id=x', 'format: got "xml", want api, json, ndjson, csv or parquet'],
    [
      '/api/v3/observations/?title__foo=1&after=x',
      'title__foo: "foo" lookup is not supported Lookups that fit: exact, in, isnull, gt, gte, lt, lte, range, contains, ' +
        'startswith, endswith, iexact, icontains, istartswith, iendswith, regex, iregex.\nafter: Enter a whole number.',
    ],
    ['/api/v3/observations/?strict=1&titel=x', 'titel: Unknown parameter. Did you mean "title"?'],
  ])('is refused: %s', async (request, message) => {
    expect(await refusalOf(request)).toBe(message);
  });
});
