// Rows as bodies: every form of every selection against plain string replacement, read from random offsets.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SPEC_LINK_END, type ServedForm } from '../../../../engine/column/served.ts';
import { copying } from '../../../../engine/page/rewrite.ts';
import { pageBody, rowsBody } from '../../../../engine/page/rows.ts';
import type { Selection } from '../../../../engine/index/rowset.ts';
import { expectBody, rowsOf, servedRecord, textOf } from '../../../support/pages.ts';
import { recordsOf } from '../../../support/records.ts';
import { times } from '../../../support/ring.ts';

const STORED = 'http://localhost:8080';
const AS_STORED: ServedForm = { baseUrl: STORED, version: 'v3', linkEnd: SPEC_LINK_END };

/** The twin: each record's own URLs rewritten as strings. */
function naive(texts: readonly string[], rows: readonly number[], form: ServedForm): string {
  return rows.map((row) => servedRecord(texts[row]!, form)).join(',');
}

const ownPath = fc.constantFrom(
  '/api/v3/platforms/30/?format=api',
  '/api/v3/observations/7/?format=api',
  '/api/v3/observations/?format=api',
  '/api/v3/times/12/',
  '/api/v3/times/12/?format=api&x=1',
  '/api/v3//12/?format=api',
  '/api/v2/times/1/?format=api',
  '/api/v3/',
  '/browse/',
  '',
);
const value = fc.oneof(
  ownPath.map((path) => JSON.stringify(`{base_url}${path}`)),
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => JSON.stringify(text.toWellFormed())),
  fc.constantFrom('"say \\"{base_url}/api/v3/times/1/?format=api\\""', '" {base_url}"', 'null', '[]', '1e400'),
  fc.integer({ min: 0, max: 60 }).map((n) => JSON.stringify('å'.repeat(n))),
);
const record = fc.array(value, { maxLength: 6 }).map((values) => `{"ob_id":1,"values":[${values.join(',')}]}`);
const form = fc.record<ServedForm>({
  baseUrl: fc.constantFrom(STORED, 'https://a.example', 'https://catalogue.example.org/a/long/prefix', 'x:'),
  version: fc.constantFrom('v2', 'v3'),
  linkEnd: fc.constantFrom(SPEC_LINK_END, '/?format=json', '.json', '.json?format=json', '/'),
});
const page = fc
  .record({ texts: fc.array(record, { minLength: 1, maxLength: 30 }), chunkRows: fc.integer({ min: 1, max: 31 }) })
  .chain(({ texts, chunkRows }) => {
    const row = fc.integer({ min: 0, max: texts.length - 1 });
    const range = fc.tuple(row, row).map(([a, b]): Selection => ({
      kind: 'range',
      start: Math.min(a, b),
      end: Math.max(a, b) + 1,
    }));
    const list = fc
      .uniqueArray(row, { minLength: 1 })
      .map((rows): Selection => ({ kind: 'list', rows: Uint32Array.from(rows).sort() }));
    const sequence = fc
      .uniqueArray(row, { minLength: 1 })
      .map((rows): Selection => ({ kind: 'sequence', rows: Uint32Array.from(rows) }));
    return fc.record({
      texts: fc.constant(texts),
      chunkRows: fc.constant(chunkRows),
      selection: fc.oneof(range, list, sequence),
      form,
      jumps: fc.array(fc.nat(), { maxLength: 20 }),
    });
  });

describe('a body of rows', () => {
  test('equals the records rewritten as strings, from the start and from every random offset', () => {
    fc.assert(
      fc.property(page, ({ texts, chunkRows, selection, form, jumps }) => {
        const records = recordsOf(texts, STORED, chunkRows);
        const expected = naive(texts, rowsOf(selection), form);
        const body = rowsBody(records, selection, form);
        const other = rowsBody(records, { kind: 'range', start: 0, end: 1 }, { ...form, version: 'v2' });
        expectBody(body, expected, jumps, other);
      }),
      { numRuns: times(100, 1000) },
    );
  });

  test('of no rows is empty', () => {
    const records = recordsOf(['{}'], STORED);
    expect(rowsBody(records, { kind: 'range', start: 1, end: 1 }, AS_STORED).bytes).toBe(0);
    expect(rowsBody(records, { kind: 'list', rows: new Uint32Array(0) }, { ...AS_STORED, version: 'v2' }).bytes).toBe(
      0,
    );
  });

  test('of one row is the record without its comma', () => {
    const records = recordsOf(['{"ob_id":1}', '{"ob_id":2}'], STORED);
    expect(textOf(rowsBody(records, { kind: 'range', start: 0, end: 1 }, AS_STORED))).toBe('{"ob_id":1}');
  });
});

