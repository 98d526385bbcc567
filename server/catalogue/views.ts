// The views of the API: the root, lists, and single records. A record comes from the first collection of a path that
// has the id (A3).
import {
  answerList,
  type Ask,
  type Asker,
  countSelected,
  explained,
  exportKey,
  exportRepresentation,
  type Hits,
  indentedAtOnce,
  indexBody,
  type List,
  pageOf,
  parseRecordQuery,
  purposeName,
  type QueryOptions,
  recordRepresentation,
  regexProblems,
  rootViewBody,
  rowOfId,
  type ServedForm,
  servedRows,
  wholeBody,
} from '../../engine/engine.ts';
import type { Answer } from '../http/exchange.ts';
import {
  type CatalogueService,
  delivered,
  formOf,
  refusalOf,
  type RouteOf,
  validated,
  type Visit,
} from './catalogue.ts';
import { countIgnored } from './tally.ts';
import type { MissReason } from '../../workers/protocol.ts';
import { shortKey } from '../../workers/rowSetCache.ts';
import { newTrace, type Trace } from '../../workers/heavyThreads.ts';
import { steadyMs } from '../observe/clock.ts';
import { requestedExport } from './negotiate.ts';
import { withTiming } from './answers.ts';

/** The index. Its links begin with `down`. Its query has no effect, and it is never compressed. */
export function indexAnswer(catalogue: CatalogueService, visit: Visit, down: string): Answer {
  const { choice } = visit;
  const { tag, unchanged } = validated(catalogue, visit, INDEX, emptyAsk(catalogue), 'identity');
  if (unchanged) return unchanged;
  const body = wholeBody(indexBody(choice.baseUrl));
  const answer = catalogue.answers.found(body, { varies: choice.varies, ignored: [], tag });
  return { ...answer, headers: [...answer.headers, descriptionLink(down)] };
}

/**
 * Links to the descriptions of the API for programs and for people (RFC 8631, 4). `up` leads from the current path to
 * the root.
 */
export function descriptionLink(up: string): Answer['headers'][number] {
  return ['Link', `<${up}openapi.json>; rel="service-desc", <${up}docs/>; rel="service-doc"`];
}

/** Always JSON, whatever Accept says. */
const INDEX = { version: 'v3', ending: 'json' } as const;

function emptyAsk({ queryOptions }: CatalogueService): Ask {
  return parseRecordQuery(undefined, queryOptions);
}

export function rootAnswer(catalogue: CatalogueService, route: RouteOf<'root'>, visit: Visit): Answer {
  const { request, choice } = visit;
  const ask = parseRecordQuery(request.query, catalogue.queryOptions);
  const refusal = refusalOf(catalogue, route, request, ask);
  if (refusal) return refusal;
  countIgnored(catalogue.ignored, '', ask.ignored);
  const { tag, unchanged } = validated(catalogue, visit, route, ask, 'identity');
  if (unchanged) return unchanged;
  const { linkEnd } = formOf(catalogue, route, ask.page.format, choice);
  const compact = wholeBody(rootViewBody(choice.baseUrl, route.version, linkEnd));
  const body = ask.page.isIndented ? indentedAtOnce(compact) : compact;
  return catalogue.answers.found(body, { varies: choice.varies, ignored: ask.ignored, tag });
}

/** The page of a list, its export, or its query plan. Cost: see engine/list.ts; heavy lists get a later response. */
export function listAnswer(
  catalogue: CatalogueService,
  route: RouteOf<'list'>,
  visit: Visit,
): Answer | Promise<Answer> {
  const collection = catalogue.collections(route.collection.name);
  return answerList(collection, visit.request.query, new ListAsker(catalogue, route, visit));
}

/** Holds everything that the response needs, because the request may be gone when its rows are found. */
class ListAsker implements Asker<Answer | Promise<Answer>> {
  readonly options: QueryOptions;
  readonly #catalogue: CatalogueService;
  readonly #route: RouteOf<'list'>;
  readonly #visit: Visit;
  #tag = '';
  #range: ReturnType<typeof validated>['range'];
  #trace: Trace | undefined;
  #missed: MissReason = 'gone';
  #waitedMs: number | undefined;

  constructor(catalogue: CatalogueService, route: RouteOf<'list'>, visit: Visit) {
    this.#catalogue = catalogue;
    this.#route = route;
    this.#visit = visit;
    const { queryOptions } = catalogue;
    const exported = requestedExport(visit.request.header('accept'), route.ending);
    this.options = exported ? { ...queryOptions, exported } : queryOptions;
  }

  get path(): string {
    return this.#visit.request.target;
  }

  get generation(): string | undefined {
    return this.#catalogue.pin;
  }

