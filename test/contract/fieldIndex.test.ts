// One suite for every kind of field index, compared with the plain list of codes by row: ids, posting lists, dense
// bitmaps.
import { describe, expect, test } from 'vitest';
import { type Dictionary, textAt } from '../../engine/column/dictionary.ts';
import { type FieldIndex, identityIndex, invertedIndex } from '../../engine/index/field.ts';
import { invert } from '../../engine/index/invert.ts';
import { countRows, eachRow } from '../../engine/index/rowset.ts';
import { type Random, randomOf } from '../support/random.ts';

interface Sample {
  readonly index: FieldIndex;
  readonly size: number;
  readonly codes: readonly number[];
}

/** Values `00000` to `size - 1`: the contract is about codes, the texts only have to differ. */
function dictionaryOf(size: number): Dictionary {
  const text = new TextEncoder().encode(
    Array.from({ length: size }, (_, code) => String(code).padStart(5, '0')).join(''),
  );
  return {
    type: 'text',
    size,
    fitting: size,
    text,
    ends: Uint32Array.from({ length: size }, (_, code) => (code + 1) * 5),
    numbers: undefined,
  };
}

function inverted(codes: readonly number[], size: number): Sample {
  return { index: invertedIndex(dictionaryOf(size), invert(Uint32Array.from(codes), size)), size, codes };
}

function codesOf(rows: number, draw: () => number): number[] {
  return Array.from({ length: rows }, draw);
}

/** Indexes over random codes; `size` is the code of null. */
const KINDS: Readonly<Record<string, (random: Random) => Sample>> = {
  'identity index': (random) => {
    const size = random.integer(0, 80);
    return { index: identityIndex(dictionaryOf(size)), size, codes: Array.from({ length: size }, (_, row) => row) };
  },
  'inverted index without bitmaps': (random) => {
    const rows = random.integer(400, 800);
    const size = rows;
    return inverted(
      codesOf(rows, () => random.integer(0, size + 1)),
      size,
    );
  },
  'inverted index of dense values': (random) => {
    const size = random.integer(1, 6);
    return inverted(
      codesOf(random.integer(0, 300), () => random.integer(0, size + 1)),
      size,
    );
  },
  'inverted index of dense and rare values': (random) => {
    const size = 200;
    const dense = random.several(1, 4, () => random.integer(0, size + 1));
    const draw = (): number => (random.chance(0.6) ? random.pick(dense) : random.integer(0, size + 1));
    return inverted(codesOf(500, draw), size);
  },
  'inverted index of one value': () =>
    inverted(
      codesOf(100, () => 0),
      1,
    ),
  'inverted index of nulls': () =>
    inverted(
      codesOf(100, () => 0),
      0,
    ),
};

describe.each(Object.entries(KINDS))('an %s', (_name, draw) => {
  const SEED = 20;
  const samples = Array.from({ length: 12 }, (_, round) => draw(randomOf(SEED + round)));

  test('knows the code of every row', () => {
    for (const [round, { index, codes }] of samples.entries()) {
      expect(index.rows).toBe(codes.length);
      expect(
        codes.map((_, row) => index.codeAt(row)),
        `seed ${SEED + round}`,
      ).toEqual(codes);
    }
  });

  test('returns the matching rows for every single code, including null', () => {
    for (const [round, { index, codes, size }] of samples.entries()) {
      for (let code = 0; code <= size; code++) {
        const expected = codes.flatMap((one, row) => (one === code ? [row] : []));
        expectRows(index, { start: code, end: code + 1 }, expected, `seed ${SEED + round}, code ${code}`);
      }
    }
  });

  test('returns the rows with a code in a range', () => {
    for (const [round, { index, codes, size }] of samples.entries()) {
      const random = randomOf(SEED + round);
      for (let i = 0; i < 40; i++) {
        const [start, end] = [random.integer(0, size + 2), random.integer(0, size + 2)];
        const expected = codes.flatMap((code, row) => (code >= start && code < end ? [row] : []));
        expectRows(index, { start, end }, expected, `seed ${SEED + round}, codes ${start} to ${end}`);
      }
    }
  });

  test('has its rows sorted by code, ascending within a code', () => {
    for (const { index, codes } of samples) {
      const sorted = codes.map((_, row) => row).sort((a, b) => codes[a]! - codes[b]! || a - b);
      expect(codes.map((_, place) => index.sortedRow(place))).toEqual(sorted);
    }
  });

  test('returns the same result for a repeated query', () => {
    for (const { index, size } of samples) {
      const all = { start: 0, end: size + 1 };
      expect(rowsOf(index, all)).toEqual(rowsOf(index, all));
      expect(countRows(index.rowsOf(all))).toBe(index.rows);
    }
  });
});

test('returns a bitmap for a frequent value, a list for a rare one, and a range for a value of all rows', () => {
  const kindOf = (codes: number[], code: number): string =>
    inverted(codes, 2).index.rowsOf({ start: code, end: code + 1 }).kind;
  const codes = Array.from({ length: 100 }, (_, row) => (row === 7 ? 1 : 0));
  expect([kindOf(codes, 0), kindOf(codes, 1), kindOf(codes.fill(0), 0)]).toEqual(['bitmap', 'list', 'range']);
});

test('keeps the dictionary that an index was made with', () => {
  const { index } = inverted([0, 1], 2);
  expect(new TextDecoder().decode(textAt(index.dictionary, 1))).toBe('00001');
});

function rowsOf(index: FieldIndex, codes: { start: number; end: number }): number[] {
  const rows: number[] = [];
  eachRow(index.rowsOf(codes), (row) => rows.push(row));
  return rows;
}

function expectRows(index: FieldIndex, codes: { start: number; end: number }, expected: number[], where: string): void {
  expect(rowsOf(index, codes), where).toEqual(expected);
  expect(index.countOf(codes), where).toBe(expected.length);
  expect(index.rowsGathered(codes), where).toBeLessThanOrEqual(Math.min(expected.length, index.rows - expected.length));
}
