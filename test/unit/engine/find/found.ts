// What a query finds in a collection of support/index.ts, as the ids of its records: all of them on one page.
import { expect } from 'vitest';
import type { CollectionIndex } from '../../../../engine/index/table.ts';
import { FORM, hitsOf, idsIn } from '../../../support/lists.ts';

/** What stands for `{base_url}` in what is served. */
export const BASE_URL = FORM.baseUrl;

/** The ids of all records that a query without problems finds, in order. `version` decides how own URLs are served. */
export function idsOf(collection: CollectionIndex, query: string, version: 'v2' | 'v3' = 'v3'): readonly number[] {
  const hits = hitsOf(collection, query, { options: { limitDefault: 100_000 }, form: { version } });
  const ids = idsIn(collection, hits);
  expect(hits.count).toBe(ids.length);
  return ids;
}
