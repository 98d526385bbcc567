import { expect, test } from 'vitest';
import { browserOf, textsOf } from '../../../../support/htmlPages.ts';
import { collectionOf } from '../../../../support/records.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY } from '../../../../support/smallCatalogue.ts';

const LIST = '/browse/observations/';

/** A browser of one observation, with an id and these members. */
const browserWith = (members: string): ReturnType<typeof browserOf> => {
  const of = (name: string) => collectionOf(name, name === 'observations' ? [`{"ob_id":1,${members}}`] : [], BASE_URL);
  return browserOf(handlerWith(NEVER_HEAVY, {}, of));
};

const NUMBERS = ['9007199254740993', '2.50', '1e400', '-0', '0.0000001', '1E2', '12', '2.5', '-7'];

test('shows numbers as they are written, in any place', async () => {
  const list = `"keywords":[${NUMBERS.join()}]`;
  const record = `"abstract":{${NUMBERS.map((number, i) => `"n${i}":${number}`).join()}}`;
  const { pageAt } = browserWith(`${list},${record},"language":2.50,"title":"v2.50","status":null`);
  const page = await pageAt(`${LIST}1/`);
  expect(textsOf(page, 'dl.record .members li')).toEqual(NUMBERS);
  expect(textsOf(page, 'dl.record dl.inner dd')).toEqual(NUMBERS);
  expect(textsOf(page, 'dl.record > div > dd').slice(3)).toEqual(['2.50', 'v2.50', 'null']);
  const table = await pageAt(`${LIST}?fields=keywords,abstract,language,title,status`);
  expect(textsOf(table, 'tbody th, tbody td')).toEqual([
    'v2.50',
    '9007199254740993, 2.50, 1e400 +6',
    NUMBERS.map((number, i) => `n${i} ${number}`).join(', '),
    '2.50',
    'null',
  ]);
});

test('shows nested lists in a cell to a depth', async () => {
  const [few, many] = [6, 60].map((depth) => `${'['.repeat(depth)}1${']'.repeat(depth)}`);
  const { pageAt } = browserWith(`"language":${few},"keywords":${many},"abstract":[]`);
  expect(textsOf(await pageAt(`${LIST}?fields=language,keywords,abstract`), 'tbody td')).toEqual(['1', '…', 'none']);
});

test.each([
  ['2020-01-02T10:00:00', '2020-01-02 10:00:00'],
  ['2020-01-02T10:00:00Z', '2020-01-02 10:00:00Z'],
  ['2020-01-02T10:00:00.25+05:30', '2020-01-02 10:00:00+05:30'],
  ['2020-01-02T10:00:00-08:00', '2020-01-02 10:00:00-08:00'],
  ['2020-01-02', '2020-01-02'],
  ['2020-01-02T10:00:00 or later', '2020-01-02T10:00:00 or later'],
])('shows the time %s as %s in a cell', async (text, shown) => {
  const page = await browserWith(`"keywords":"${text}"`).pageAt(`${LIST}?fields=keywords`);
  expect(textsOf(page, 'tbody td')).toEqual([shown]);
});

test('shows the time of the data with its zone below every page', async () => {
  expect(textsOf(await browserWith('"title":"a"').pageAt(LIST), '.foot time')).toEqual(['2024-01-01 00:00:00Z']);
});
