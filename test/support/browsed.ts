// Pages for people over a few records, as their documents: asked of the handler as a browser asks.
import { parseHTML } from 'linkedom';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import type { Router } from '../../workers/router.ts';
import { collectionOf } from './collections.ts';
import { requestOf, STAYING } from './requests.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY, type Reply, replyOf } from './smallCatalogue.ts';

/** A page and the answer that it came in. */
export interface Browsed {
  readonly reply: Reply;
  readonly page: ReturnType<typeof parseHTML>['document'];
}

/** Asks for paths of a catalogue of these records, which name their collections. */
export function browserOf(
  records: Readonly<Record<string, readonly object[]>>,
  router?: Router,
  settings: Parameters<typeof handlerWith>[1] = {},
): (url: string, accept?: string) => Promise<Browsed> {
  const collections = new Map(
    COLLECTIONS.map(({ name }) => {
      const texts = (records[name] ?? []).map((record) => JSON.stringify(record));
      return [name, collectionOf(name, texts, BASE_URL)];
    }),
  );
  const handler = handlerWith(NEVER_HEAVY, settings, (name) => collections.get(name)!, router && { router });
  return async (url, accept = 'text/html') => {
    const reply = replyOf(await handler(requestOf({ url, headers: { accept } }), STAYING));
    return { reply, page: parseHTML(reply.text).document };
  };
}
