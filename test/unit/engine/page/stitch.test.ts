// Stitched answers: whatever rows of whatever records, they decompress to the same bytes as the identity answer,
// checksum and length included, and every piece is at its place.
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHAINED_ROWS } from '../../../../engine/column/blocks.ts';
import { SPEC_LINK_END } from '../../../../engine/column/served.ts';
import type { Selection } from '../../../../engine/index/rowset.ts';
import type { Body } from '../../../../engine/page/envelope.ts';
import { copying } from '../../../../engine/page/rewrite.ts';
import { jsonRows, measured, ndjsonRows, pageBody } from '../../../../engine/page/rows.ts';
import { type GzipBody, stitchedBody, type Stitching, type StitchOrder } from '../../../../engine/page/stitch.ts';
import { recordBlocksOf } from '../../../support/blocks.ts';
import { recordsOf } from '../../../support/records.ts';

const STORED = 'http://localhost:8080';
const UTF8 = new TextEncoder();

function bytesOf(body: Body): Buffer {
  const pieces: Buffer[] = [];
  for (let offset = 0; offset < body.bytes; offset += pieces.at(-1)!.length)
    pieces.push(Buffer.from(body.pieceAt(offset)));
  return Buffer.concat(pieces);
}

function stitchedWhole(stitching: Stitching): GzipBody {
  for (;;) {
    const body = stitching();
    if (body) return body;
  }
}

function identityOf({ records, rows, head, tail, isLines }: StitchOrder): Buffer {
  const served = {
    records,
    rows,
    form: { baseUrl: STORED, version: 'v3', linkEnd: SPEC_LINK_END },
    keys: undefined,
  } as const;
  const body = measured(isLines ? ndjsonRows(served) : jsonRows(served));
  return bytesOf(head.length + tail.length === 0 ? body : pageBody(head, body, tail));
}

function expectSame(stitched: StitchOrder): GzipBody {
  const body = stitchedWhole(stitchedBody(stitched));
  const whole = bytesOf(body);
  const plain = gunzipSync(whole);
  expect(plain.equals(identityOf(stitched))).toBe(true);
  expect(body.plainBytes).toBe(plain.length);
  expect(whole.length).toBe(body.bytes);
  return body;
}

const word = fc.constantFrom(
  'ocean',
  'land',
  '},{"ob_id":',
  'é',
  'x'.repeat(400),
  '{base_url}/api/v3/times/1/?format=api',
  ',',
);
const record = fc
  .array(fc.oneof(word, fc.string({ unit: 'binary', maxLength: 30 })), { maxLength: 8 })
  .map((words) => JSON.stringify({ ob_id: 1, words: words.map((text) => text.toWellFormed()) }));
const edge = fc.oneof(fc.constant(''), fc.string({ unit: 'binary', maxLength: 300 }), fc.constant('h'.repeat(140_000)));
const page = fc
  .record({
    texts: fc.array(record, { minLength: 1, maxLength: 40 }),
    chunkRows: fc.integer({ min: 1, max: 41 }),
    head: edge,
    tail: edge,
    isLines: fc.boolean(),
    jumps: fc.array(fc.nat(), { maxLength: 10 }),
  })
  .chain((parts) => {
    const row = fc.integer({ min: 0, max: parts.texts.length - 1 });
    const range = fc.tuple(row, row).map(([a, b]): Selection => {
      return { kind: 'range', start: Math.min(a, b), end: Math.max(a, b) + 1 };
    });
    const some = fc.uniqueArray(row, { minLength: 1, maxLength: 40 });
    const list = some.map((rows): Selection => ({ kind: 'list', rows: Uint32Array.from(rows).sort() }));
    const most = some.map((gaps): Selection => {
      const rows = Uint32Array.from(parts.texts.keys()).filter((n) => !gaps.includes(n));
      return { kind: 'list', rows: rows.length > 0 ? rows : Uint32Array.of(0) };
    });
    const sequence = some.map((rows): Selection => ({ kind: 'sequence', rows: Uint32Array.from(rows) }));
    return fc.record({ parts: fc.constant(parts), rows: fc.oneof(range, list, most, sequence) });
  });

