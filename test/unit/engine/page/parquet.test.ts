// Parquet files as bodies: the same bytes from every offset, bounded pages and groups, and the entries of the footer.
// test/contract/parquetReaders.long.test.ts reads such files with other libraries.
import assert from 'node:assert/strict';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import { INFERRED_MAX } from '../../../../data/import/shape.ts';
import { loadSnapshot } from '../../../../data/store/load.ts';
import { type ServedForm, SPEC_LINK_END } from '../../../../engine/column/served.ts';
import type { Body } from '../../../../engine/page/envelope.ts';
import { parquetRows } from '../../../../engine/page/parquet.ts';
import { typedColumns } from '../../../../engine/page/parquetColumns.ts';
import { measured, type ServedRows } from '../../../../engine/page/rows.ts';
import { rowsBody } from '../../../../bench/processes/bodies.ts';
import { openSnapshot } from '../../../../engine/snapshot/open.ts';
import { dataSetOf, imported, ndjsonOf, temporaryDirectory } from '../../../support/dataSets.ts';
import { indexOf } from '../../../support/index.ts';
import { bytesOf } from '../../../support/pages.ts';
import { randomOf } from '../../../support/random.ts';
import { recordsOf, collectionOf } from '../../../support/records.ts';

const SCRATCH = temporaryDirectory();
const STORED = 'http://localhost:8080';
const AS_STORED: ServedForm = { baseUrl: STORED, version: 'v3', linkEnd: SPEC_LINK_END };

const text = (id: number, length: number): string =>
  randomText(id)
    .repeat(Math.ceil(length / 16))
    .slice(0, length);
const randomText = (id: number): string =>
  Array.from({ length: 16 }, (_, i) => 'abcdefgh'[(id * 7 + i * i) % 8]).join('');

/** Rows of a collection of these texts, in one chunk of records. */
function servedOf(texts: readonly string[]): { served: ServedRows; columns: ReturnType<typeof typedColumns> } {
  const collection = collectionOf('observations', texts, STORED);
  const records = recordsOf(texts, STORED);
  const rows = { kind: 'range', start: 0, end: texts.length } as const;
  return { served: { records, rows, form: AS_STORED, keys: undefined }, columns: typedColumns(collection, undefined) };
}

function slicesOf(measuring: () => Body | undefined): { slices: number; body: Body } {
  for (let slices = 1; ; slices++) {
    const body = measuring();
    if (body) return { slices, body };
  }
}

const metadataOf = (bytes: Buffer): ReturnType<typeof parquetMetadata> =>
  parquetMetadata(Uint8Array.from(bytes).buffer);

describe('a Parquet body', () => {
  const texts = Array.from(
    { length: 900 },
    (_, i) => `{"ob_id":${i},"title":"${text(i, i === 500 ? 1 << 20 : (i * 37) % 3000)}","permissions":[${i}]}`,
  );
  const { served, columns } = servedOf(texts);
  const { slices, body } = slicesOf(parquetRows(served, columns));
  const whole = bytesOf(body);

  test('has the same bytes from every offset, whatever was made in between', () => {
    expect(whole.length).toBe(body.bytes);
    const random = randomOf(1);
    for (let i = 0; i < 300; i++) {
      const offset = random.integer(0, whole.length);
      if (random.chance(0.5)) rowsBody(served.records, served.rows, { ...AS_STORED, version: 'v2' }).pieceAt(0);
      const piece = body.pieceAt(offset);
      expect(piece.length).toBeGreaterThan(0);
      expect(whole.subarray(offset, offset + piece.length).equals(piece), `at ${offset}`).toBe(true);
    }
    expect(bytesOf(measured(parquetRows(served, columns))).equals(whole)).toBe(true);
  });

  test('is measured a page a slice, and at once if all pages are small', () => {
    expect(slices).toBeGreaterThan(28);
    expect(slices).toBeLessThan(42);
    const few = servedOf(texts.slice(0, 15));
    expect(slicesOf(parquetRows(few.served, few.columns)).slices).toBe(1);
  });

  test('has a footer with the positions of columns and the range of their numbers', () => {
    const { row_groups: groups, num_rows: rows, schema } = metadataOf(whole);
    expect(rows).toBe(900n);
    expect(schema.map(({ name, type }) => [name, type])).toContainEqual(['ob_id', 'INT64']);
    expect(groups).toHaveLength(1);
    const chunks = groups[0]!.columns.map((column) => column.meta_data!);
    expect(chunks[0]).toMatchObject({
      num_values: 900n,
      statistics: { null_count: 0n, min_value: 0n, max_value: 899n },
    });
    let end = 4n;
    for (const { data_page_offset: start, total_compressed_size: size } of chunks) {
      expect(start).toBe(end);
      end += size;
    }
    expect(end).toBeLessThan(BigInt(whole.length));
  });
});

