// The quick part of the hostile ring: some hundred hostile connections, a flood, and inputs of growing size, against a
// server that must keep working. test/load/fuzz.long.test.ts does the same for minutes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MEMBERS_MAX } from '../../engine/query/limits.ts';
import { isNamedIn } from '../../server/catalogue/conditional.ts';
import { codingOf, negotiate } from '../../server/catalogue/negotiate.ts';
import { route } from '../../server/catalogue/routes.ts';
import { holdingsOf, runServer } from '../support/commandProcess.ts';
import { dataSetOf, imported, temporaryDirectory } from '../support/dataSets.ts';
import {
  finalWords,
  fuzzBytes,
  fuzzRequests,
  leakedDescriptors,
  testimony,
  type Victim,
  flood,
} from '../support/fuzz.ts';
import { GROWTH_MAX, growthOf } from '../support/growth.ts';
import { indexOf } from '../support/index.ts';
import { askOf, foundAnyway } from '../support/lists.ts';
import { longProperties } from '../support/longProperties.ts';
import { randomOf, RUN_SEED } from '../support/random.ts';
import { RawSocket, requestOf } from '../support/rawSocket.ts';
import { IS_WHOLE } from '../support/ring.ts';
import { sampleSnapshot } from '../support/sampleSnapshot.ts';

const TRANSPORTS = ['uws', 'node'] as const;

describe.skipIf(process.platform !== 'linux')(`a server (seed ${RUN_SEED})`, () => {
  const directory = temporaryDirectory();
  let victim: Victim;
  let before: string;
  let descriptors: number;
  beforeAll(async () => {
    const data = dataSetOf(directory, { 'migrationproperties.ndjson': longProperties(60) });
    const { file } = await imported(data);
    const proxy = ['--trusted-proxy', '127.0.0.0/8', '--allow-base-url', 'http://b.example.org'];
    victim = await runServer(['--data', file, '--threads', '1', '--gzip', 'stored', ...proxy]);
    before = await testimony(victim);
    await flood(victim.port, 1);
    ({ descriptors } = holdingsOf(victim.pid));
  });
  afterAll(() => victim.kill());
  const portOf = (name: (typeof TRANSPORTS)[number]): number => (name === 'uws' ? victim.port : victim.http10Port);

  test('gives well-framed hostile requests the same response on both transports, and never a 5xx', async () => {
    expect(await fuzzRequests(victim, randomOf(RUN_SEED), 100)).toEqual([]);
  });

  const others = [
    ['--strict', '--filter-errors', 'ignore', '--links', 'request'],
    ['--filters', 'documented', '--filter-errors', 'empty', '--limit-max', '5', '--cors'],
  ];
  test.runIf(IS_WHOLE).each(others)('gives them the same response with %s %s too', async (...flags) => {
    const server = await runServer(['--data', await sampleSnapshot(), '--threads', '1', ...flags]);
    try {
      expect(await fuzzRequests(server, randomOf(RUN_SEED + 2), 50)).toEqual([]);
      expect(await finalWords(server)).toEqual({ code: 0, complaints: [] });
    } finally {
      await server.kill();
    }
  });

  test('survives bytes that are not requests', async () => {
    expect(await fuzzBytes(victim, randomOf(RUN_SEED + 1), { count: 250, leaves: true })).toEqual([]);
  });

  test.each(TRANSPORTS)('accepts a head of 60 kB and refuses one of 70 kB (%s)', async (name) => {
    for (const [bytes, status] of [
      [60_000, 200],
      [70_000, 431],
    ] as const) {
      const socket = await RawSocket.open(portOf(name));
      await socket.write(requestOf('GET', `/api/v3/?${'x'.repeat(bytes)}`));
      expect((await socket.answer())?.status).toBe(status);
      socket.vanish();
    }
  });

  test('responds as before, has closed every connection, and exits with 0 without complaints', async () => {
    expect(await testimony(victim)).toBe(before);
    expect(await leakedDescriptors(victim, descriptors)).toBe(0);
    expect(await finalWords(victim)).toEqual({ code: 0, complaints: [] });
  });
});

