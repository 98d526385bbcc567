// What a query finds in a collection of support/index.ts:
// parsed, planned and executed, as the ids of its records.
import { expect } from 'vitest';
import { execute } from '../../../../engine/query/execute.ts';
import { parseListQuery } from '../../../../engine/query/parse.ts';
import { plan } from '../../../../engine/query/plan.ts';
import { countSelected, selectedRow } from '../../../../engine/index/rowset.ts';
import type { CollectionIndex } from '../../../../engine/index/table.ts';

/** What stands for `{base_url}` in what is served. */
export const BASE_URL = 'http://localhost:8080';

/** The ids of all records that a query without problems finds, in order. `version` decides how own URLs are served. */
export function idsOf(collection: CollectionIndex, query: string, version: 'v2' | 'v3' = 'v3'): readonly number[] {
  const request = parseListQuery(collection, query, {
    limitDefault: 100_000,
    limitMax: undefined,
    isStrict: false,
    filterErrors: 'fail',
    filters: 'all',
  });
  expect({ problems: request.problems, ignored: request.ignored }).toEqual({ problems: [], ignored: [] });
  const planned = plan(collection, request, { baseUrl: BASE_URL, version, linkEnd: '/?format=api' });
  const { rows, count } = execute(collection, planned)!;
  const idAt = (_: unknown, i: number): number => collection.ids.dictionary.numbers![selectedRow(rows, i)]!;
  const ids = Array.from({ length: countSelected(rows) }, idAt);
  expect(count).toBe(ids.length);
  return ids;
}
