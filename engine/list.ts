// The way of a list from text to page, in one place: ask -> plan -> find -> page. Read this first.
// Whoever wants a list (a serving thread, a command, a bench, a test) is an Asker; nobody else puts the steps together.
import type { ServedForm } from './column/served.ts';
import { countSelected, selectedRow, type Selection } from './index/rowset.ts';
import type { CollectionIndex } from './index/table.ts';
import { exportRepresentation, pageRepresentation, type Representation } from './page/representation.ts';
import type { Ask, QueryOptions } from './query/ask.ts';
import type { Meter } from './find/counters.ts';
import { execute, type Hits } from './find/execute.ts';
import { pageLinks } from './query/links.ts';
import { parseListQuery } from './query/parse.ts';
import { plan, type Plan } from './find/plan.ts';

/** A list that is planned: what was asked of a collection, and how it is found. */
export interface List {
  readonly collection: CollectionIndex;
  readonly ask: Ask;
  readonly plan: Plan;
}

/**
 * Who asks for a list at a `path`, and decides what the engine leaves open. `stop` ends the way before anything is
 * planned, with what is wrong or with what the client has already. `find` answers where the rows are found: at once,
 * later, or undefined where they are not (`miss` then says what the answer is). `generation` is what links name as
 * theirs (A69).
 */
export interface Asker<Answer> {
  readonly options: QueryOptions;
  readonly path: string;
  readonly generation?: string | undefined;
  stop(ask: Ask): Answer | undefined;
  formOf(ask: Ask): ServedForm;
  find(list: List): Hits | undefined | Promise<Hits | undefined>;
  miss(list: List): Answer;
  answer(page: Representation, hits: Hits, list: List): Answer | Promise<Answer>;
}

/** One list, from the text behind `?` to its page. Cost: that of its steps; see each. */
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
  return hits === undefined ? asker.miss(list) : asker.answer(pageOf(list, hits, asker), hits, list);
}

/** The page of what was found: rows in the format asked for, and the envelope around them. */
function pageOf({ collection, ask, plan: { form, page } }: List, hits: Hits, asker: Asker<unknown>): Representation {
  const rows = { records: collection.records, rows: hits.rows, form, keys: page.keys };
  if (page.exported) return exportRepresentation(page.exported, collection, rows);
  const lastId = page.after === undefined ? undefined : (lastIdOf(collection, hits.rows) ?? page.after);
  const { count, offset } = hits;
  const place = { address: form.baseUrl + asker.path, count, offset, lastId, generation: asker.generation };
  const links = pageLinks(ask, asker.options, place);
  return pageRepresentation(rows, { count: hits.count, links, facets: hits.facets }, page.isIndented);
}

function lastIdOf({ ids }: CollectionIndex, rows: Selection): number | undefined {
  const count = countSelected(rows);
  return count === 0 ? undefined : ids.dictionary.numbers![selectedRow(rows, count - 1)];
}

/**
 * The steps of a list that was asked for in the calling thread: of a query with problems the first alone, of one
 * without hits the first two.
 */
export interface ListSteps {
  readonly ask: Ask;
  readonly plan?: Plan;
  readonly hits?: Hits;
  readonly page?: Representation;
}

/** How a list is asked for in the calling thread. The list has no hits if the meter's budget does not suffice. */
export interface Here {
  readonly options: QueryOptions;
  readonly form: ServedForm;
  readonly path?: string;
  readonly meter?: Meter;
}

/** A list found in the calling thread, whatever it costs, with every step at hand: for commands, benches and tests. */
export function listHere(collection: CollectionIndex, query: string | undefined, here: Here): ListSteps {
  const { options, form, path = '', meter } = here;
  const asker: Asker<ListSteps> = {
    options,
    path,
    stop: (ask) => (ask.problems.length > 0 ? { ask } : undefined),
    formOf: () => form,
    find: (list) => execute(collection, list.plan, meter),
    miss: ({ ask, plan: planned }) => ({ ask, plan: planned }),
    answer: (page, hits, { ask, plan: planned }) => ({ ask, plan: planned, hits, page }),
  };
  // Nothing of it is asynchronous, so that neither is the answer.
  return answerList(collection, query, asker) as ListSteps;
}