describe('a stitched answer', () => {
  test('decompresses to the identity answer, from any offset, whatever its rows', () => {
    fc.assert(
      fc.property(page, ({ parts: { texts, chunkRows, head, tail, isLines, jumps }, rows }) => {
        const records = recordsOf(texts, STORED, chunkRows);
        const around = isLines ? { head: '', tail: '' } : { head, tail };
        const stitched: StitchOrder = {
          records,
          stored: recordBlocksOf(records),
          rows,
          head: UTF8.encode(around.head.toWellFormed()),
          tail: UTF8.encode(around.tail.toWellFormed()),
          isLines,
        };
        const body = expectSame(stitched);
        const whole = bytesOf(body);
        const other = stitchedWhole(stitchedBody({ ...stitched, rows: { kind: 'sequence', rows: Uint32Array.of(0) } }));
        for (const jump of jumps) {
          const offset = jump % whole.length;
          other.pieceAt(0);
          const piece = Buffer.from(body.pieceAt(offset));
          expect(piece.length).toBeGreaterThan(0);
          expect(piece.equals(whole.subarray(offset, offset + piece.length))).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  const texts = Array.from({ length: 60 }, (_, i) => JSON.stringify({ ob_id: i, title: `ocean ${i} `.repeat(30) }));
  const records = recordsOf(texts, STORED, 25);
  const stored = recordBlocksOf(records);
  const base = { records, stored, head: UTF8.encode('{"results":['), tail: UTF8.encode(']}'), isLines: false };

  test('of neighbours copies no record, and is smaller than that of the same records apart', () => {
    const before = copying.bytes;
    const near = stitchedWhole(stitchedBody({ ...base, rows: { kind: 'range', start: 3, end: 53 } }));
    bytesOf(near);
    expect(copying.bytes).toBe(before);
    const apart = Uint32Array.from({ length: 30 }, (_, i) => 2 * i);
    const far = stitchedWhole(stitchedBody({ ...base, rows: { kind: 'list', rows: apart } }));
    expect(near.bytes / 50).toBeLessThan(far.bytes / 30);
    expectSame({ ...base, rows: { kind: 'range', start: 3, end: 53 } });
  });

  test('takes no chained block whose records before it are not all in the answer', () => {
    for (let count = 1; count <= CHAINED_ROWS + 2; count++) {
      for (let start = 0; start + count <= 60; start += 7) {
        expectSame({ ...base, rows: { kind: 'range', start, end: start + count } });
        const rows = Uint32Array.from({ length: count }, (_, i) => start + i);
        expectSame({
          ...base,
          isLines: true,
          head: new Uint8Array(0),
          tail: new Uint8Array(0),
          rows: { kind: 'sequence', rows },
        });
      }
    }
  });

  test('of many rows is measured in slices', () => {
    const many = recordsOf(
      Array.from({ length: 9000 }, (_, i) => `{"ob_id":${i}}`),
      STORED,
    );
    const rows = Uint32Array.from({ length: 4500 }, (_, i) => 2 * i);
    const stitched: StitchOrder = {
      ...base,
      records: many,
      stored: recordBlocksOf(many),
      rows: { kind: 'list', rows },
    };
    let looks = 0;
    const watched = new Proxy(rows, {
      get: (target, key): unknown => {
        if (/^\d+$/.test(String(key))) looks++;
        return Reflect.get(target, key, target);
      },
    });
    const stitching = stitchedBody({ ...stitched, rows: { kind: 'sequence', rows: watched } });
    const measured = Array.from({ length: 3 }, () => [stitching()?.bytes, looks]);
    const [half, whole, body] = measured;
    expect([half, whole]).toEqual([
      [undefined, 4096],
      [undefined, rows.length],
    ]);
    expect(body).toEqual([expect.any(Number), rows.length]);
    expectSame(stitched);
  });
});
