// Cut records, lines and CSV: every form of every selection against strings put together, read from random offsets.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { topLevelKeys } from '../../../../engine/column/records.ts';
import { type ServedForm, SPEC_LINK_END } from '../../../../engine/column/served.ts';
import type { Selection } from '../../../../engine/index/rowset.ts';
import { csvColumns, csvHeader, membersByOutline } from '../../../../engine/page/csv.ts';
import type { Body } from '../../../../engine/page/envelope.ts';
import { outlineMemory } from '../../../../engine/page/cut.ts';
import { copying } from '../../../../engine/page/rewrite.ts';
import { csvRows, jsonRows, measured, ndjsonRows, rowsBody } from '../../../../engine/page/rows.ts';
import { expectBody, rowsOf, servedRecord, textOf } from '../../../support/pages.ts';
import { membersOf, recordsOf } from '../../../support/records.ts';
import { times } from '../../../support/ring.ts';

const STORED = 'http://localhost:8080';
const AS_STORED: ServedForm = { baseUrl: STORED, version: 'v3', linkEnd: SPEC_LINK_END };
const KEYS = ['ob_id', 'title', 'a,b', 'say "x"', 'é\u2028', '__proto__', 'links', ''];

const json = (value: unknown): string =>
  JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
const ownUrl = fc.constantFrom(
  '{base_url}/api/v3/platforms/30/?format=api',
  '{base_url}/api/v3/times/12/',
  '{base_url}',
  'not {base_url}',
);
const value = fc.oneof(
  ownUrl,
  fc.array(ownUrl, { maxLength: 4 }),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.toWellFormed()),
  fc.constantFrom(null, '', '\\', '\n', '"', ',', '\u2029', '\u0000', [], {}, [1, 2], { a: 'x"' }, true, 1.5),
);
const record = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), value), { selector: ([key]) => key, maxLength: KEYS.length })
  .map((members) => `{${members.map(([key, one]) => `${json(key)}:${json(one)}`).join(',')}}`);