describe('neighbouring rows as stored', () => {
  const texts = Array.from(
    { length: 10 },
    (_, i) => `{"ob_id":${i},"platform":"{base_url}/api/v3/platforms/1/?format=api"}`,
  );

  test('are views of the stored memory, one a chunk, and copy nothing', () => {
    const records = recordsOf(texts, STORED, 4);
    const before = copying.bytes;
    const body = rowsBody(records, { kind: 'range', start: 2, end: 9 }, AS_STORED);
    let offset = 0;
    let pieces = 0;
    for (; offset < body.bytes; pieces++) {
      const piece = body.pieceAt(offset);
      expect(records.chunks.some((chunk) => chunk.bytes.buffer === piece.buffer)).toBe(true);
      offset += piece.length;
    }
    expect(pieces).toBe(3);
    expect(copying.bytes).toBe(before);
  });

  test('are views too when they come as a list', () => {
    const records = recordsOf(texts, STORED);
    const before = copying.bytes;
    const body = rowsBody(records, { kind: 'list', rows: Uint32Array.of(3, 4, 5) }, AS_STORED);
    expect(body.pieceAt(0).buffer).toBe(records.chunks[0]!.bytes.buffer);
    expect(copying.bytes).toBe(before);
  });
});

describe('gathered rows', () => {
  const texts = Array.from({ length: 400 }, (_, i) => `{"ob_id":${i},"title":"${'x'.repeat(4000)}"}`);
  const odd = Uint32Array.from({ length: 200 }, (_, i) => 2 * i + 1);

  test('are copied once however small the steps in which the body is read', () => {
    const body = rowsBody(recordsOf(texts, STORED), { kind: 'list', rows: odd }, AS_STORED);
    const before = copying.bytes;
    for (let offset = 0; offset < body.bytes; offset += Math.min(777, body.pieceAt(offset).length)) continue;
    expect(copying.bytes - before).toBeLessThanOrEqual(body.bytes + 1);
  });

  test('come in pieces of whole records that share one buffer', () => {
    const body = rowsBody(recordsOf(texts, STORED), { kind: 'list', rows: odd }, AS_STORED);
    const first = body.pieceAt(0);
    expect(first.length).toBeLessThan(body.bytes);
    expect(String.fromCharCode(first.at(-1)!)).toBe(',');
    expect(body.pieceAt(first.length).buffer).toBe(first.buffer);
  });

  test('may be larger than the buffer', () => {
    const large = `{"ob_id":1,"title":"${'y'.repeat(3_000_000)}"}`;
    const records = recordsOf([large, '{}', large], STORED);
    expect(textOf(rowsBody(records, { kind: 'list', rows: Uint32Array.of(0, 2) }, AS_STORED))).toBe(
      `${large},${large}`,
    );
  });
});

test('a page is head, rows and tail, restartable at any byte', () => {
  const rows = rowsBody(
    recordsOf(['{"ob_id":1}', '{"ob_id":2}'], STORED, 1),
    { kind: 'range', start: 0, end: 2 },
    AS_STORED,
  );
  const body = pageBody(Buffer.from('['), rows, Buffer.from(']}'));
  const expected = '[{"ob_id":1},{"ob_id":2}]}';
  expect(body.bytes).toBe(expected.length);
  for (let offset = 0; offset < expected.length; offset++) {
    const piece = Buffer.from(body.pieceAt(offset)).toString();
    expect(piece.length).toBeGreaterThan(0);
    expect(expected.startsWith(piece, offset)).toBe(true);
  }
});

test('a page of gathered rows ends with its tail in the same piece, and is restartable at any byte', () => {
  const texts = Array.from({ length: 9 }, (_, i) => `{"ob_id":${i}}`);
  const rows = rowsBody(recordsOf(texts, STORED, 4), { kind: 'list', rows: Uint32Array.of(1, 3, 6) }, AS_STORED);
  const other = rowsBody(recordsOf(texts, STORED), { kind: 'list', rows: Uint32Array.of(0, 2) }, AS_STORED);
  const body = pageBody(Buffer.from('['), rows, Buffer.from('],"facets":{}}'));
  const expected = '[{"ob_id":1},{"ob_id":3},{"ob_id":6}],"facets":{}}';
  expectBody(
    body,
    expected,
    Array.from({ length: expected.length }, (_, i) => i),
    other,
  );
  expect(Buffer.from(body.pieceAt(1)).toString()).toBe(expected.slice(1));
});
