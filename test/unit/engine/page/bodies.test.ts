// Bodies of rows in every representation, compared with concatenated strings: from any offset, without copies of
// adjacent rows, and measured in bounded slices.
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHAINED_ROWS } from '../../../../engine/column/blocks.ts';
import { topLevelKeys, type TopLevelKeys } from '../../../../engine/column/records.ts';
import { COLLECTIONS } from '../../../../engine/schema/catalogue.ts';
import { type ServedForm, SPEC_LINK_END } from '../../../../engine/column/served.ts';
import type { Selection } from '../../../../engine/index/rowset.ts';
import { csvHeader, exportColumns } from '../../../../engine/page/csv.ts';
import { membersByOutline, outlineMemory } from '../../../../engine/page/cut.ts';
import type { Body } from '../../../../engine/page/envelope.ts';
import { copying } from '../../../../engine/page/rewrite.ts';
import { csvRows, jsonRows, measured, ndjsonRows, pageBody } from '../../../../engine/page/rows.ts';
import { rowsBody } from '../../../../bench/processes/bodies.ts';
import { type GzipBody, stitchedBody, type Stitching, type StitchOrder } from '../../../../engine/page/stitch.ts';
import { bytesOf, expectBody, rowsOf, servedRecord, textOf } from '../../../support/pages.ts';
import { membersOf, recordsOf, recordBlocksOf } from '../../../support/records.ts';
import { times } from '../../../support/ring.ts';

const STORED = 'http://localhost:8080';
const AS_STORED: ServedForm = { baseUrl: STORED, version: 'v3', linkEnd: SPEC_LINK_END };
const KEYS = ['ob_id', 'title', 'a,b', 'say "x"', 'é\u2028', '__proto__', 'links', ''];
const NOTHING = new Uint8Array(0);

const range = (start: number, end: number): Selection => ({ kind: 'range', start, end });
const list = (...rows: readonly number[]): Selection => ({ kind: 'list', rows: Uint32Array.from(rows) });
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text.toWellFormed());
const textsOf = (length: number, textAt: (i: number) => string): string[] =>
  Array.from({ length }, (_, i) => textAt(i));

const json = (value: unknown): string =>
  JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
const ownUrl = fc
  .constantFrom(
    '/api/v3/platforms/30/?format=api',
    '/api/v3/observations/?format=api',
    '/api/v3/times/12/',
    '/api/v3/times/12/?format=api&x=1',
    '/api/v3//12/?format=api',
    '/api/v2/times/1/?format=api',
    '/api/v3/',
    '/browse/',
    '',
  )
  .map((path) => `{base_url}${path}`);
const value = fc.oneof(
  ownUrl,
  fc.array(ownUrl, { maxLength: 4 }),
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.toWellFormed()),
  fc.constantFrom('not {base_url}', 'say "{base_url}/api/v3/times/1/?format=api"', '},{"ob_id":', 'x'.repeat(400)),
  fc.constantFrom(null, '', '\\', '\n', '"', ',', '\u2029', '\u0000', [], {}, [1, 2], { a: 'x"' }, true, 1.5),
  fc.integer({ min: 0, max: 60 }).map((n) => 'å'.repeat(n)),
);
const record = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), value), { selector: ([key]) => key, maxLength: KEYS.length })
  .map((members) => `{${members.map(([key, one]) => `${json(key)}:${json(one)}`).join(',')}}`);

/** Records in chunks, some of their rows, and offsets to read bodies from. */
const rows = fc
  .record({ texts: fc.array(record, { minLength: 1, maxLength: 30 }), chunkRows: fc.integer({ min: 1, max: 31 }) })
  .chain(({ texts, chunkRows }) => {
    const row = fc.integer({ min: 0, max: texts.length - 1 });
    const neighbours = fc.tuple(row, row).map(([a, b]) => range(Math.min(a, b), Math.max(a, b) + 1));
    const some = fc.uniqueArray(row).map((distinct) => Uint32Array.from(distinct));
    const sorted = some.map((distinct): Selection => ({ kind: 'list', rows: distinct.toSorted() }));
    const most = some.map((gaps) => list(...[...texts.keys()].filter((n) => !gaps.includes(n))));
    const sequence = some.map((distinct): Selection => ({ kind: 'sequence', rows: distinct }));
    return fc.record({
      texts: fc.constant(texts),
      records: fc.constant(recordsOf(texts, STORED, chunkRows)),
      selection: fc.oneof(neighbours, sorted, most, sequence),
      jumps: fc.array(fc.nat(), { maxLength: 10 }),
    });
  });
