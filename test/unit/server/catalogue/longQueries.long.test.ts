// Filters of very many rows wait for a turn as long queries do: a catalogue large enough for it takes seconds to index.
import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import type { FieldIndex } from '../../../../engine/index/field.ts';
import { Slices } from '../../../../workers/slices.ts';
import { collectionOf } from '../../../support/collections.ts';
import { requestOf, STAYING } from '../../../support/requests.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY, replyOf } from '../../../support/smallCatalogue.ts';

test('of very many rows of a filter, but not of few, the list waits for a turn, whether as an export or not', async () => {
  const records = Array.from({ length: 17_000 }, (_, i) => `{"ob_id":${i + 1},"title":"t${i % 2}"}`);
  const plain = collectionOf('observations', records, BASE_URL);
  const ids = plain.members.get('ob_id');
  assert(ids?.kind === 'values');
  let found = 0;
  const rowsOf: FieldIndex['rowsOf'] = (codes) => {
    found++;
    return ids.index.rowsOf(codes);
  };
  const counted = { ...ids, index: { ...ids.index, rowsOf } };
  const many = { ...plain, members: new Map([...plain.members, ['ob_id', counted] as const]) };
  const [busy, idle] = [new Slices(() => 0), new Slices(() => 0)];
  const handlers = [busy, idle].map((slices) => handlerWith(NEVER_HEAVY, {}, () => many, { slices }));
  for (const [query, foundAtOnce] of [
    ['ob_id__gt=3&format=csv&limit=7', 1],
    ['ob_id__gt=3&limit=10000', 1],
    ['ob_id__gt=3&limit=17000&fields=title', 0],
    ['ob_id!=3&format=ndjson', 0],
  ] as const) {
    for (const method of ['GET', 'HEAD']) {
      const parts = { method, url: `/api/v3/observations/?${query}` };
      busy.spend(-10);
      found = 0;
      const later = handlers[0]!(requestOf(parts), STAYING);
      expect(found, query).toBe(foundAtOnce);
      expect(replyOf(await later), query).toEqual(replyOf(await handlers[1]!(requestOf(parts), STAYING)));
    }
  }
});
