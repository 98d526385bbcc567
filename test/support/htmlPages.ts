// Pages as parsed documents: `browserOf` sends the requests of a browser to a handler, `browseRecords` to a handler
// over records.
import { parseHTML } from 'linkedom';
import { COLLECTIONS } from '../../engine/schema/catalogue.ts';
import { type Answer, type Handler } from '../../server/http/exchange.ts';
import { textOf as textOfBody } from './pages.ts';
import { collectionOf } from './records.ts';
import { requestOf, type RequestParts, STAYING } from './requests.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY, type Reply, replyOf } from './smallCatalogue.ts';
import { type Router } from '../../workers/router.ts';

export type Page = ReturnType<typeof parseHTML>['document'];

/** The headers of a browser. */
export const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

export const textOf = ({ body }: Answer): string => textOfBody(body);

export const headerOf = ({ headers }: Answer, name: string): string | undefined =>
  headers.find(([each]) => each === name)?.[1];

/** The texts of the elements that match a selector, with blanks as browsers show them. */
export const textsOf = (page: Page, selector: string): readonly string[] =>
  [...page.querySelectorAll(selector)].map(({ textContent }) => textContent.trim().replace(/\s+/g, ' '));

/** The targets of the links that match a selector. */
export const hrefsOf = (page: Page, selector: string): readonly string[] =>
  [...page.querySelectorAll(selector)].map((link) => link.getAttribute('href') ?? '');

/** The ids of the records of a list. */
export const idsOf = (page: Page): readonly string[] =>
  hrefsOf(page, 'tbody th a').map((href) => /(\d+)\/$/.exec(href)?.[1] ?? '');

export const pageOf = (answer: Answer): Page => parseHTML(textOf(answer)).document;

/** A browser for a handler: `asked` returns a response, `pageAt` a page. */
export function browserOf(handler: Handler<Answer | Promise<Answer>>): {
  readonly asked: (url: string, parts?: RequestParts) => Promise<Answer>;
  readonly pageAt: (url: string) => Promise<Page>;
} {
  const asked = async (url: string, parts: RequestParts = {}): Promise<Answer> =>
    handler(requestOf({ url, headers: BROWSER, ...parts }), STAYING);
  return { asked, pageAt: async (url) => pageOf(await asked(url)) };
}

/** A page and its response. */
export interface Browsed {
  readonly reply: Reply;
  readonly page: ReturnType<typeof parseHTML>['document'];
}

/** Requests paths of a catalogue of these records, which are grouped by collection. */
export function browseRecords(
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
