// Pages for people as tests look at them: asked of a handler as a browser does, read as a document.
import { parseHTML } from 'linkedom';
import type { Answer, Handler } from '../../server/http/exchange.ts';
import { textOf as textOfBody } from './pages.ts';
import { type RequestParts, requestOf, STAYING } from './requests.ts';

/** A page as a document. */
export type Page = ReturnType<typeof parseHTML>['document'];

/** What browsers send. */
export const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

/** The text of an answer. */
export const textOf = ({ body }: Answer): string => textOfBody(body);

/** A header of an answer. */
export const headerOf = ({ headers }: Answer, name: string): string | undefined =>
  headers.find(([each]) => each === name)?.[1];

/** The texts of what a selector finds, their blanks as people see them. */
export const textsOf = (page: Page, selector: string): readonly string[] =>
  [...page.querySelectorAll(selector)].map(({ textContent }) => textContent.trim().replace(/\s+/g, ' '));

/** Where the links that a selector finds lead to. */
export const hrefsOf = (page: Page, selector: string): readonly string[] =>
  [...page.querySelectorAll(selector)].map((link) => link.getAttribute('href') ?? '');

/** The document of an answer. */
export const pageOf = (answer: Answer): Page => parseHTML(textOf(answer)).document;

/** A browser before a handler: what it gets, and the page at an address. */
export function browserOf(handler: Handler<Answer | Promise<Answer>>): {
  readonly asked: (url: string, parts?: RequestParts) => Promise<Answer>;
  readonly pageAt: (url: string) => Promise<Page>;
} {
  const asked = async (url: string, parts: RequestParts = {}): Promise<Answer> =>
    handler(requestOf({ url, headers: BROWSER, ...parts }), STAYING);
  return { asked, pageAt: async (url) => pageOf(await asked(url)) };
}
