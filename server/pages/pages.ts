// The HTML pages, the citations, the sitemap and the documents that describe the API. Their code is loaded on the first
// request for one, so that it does not delay the start of the server.
import { runInTurns } from '../../workers/slices.ts';
import type { Pages } from '../catalogue/catalogue.ts';
import type { TrustedHosts } from './browse/site.ts';
import type { Answer } from '../http/exchange.ts';
import type { Documents } from './openapi/documents.ts';
import type { browseAnswer } from './browseAnswer.ts';

export interface PageSources {
  /** Keyed by base URL. */
  readonly documents: Documents;
  readonly trustedHosts: () => TrustedHosts | undefined;
}

export function pagesOf({ documents, trustedHosts }: PageSources): Pages {
  return {
    browse: (catalogue, visited) => (browse ?? firstPage)(catalogue, visited, trustedHosts),
    sitemap: async (catalogue, view, visit) => (await import('./sitemap.ts')).sitemapAnswer(catalogue, view, visit),
    cite: async (catalogue, view, visit) =>
      (await import('./citationAnswer.ts')).citationAnswer(catalogue, view, visit),
    describe: async (catalogue, view, visit) =>
      (await import('./description.ts')).descriptionAnswer(documents, catalogue, view, visit),
  };
}

let browse: typeof browseAnswer | undefined;

/** Loaded one after the other: loading all at once would block the thread, and thus its other requests, for 20 ms. */
const PAGE_PARTS: readonly (() => Promise<unknown>)[] = [
  () => import('./browse/frame.ts'),
  () => import('./browse/table.ts'),
  () => import('./browse/listPage.ts'),
  () => import('./browse/recordPage.ts'),
  () => import('./browse/browse.ts'),
];

async function firstPage(...asked: Parameters<typeof browseAnswer>): Promise<Answer> {
  await runInTurns(PAGE_PARTS);
  browse = (await import('./browseAnswer.ts')).browseAnswer;
  return browse(...asked);
}
