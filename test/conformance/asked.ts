// What a served data set finds and refuses,
// for tests that write ids and messages out.
import { expect } from 'vitest';
import type { Sample } from './sample.ts';

/** What to expect of queries to a collection, observations where none is named. */
export interface Asked {
  /** The ids that a query finds, which its count must be the number of. */
  idsOf(query: string, collection?: string): Promise<readonly unknown[]>;
  /** Each query finds these ids; a key that is no filter must not pass as one. */
  expectIds(found: Readonly<Record<string, readonly number[]>>, collection?: string): Promise<void>;
  /** Each query, of one key, is refused with this message and possibly hints, or with exactly these messages. */
  expectRefused(refused: Readonly<Record<string, string | readonly string[]>>, collection?: string): Promise<void>;
}

/** Asks a served data set. */
export function askedOf(served: Sample): Asked {
  const idsOf: Asked['idsOf'] = async (query, collection = 'observations') => {
    const { count, results } = await served.page(`/api/v3/${collection}/?${query}`);
    expect(count, query).toBe(results.length);
    return results.map(({ ob_id }) => ob_id);
  };
  const expectIds: Asked['expectIds'] = async (found, collection) => {
    for (const [query, ids] of Object.entries(found)) {
      expect(await idsOf(`strict=1&${query}`, collection), query).toEqual(ids);
    }
  };
  const expectRefused: Asked['expectRefused'] = async (refused, collection = 'observations') => {
    for (const [query, message] of Object.entries(refused)) {
      const key = decodeURIComponent(query.slice(0, query.indexOf('=')));
      const { status, body } = await served.get(`/api/v3/${collection}/?${query}`);
      const messages = (JSON.parse(body) as Record<string, readonly string[]>)[key] ?? [];
      // A single message may have hints after it; a list is complete.
      const compared = typeof message === 'string' ? messages[0] : messages;
      expect([status, compared], query).toEqual([400, message]);
    }
  };
  return { idsOf, expectIds, expectRefused };
}

/** The message for a name that is neither a field nor a lookup that fits. */
export function unsupported(name: string): string {
  return `"${name}" lookup is not supported`;
}
