// Decoding random JSON: the served bytes equal JSON.stringify except for escapes, for any spelling of the line, and
// columns contain what a naive walk finds. fast-check prints the seed and the smallest failing case.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { collectionNamed } from '../../engine/schema/catalogue.ts';
import type { Field } from '../../engine/schema/types.ts';
import { column, decode, served, membersIn, type DecodedBatch } from '../support/batches.ts';
import { membersOf } from '../support/records.ts';

describe('for random JSON', () => {
  const TEXT = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.string({
      unit: fc.constantFrom('\u2028', '\u0000', '"', '\\', '/', '{base_url}', 'é', '\u2029', '\n', 'a'),
      maxLength: 6,
    }),
  );
  const KEY = TEXT.map((key) => `x${key}`);
  const { value: VALUE } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      TEXT,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(KEY, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  const WELL_FORMED = fc.dictionary(KEY, VALUE, { maxKeys: 5, noNullPrototype: true });

  /** JSON.stringify with the escapes that the service adds. */
  const asServed = (value: unknown): string =>
    JSON.stringify(value)
      .replaceAll('\u2028', String.raw`\u2028`)
      .replaceAll('\u2029', String.raw`\u2029`);

  /** The same value in an odd but correct spelling: white space, and every character of a text escaped. */
  function wildly(value: unknown): string {
    if (typeof value === 'string') {
      const units = Array.from({ length: value.length }, (_, i) => value.charCodeAt(i).toString(16).padStart(4, '0'));
      return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
    }
    if (Array.isArray(value)) return `[ ${value.map(wildly).join('\t, ')} ]`;
    if (typeof value !== 'object' || value === null) return ` ${JSON.stringify(value)} `;
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${wildly(key)} : ${wildly(inner)}`)
      .join(' ,')} }`;
  }

  /** The string values that start with the placeholder, in order. */
  function ownIn(value: unknown): string[] {
    if (typeof value === 'string') return value.startsWith('{base_url}') ? [value] : [];
    if (typeof value !== 'object' || value === null) return [];
    return Object.values(value).flatMap(ownIn);
  }

  test('serves extra keys as JSON.stringify writes them, for any spelling of the line', () => {
    fc.assert(
      fc.property(WELL_FORMED, fc.nat(), (extra, id) => {
        const record = { ob_id: id, ...extra };
        const [plain, wild] = [JSON.stringify(record), wildly(record)];
        for (const line of [plain, wild]) {
          const batch = decode('bboxes', line);
          expect(batch.faults).toEqual([]);
          expect(served(batch)).toEqual([asServed(JSON.parse(plain))]);
          expect(membersIn(batch)).toEqual([membersOf(asServed(JSON.parse(plain)))]);
          expect(batch.links).toHaveLength(ownIn(record).length);
          for (const at of batch.links)
            expect(Buffer.from(batch.bytes.subarray(at, at + 10)).toString()).toBe('{base_url}');
        }
      }),
    );
  });

  test('fills columns with what a naive walk over the parsed record finds', () => {
    const fields = collectionNamed('phenomona')!.fields;
    const id = fc.integer({ min: 0 });
    const member = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
      fc.option(arbitrary, { nil: undefined });
    const NAME = fc.record({ ob_id: member(id), name: member(TEXT), xa: VALUE }, { requiredKeys: [] });
    const TERM = fc.record({ label: TEXT, value: TEXT, vocabulary: TEXT, ob_id: id }, { requiredKeys: [] });
    const RECORD = fc.record(
      { ob_id: id, xb: VALUE, terms: fc.array(TERM, { maxLength: 3 }), names: fc.array(NAME, { maxLength: 3 }) },
      { requiredKeys: ['ob_id'] },
    );
    fc.assert(
      fc.property(fc.array(RECORD, { minLength: 1, maxLength: 4 }), (records) => {
        for (const write of [(value: unknown) => JSON.stringify(value), wildly]) {
          const parsed = records.map((record) => JSON.parse(JSON.stringify(record)) as Record<string, unknown>);
          const batch = decode('phenomona', ...parsed.map((record) => write(record)));
          expect(batch.faults).toEqual([]);
          expectColumns(batch, 'phenomona', fields, parsed);
        }
      }),
    );
  });
});

function expectColumns(
  batch: DecodedBatch,
  collection: string,
  fields: readonly Field[],
  rows: readonly Record<string, unknown>[],
  path = '',
): void {
  for (const field of fields) {
    const values = rows.map((row) => row[field.name]);
    if (field.kind === 'scalar') {
      const expected = values.map((value) =>
        value === undefined || value === null ? null : String(value as string | number | boolean),
      );
      expect(column(batch, collection, path + field.name)).toEqual(expected);
    } else if (field.kind === 'records') {
      const inner = values.flatMap((value) => (value ?? []) as Record<string, unknown>[]);
      expectColumns(batch, collection, field.fields, inner, `${path}${field.name}/`);
    }
  }
}