const form = fc.record<ServedForm>({
  baseUrl: fc.constantFrom(STORED, 'https://a.example', 'https://catalogue.example.org/a,long/prefix', 'x:'),
  version: fc.constantFrom('v2', 'v3'),
  linkEnd: fc.constantFrom(SPEC_LINK_END, '/?format=json', '.json', '.json?format=json', '/'),
});

function cutText(text: string, keys: readonly string[] | undefined): string {
  const kept = membersOf(text).filter(({ key }) => keys === undefined || keys.includes(key));
  return `{${kept.map((member) => member.text).join(',')}}`;
}

function quoted(cell: string): string {
  return cell === '' || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function csvLine(text: string, columns: readonly string[]): string {
  const members = membersOf(text);
  const cells = columns.map((key) => {
    const found = members.find((member) => member.key === key)?.text.slice(json(key).length + 1) ?? 'null';
    if (found === 'null') return '';
    return quoted(found.startsWith('"') ? (JSON.parse(found) as string) : found);
  });
  return `${cells.length === 1 && cells[0] === '' ? '""' : cells.join(',')}\r\n`;
}

test('equals concatenated strings for whole and cut records, lines and CSV, from every random offset', () => {
  const keysAsked = fc.option(fc.subarray(KEYS), { nil: undefined });
  fc.assert(
    fc.property(rows, form, keysAsked, ({ texts, records, selection, jumps }, asked, keys) => {
      const whole = rowsOf(selection).map((row) => servedRecord(texts[row]!, asked));
      const cut = rowsOf(selection).map((row) => servedRecord(cutText(texts[row]!, keys), asked));
      const set = keys && new Set(keys);
      const served = { records, rows: selection, form: asked, keys: set };
      const other = rowsBody(records, range(0, 1), { ...asked, version: 'v2' });
      expectBody(rowsBody(records, selection, asked), whole.join(','), jumps, other);
      expectBody(measured(jsonRows(served)), cut.join(','), jumps, other);
      expectBody(measured(ndjsonRows(served)), cut.map((line) => `${line}\n`).join(''), jumps, other);
      const columns = columnsOf(topLevelKeys(['title', 'ob_id', 'never'], records.outlines), set);
      expectBody(
        measured(csvRows(served, columns)),
        whole.map((text) => csvLine(text, columns)).join(''),
        jumps,
        other,
      );
      expect(Buffer.from(csvHeader(columns)).toString()).toBe(`${columns.map(quoted).join(',')}\r\n`);
    }),
    { numRuns: times(60, 1000) },
  );
});

test.each([
  ['neighbours', range(1, 4), Infinity, [1, 2, 3]],
  ['neighbours in two chunks', range(1, 4), 2, [1, 2, 3]],
  ['gathered rows', list(1, 3, 6), 4, [1, 3, 6]],
])('serves a page as head, rows and tail, restartable at any byte: of %s', (_, selection, chunkRows, ids) => {
  const records = recordsOf(
    textsOf(9, (i) => `{"ob_id":${i}}`),
    STORED,
    chunkRows,
  );
  const page = pageBody(utf8('['), rowsBody(records, selection, AS_STORED), utf8('],"facets":{}}'));
  const text = `[${ids.map((id) => `{"ob_id":${id}}`).join(',')}],"facets":{}}`;
  const other = rowsBody(records, list(0, 2), AS_STORED);
  expectBody(
    page,
    text,
    textsOf(text.length, String).map((__, i) => i),
    other,
  );
  if (selection.kind === 'list') expect(Buffer.from(page.pieceAt(1)).toString()).toBe(text.slice(1));
});

test('allows gathered rows that are larger than the buffer', () => {
  const large = `{"ob_id":1,"title":"${'y'.repeat(3_000_000)}"}`;
  const records = recordsOf([large, '{}', large], STORED);
  expect(textOf(rowsBody(records, list(0, 2), AS_STORED))).toBe(`${large},${large}`);
});

/** The columns of an export of a collection with these keys. */
function columnsOf(
  keys: Pick<TopLevelKeys, 'fields' | 'others'>,
  selected: ReadonlySet<string> | undefined,
): readonly string[] {
  const [declaration] = COLLECTIONS;
  return exportColumns({ declaration: declaration!, keys: { ...keys, all: new Set() } }, selected);
}

describe('a body', () => {
  /** The pieces of a body, and the number of bytes copied to read them. */
  function piecesOf(body: Body): { pieces: readonly Uint8Array[]; copied: number } {
    const before = copying.bytes;
    const pieces: Uint8Array[] = [];
    for (let offset = 0; offset < body.bytes; offset += pieces.at(-1)!.length) pieces.push(body.pieceAt(offset));
    return { pieces, copied: copying.bytes - before };
  }

  test.each([
    ['a range', range(2, 9), 4, 3],
    ['a list of neighbours', list(3, 4, 5), Infinity, 1],
  ])('copies no adjacent rows as stored, which are a view of each chunk: %s', (_, selection, chunkRows, count) => {
    const own = '"platform":"{base_url}/api/v3/platforms/1/?format=api"';
    const records = recordsOf(
      textsOf(10, (i) => `{"ob_id":${i},${own}}`),
      STORED,
      chunkRows,
    );
    const { pieces, copied } = piecesOf(rowsBody(records, selection, AS_STORED));
    const stored = records.chunks.map((chunk) => chunk.bytes.buffer);
    expect(pieces.every((piece) => stored.includes(piece.buffer))).toBe(true);
    expect([pieces.length, copied]).toEqual([count, 0]);
  });

  test('copies each gathered row once, in pieces of whole records that share a buffer', () => {
    const records = recordsOf(
      textsOf(400, (i) => `{"ob_id":${i},"title":"${'x'.repeat(4000)}"}`),
      STORED,
    );
    const body = rowsBody(records, list(...textsOf(200, String).map((_, i) => 2 * i + 1)), AS_STORED);
    const before = copying.bytes;
    for (let offset = 0; offset < body.bytes; offset += Math.min(777, body.pieceAt(offset).length)) continue;
    expect(copying.bytes - before).toBeLessThanOrEqual(body.bytes + 1);
    const first = body.pieceAt(0);
    expect(first.length).toBeLessThan(body.bytes);
    expect(String.fromCharCode(first.at(-1)!)).toBe(',');
    expect(body.pieceAt(first.length).buffer).toBe(first.buffer);
  });

  test('copies each line of adjacent rows once, and none to measure them', () => {
    const texts = textsOf(900, (i) => `{"ob_id":${i},"title":"${'x,'.repeat(500)}"}`);
    const served = { records: recordsOf(texts, STORED, 400), rows: range(1, 899), form: AS_STORED, keys: undefined };
    const before = copying.bytes;
    const body = ndjsonRows(served)()!;
    expect(copying.bytes).toBe(before);
    const { pieces, copied } = piecesOf(body);
    const lines = texts.slice(1, 899).map((text) => `${text}\n`);
    expect(pieces.reduce((sum, { length }) => sum + length, 0)).toBe(Buffer.byteLength(lines.join('')));
    expect([textOf(body), copied]).toEqual([lines.join(''), body.bytes]);
  });
});

describe('measuring a body', () => {
  const records = recordsOf(
    textsOf(9000, (i) => `{"ob_id":${i},"title":"${'y'.repeat(200)}"}`),
    STORED,
  );
  const odd = list(...textsOf(4500, String).map((_, i) => 2 * i + 1));
  const served = { records, form: AS_STORED, keys: undefined };

  function slices(measuring: ReturnType<typeof jsonRows>): number {
    for (let count = 1; ; count++) if (measuring()) return count;
  }

  test('takes a slice for 4,096 rows, for 64 KiB if it reads the bytes of cells, and one for adjacent rows as stored', () => {
    expect(slices(jsonRows({ ...served, rows: odd }))).toBe(2);
    expect(slices(jsonRows({ ...served, rows: odd, keys: new Set(['ob_id']) }))).toBe(2);
    expect(slices(jsonRows({ ...served, rows: range(0, 4096), keys: new Set(['title']) }))).toBe(1);
    expect(slices(csvRows({ ...served, rows: range(0, 9000) }, ['ob_id', 'title']))).toBe(29);
    expect(slices(jsonRows({ ...served, rows: range(0, 9000) }))).toBe(1);
  });

  test('takes slices of as many members and own URLs of cut records, and so does writing two bodies in turns', () => {
    const urls = textsOf(999, () => '"{base_url}/a"').join();
    const long = recordsOf(
      textsOf(300, (i) => `{"links":[${urls}],"ob_id":${i},"title":"x"}`),
      STORED,
    );
    const measurings = [0, 10].map((start) =>
      ndjsonRows({ records: long, form: AS_STORED, keys: new Set(['ob_id']), rows: range(start, 300) }),
    );
    let bodies: readonly (Body | undefined)[] = [];
    let count = 0;
    for (; !bodies[0]; count++) bodies = measurings.map((measuring) => measuring());
    expect(count).toBe(3);
    for (const [i, body] of bodies.entries()) {
      expect(textOf(body!)).toBe(textsOf(300 - 10 * i, (row) => `{"ob_id":${row + 10 * i}}\n`).join(''));
      expect(body!.isSlow).toBe(true);
    }
    const [body] = bodies;
    let pieces = 0;
    for (let at = 0; at < body.bytes; pieces++) at += body.pieceAt(at).length;
    expect(pieces).toBe(3);
  });
});

describe('columns and record shapes', () => {
  test('of a collection with more than 1,000 undeclared keys include its fields only, unless keys are named', () => {
    const others = textsOf(1001, (i) => `k${i}`);
    expect(columnsOf({ fields: ['a'], others }, undefined)).toEqual(['a']);
    expect(columnsOf({ fields: ['a'], others }, new Set(['k7', 'a']))).toEqual(['a', 'k7']);
    expect(columnsOf({ fields: ['a'], others: others.slice(1) }, undefined)).toHaveLength(1001);
  });

  test('compute a record shape once for adjacent records, and again after very many others', () => {
    const made: number[] = [];
    const memory = outlineMemory((outline) => {
      made.push(outline);
      return { outline };
    });
    for (const outline of [7, 7, 8, 7]) expect(memory(outline)).toEqual({ outline });
    expect(made).toEqual([7, 8]);
    for (let outline = 10; outline < 2000; outline++) memory(outline);
    expect(memory(7)).toEqual({ outline: 7 });
    expect(made.filter((outline) => outline === 7)).toHaveLength(2);
  });

  test('give the right positions of members for each of 3,000 record shapes, in any order', () => {
    const keys = textsOf(12, (i) => `k${i}`);
    const lists = Array.from({ length: 3000 }, (_, outline) =>
      keys.map((__, i) => i).filter((i) => (outline >> i) & 1),
    );
    const placesOf = membersByOutline({ keys, lists }, ['k3', 'k0']);
    const expected = lists.map((members) =>
      [3, 0].flatMap((key) => (members.includes(key) ? [members.indexOf(key), 5] : [-1, -1])),
    );
    for (const order of [[...lists.keys()], [...lists.keys()].toReversed(), [0, 2999, 0, 1500]])
      for (const outline of order) expect([...placesOf(outline)], String(outline)).toEqual(expected[outline]);
  });
});

describe('a response of stored blocks', () => {
  function stitchedWhole(stitching: Stitching): GzipBody {
    for (;;) {
      const body = stitching();
      if (body) return body;
    }
  }

  function identityOf({ records, rows: selection, head, tail, isLines }: StitchOrder): Buffer {
    const served = { records, rows: selection, form: AS_STORED, keys: undefined };
    const body = measured(isLines ? ndjsonRows(served) : jsonRows(served));
    return bytesOf(head.length + tail.length === 0 ? body : pageBody(head, body, tail));
  }

  /** The compressed bytes, which must give the identity response. */
  function expectSame(order: StitchOrder): { body: GzipBody; whole: Buffer } {
    const body = stitchedWhole(stitchedBody(order));
    const whole = bytesOf(body);
    const plain = gunzipSync(whole);
    expect(plain.equals(identityOf(order))).toBe(true);
    expect([body.plainBytes, body.bytes]).toEqual([plain.length, whole.length]);
    return { body, whole };
  }

  const base = { head: utf8('{"results":['), tail: utf8(']}'), isLines: false };
  const edge = fc.oneof(
    fc.constant(''),
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.constant('h'.repeat(140_000)),
  );

  test('decompresses to the identity response, from any offset, whatever its rows', () => {
    fc.assert(
      fc.property(rows, edge, edge, fc.boolean(), ({ records, selection, jumps }, head, tail, isLines) => {
        // A selection without rows has no blocks.
        const chosen = rowsOf(selection).length > 0 ? selection : list(0);
        const around = isLines ? { head: NOTHING, tail: NOTHING } : { head: utf8(head), tail: utf8(tail) };
        const order: StitchOrder = { records, stored: recordBlocksOf(records), rows: chosen, isLines, ...around };
        const { body, whole } = expectSame(order);
        const other = stitchedWhole(stitchedBody({ ...order, rows: list(0) }));
        for (const jump of jumps) {
          const offset = jump % whole.length;
          other.pieceAt(0);
          const piece = Buffer.from(body.pieceAt(offset));
          expect(piece.length).toBeGreaterThan(0);
          expect(piece.equals(whole.subarray(offset, offset + piece.length))).toBe(true);
        }
      }),
      { numRuns: times(100, 300) },
    );
  });

  const few = recordsOf(
    textsOf(60, (i) => JSON.stringify({ ob_id: i, title: `ocean ${i} `.repeat(30) })),
    STORED,
    25,
  );
  const ofFew = { ...base, records: few, stored: recordBlocksOf(few) };

  test('of adjacent rows copies no record, and is smaller than that of the same number of separate records', () => {
    const before = copying.bytes;
    const near = stitchedWhole(stitchedBody({ ...ofFew, rows: range(3, 53) }));
    bytesOf(near);
    expect(copying.bytes).toBe(before);
    const apart = stitchedWhole(stitchedBody({ ...ofFew, rows: list(...textsOf(30, String).map((_, i) => 2 * i)) }));
    expect(near.bytes / 50).toBeLessThan(apart.bytes / 30);
  });

  test('uses no chained block unless all records before it in its chain are in the response', () => {
    for (let count = 1; count <= CHAINED_ROWS + 2; count++) {
      for (let start = 0; start + count <= 60; start += 7) {
        expectSame({ ...ofFew, rows: range(start, start + count) });
        const sequence = Uint32Array.from({ length: count }, (_, i) => start + i);
        const lines = { ...ofFew, isLines: true, head: NOTHING, tail: NOTHING };
        expectSame({ ...lines, rows: { kind: 'sequence', rows: sequence } });
      }
    }
  });

  test('of many rows is measured in slices', () => {
    const many = recordsOf(
      textsOf(9000, (i) => `{"ob_id":${i}}`),
      STORED,
    );
    const even = Uint32Array.from({ length: 4500 }, (_, i) => 2 * i);
    const order: StitchOrder = { ...base, records: many, stored: recordBlocksOf(many), rows: list(...even) };
    let reads = 0;
    const watched = new Proxy(even, {
      get: (target, key): unknown => {
        if (/^\d+$/.test(String(key))) reads++;
        return Reflect.get(target, key, target);
      },
    });
    const stitching = stitchedBody({ ...order, rows: { kind: 'sequence', rows: watched } });
    expect(Array.from({ length: 3 }, () => [stitching()?.bytes, reads])).toEqual([
      [undefined, 4096],
      [undefined, even.length],
      [expect.any(Number), even.length],
    ]);
    expectSame(order);
  });
});
