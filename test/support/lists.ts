// Runs lists as the service does (engine/list.ts), for tests of a single step: the parsed request, the plan or the
// hits. Unexpected problems and ignored names fail the test.
import assert from 'node:assert/strict';
import {
  answerList,
  type Ask,
  type CollectionIndex,
  type Counters,
  execute,
  type Hits,
  type List,
  listHere,
  Meter,
  type Plan,
  type QueryOptions,
  type ServedForm,
  SPEC_LINK_END,
} from '../../engine/engine.ts';
import type { ListSteps } from '../../engine/list.ts';
import { parseListQuery } from '../../engine/query/parse.ts';
import { rowsOf } from './pages.ts';

/** The options of a service without settings. */
export const QUERY_OPTIONS: QueryOptions = {
  limitDefault: 100,
  limitMax: undefined,
  isStrict: false,
  filterErrors: 'fail',
  filters: 'all',
};

/** The form of v3 under the default base URL. */
export const FORM: ServedForm = { baseUrl: 'http://localhost:8080', version: 'v3', linkEnd: SPEC_LINK_END };

/** Options other than these defaults. With `mayIgnore`, ignored names do not fail the test. */
export interface Differing {
  readonly options?: Partial<QueryOptions>;
  readonly form?: Partial<ServedForm>;
  readonly budgetNs?: number;
  readonly counters?: Counters;
  readonly isCancelled?: () => boolean;
  readonly mayIgnore?: boolean;
}

/** The parsed request of a query, with its problems. */
export function askOf(
  collection: CollectionIndex,
  query: string | undefined,
  options: Partial<QueryOptions> = {},
): Ask {
  return parseListQuery(collection, query, { ...QUERY_OPTIONS, ...options });
}

/** Plans a list whatever is wrong with its query; `find` returns its hits. */
function listWith(
  collection: CollectionIndex,
  query: string | undefined,
  { options, form }: Differing,
  find: (list: List) => Hits | undefined,
): List & { readonly hits?: Hits } {
  const list = answerList<List & { readonly hits?: Hits }>(collection, query, {
    options: { ...QUERY_OPTIONS, ...options },
    path: '',
    stop: () => undefined,
    formOf: () => ({ ...FORM, ...form }),
    find,
    miss: (missed) => missed,
    answer: (hits, found) => ({ ...found, hits }),
  });
  assert(!(list instanceof Promise), 'nothing here is asynchronous');
  return list;
}

/** A list with its plan, without hits. */
export function listOf(collection: CollectionIndex, query: string | undefined, differing: Differing = {}): List {
  const list = listWith(collection, query, differing, () => undefined);
  judge(list.ask, query, differing);
  return list;
}

/** The plan of a query, without hits. */
export function planOf(collection: CollectionIndex, query: string | undefined, differing: Differing = {}): Plan {
  return listOf(collection, query, differing).plan;
}

/** The hits of a query that may have problems: its invalid filters are skipped. */
export function foundAnyway(
  collection: CollectionIndex,
  query: string | undefined,
  differing: Differing = {},
): List & { readonly hits: Hits } {
  const { hits, ...list } = listWith(collection, query, differing, ({ plan }) => execute(collection, plan));
  assert(hits, 'what nobody can cancel was cancelled');
  return { ...list, hits };
}

/** All steps of a list in this thread, whatever it costs. A query with problems has only the first step. */
export function stepsOf(
  collection: CollectionIndex,
  query: string | undefined,
  { options, form, budgetNs, counters, isCancelled }: Differing = {},
): ListSteps {
  const meter = new Meter(budgetNs, counters, isCancelled);
  return listHere(collection, query, {
    options: { ...QUERY_OPTIONS, ...options },
    form: { ...FORM, ...form },
    meter,
  });
}

/** The hits of a query; undefined if it was cancelled. */
export function hitsIfAny(
  collection: CollectionIndex,
  query: string | undefined,
  differing: Differing = {},
): Hits | undefined {
  const { ask, hits } = stepsOf(collection, query, differing);
  judge(ask, query, differing);
  return hits;
}

export function hitsOf(collection: CollectionIndex, query: string | undefined, differing: Differing = {}): Hits {
  const hits = hitsIfAny(collection, query, differing);
  assert(hits, `${query} was cancelled`);
  return hits;
}

/** The ids of the page that a query shows, in order. */
export function idsOf(
  collection: CollectionIndex,
  query: string | undefined,
  differing: Differing = {},
): readonly number[] {
  return idsIn(collection, hitsOf(collection, query, differing));
}

/** The ids of the rows that are shown, in order. */
export function idsIn({ ids }: CollectionIndex, { rows }: Pick<Hits, 'rows'>): readonly number[] {
  return rowsOf(rows).map((row) => ids.dictionary.numbers![row]!);
}

function judge({ problems, ignored }: Ask, query: string | undefined, { mayIgnore = false }: Differing): void {
  assert.deepEqual({ problems, ignored: mayIgnore ? [] : ignored }, { problems: [], ignored: [] }, query);
}
