import { expect, test } from 'vitest';
import { fieldsText } from '../../../../server/commands/fields.ts';
import { COLLECTIONS } from '../../../../engine/schema/catalogue.ts';

test('prints for one collection its sentence, its fields in 80 columns, and lookups after their groups', () => {
  const text = fieldsText('computations', 'table');
  expect(text).toMatch(/^computations: How data were computed; [^]*?\.\n\n/);
  expect(text).toMatch(/^softwareReference: text or null \(any, order, text\)\n {4}The software that computed,/m);
  expect(text).toContain('\nany: exact, in, isnull\n');
  expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
});

test('prints both collections of an ambiguous path, and all without a name', () => {
  expect(fieldsText('ProcedureComputations', 'table')).toMatch(/^computations: [^]*^composites: /m);
  const all = JSON.parse(fieldsText(undefined, 'json')) as { readonly collection: string }[];
  expect([...new Set(all.map(({ collection }) => collection))]).toEqual(COLLECTIONS.map(({ name }) => name));
});

test('prints the same in JSON and NDJSON', () => {
  const rows = JSON.parse(fieldsText('phenomena', 'json')) as unknown[];
  const lines = fieldsText('phenomena', 'ndjson').split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rows);
  expect(rows).toContainEqual({
    collection: 'phenomona',
    field: 'terms__vocabulary',
    type: 'text',
    nullable: false,
    lookups: expect.arrayContaining(['exact', 'icontains']),
    values: ['', 'cf_standard_names'],
    sentence: 'The vocabulary that the term is from; empty where it is from none.',
  });
});

test.each([
  ['obsrvations', 'there is no collection "obsrvations"; did you mean observations?'],
  ['phenomenon', 'there is no collection "phenomenon"; did you mean phenomena?'],
  ['x', 'there is no collection "x"; want one of acquisitions, bboxes, composites, ProcedureComputations,'],
])('refuses an unknown collection: %s', (name, message) => {
  expect(() => fieldsText(name, 'table')).toThrow(message);
});