describe('the cost of a request grows no faster than its length', () => {
  const collection = indexOf('observations', [
    { ob_id: 1, title: 'a', permissions: [{ label: 'x' }], result_field: { volume: 3, oldDataPath: ['p'] } },
    { ob_id: 4, title: '{base_url}/x', dataPublishedTime: '2016-05-04', nonGeographicFlag: true },
  ]);
  const options = { isStrict: true, filterErrors: 'ignore' } as const;
  const answer = (query: string): number => foundAnyway(collection, query, { options }).hits.count;
  const FILLS = [
    '0',
    '1',
    '%30',
    ' ',
    ',',
    ';',
    '"',
    '/',
    '+',
    '%',
    '_',
    '__',
    'a__',
    '&a',
    '&title=',
    '=',
    'é',
    '!',
    '.',
  ];
  const TAILS = ['', 'x', '=1', '5x'];

  test.each(['limit=', 'offset=1', 'title__', 'title__in=', 'ob_id__in=1', 'title__contains=', 'dataPublishedTime='])(
    'for a query that starts with %s',
    (head) => {
      for (const fill of FILLS)
        for (const tail of TAILS) expect(growthOf(answer, { head, fill, tail })).toBeLessThan(GROWTH_MAX);
    },
  );

  test.each(['/', '/api/v3/observations/', '/api/v3/observations/1'])('for a path that starts with %s', (head) => {
    for (const fill of [...FILLS, '.json', '%20'])
      expect(growthOf(route, { head, fill, tail: 'x' })).toBeLessThan(GROWTH_MAX);
  });

  test('for an Accept header', () => {
    const judge = (accept: string): unknown =>
      negotiate({ accept, format: undefined, ending: undefined, mayExport: true });
    for (const head of ['', '"', 'a/', ';q', 'text/html;q="'])
      for (const fill of [...FILLS, 'a/b,', '*/*,', ';q=', ';q=1', '; q =', '\\"', '\t'])
        expect(growthOf(judge, { head, fill, tail: 'x' })).toBeLessThan(GROWTH_MAX);
  });

  test('for an Accept-Encoding header and a list of entity tags', () => {
    for (const head of ['', 'gzip', 'identity;q=0', '"'])
      for (const fill of [...FILLS, 'gzip,', '*,', ';q=', ';q=1', 'x-', '\\"', '\t', 'W/"a",'])
        for (const judge of [codingOf, (tags: string): unknown => isNamedIn(tags, 'a-b')])
          expect(growthOf(judge, { head, fill, tail: 'x' })).toBeLessThan(GROWTH_MAX);
  });

  test('for a list of the maximum length, of any values, and for a longer one', () => {
    const integers = Array.from({ length: MEMBERS_MAX - 1 }, (_, i) => i).join(',');
    expect(answer(`ob_id__in=${integers}`)).toBe(2);
    expect(answer(`ob_id__in!=${integers}`)).toBe(0);
    expect(answer(`title__in=${integers},a`)).toBe(1);
    expect(answer(`result_field__volume__in=${'9'.repeat(400)},${integers}`)).toBe(1);
    expect(answer(`dataPublishedTime__in=${'2016-05-04,'.repeat(MEMBERS_MAX - 1)}2016-05-04`)).toBe(1);
    const fail = (query: string): number =>
      askOf(collection, query, { ...options, filterErrors: 'fail' }).problems.length;
    expect(fail(`ob_id__in=${'x,'.repeat(MEMBERS_MAX - 1)}`)).toBe(1);
    expect(fail(`ob_id__in=${'1,'.repeat(MEMBERS_MAX)}`)).toBe(1);
    for (const fill of ['1,', 'x,', '1e9,', ',', '9007199254740993,', 'true,'])
      for (const head of ['ob_id__in=', 'title__in!=', 'nonGeographicFlag__in=', 'permissions__label__in='])
        expect(growthOf(answer, { head, fill, tail: '1' }, 200_000)).toBeLessThan(GROWTH_MAX);
  });
});
