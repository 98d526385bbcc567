// The order of texts as clients see them, compared with a plain sort in every form of own URLs, and the number of texts
// that it reads.
import { describe, expect, test, vi } from 'vitest';
import * as served from '../../../../engine/column/served.ts';
import { SPEC_LINK_END, type ServedForm } from '../../../../engine/column/served.ts';
import { Meter } from '../../../../engine/find/counters.ts';
import { servedText, valueOrder } from '../../../../engine/find/valueOrder.ts';
import { dictionaryOf, indexOf } from '../../../support/index.ts';
import { idsOf, planOf } from '../../../support/lists.ts';
import { RUN_SEED, randomOf } from '../../../support/random.ts';

const RESTS = ['', '/', '/a', '/uuid/b', '/api/v2/times/1/', '/api/v3/times/', '/api/v3/times/1', '/api/v3/times/1/!'];
const LINKS = [1, 12, 2].map((id) => `/api/v3/times/${id}/${SPEC_LINK_END.slice(1)}`);
const OWN = [...RESTS, ...LINKS, '/api/v3/times/1/a', '~', 'é'].map((rest) => `{base_url}${rest}`);
const OTHERS = [
  '',
  'a',
  'http:',
  'http://h',
  'http://h/a',
  'http://h/api/v3/times/1',
  'http://h!',
  'http://i',
  'zz',
  '|',
];

const FORMS: readonly ServedForm[] = ['http://h', 'http://h/api', 'zz', '{', '~'].flatMap((baseUrl) =>
  (['v3', 'v2'] as const).flatMap((version) =>
    [SPEC_LINK_END, '', '/', '/?a'].map((linkEnd) => ({ baseUrl, version, linkEnd })),
  ),
);

describe.each(FORMS)('texts of $version under $baseUrl, with links ending in "$linkEnd"', (form) => {
  test(`are ordered as they are served, and equal if they are served alike (seed ${RUN_SEED})`, () => {
    const random = randomOf(RUN_SEED);
    for (let round = 0; round < 20; round++) {
      const dictionary = dictionaryOf('text', random.shuffled([...OWN, ...OTHERS]).slice(0, random.integer(1, 20)));
      const codes = Array.from({ length: dictionary.size }, (_, code) => code);
      const texts = codes.map((code) => servedText(dictionary, code, form));
      const byText = (a: number, b: number): number => Buffer.compare(Buffer.from(texts[a]!), Buffer.from(texts[b]!));
      const expected = codes.toSorted((a, b) => byText(a, b) || a - b);
      const order = valueOrder(dictionary, form, new Meter());
      const ranked = [...codes, dictionary.size].map((rank) => order.codeOf(rank));
      expect(ranked.map((code) => texts[code])).toEqual([...expected.map((code) => texts[code]), undefined]);
      expect(ranked.map((code) => order.rankOf(code))).toEqual([...codes, dictionary.size]);
      for (let rank = 1; rank <= dictionary.size; rank++) {
        const [a, b] = [order.codeOf(rank - 1), order.codeOf(rank)];
        expect(order.isSame(a, b), `${texts[a]} and ${texts[b]}`).toBe(texts[a] === texts[b]);
      }
    }
  });
});

describe('own URLs that change in more than the base', () => {
  const url = (i: number): string => `{base_url}/api/v3/times/${i}/${SPEC_LINK_END.slice(1)}`;
  const form: ServedForm = { baseUrl: 'http://h', version: 'v2', linkEnd: SPEC_LINK_END };

  test('are written once each for the order, and paid for before', () => {
    const size = 3000;
    const dictionary = dictionaryOf('text', [
      ...Array.from({ length: size }, (_, i) => url(i)),
      'a',
      'http://h/b',
      'zz',
    ]);
    const looks = vi.spyOn(served, 'servedUrl');
    expect(() => valueOrder(dictionary, form, new Meter(1_000_000))).toThrow();
    expect(looks).not.toHaveBeenCalled();
    valueOrder(dictionary, form, new Meter());
    expect(looks.mock.calls.length).toBeLessThanOrEqual(size);
    looks.mockRestore();
  });

  test.each([
    'title__gt=a',
    'title__lte=z',
    'title__range=a,z',
    'title__startswith=http://h/api/v2/times/2',
    'title__gt!=a',
  ])('are read for ?%s when the list is found, not when it is planned', (query) => {
    const computations = indexOf(
      'computations',
      Array.from({ length: 400 }, (_, i) => ({ ob_id: i, title: url(i) })),
    );
    const looks = vi.spyOn(served, 'servedUrl');
    planOf(computations, query, { form });
    expect(looks.mock.calls.length).toBeLessThan(40);
    looks.mockRestore();
    const asStored = idsOf(computations, query.replace('v2', 'v3'), { form: { ...form, version: 'v3' } });
    expect(idsOf(computations, query, { form })).toEqual(asStored);
  });
});