describe('a Parquet column of numbers', () => {
  const many = Object.fromEntries(Array.from({ length: INFERRED_MAX + 1 }, (_, i) => [`key${i}`, i]));

  /** The kinds of the columns of a collection imported from these records, and the rows of its file. */
  async function exported(
    name: string,
    ...records: object[]
  ): Promise<{ kinds: Readonly<Record<string, string>>; rows: readonly Readonly<Record<string, unknown>>[] }> {
    const { file } = await imported(dataSetOf(SCRATCH, { [`${name}.ndjson`]: ndjsonOf(...records) }));
    const collection = openSnapshot(await loadSnapshot(file, { baseUrl: STORED })).collection(name);
    const columns = typedColumns(collection, undefined);
    const rows = { kind: 'range', start: 0, end: collection.rows } as const;
    const served = { records: collection.records, rows, form: AS_STORED, keys: undefined };
    const bytes = bytesOf(measured(parquetRows(served, columns)));
    return {
      kinds: Object.fromEntries(columns.map(({ key, kind }) => [key, kind])),
      rows: await parquetReadObjects({ file: Uint8Array.from(bytes).buffer }),
    };
  }

  test('is null for a value that does not fit, and a column of texts has it as served', async () => {
    const values = [5, '5', 'a text that is long', 1.5, 1234567890123.25, 1e30, [1, 2], [], { a: 1 }, true, null];
    const records = values.map((value, i) => ({ ob_id: i, volume: value, dataPath: value, ...many }));
    const results = await exported('results', ...records);
    expect(results.kinds).toMatchObject({ volume: 'integer', dataPath: 'text' });
    expect(results.rows.map(({ volume }) => volume)).toEqual([5n, ...values.slice(1).map(() => null)]);
    const texts = values.map((value) => (typeof value === 'string' ? value : value && JSON.stringify(value)));
    expect(results.rows.map(({ dataPath }) => dataPath)).toEqual(texts);
    const boxes = await exported('bboxes', ...values.map((value, i) => ({ ob_id: i, eastBoundLongitude: value })));
    expect(boxes.kinds).toMatchObject({ eastBoundLongitude: 'float' });
    const numbers = values.map((value) => (typeof value === 'number' ? value : null));
    expect(boxes.rows.map(({ eastBoundLongitude }) => eastBoundLongitude)).toEqual(numbers);
  });

  test('is a text column if one of its numbers has a text that is not a number, as in a forged file only', () => {
    const collection = indexOf('migrationproperties', [{ id: 1, ob_ref: 3 }]);
    const member = collection.members.get('ob_ref');
    assert(member?.kind === 'values');
    for (const text of ['x', '9'.repeat(40)]) {
      const dictionary = { ...member.index.dictionary, text: Buffer.from(text), ends: Uint32Array.of(text.length) };
      const forged = { ...member, index: { ...member.index, dictionary } };
      const members = new Map([...collection.members, ['ob_ref', forged] as const]);
      const columns = typedColumns({ ...collection, members }, undefined);
      expect(columns.find(({ key }) => key === 'ob_ref')?.kind).toBe('text');
    }
  });

  test('keeps its declared type if no record has a value', async () => {
    const properties = await exported('migrationproperties', { id: 1, ...many }, { id: 2 });
    expect(properties.kinds).toMatchObject({ id: 'integer', ob_ref: 'integer' });
    expect(properties.rows).toMatchObject([
      { id: 1n, ob_ref: null },
      { id: 2n, ob_ref: null },
    ]);
  });
});
