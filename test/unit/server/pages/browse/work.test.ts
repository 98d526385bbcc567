import { expect, test } from 'vitest';
import type { CollectionIndex } from '../../../../../engine/index/table.ts';
import { COLLECTIONS } from '../../../../../engine/schema/catalogue.ts';
import { collectionOf } from '../../../../support/records.ts';
import { requestOf, STAYING } from '../../../../support/requests.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY, replyOf } from '../../../../support/smallCatalogue.ts';

const SHOWN = 100;
const RELATED = 'computations';

/** A collection whose reads are reported; it has single values and nothing else. */
function watched(collection: CollectionIndex, onLook: () => void): CollectionIndex {
  const never = (): never => expect.fail(`a page looks at more of ${RELATED} than single values`);
  const members = new Map(collection.members);
  for (const [name, node] of members) {
    if (node.kind !== 'values') continue;
    const codeAt = (row: number): number => {
      onLook();
      return node.index.codeAt(row);
    };
    members.set(name, { ...node, index: { ...node.index, codeAt, rowsOf: never, countOf: never, sortedRow: never } });
  }
  return Object.defineProperty({ ...collection, members }, 'records', { get: never });
}

/**
 * A list page of observations that link to `related` records: the number of values that it reads of these, which no
 * machine changes, and the links that it shows.
 */
async function pageBeside(related: number): Promise<{ readonly looks: number; readonly links: readonly string[] }> {
  const lines = (count: number, line: (id: number) => object): readonly string[] =>
    Array.from({ length: count }, (_, i) => JSON.stringify(line(i + 1)));
  const texts: Readonly<Record<string, readonly string[]>> = {
    observations: lines(300, (id) => ({
      ob_id: id,
      title: `t${id}`,
      procedureComputation: `{base_url}/api/v3/computations/${(id % 7) + 1}/?format=api`,
    })),
    [RELATED]: lines(related, (id) => ({ ob_id: id, title: `A process, number ${id}` })),
  };
  const collections = new Map(COLLECTIONS.map(({ name }) => [name, collectionOf(name, texts[name] ?? [], BASE_URL)]));
  let looks = 0;
  const beside = watched(collections.get(RELATED)!, () => looks++);
  const handler = handlerWith(NEVER_HEAVY, {}, (name) => (name === RELATED ? beside : collections.get(name)!));
  const url = `/browse/observations/?fields=title,procedureComputation&limit=${SHOWN}&offset=100`;
  const { status, text } = replyOf(await handler(requestOf({ url, headers: { accept: 'text/html' } }), STAYING));
  expect(status).toBe(200);
  return { looks, links: text.match(/A process, number \d+/g) ?? [] };
}

test('reads one value for each link that a list page shows, however many records may be linked', async () => {
  const small = await pageBeside(10);
  expect(small.links).toHaveLength(SHOWN);
  expect(small.looks).toBeLessThanOrEqual(SHOWN);
  expect(await pageBeside(3000)).toEqual(small);
});
