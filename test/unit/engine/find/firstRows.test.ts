// Pages found without the set of all rows, against plain loops over the records: near and deep, negated, null, dates
// that ascend with ids, and the requests that no walk is for.
import { describe, expect, test } from 'vitest';
import { listed } from '../../../../engine/index/rowset.ts';
import { newCounters, type Counters } from '../../../../engine/find/counters.ts';
import { findRows, hitsOf as hitsOfRows, walkedPage } from '../../../../engine/find/execute.ts';
import { explain, explained } from '../../../../engine/find/explain.ts';
import type { Plan } from '../../../../engine/find/plan.ts';
import { indexOf, type RecordValue } from '../../../support/index.ts';
import { hitsOf, idsIn, planOf as planIn } from '../../../support/lists.ts';
import { rowsOf } from '../../../support/pages.ts';
import { randomOf } from '../../../support/random.ts';

const SEED = 20_261_122;
const ROWS = 20_000;
const ROWS_A_DAY = 40;
const KEYS = ['{base_url}', '{base_url}/api/v3/x/', 'air', 'h', 'http://localhost:8080/', 'ice', 'land', 'ocean', ''];
const random = randomOf(SEED);

interface Property extends RecordValue {
  readonly id: number;
  readonly key: string;
  readonly value: string;
  readonly modified: string;
  readonly ob_ref: number | null;
}

const PROPERTIES: readonly Property[] = Array.from({ length: ROWS }, (_, i) => ({
  id: i * 3,
  key: random.pick(KEYS),
  value: `${random.pick('abcdef'.split(''))}${i}`,
  modified: new Date(Date.UTC(2000, 0, 1 + Math.floor(i / ROWS_A_DAY))).toISOString().slice(0, 10),
  ob_ref: random.chance(0.1) ? null : random.integer(0, 2000),
}));
const COLLECTION = indexOf('migrationproperties', PROPERTIES);

const LENIENT = { options: { filterErrors: 'empty' } } as const;

function planOf(query: string): Plan {
  return planIn(COLLECTION, query);
}

function served(text: string): string {
  return text.replace('{base_url}', 'http://localhost:8080');
}

type Truth = (property: Property) => boolean;

const known = (test: (ref: number) => boolean): Truth => {
  return ({ ob_ref: ref }) => ref !== null && test(ref);
};

/** Filters of one condition with what they mean: wide ones, and narrow ones whose postings are few. */
const FILTERS: readonly (readonly [query: string, truth: Truth])[] = [
  ['ob_ref__range=200,700', known((ref) => ref >= 200 && ref <= 700)],
  ['ob_ref__range!=200,700', ({ ob_ref: ref }) => ref === null || ref < 200 || ref > 700],
  ['ob_ref__gte=1500', known((ref) => ref >= 1500)],
  ['ob_ref__lt=1500', known((ref) => ref < 1500)],
  ['ob_ref__lt!=1500', ({ ob_ref: ref }) => ref === null || ref >= 1500],
  ['ob_ref__isnull=false', ({ ob_ref: ref }) => ref !== null],
  ['ob_ref__isnull!=false', ({ ob_ref: ref }) => ref === null],
  ['ob_ref__range=100,260', known((ref) => ref >= 100 && ref <= 260)],
  ['ob_ref__range!=100,260', ({ ob_ref: ref }) => ref === null || ref < 100 || ref > 260],
  ['ob_ref__range=100,130', known((ref) => ref >= 100 && ref <= 130)],
  [`ob_ref__in=${numbers(60, 30).join(',')}`, known((ref) => numbers(60, 30).includes(ref))],
  ['key__startswith=http://localhost:8080', ({ key }) => served(key).startsWith('http://localhost:8080')],
  ['key__startswith!=http://localhost:8080', ({ key }) => !served(key).startsWith('http://localhost:8080')],
  ['key__in=air,ice,land', ({ key }) => ['air', 'ice', 'land'].includes(key)],
  ['key__in!=air,ice,land', ({ key }) => !['air', 'ice', 'land'].includes(key)],
  ['value__startswith=a', ({ value }) => value.startsWith('a')],
  ['value__startswith=b1', ({ value }) => value.startsWith('b1')],
  ['value__range=a,c', ({ value }) => value >= 'a' && value <= 'c'],
  ['modified__lt=2000-06-01', ({ modified }) => modified < '2000-06-01'],
  ['modified__gte=2001-02-01', ({ modified }) => modified >= '2001-02-01'],
  ['modified__range=2000-03-01,2000-04-15', ({ modified }) => modified >= '2000-03-01' && modified <= '2000-04-15'],
  ['modified__range!=2000-03-01,2001-01-01', ({ modified }) => modified < '2000-03-01' || modified > '2001-01-01'],
];

function numbers(length: number, step: number): readonly number[] {
  return Array.from({ length }, (_, i) => i * step);
}

test(`near, deep, cut and empty pages of one condition are those of plain loops (seed ${SEED})`, () => {
  const ways = { codes: 0, postings: 0, 'given up': 0, none: 0 };
  for (const [filter, truth] of FILTERS) {
    const expected = PROPERTIES.filter(truth).map(({ id }) => id);
    const offsets = [0, 1, 99, expected.length - 1, expected.length, expected.length + 7, ROWS];
    const drawn = Array.from({ length: 60 }, () => Math.floor(expected.length * random.unit() ** 3));
    for (const offset of [...offsets, ...drawn]) {
      const limit = random.pick([1, 2, 30, 100, 1000, ROWS + 1]);
      const query = `${filter}&offset=${offset}&limit=${limit}`;
      const made = planOf(query);
      const walked = walkedPage(COLLECTION, made);
      ways[walked ? made.walk!.by : made.walk ? 'given up' : 'none']++;
      for (const found of [hitsOf(COLLECTION, query), ...(walked ? [walked] : [])]) {
        expect({ query, count: found.count, offset: found.offset }).toEqual({ query, count: expected.length, offset });
        expect(idsIn(COLLECTION, found), query).toEqual(expected.slice(offset, offset + limit));
      }
    }
  }
  for (const [way, times] of Object.entries(ways)) expect(times, way).toBeGreaterThan(10);
});

