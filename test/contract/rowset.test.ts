// One suite for every kind of row set, compared with a Set of numbers: all kinds give the same results.
import { describe, expect, test } from 'vitest';
import { makeBitmap } from '../../engine/bits/bitmap.ts';
import { compacted, ownBuffers, ownedBytes, ownedBytesMax } from '../../engine/index/footprint.ts';
import * as rowset from '../../engine/index/rowset.ts';
import type { RowSet } from '../../engine/index/rowset.ts';
import { randomOf, type Random } from '../support/random.ts';

interface Sample {
  readonly set: RowSet;
  readonly rows: readonly number[];
}

/** A random set of one kind over a table of `rows` rows, with the rows that it contains. */
const KINDS: Readonly<Record<RowSet['kind'], (random: Random, rows: number) => Sample>> = {
  range: (random, rows) => {
    const [one, other] = [random.integer(0, rows + 1), random.integer(0, rows + 1)];
    const [start, end] = random.chance(0.1) ? [0, rows] : [Math.min(one, other), Math.max(one, other)];
    const held = Array.from({ length: end - start }, (_, i) => start + i);
    return { set: { kind: 'range', start, end }, rows: held };
  },
  list: (random, rows) => {
    const held = someRows(random, rows);
    return { set: { kind: 'list', rows: Uint32Array.from(held) }, rows: held };
  },
  bitmap: (random, rows) => {
    const held = someRows(random, rows);
    return { set: rowset.ofBitmap(makeBitmap(Uint32Array.from(held), rows)), rows: held };
  },
  complement: (random, rows) => {
    const left = someRows(random, rows);
    const list = Uint32Array.from(left);
    const of = random.chance(0.5) ? ({ kind: 'list', rows: list } as const) : rowset.ofBitmap(makeBitmap(list, rows));
    const held = Array.from({ length: rows }, (_, row) => row).filter((row) => !left.includes(row));
    return { set: { kind: 'complement', of, rows }, rows: held };
  },
};
const NAMES = Object.keys(KINDS) as RowSet['kind'][];
const TABLES = [0, 1, 31, 32, 33, 64, 65, 100, 128, 1000];
const ROUNDS = 8;

function someRows(random: Random, rows: number): number[] {
  const part = random.pick([0, 0.01, 0.1, 0.5, 1]);
  return Array.from({ length: rows }, (_, row) => row).filter(() => random.chance(part));
}

/** Calls `check` with random sets over tables of all sizes. The message of a failure names seed and table. */
function each(seed: number, check: (random: Random, rows: number, where: string) => void): void {
  const random = randomOf(seed);
  for (const rows of TABLES) {
    for (let round = 0; round < ROUNDS; round++) check(random, rows, `seed ${seed}, table of ${rows}, round ${round}`);
  }
}

function rowsOf(set: RowSet): number[] {
  const rows: number[] = [];
  rowset.eachRow(set, (row) => rows.push(row));
  return rows;
}

/** Checks every invariant of a set's form, because queries rely on it. */
function expectSet(set: RowSet, expected: readonly number[], where: string): void {
  expect(rowsOf(set), where).toEqual(expected);
  expect(rowset.countRows(set), where).toBe(expected.length);
}

describe.each(NAMES)('a %s', (kind) => {
  test('contains its rows, ascending, and counts them', () => {
    each(1, (random, rows, where) => {
      const { set, rows: held } = KINDS[kind](random, rows);
      expectSet(set, held, where);
      const has = Array.from({ length: rows + 70 }, (_, row) => row).filter((row) => rowset.hasRow(set, row));
      expect(has, where).toEqual(held);
    });
  });

  test('has a complement with all other rows of the table', () => {
    each(2, (random, rows, where) => {
      const { set, rows: held } = KINDS[kind](random, rows);
      const others = Array.from({ length: rows }, (_, row) => row).filter((row) => !held.includes(row));
      expectSet(rowset.complement(set, rows), others, where);
    });
  });

  test('selects a page by rank, and nothing past the end', () => {
    each(3, (random, rows, where) => {
      const { set, rows: held } = KINDS[kind](random, rows);
      const [offset, limit] = [random.integer(0, rows + 3), random.pick([1, 2, 100, 999999999999999])];
      const page = rowset.select(set, offset, limit);
      expect(['range', 'list']).toContain(page.kind);
      expectSet(page, held.slice(offset, offset + limit), `${where}, offset ${offset}, limit ${limit}`);
    });
  });

  test('counts the rows below a given one, and returns all as a list', () => {
    each(10, (random, rows, where) => {
      const { set, rows: held } = KINDS[kind](random, rows);
      const row = random.integer(0, rows + 70);
      expect(rowset.rankOf(set, row), `${where}, row ${row}`).toBe(held.filter((each) => each < row).length);
      expect([...rowset.listed(set)], where).toEqual(held);
    });
  });

  test('equals its bitmap', () => {
    each(4, (random, rows, where) => {
      const { set, rows: held } = KINDS[kind](random, rows);
      expectSet(rowset.ofBitmap(rowset.asBitmap(set, rows)), held, where);
    });
  });

  test('equals its compact form, which has few bytes and transferable buffers', () => {
    each(10, (random, rows, where) => {
      const { set, rows: held } = KINDS[kind](random, rows);
      const compact = compacted(set, rows);
      expectSet(compact, held, where);
      expect(ownedBytes(compact), where).toBeLessThanOrEqual(ownedBytesMax(rows));
      const given = structuredClone(compact, { transfer: ownBuffers(compact) });
      expectSet(given, held, where);
    });
  });

  test.each(NAMES)('intersects with a %s', (other) => {
    each(5, (random, rows, where) => {
      const [a, b] = [KINDS[kind](random, rows), KINDS[other](random, rows)];
      const shared = a.rows.filter((row) => b.rows.includes(row));
      expectSet(rowset.intersect(a.set, b.set), shared, where);
      expect(rowset.countShared(a.set, b.set), where).toBe(shared.length);
    });
  });

  test.each(NAMES)('unites with a %s', (other) => {
    each(6, (random, rows, where) => {
      const [a, b] = [KINDS[kind](random, rows), KINDS[other](random, rows)];
      const all = [...new Set([...a.rows, ...b.rows])].sort((x, y) => x - y);
      expectSet(rowset.union([a.set, b.set], rows), all, where);
    });
  });
});

