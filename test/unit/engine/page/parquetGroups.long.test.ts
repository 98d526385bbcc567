import { parquetMetadata } from 'hyparquet';
import { expect, test } from 'vitest';
import { SPEC_LINK_END } from '../../../../engine/column/served.ts';
import { parquetRows } from '../../../../engine/page/parquet.ts';
import { measured } from '../../../../engine/page/rows.ts';
import { recordsOf } from '../../../support/records.ts';

const ROWS = 140_000;
const STORED = 'http://localhost:8080';
const SERVED = {
  records: recordsOf(
    Array.from({ length: ROWS }, (_, i) => `{"ob_id":${i}}`),
    STORED,
  ),
  rows: { kind: 'range', start: 0, end: ROWS },
  form: { baseUrl: STORED, version: 'v3', linkEnd: SPEC_LINK_END },
  keys: undefined,
} as const;

/** The numbers of rows of the groups of a file with this many columns, all but the first empty. */
function groupsOf(columns: number): readonly number[] {
  const body = measured(
    parquetRows(
      SERVED,
      Array.from({ length: columns }, (_, i) => ({ key: i === 0 ? 'ob_id' : `k${i}`, kind: 'json' })),
    ),
  );
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < body.bytes; at += pieces.at(-1)!.length) pieces.push(body.pieceAt(at).slice());
  const { row_groups: groups } = parquetMetadata(Uint8Array.from(Buffer.concat(pieces)).buffer);
  return groups.map(({ num_rows: count }) => Number(count));
}

test('ends a row group after 131,072 rows', () => {
  const [first, second, ...others] = groupsOf(2);
  expect(others).toEqual([]);
  expect(first).toBeGreaterThanOrEqual(131_072);
  expect(first).toBeLessThan(131_072 + 4096);
  expect(first! + second!).toBe(ROWS);
});

test('makes the row groups of more than 64 columns larger, so that the footer does not grow with both', () => {
  expect(groupsOf(65)).toEqual([ROWS]);
});