function workOf(query: string): { readonly counters: Counters; readonly isWalked: boolean } {
  const counters = newCounters();
  const made = planOf(query);
  const isWalked = walkedPage(COLLECTION, made, counters) !== undefined;
  return { counters, isWalked };
}

describe('a walk', () => {
  test('looks at about as many rows as it says, and at no posting', () => {
    for (const offset of [0, 200, 500]) {
      const query = `ob_ref__range=200,700&offset=${offset}`;
      const { counters, isWalked } = workOf(query);
      const { rows, rowsMax } = planOf(query).walk!;
      expect(isWalked).toBe(true);
      expect(counters).toEqual({ ...newCounters(), rowsTouched: expect.any(Number) });
      expect(counters.rowsTouched - 100).toBeGreaterThan(0.7 * rows);
      expect(counters.rowsTouched - 100).toBeLessThan(1.3 * rows);
      expect(rows).toBeLessThan(rowsMax);
    }
  });

  test('over few postings does the work that putting their set together is, at every offset', () => {
    const works = [0, 50, 200, 300].map((offset) => {
      const counters = newCounters();
      const query = `ob_ref__range=100,190&limit=20&offset=${offset}`;
      hitsOf(COLLECTION, query, { counters });
      return { by: planOf(query).walk?.by, counters };
    });
    expect(works.map(({ by }) => by)).toEqual(['postings', 'postings', undefined, undefined]);
    for (const { counters } of works) expect(counters).toEqual(works[0]!.counters);
  });

  test('is given up where the dates that are asked for begin far behind, after a bounded look, and the page is right', () => {
    const { counters, isWalked } = workOf('modified__gte=2001-02-01');
    const made = planOf('modified__gte=2001-02-01');
    expect(made.walk).toMatchObject({ by: 'codes', isNegated: false });
    expect(isWalked).toBe(false);
    expect(counters.rowsTouched).toBe(made.walk!.rowsMax);
    expect(counters.rowsTouched).toBeLessThanOrEqual(16_384);
    const set = findRows(COLLECTION, made)!;
    expect(hitsOf(COLLECTION, 'modified__gte=2001-02-01')).toEqual(hitsOfRows(COLLECTION, set, made));
    expect(listed(set).length).toBeGreaterThan(4096);
  });

  test('is shown by explain, with what is done where it is given up', () => {
    const made = planOf('ob_ref__gte=1000&limit=10');
    const { rows, rowsMax } = made.walk!;
    expect(explained(made).walk).toEqual({ by: 'codes', rows, rowsMax });
    expect(explain(made)).toContain(`\n  page among about ${rows} rows looked at, at most ${rowsMax}; else all rows\n`);
    expect(explain({ ...made, isHeavy: true })).toMatch(/ us, inline\n[^]*; else all rows in the pool\n/);
    expect(explained(planOf('ob_ref=5')).walk).toBeNull();
    expect(JSON.parse(JSON.stringify(made))).toEqual(made);
  });

  test.each([
    ['an order', 'ob_ref__gte=1000&ordering=-id'],
    ['an order backwards and forwards', 'ob_ref__gte=1000&ordering=key,-value'],
    ['facets', 'ob_ref__gte=1000&facets=key'],
    ['a page behind an id', 'ob_ref__gte=1000&after=7'],
    ['two conditions', 'ob_ref__gte=1000&key!=ice'],
    ['two negated conditions', 'ob_ref__gte!=1000&key!=ice'],
    ['a posting list', 'key=ice'],
    ['a search', 'value__contains=a'],
    ['more values than are counted', `ob_ref__in=${numbers(1999, 1).join(',')}`],
    ['an id', 'id__gte=3000'],
    ['no condition', ''],
    ['nothing', 'ob_ref__range=5,4'],
    ['a page that is most of the list', 'ob_ref__gte=1000&limit=9000'],
    ['a deep page', 'ob_ref__gte=1000&offset=9000'],
  ])('is not for %s', (_what, query) => {
    expect(planOf(query).walk).toBeUndefined();
  });

  test('is not for a list that a wrong filter makes empty', () => {
    const planned = planIn(COLLECTION, 'ob_ref__gte=1000&id=x', LENIENT);
    expect(planned).toMatchObject({ isEmpty: true, walk: undefined });
    expect(hitsOf(COLLECTION, 'ob_ref__gte=x', LENIENT)).toMatchObject({ count: 0 });
  });

  test('is not for a field of related rows, whose records would be shown as often as they match', () => {
    const rows = 9000;
    const collection = indexOf(
      'phenomona',
      Array.from({ length: rows }, (_, i) => ({
        ob_id: i,
        terms: [0, 1].map((n) => ({ ob_id: i * 2 + n, label: `l${(i * 7 + n) % 50}`, value: 'K', vocabulary: '' })),
      })),
    );
    const query = 'terms__label__startswith=l1&limit=5';
    const made = planIn(collection, query);
    expect(made.node.steps).toMatchObject([{ kind: 'table', steps: [{ access: 'code range' }] }]);
    expect(made.walk).toBeUndefined();
    expect([...rowsOf(hitsOf(collection, query).rows)]).toEqual(
      Array.from({ length: rows }, (_, i) => i)
        .filter((i) => [0, 1].some((n) => `l${(i * 7 + n) % 50}`.startsWith('l1')))
        .slice(0, 5),
    );
  });
});