const form = fc.record<ServedForm>({
  baseUrl: fc.constantFrom(STORED, 'https://a.example', 'https://catalogue.example.org/a,long/prefix', 'x:'),
  version: fc.constantFrom('v2', 'v3'),
  linkEnd: fc.constantFrom(SPEC_LINK_END, '/?format=json', '.json'),
});
const rows = fc
  .record({ texts: fc.array(record, { minLength: 1, maxLength: 20 }), chunkRows: fc.integer({ min: 1, max: 21 }) })
  .chain(({ texts, chunkRows }) => {
    const row = fc.integer({ min: 0, max: texts.length - 1 });
    const range = fc.tuple(row, row).map(([a, b]): Selection => ({
      kind: 'range',
      start: Math.min(a, b),
      end: Math.max(a, b) + 1,
    }));
    const some = fc.uniqueArray(row).map((distinct) => Uint32Array.from(distinct));
    const list = some.map((distinct): Selection => ({ kind: 'list', rows: distinct.toSorted() }));
    const sequence = some.map((distinct): Selection => ({ kind: 'sequence', rows: distinct }));
    return fc.record({
      texts: fc.constant(texts),
      chunkRows: fc.constant(chunkRows),
      selection: fc.oneof(range, list, sequence),
      form,
      keys: fc.option(fc.subarray(KEYS), { nil: undefined }),
      jumps: fc.array(fc.nat(), { maxLength: 10 }),
    });
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

test('cut records, lines and CSV equal records put together as strings, from every random offset', () => {
  fc.assert(
    fc.property(rows, ({ texts, chunkRows, selection, form: asked, keys, jumps }) => {
      const records = recordsOf(texts, STORED, chunkRows);
      const chosen = rowsOf(selection).map((row) => servedRecord(cutText(texts[row]!, keys), asked));
      const set = keys && new Set(keys);
      const served = { records, rows: selection, form: asked, keys: set };
      const other = rowsBody(records, { kind: 'range', start: 0, end: 1 }, { ...asked, version: 'v2' });
      expectBody(measured(jsonRows(served)), chosen.join(','), jumps, other);
      expectBody(measured(ndjsonRows(served)), chosen.map((line) => `${line}\n`).join(''), jumps, other);
      const columns = csvColumns(topLevelKeys(['title', 'ob_id', 'never'], records.outlines), set);
      const whole = rowsOf(selection).map((row) => servedRecord(texts[row]!, asked));
      const lines = whole.map((text) => csvLine(text, columns)).join('');
      expectBody(measured(csvRows(served, columns)), lines, jumps, other);
      expect(Buffer.from(csvHeader(columns)).toString()).toBe(`${columns.map(quoted).join(',')}\r\n`);
    }),
    { numRuns: times(40, 1000) },
  );
});

describe('lines of neighbours as stored', () => {
  test('are copied once, and nothing is measured', () => {
    const texts = Array.from({ length: 900 }, (_, i) => `{"ob_id":${i},"title":"${'x,'.repeat(500)}"}`);
    const records = recordsOf(texts, STORED, 400);
    const before = copying.bytes;
    const measuring = ndjsonRows({
      records,
      rows: { kind: 'range', start: 1, end: 899 },
      form: AS_STORED,
      keys: undefined,
    });
    const body = measuring()!;
    expect(body.bytes).toBe(Buffer.byteLength(texts.slice(1, 899).join('\n')) + 1);
    expect(copying.bytes).toBe(before);
    expect(textOf(body)).toBe(
      texts
        .slice(1, 899)
        .map((text) => `${text}\n`)
        .join(''),
    );
    expect(copying.bytes - before).toBe(body.bytes);
  });
});

describe('measuring', () => {
  const texts = Array.from({ length: 9000 }, (_, i) => `{"ob_id":${i},"title":"${'y'.repeat(200)}"}`);
  const records = recordsOf(texts, STORED);
  const odd: Selection = { kind: 'list', rows: Uint32Array.from({ length: 4500 }, (_, i) => 2 * i + 1) };

  function slices(measuring: ReturnType<typeof jsonRows>): number {
    for (let count = 1; ; count++) if (measuring()) return count;
  }

  test('takes slices of 4,096 rows, of 64 KiB where it looks at the bytes of cells', () => {
    const served = { records, rows: odd, form: AS_STORED, keys: undefined };
    expect(slices(jsonRows(served))).toBe(2);
    expect(slices(jsonRows({ ...served, keys: new Set(['ob_id']) }))).toBe(2);
    expect(
      slices(jsonRows({ ...served, rows: { kind: 'range', start: 0, end: 4096 }, keys: new Set(['title']) })),
    ).toBe(1);
    expect(slices(csvRows({ ...served, rows: { kind: 'range', start: 0, end: 9000 } }, ['ob_id', 'title']))).toBe(29);
  });

  test('of cut records takes slices of as many members and own URLs, and so does writing them, of other bodies between', () => {
    const urls = Array.from({ length: 999 }, () => '"{base_url}/a"').join();
    const long = Array.from({ length: 300 }, (_, i) => `{"links":[${urls}],"ob_id":${i},"title":"x"}`);
    const served = { records: recordsOf(long, STORED), form: AS_STORED, keys: new Set(['ob_id']) };
    const measurings = [0, 10].map((start) => ndjsonRows({ ...served, rows: { kind: 'range', start, end: 300 } }));
    let bodies: readonly (Body | undefined)[] = [];
    let count = 0;
    for (; !bodies[0]; count++) bodies = measurings.map((measuring) => measuring());
    expect(count).toBe(3);
    for (const [i, body] of bodies.entries()) {
      expect(textOf(body!)).toBe(
        Array.from({ length: 300 - 10 * i }, (_, row) => `{"ob_id":${row + 10 * i}}\n`).join(''),
      );
      expect(body!.isSlow).toBe(true);
    }
    const [body] = bodies;
    let pieces = 0;
    for (let at = 0; at < body.bytes; pieces++) at += body.pieceAt(at).length;
    expect(pieces).toBe(3);
  });

  test('of neighbours as stored is done at once', () => {
    expect(
      slices(jsonRows({ records, rows: { kind: 'range', start: 0, end: 9000 }, form: AS_STORED, keys: undefined })),
    ).toBe(1);
  });
});

test('a collection with more than 1,000 keys that are no fields exports its fields only, unless keys are named', () => {
  const others = Array.from({ length: 1001 }, (_, i) => `k${i}`);
  expect(csvColumns({ fields: ['a'], others }, undefined)).toEqual(['a']);
  expect(csvColumns({ fields: ['a'], others }, new Set(['k7', 'a']))).toEqual(['a', 'k7']);
  expect(csvColumns({ fields: ['a'], others: others.slice(1) }, undefined)).toHaveLength(1001);
});

test('what is made of an outline is made once for records in a row, and again where very many came between', () => {
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

test('where the members of each of 3,000 outlines stand is known again, in whatever order they are asked for', () => {
  const keys = Array.from({ length: 12 }, (_, i) => `k${i}`);
  const lists = Array.from({ length: 3000 }, (_, outline) => keys.map((_, i) => i).filter((i) => (outline >> i) & 1));
  const membersOf = membersByOutline({ keys, lists }, ['k3', 'k0']);
  const expected = lists.map((list) =>
    [3, 0].flatMap((key) => (list.includes(key) ? [list.indexOf(key), 5] : [-1, -1])),
  );
  for (const order of [[...lists.keys()], [...lists.keys()].toReversed(), [0, 2999, 0, 1500]])
    for (const outline of order) expect([...membersOf(outline)], String(outline)).toEqual(expected[outline]);
});
