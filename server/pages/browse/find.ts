// Finds the rows of a page by the engine's procedure for lists (engine/list.ts), with a limit on the rows of a page.
import assert from 'node:assert/strict';
import {
  answerList,
  type Ask,
  type Asker,
  type CollectionIndex,
  type Hits,
  type List,
  type QueryOptions,
  regexProblems,
  type ServedForm,
} from '../../../engine/engine.ts';
import type { MissReason } from '../../../workers/protocol.ts';
import type { Site, Tour } from './site.ts';

/** Records of a page. Scrolling through more is tedious, and the API returns them. */
export const PAGE_ROWS_MAX = 100;

/** A list that was found, a query with problems (`refused`), or a list that could not be found in time (`missed`). */
export type FindResult =
  | { readonly kind: 'found'; readonly list: List; readonly hits: Hits }
  | { readonly kind: 'refused'; readonly ask: Ask }
  | { readonly kind: 'missed'; readonly list: List; readonly why: MissReason };

/** Finds the records that `query` selects. Cost: see engine/list.ts; expensive queries run in the pool. */
export async function foundList(
  site: Site,
  tour: Tour,
  collection: CollectionIndex,
  query: string | undefined,
): Promise<FindResult> {
  return answerList(collection, query, new PageAsker(site, tour));
}

export function pageRowsMax({ queryOptions }: Site): number {
  return Math.min(PAGE_ROWS_MAX, queryOptions.limitMax ?? PAGE_ROWS_MAX);
}

class PageAsker implements Asker<FindResult | Promise<FindResult>> {
  readonly options: QueryOptions;
  readonly path: string;
  readonly #site: Site;
  readonly #tour: Tour;
  #missed: MissReason = 'gone';

  constructor(site: Site, tour: Tour) {
    // The page shows a wrong filter for correction, even if the API ignores it under these settings.
    this.options = { ...site.queryOptions, filterErrors: 'fail', limitMax: pageRowsMax(site) };
    this.path = tour.target;
    this.#site = site;
    this.#tour = tour;
  }

  stop(ask: Ask): FindResult | undefined {
    return ask.problems.length > 0 ? { kind: 'refused', ask } : undefined;
  }

  formOf(): ServedForm {
    const { baseUrl, version, linkEnd } = this.#tour;
    return { baseUrl, version, linkEnd };
  }

  async find(list: List): Promise<Hits | undefined> {
    assert(list.plan.page.limit <= PAGE_ROWS_MAX, 'a page was asked for as if it was an export');
    const hits = await this.#site.router.find(list, this.#tour.disconnection);
    if (typeof hits !== 'string') return hits;
    this.#missed = hits;
    return undefined;
  }

  miss(list: List): FindResult {
    const problems = this.#missed === 'overtime' ? regexProblems(list.ask) : [];
    if (problems.length > 0) return { kind: 'refused', ask: { ...list.ask, problems } };
    return { kind: 'missed', list, why: this.#missed };
  }

  answer(hits: Hits, list: List): FindResult {
    return { kind: 'found', list, hits };
  }
}