test('leaves the operands of operations unchanged', () => {
  each(7, (random, rows, where) => {
    const samples = NAMES.map((kind) => KINDS[kind](random, rows));
    rowset.union(
      samples.map(({ set }) => set),
      rows,
    );
    for (const { set } of samples) {
      for (const { set: other } of samples) rowset.intersect(set, other);
      rowset.complement(set, rows);
    }
    for (const { set, rows: held } of samples) expectSet(set, held, where);
  });
});

test('unites many sets, or none', () => {
  each(8, (random, rows, where) => {
    const samples = random.several(0, 6, () => KINDS[random.pick(NAMES)](random, rows));
    const all = [...new Set(samples.flatMap(({ rows: held }) => held))].sort((x, y) => x - y);
    const sets = samples.map(({ set }) => set);
    expectSet(rowset.union(sets, rows), all, where);
  });
});

test('negates to the other rows, and twice to the set itself', () => {
  const set = rowset.ofBitmap(makeBitmap(Uint32Array.of(1, 2, 500), 1000));
  const others = rowset.complement(set, 1000);
  expect(others).toEqual({ kind: 'complement', of: set, rows: 1000 });
  expect(rowset.complement(others, 1000)).toBe(set);
});

test('compacts few rows to a list, nearly all to the complement of one, and half of them to a bitmap', () => {
  const rows = 10_000;
  const kinds = [1, 2, 9999].map((step) => {
    const held = Uint32Array.from({ length: rows }, (_, row) => row).filter((row) => (row % step === 0) === step > 2);
    return [
      held.length,
      compacted({ kind: 'list', rows: held }, rows),
      compacted(rowset.ofBitmap(makeBitmap(held, rows)), rows),
    ];
  });
  const most = Uint32Array.from({ length: rows - 2 }, (_, i) => i + 1);
  expect(compacted({ kind: 'list', rows: most }, rows).kind).toBe('complement');
  expect(kinds.map(([count, list, bitmap]) => [count, (list as RowSet).kind, (bitmap as RowSet).kind])).toEqual([
    [0, 'list', 'list'],
    [5000, 'bitmap', 'bitmap'],
    [2, 'list', 'list'],
  ]);
});

test('does not copy views of shared memory for the compact form', () => {
  const list: RowSet = { kind: 'list', rows: new Uint32Array(new SharedArrayBuffer(400), 4, 2) };
  expect(compacted(list, 1000)).toBe(list);
  expect([ownedBytes(list), ownBuffers(list)]).toEqual([0, []]);
});

test('unites many ranges of few rows to a list', () => {
  const ranges = [5, 3, 9000, 3].map((row): RowSet => ({ kind: 'range', start: row, end: row + 1 }));
  expect(rowset.union(ranges, 10_000)).toEqual({ kind: 'list', rows: Uint32Array.of(3, 5, 9000) });
});

test('makes a set of an unordered list with each row once', () => {
  each(9, (random, rows, where) => {
    const list = Array.from({ length: rows === 0 ? 0 : random.integer(0, 40) }, () => random.integer(0, rows));
    const expected = [...new Set(list)].sort((x, y) => x - y);
    expectSet(rowset.rowSetOf(Uint32Array.from(list), rows), expected, where);
  });
});

test('makes sets of all rows of a table and of no rows', () => {
  expectSet(rowset.allRows(3), [0, 1, 2], 'all');
  expectSet(rowset.NO_ROWS, [], 'none');
});
