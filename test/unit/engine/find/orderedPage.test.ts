// Ordered pages against a plain sort, on tables large enough for every way to find one, and the work that they do.
import { beforeAll, describe, expect, test } from 'vitest';
import { Meter, newCounters, type Counters } from '../../../../engine/find/counters.ts';
import { orderedPage } from '../../../../engine/find/orderedPage.ts';
import { NO_ROWS } from '../../../../engine/index/rowset.ts';
import type { CollectionIndex } from '../../../../engine/index/table.ts';
import type { Collection } from '../../../../engine/schema/types.ts';
import { indexOfDeclared, type RecordValue } from '../../../support/index.ts';
import { hitsOf, idsIn } from '../../../support/lists.ts';
import { randomOf } from '../../../support/random.ts';

const BASE_URL = 'http://h';
const THINGS: Collection = {
  name: 'things',
  documentedPath: 'things',
  title: 'Things',
  versions: ['v3'],
  idField: 'ob_id',
  open: false,
  fields: [
    { kind: 'scalar', name: 'ob_id', type: 'integer', nullable: false },
    { kind: 'scalar', name: 'name', type: 'text', nullable: true },
    { kind: 'scalar', name: 'state', type: 'text', nullable: true },
    { kind: 'scalar', name: 'size', type: 'float', nullable: true },
    { kind: 'scalar', name: 'time', type: 'dateTime', nullable: true },
    { kind: 'scalar', name: 'flag', type: 'boolean', nullable: false },
  ],
  filters: [],
  source: '',
};

function found(
  things: CollectionIndex,
  query: string,
  baseUrl = BASE_URL,
): { ids: readonly number[]; counters: Counters } {
  const counters = newCounters();
  const differing = { form: { baseUrl }, mayIgnore: true };
  const ids = idsIn(things, hitsOf(things, query, { ...differing, counters }));
  return { ids, counters };
}

function ordered(things: CollectionIndex, query: string, baseUrl = BASE_URL): readonly number[] {
  return found(things, query, baseUrl).ids;
}

interface Thing extends RecordValue {
  readonly ob_id: number;
  readonly name: string | null;
  readonly state: string | null;
  readonly size: number | null;
  readonly flag: boolean;
}

test('an empty list has nothing put in order', () => {
  const untouched = new Proxy({} as CollectionIndex, { get: () => expect.unreachable() });
  const page = { order: [{ path: ['name'], isDescending: false }], offset: 0, limit: 10 };
  const ordering = { form: { baseUrl: BASE_URL } as never, meter: new Meter() };
  expect(orderedPage(untouched, NO_ROWS, page as never, ordering)).toEqual({
    kind: 'sequence',
    rows: new Uint32Array(0),
  });
});

const ROWS = 6000;
const SEED = 11;
const random = randomOf(SEED);
const RECORDS: readonly Thing[] = Array.from({ length: ROWS }, (_, i) => ({
  ob_id: i * 3,
  name: random.chance(0.05) ? null : `n${random.integer(0, 4000)}`,
  state: random.pick(['final', 'ongoing', 'ongoing', 'ongoing', null]),
  size: random.chance(0.1) ? null : random.integer(-40, 40),
  flag: random.chance(0.7),
}));

describe(`of ${ROWS} records (seed ${SEED})`, () => {
  let things: CollectionIndex;
  beforeAll(() => {
    things = indexOfDeclared(THINGS, RECORDS);
  });

  function naive(names: readonly string[], keep: (thing: Thing) => boolean): number[] {
    const sorted = RECORDS.filter(keep).toSorted((a, b) => {
      for (const name of names) {
        const key = name.replace('-', '');
        const sign = name.startsWith('-') ? -1 : 1;
        const [first, second] = [a[key], b[key]] as (string | number | boolean | null)[];
        if (first === second) continue;
        if (first === null || second === null) return first === null ? sign : -sign;
        return first! < second! ? -sign : sign;
      }
      return a.ob_id - b.ob_id;
    });
    return sorted.map((thing) => thing.ob_id);
  }

  const FILTERS: readonly (readonly [query: string, keep: (thing: Thing) => boolean])[] = [
    ['', () => true],
    ['&flag=true', ({ flag }) => flag],
    ['&state=final', ({ state }) => state === 'final'],
    ['&state!=final', ({ state }) => state !== 'final'],
    ['&size=7', ({ size }) => size === 7],
  ];
  const ORDERS = ['name', '-name', 'state', '-state,-name', 'flag,state,-size', '-size,name', 'size,-ob_id', '-ob_id'];

  test.each(ORDERS)('pages by %s are those of a sorted array, filtered or not', (order) => {
    for (const [filter, keep] of FILTERS) {
      const all = naive(order.split(','), keep);
      for (const [offset, limit] of [
        [0, 20],
        [1, 1],
        [1300, 700],
        [all.length - 5, 20],
        [3000, 1],
        [0, ROWS],
        [ROWS + 1, 3],
      ] as const) {
        const from = Math.max(0, offset);
        const query = `ordering=${order}${filter}&offset=${from}&limit=${limit}`;
        expect(ordered(things, query), query).toEqual(all.slice(from, from + limit));
      }
    }
  });

  test('an order by one key of all records looks at no row but those of the page, at every offset', () => {
    for (const order of ['name', '-name', 'size', '-ob_id']) {
      for (const offset of [0, 2000, 5900]) {
        const { counters } = found(things, `ordering=${order}&limit=50&offset=${offset}`);
        expect(counters).toEqual({ ...newCounters(), rowsTouched: 50 });
      }
    }
  });

  test('a filtered order looks at all rows found once, at every offset', () => {
    const matching = naive([], ({ flag }) => flag).length;
    for (const offset of [0, 700, 2000, 3900]) {
      const { counters } = found(things, `flag=true&ordering=-size&limit=50&offset=${offset}`);
      expect(counters.rowsOrdered).toBeGreaterThanOrEqual(matching);
      expect(counters.rowsOrdered).toBeLessThanOrEqual(matching + 50);
    }
  });
});

