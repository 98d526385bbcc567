import { expect } from 'vitest';
import type { Sample } from './sample.ts';

/** Expectations about queries to a collection, by default observations. */
export interface Asked {
  /** The ids that match a query. The count must be their number. */
  idsOf(query: string, collection?: string): Promise<readonly unknown[]>;
  /** Each query matches these ids. A key that is not a filter must not pass as one. */
  expectIds(found: Readonly<Record<string, readonly number[]>>, collection?: string): Promise<void>;
  /** Each query has one key and is refused with this message and possibly hints, or with exactly these messages. */
  expectRefused(refused: Readonly<Record<string, string | readonly string[]>>, collection?: string): Promise<void>;
}

/** Queries a served data set. */
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

/** The message for a name that is neither a field nor a fitting lookup. */
export function unsupported(name: string): string {
  return `"${name}" lookup is not supported`;
}
