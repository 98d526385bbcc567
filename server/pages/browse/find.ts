// How pages ask for rows: along the engine's one way of a list (engine/list.ts), with a page bounded for people.
// Nothing here puts steps together or finds rows.
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
  type Representation,
  type ServedForm,
} from '../../../engine/engine.ts';
import type { MissReason } from '../../../workers/protocol.ts';
import type { Site, Tour } from './site.ts';

/** Records of a page: more are a long way to scroll, and the API has them. */
export const PAGE_ROWS_MAX = 100;

/** A list that was found, or why not: what is wrong with the query, or that there was no time for it. */
export type FindResult =
  | { readonly kind: 'found'; readonly list: List; readonly hits: Hits; readonly milliseconds: number }
  | { readonly kind: 'refused'; readonly ask: Ask }
  | { readonly kind: 'missed'; readonly list: List; readonly why: MissReason };

/** Lists of a collection as `query` asks for them. Cost: see engine/list.ts; heavy ones are found in the pool. */
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
  readonly #start: number;
  #missed: MissReason = 'gone';
  #milliseconds = 0;

  constructor(site: Site, tour: Tour) {
    // A filter that is wrong is shown to be mended, whatever clients get for it.
    this.options = { ...site.queryOptions, filterErrors: 'fail', limitMax: pageRowsMax(site) };
    this.path = tour.target;
    this.#site = site;
    this.#tour = tour;
    this.#start = site.steadyMs();
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
    this.#milliseconds = this.#site.steadyMs() - this.#start;
    if (typeof hits !== 'string') return hits;
    this.#missed = hits;
    return undefined;
  }

  miss(list: List): FindResult {
    const problems = this.#missed === 'overtime' ? regexProblems(list.ask) : [];
    if (problems.length > 0) return { kind: 'refused', ask: { ...list.ask, problems } };
    return { kind: 'missed', list, why: this.#missed };
  }

  answer(_page: Representation, hits: Hits, list: List): FindResult {
    return { kind: 'found', list, hits, milliseconds: this.#milliseconds };
  }
}
