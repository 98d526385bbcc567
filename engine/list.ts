// The steps of a list from text to page, in one place: ask -> plan -> find -> page. Read this first. Every caller that
// needs a list (a serving thread, a command, a bench, a test) is an Asker. No other code combines the steps.
import type { ServedForm } from './column/served.ts';
import { countSelected, selectedRow, type Selection } from './index/rowset.ts';
import type { CollectionIndex } from './index/table.ts';
import { makeBranches } from './page/expand.ts';
import { joinedColumn } from './page/joined.ts';
import { exportRepresentation, pageRepresentation, type Representation } from './page/representation.ts';
import type { ServedRows } from './page/rows.ts';
import type { Ask, Page, QueryOptions } from './query/ask.ts';
import type { Meter } from './find/counters.ts';
import { execute, type Hits } from './find/execute.ts';
import { pageLinks } from './query/links.ts';
import { parseListQuery } from './query/parse.ts';
import { plan, type Plan } from './find/plan.ts';

/** A planned list: the parsed query of a collection, and its plan. */
export interface List {
  readonly collection: CollectionIndex;
  readonly ask: Ask;
  readonly plan: Plan;
}

/** The caller of a list, and its decisions about what the engine leaves open. */
export interface Asker<Answer> {
  readonly options: QueryOptions;
  /** The path of the list. */
  readonly path: string;
  /** The generation that links name (A69). */
  readonly generation?: string | undefined;
  /** Returns a response that ends the request before planning: for problems, or if the client already has the page. */
  stop(ask: Ask): Answer | undefined;
  formOf(ask: Ask): ServedForm;
  /** Finds the rows, now or later. Undefined if they are not found; `miss` then gives the response. */
  find(list: List): Hits | undefined | Promise<Hits | undefined>;
  miss(list: List): Answer;
  /** Gives the response for the rows found. `pageOf` makes their page, for callers that serve it. */
  answer(hits: Hits, list: List): Answer | Promise<Answer>;
}

/** Runs all steps of a list, from the text after `?` to its page. Cost: that of its steps. */
export function answerList<Answer>(
  collection: CollectionIndex,
  query: string | undefined,
  asker: Asker<Answer>,
): Answer | Promise<Answer> {
  const ask = parseListQuery(collection, query, asker.options);
  const stopped = asker.stop(ask);
  if (stopped !== undefined) return stopped;
  const list: List = { collection, ask, plan: plan(collection, ask, asker.formOf(ask)) };
  const hits = asker.find(list);
  return hits instanceof Promise ? hits.then((later) => answerWith(asker, list, later)) : answerWith(asker, list, hits);
}

function answerWith<Answer>(asker: Asker<Answer>, list: List, hits: Hits | undefined): Answer | Promise<Answer> {
  return hits === undefined ? asker.miss(list) : asker.answer(hits, list);
}

/** The page of the rows found, in the requested format, with its envelope. Cost: the text of the envelope. */
export function pageOf(
  { collection, ask, plan: { form, page } }: List,
  hits: Hits,
  asker: Pick<Asker<unknown>, 'options' | 'path' | 'generation'>,
): Representation {
  const rows = servedRows(collection, hits.rows, form, page);
  if (page.exported) return exportRepresentation(page.exported, collection, rows, page.hasBom);
  const lastId = page.after === undefined ? undefined : (lastIdOf(collection, hits.rows) ?? page.after);
  const { count, offset } = hits;
  const place = { address: form.baseUrl + asker.path, count, offset, lastId, generation: asker.generation };
  const links = pageLinks(ask, asker.options, place);
  return pageRepresentation(rows, { count: hits.count, links, facets: hits.facets }, page.isIndented);
}

/** Rows of a collection in the shape that a page asks for. Cost: none, unless fields are joined or links expanded. */
export function servedRows(
  collection: CollectionIndex,
  rows: Selection,
  form: ServedForm,
  { keys, joined, expand }: Pick<Page, 'keys' | 'joined' | 'expand'>,
): ServedRows {
  const served = { records: collection.records, rows, form, keys };
  if (joined.length + expand.length === 0) return served;
  const columns = joined.map((field) => joinedColumn(collection, field));
  const branches = makeBranches(collection.members, expand);
  return { ...served, joins: { branches, columns } };
}

function lastIdOf({ ids }: CollectionIndex, rows: Selection): number | undefined {
  const count = countSelected(rows);
  return count === 0 ? undefined : ids.dictionary.numbers![selectedRow(rows, count - 1)];
}

/**
 * The results of the steps of a list in the calling thread. A query with problems has only the first, one without hits
 * the first two.
 */
export interface ListSteps {
  readonly ask: Ask;
  readonly plan?: Plan;
  readonly hits?: Hits;
  readonly page?: Representation;
}

/** The settings of a list in the calling thread. The list has no hits if the meter's budget is not enough. */
export interface Here {
  readonly options: QueryOptions;
  readonly form: ServedForm;
  readonly path?: string;
  readonly meter?: Meter;
}

/**
 * Runs a list in the calling thread, at any cost, and returns the result of every step: for commands, benches and
 * tests.
 */
export function listHere(collection: CollectionIndex, query: string | undefined, here: Here): ListSteps {
  const { options, form, path = '', meter } = here;
  const asker: Asker<ListSteps> = {
    options,
    path,
    stop: (ask) => (ask.problems.length > 0 ? { ask } : undefined),
    formOf: () => form,
    find: (list) => execute(collection, list.plan, meter),
    miss: ({ ask, plan: planned }) => ({ ask, plan: planned }),
    answer: (hits, list) => ({ ask: list.ask, plan: list.plan, hits, page: pageOf(list, hits, asker) }),
  };
  // This asker has no asynchronous step, so that the result is not a promise.
  return answerList(collection, query, asker) as ListSteps;
}