  stop(ask: Ask): Answer | undefined {
    const catalogue = this.#catalogue;
    const refusal = refusalOf(catalogue, this.#route, this.#visit.request, ask);
    if (refusal) return refusal;
    countIgnored(catalogue.ignored, this.#route.collection.name, ask.ignored);
    if (ask.isExplained) {
      this.#trace = newTrace();
      return undefined;
    }
    const { tag, unchanged, range } = validated(catalogue, this.#visit, this.#route, ask);
    this.#tag = tag;
    this.#range = range;
    return unchanged;
  }

  formOf(ask: Ask): ServedForm {
    return formOf(this.#catalogue, this.#route, ask.page.format, this.#visit.choice);
  }

  find(list: List): Hits | Promise<Hits | undefined> {
    const found = this.#catalogue.router.find(list, this.#visit.disconnection, this.#trace);
    return found instanceof Promise ? this.#waitFor(found) : found;
  }

  async #waitFor(found: Promise<Hits | MissReason>): Promise<Hits | undefined> {
    const start = steadyMs();
    const hits = await found;
    this.#waitedMs = steadyMs() - start;
    if (typeof hits !== 'string') return hits;
    this.#missed = hits;
    return undefined;
  }

  /** The response without rows. A disconnected client gets none, so that reason needs no text. */
  miss({ ask }: List): Answer {
    const { answers } = this.#catalogue;
    if (this.#missed !== 'overtime') return this.#timed(answers.busy);
    const problems = regexProblems(ask);
    return this.#timed(problems.length > 0 ? answers.refused(problems) : answers.overtime);
  }

  answer(hits: Hits, list: List): Answer | Promise<Answer> {
    const { ask, collection } = list;
    const view = { route: this.#route, ask, tag: this.#tag, range: this.#range, collection, totalCount: hits.count };
    const key = this.#exportKeyOf(list);
    const answer = ask.isExplained
      ? this.#explanation(hits, list)
      : delivered(this.#catalogue, this.#visit, key ? { ...view, exportKey: key } : view, pageOf(list, hits, this));
    return answer instanceof Promise ? answer.then((later) => this.#timed(later)) : this.#timed(answer);
  }

  /** The key of an export, computed on demand. Other lists have none and allocate no closure. */
  #exportKeyOf(list: List): (() => string) | undefined {
    if (!list.ask.page.exported) return undefined;
    let key: string | undefined;
    return () => (key ??= shortKey(exportKey(this.#catalogue.generation, list)));
  }

  /** The query plan of a list instead of the list (A68). `thread` counts since the thread's start. */
  #explanation(hits: Hits, { plan }: List): Answer {
    const { answers, generation, router } = this.#catalogue;
    const { place, isKept, isShared, spentNs, ranOutAt, counters } = this.#trace!;
    const explanation = {
      generation,
      plan: explained(plan),
      count: hits.count,
      shown: countSelected(hits.rows),
      ran: {
        place,
        isKept,
        isShared,
        microseconds: Math.ceil(spentNs / 1000),
        ranOutAt: ranOutAt ? purposeName(ranOutAt) : null,
        ...counters,
      },
      thread: router.statistics(),
    };
    return answers.momentary(JSON.stringify(explanation));
  }

  #timed(answer: Answer): Answer {
    return this.#waitedMs === undefined ? answer : withTiming(answer, 'pool', this.#waitedMs);
  }
}

/** The record, or a refusal. Cost: a binary search per collection. */
export function recordAnswer(
  catalogue: CatalogueService,
  route: RouteOf<'record'>,
  visit: Visit,
): Answer | Promise<Answer> {
  const { request, choice } = visit;
  let collection = catalogue.collections(route.collections[0]!.name);
  let row = rowOfId(collection, route.id);
  for (let i = 1; row < 0 && i < route.collections.length; i++) {
    const other = catalogue.collections(route.collections[i]!.name);
    row = rowOfId(other, route.id);
    if (row >= 0) collection = other;
  }
  const ask = parseRecordQuery(request.query, catalogue.queryOptions, collection);
  const refusal = refusalOf(catalogue, route, request, ask);
  if (refusal) return refusal;
  if (row < 0) return catalogue.answers.notFound;
  countIgnored(catalogue.ignored, collection.declaration.name, ask.ignored);
  const { tag, unchanged, range } = validated(catalogue, visit, route, ask);
  if (unchanged) return unchanged;
  const form = formOf(catalogue, route, ask.page.format, choice);
  const rows = servedRows(collection, { kind: 'range', start: row, end: row + 1 }, form, ask.page);
  const format = ask.page.exported;
  const record = format
    ? exportRepresentation(format, collection, rows, ask.page.hasBom)
    : recordRepresentation(rows, ask.page.isIndented);
  return delivered(catalogue, visit, { route, ask, tag, range, collection }, record);
}
