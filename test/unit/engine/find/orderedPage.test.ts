// Ordered pages compared with a plain sort, on tables large enough for every method, and their work.
import { beforeAll, describe, expect, test } from 'vitest';
import { newCounters, type Counters } from '../../../../engine/find/counters.ts';
import type { CollectionIndex } from '../../../../engine/index/table.ts';
import type { Collection } from '../../../../engine/schema/types.ts';
import { indexOfDeclared, type RecordValue } from '../../../support/index.ts';
import { hitsOf, idsIn } from '../../../support/lists.ts';
import { randomOf } from '../../../support/random.ts';

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

function found(things: CollectionIndex, query: string): { ids: readonly number[]; counters: Counters } {
  const counters = newCounters();
  const ids = idsIn(things, hitsOf(things, query, { mayIgnore: true, counters }));
  return { ids, counters };
}

interface Thing extends RecordValue {
  readonly ob_id: number;
  readonly name: string | null;
  readonly state: string | null;
  readonly size: number | null;
  readonly flag: boolean;
}

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

describe(`pages of ${ROWS} records (seed ${SEED})`, () => {
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

  test.each(ORDERS)('by %s are those of a sorted array, filtered or not', (order) => {
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
        expect(found(things, query).ids, query).toEqual(all.slice(from, from + limit));
      }
    }
  });

  test('by one key of all records read only the rows of the page, at every offset', () => {
    for (const order of ['name', '-name', 'size', '-ob_id']) {
      for (const offset of [0, 2000, 5900]) {
        const { counters } = found(things, `ordering=${order}&limit=50&offset=${offset}`);
        expect(counters).toEqual({ ...newCounters(), rowsTouched: 50 });
      }
    }
  });

  test('of a filtered order read all matching rows once, at every offset', () => {
    const matching = naive([], ({ flag }) => flag).length;
    for (const offset of [0, 700, 2000, 3900]) {
      const { counters } = found(things, `flag=true&ordering=-size&limit=50&offset=${offset}`);
      expect(counters.rowsOrdered).toBeGreaterThanOrEqual(matching);
      expect(counters.rowsOrdered).toBeLessThanOrEqual(matching + 50);
    }
  });
});
