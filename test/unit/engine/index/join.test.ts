// Joins through links against plain loops: both ways of finding codes, dangling links, ids written in two ways.
import { describe, expect, test } from 'vitest';
import type { FieldIndex } from '../../../../engine/index/field.ts';
import {
  codesLinkingTo,
  DANGLING,
  joinSteps,
  rowsLinkedFrom,
  rowsLinkingTo,
  targetsOf,
} from '../../../../engine/index/join.ts';
import { bitmapOf } from '../../../../engine/bits/bitmap.ts';
import { countRows, eachRow, ofBitmap, rowSetOf, type RowSet } from '../../../../engine/index/rowset.ts';
import type { Link } from '../../../../engine/index/table.ts';
import { idOfLink, indexesOf, type RecordValue } from '../../../support/index.ts';
import { randomOf, type Random } from '../../../support/random.ts';

function listOf(set: RowSet): readonly number[] {
  const rows: number[] = [];
  eachRow(set, (row) => rows.push(row));
  return rows;
}

/** The link `ipps.platform` over these ids, null for no link, and the platforms that there are. */
function linkBetween(ids: readonly (string | null)[], platforms: readonly number[]): { index: FieldIndex; link: Link } {
  const records: RecordValue[] = ids.map((id, i) => ({
    ob_id: i,
    platform: id === null ? null : `{base_url}/api/v3/platforms/${id}/?format=api`,
  }));
  const named = indexesOf({ ipps: records, platforms: platforms.map((id) => ({ ob_id: id })) });
  const node = named('ipps').members.get('platform');
  if (node?.kind !== 'values' || !node.link) throw new Error('ipps.platform is no link');
  return { index: node.index, link: node.link };
}

test('targets are rows of the records linked to, and nothing where there is none', () => {
  expect([...targetsOf(Float64Array.of(1, 4, 4, 7, 9), Float64Array.of(0, 4, 9))]).toEqual([
    DANGLING,
    1,
    1,
    DANGLING,
    2,
  ]);
  expect(targetsOf(Float64Array.of(), Float64Array.of(1))).toHaveLength(0);
  expect([...targetsOf(Float64Array.of(1), Float64Array.of())]).toEqual([DANGLING]);
});

describe.each([1, 2, 3, 4])('random links (seed %i)', (seed) => {
  const random = randomOf(seed);
  const platforms = [...new Set(random.several(50, 200, () => random.integer(0, 400)))].sort((a, b) => a - b);
  const ids = random.several(200, 600, () => randomLink(random));
  const { index, link } = linkBetween(ids, platforms);
  const targetOf = (row: number): number => (ids[row] === null ? -1 : platforms.indexOf(Number(ids[row])));

  test.each([
    ['few', 0.01],
    ['some', 0.2],
    ['all', 1],
  ])('point at %s rows from the codes that plain loops find, each kind of set alike', (_, part) => {
    const wanted = platforms.map((_id, row) => row).filter(() => random.chance(part));
    const list: RowSet = { kind: 'list', rows: Uint32Array.from(wanted) };
    const bitmap = ofBitmap(bitmapOf(Uint32Array.from(wanted), platforms.length));
    for (const isNullIncluded of [false, true]) {
      const rows = ids.flatMap((_id, row) => {
        const target = targetOf(row);
        return (target < 0 ? isNullIncluded : wanted.includes(target)) ? [row] : [];
      });
      const codes = [...new Set(rows.map((row) => index.codeAt(row)))].sort((a, b) => a - b);
      const hasNull = ids.includes(null);
      for (const set of [list, bitmap]) {
        const found = listOf(codesLinkingTo(index, link, set, isNullIncluded));
        expect(hasNull ? found : found.filter((code) => code < index.dictionary.size), `seed ${seed}`).toEqual(codes);
        const from = { kind: 'range', start: 0, end: ids.length } as const;
        expect(listOf(rowsLinkingTo(index, link, { from, linked: set, isNullIncluded }))).toEqual(rows);
      }
    }
  });

  test('lead from a few rows to the rows that plain loops find', () => {
    const from = rowSetOf(Uint32Array.from(random.several(0, 9, () => random.integer(0, ids.length))), ids.length);
    const expected = [...new Set(listOf(from).map(targetOf))].filter((row) => row >= 0).sort((a, b) => a - b);
    expect(listOf(rowsLinkedFrom(index, link, from)), `seed ${seed}`).toEqual(expected);
  });
});

function randomLink(random: Random): string | null {
  const id = String(random.integer(0, 400));
  return random.chance(0.1) ? null : random.chance(0.1) ? `0${id}` : id;
}

test('a join looks at no more codes than there are, and at few for few rows', () => {
  const { index, link } = linkBetween(
    Array.from({ length: 1000 }, (_, i) => String(i)),
    Array.from({ length: 1000 }, (_, i) => i),
  );
  expect(joinSteps(link, 1)).toBeLessThan(20);
  expect(joinSteps(link, 1000)).toBe(1000);
  expect(countRows(codesLinkingTo(index, link, { kind: 'range', start: 5, end: 6 }, false))).toBe(1);
  expect(idOfLink('{base_url}/api/v3/platforms/07/?format=api')).toBe('07');
});
