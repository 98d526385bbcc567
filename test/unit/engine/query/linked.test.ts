import { expect, test } from 'vitest';
import { linkedRecords } from '../../../../engine/query/path.ts';
import type { Collection, Field } from '../../../../engine/schema/types.ts';
import { indexOfDeclared } from '../../../support/index.ts';

const link = (to: string, id: number): string => `{base_url}/api/v3/${to}/${id}/?format=api`;
const fields: readonly Field[] = [
  { kind: 'scalar', name: 'ob_id', type: 'integer', nullable: false },
  { kind: 'link', name: 'when', to: 'times', nullable: true },
  { kind: 'links', name: 'times', to: 'times' },
  { kind: 'link', name: 'party', to: 'parties', nullable: false },
];
const declaration: Collection = {
  name: 'visits',
  documentedPath: 'visits',
  title: 'Visits',
  versions: ['v3'],
  idField: 'ob_id',
  open: false,
  fields,
  filters: [],
  source: '',
};
const visits = indexOfDeclared(declaration, [
  { ob_id: 1, when: link('times', 7), times: [1, 2, 3].map((id) => link('times', id)), party: link('parties', 1) },
  { ob_id: 2, when: null, times: [], party: link('parties', 1) },
  { ob_id: 3, when: link('times', 8), times: [link('times', 9)], party: link('parties', 1) },
]);
const named = (row: number, keys: readonly string[]): readonly string[] =>
  linkedRecords(visits, row, keys, 2).map(({ key, to, id }) => `${key}: ${to.name} ${id}`);

test('names records by to-one links and by the first of each to-many link', () => {
  expect(named(0, ['startTime', 'endTime'])).toEqual(['when: times 7', 'times: times 1', 'times: times 2']);
  expect(named(1, ['startTime', 'endTime'])).toEqual([]);
  expect(named(2, ['startTime', 'endTime'])).toEqual(['when: times 8', 'times: times 9']);
});

test('does not follow links to records that are not declared to have all requested fields', () => {
  expect(named(0, ['startTime', 'lastName'])).toEqual([]);
  expect(named(0, ['lastName'])).toEqual(['party: parties 1']);
});