describe('values', () => {
  const things = indexOfDeclared(THINGS, [
    { ob_id: 1, name: '{base_url}/b', size: 5, time: '2015-01-02T03:04:05Z', flag: true },
    { ob_id: 2, name: 'http://h/a', size: null, time: 'yesterday', flag: false },
    { ob_id: 3, name: 'http://h/b', size: 4, time: '2015-01-02T04:04:05+01:00', flag: true },
    { ob_id: 4, name: 'http://h/c', size: -1, time: '9999-01-01T00:00:00.000002Z', flag: false },
    { ob_id: 5, name: 'z', size: 4, time: '9999-01-01T01:00:00.000001+01:00', flag: true },
    { ob_id: 6, name: null, size: 5, time: null, flag: false },
  ]);

  test.each([
    ['name', [2, 1, 3, 4, 5, 6]],
    ['-name', [6, 5, 4, 1, 3, 2]],
    ['name,-ob_id', [2, 3, 1, 4, 5, 6]],
    ['size', [4, 3, 5, 1, 6, 2]],
    ['-size', [2, 1, 6, 3, 5, 4]],
    ['time', [1, 3, 5, 4, 2, 6]],
    ['-time', [2, 6, 4, 5, 1, 3]],
    ['time,-ob_id', [3, 1, 5, 4, 6, 2]],
    ['flag,-size', [2, 6, 4, 1, 3, 5]],
    ['-ob_id,name', [6, 5, 4, 3, 2, 1]],
    ['ob_id,-name', [1, 2, 3, 4, 5, 6]],
    ['foo', [1, 2, 3, 4, 5, 6]],
  ])('by %s stand as %j: texts as served, instants exactly, misfits and nulls at the end, ties by id', (order, ids) => {
    expect(ordered(things, `ordering=${order}`)).toEqual(ids);
  });

  test('that are own URLs stand where the form of the request puts them', () => {
    expect(ordered(things, 'ordering=name', 'zz')).toEqual([2, 3, 4, 5, 1, 6]);
  });
});

test('values written in several ways are one, however many records have them', () => {
  const declared: Collection = {
    ...THINGS,
    fields: [...THINGS.fields.slice(0, 1), { kind: 'scalar', name: 'time', type: 'date', nullable: true }],
  };
  const spellings = ['2015-01-02', '2015-01-02T00:00:00Z', '2015-01-02T01:00:00+01:00', '2016-01-01'];
  const records = Array.from({ length: 4000 }, (_, i) => ({ ob_id: i, time: spellings[i % 4]! }));
  const many = indexOfDeclared(declared, records);
  const byTime = [...records.filter(({ ob_id }) => ob_id % 4 < 3), ...records.filter(({ ob_id }) => ob_id % 4 === 3)];
  const ids = byTime.map(({ ob_id }) => ob_id);
  for (const [query, from] of [
    ['', 0],
    ['&offset=10', 10],
    ['&offset=2990&limit=30', 2990],
  ] as const) {
    expect(ordered(many, `ordering=time${query}`)).toEqual(
      ids.slice(from, from + (query.includes('limit') ? 30 : 100)),
    );
    expect(ordered(many, `ordering=time&ob_id!=4001${query}`)).toEqual(ordered(many, `ordering=time${query}`));
  }
  expect(ordered(many, 'ordering=-time&limit=4000').slice(1000)).toEqual(ids.slice(0, 3000));
  expect(ordered(many, 'ordering=time,-ob_id&limit=2')).toEqual([3998, 3997]);
});
