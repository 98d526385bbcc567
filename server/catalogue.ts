// The catalogue's handler: path, method, format, parameters, rows, page, in the order in which the stock service judges.
// Knows no transport and no thread: the router says where rows come from. Called by the transports.
import {
  type CollectionIndex,
  countSelected,
  indexBody,
  type Listed,
  type ListRequest,
  pageHead,
  pageLinks,
  parseListQuery,
  parseRecordQuery,
  plan,
  type QueryOptions,
  type RecordRequest,
  regexProblems,
  rootViewBody,
  rowOfId,
  selectedRow,
  type Selection,
  type ServedForm,
  type ServedRows,
  SPEC_LINK_END,
  wholeBody,
} from '../engine/engine.ts';
import type { Missed } from '../workers/protocol.ts';
import type { Router } from '../workers/router.ts';
import { baseUrlChooser, type BaseUrlChoice } from './baseUrl.ts';
import type { Settings } from './config.ts';
import { answersFor, type Answers } from './http/answers.ts';
import type { Answer, Disconnection, Handler, Request } from './http/exchange.ts';
import { negotiate } from './http/negotiate.ts';
import { route, type Route } from './http/routes.ts';
import { exported, type ExportFormat, page, rowsAnswer, singleRecord } from './catalogueRows.ts';

/** The settings that the catalogue's answers depend on; the base URL is known by now. */
export interface CatalogueSettings extends Pick<
  Settings,
  'allowBaseUrls' | 'trustedProxies' | 'links' | 'limitMax' | 'strict' | 'filterErrors' | 'filters' | 'cors'
> {
  readonly baseUrl: string;
}

/** What the handler is composed of. `collections` answers every name of the declaration, `router` the rows of lists. */
export interface CatalogueOptions {
  readonly collections: (name: string) => CollectionIndex;
  readonly settings: CatalogueSettings;
  readonly router: Router;
}

/** spec 8: the page size of every link shown. */
export const LIMIT_DEFAULT = 100;

interface Catalogue extends CatalogueOptions {
  readonly answers: Answers;
  readonly queryOptions: QueryOptions;
  readonly chooseBaseUrl: (request: Request) => BaseUrlChoice;
}

type View<Kind extends Route['kind']> = Extract<Route, { kind: Kind }>;

/**
 * The handler of every path of the catalogue. HEAD is answered like GET. Cost: see engine/query/plan.ts; all but
 * heavy plans that the router has not met are answered at once. Throws OperationError `usage` for a trusted proxy that is no network.
 */
export function catalogueHandler(options: CatalogueOptions): Handler<Answer | Promise<Answer>> {
  const { baseUrl, allowBaseUrls, trustedProxies, strict, limitMax, filterErrors, filters } = options.settings;
  const catalogue: Catalogue = {
    ...options,
    answers: answersFor(options.settings),
    queryOptions: { limitDefault: LIMIT_DEFAULT, limitMax, isStrict: strict, filterErrors, filters },
    chooseBaseUrl: baseUrlChooser({ baseUrl, allowed: allowBaseUrls, trustedProxies }),
  };
  return (request, disconnection) => answerTo(catalogue, request, disconnection);
}

/** Judges the path, then the method; the views judge the rest. */
function answerTo(catalogue: Catalogue, request: Request, disconnection: Disconnection): Answer | Promise<Answer> {
  const { answers } = catalogue;
  const view = request.query?.includes('#') ? BAD_TARGET : route(request.target);
  if (view.kind === 'badTarget') return answers.badTarget;
  if (view.kind === 'notFound') return answers.notFound;
  if (view.kind === 'redirect') return answers.redirected(view.location, request.query);
  if (request.method === 'OPTIONS') return answers.described(nameOf(view));
  if (request.method !== 'GET' && request.method !== 'HEAD') return answers.methodNotAllowed(request.method);
  switch (view.kind) {
    case 'index':
      return indexAnswer(catalogue, request);
    case 'root':
      return rootAnswer(catalogue, view, request);
    case 'list':
      return listAnswer(catalogue, view, request, disconnection);
    case 'record':
      return recordAnswer(catalogue, view, request, disconnection);
  }
}

const BAD_TARGET: Route = { kind: 'badTarget' };

/** What OPTIONS calls a view (design: Responses). */
function nameOf(view: View<'index' | 'root' | 'list' | 'record'>): string {
  switch (view.kind) {
    case 'index':
      return 'Index';
    case 'root':
      return 'Api Root';
    case 'list':
      return `${view.collection.title} List`;
    case 'record':
      return `${view.collections[0]!.title} Instance`;
  }
}

function indexAnswer({ answers, chooseBaseUrl }: Catalogue, request: Request): Answer {
  const { baseUrl, varies } = chooseBaseUrl(request);
  return answers.found(wholeBody(indexBody(baseUrl)), { varies, ignored: [] });
}

function rootAnswer(catalogue: Catalogue, view: View<'root'>, request: Request): Answer {
  const asked = parseRecordQuery(request.query, catalogue.queryOptions);
  const refusal = refusalOf(catalogue, view, request, asked);
  if (refusal) return refusal;
  const { baseUrl, varies } = catalogue.chooseBaseUrl(request);
  const { linkEnd } = formOf(catalogue, view, asked, baseUrl);
  const body = wholeBody(rootViewBody(baseUrl, view.version, linkEnd));
  return catalogue.answers.found(body, { varies, ignored: asked.ignored });
}

/** The record of the first collection that has the id (A3). */
function recordAnswer(
  catalogue: Catalogue,
  view: View<'record'>,
  request: Request,
  disconnection: Disconnection,
): Answer | Promise<Answer> {
  const candidates = view.collections.map(({ name }) => catalogue.collections(name));
  const collection = candidates.find((candidate) => rowOfId(candidate, view.id) >= 0) ?? candidates[0]!;
  const asked = parseRecordQuery(request.query, catalogue.queryOptions, collection.keys);
  const refusal = refusalOf(catalogue, view, request, asked);
  if (refusal) return refusal;
  const row = rowOfId(collection, view.id);
  if (row < 0) return catalogue.answers.notFound;
  const { baseUrl, varies } = catalogue.chooseBaseUrl(request);
  const rows: ServedRows = {
    records: collection.records,
    rows: { kind: 'range', start: row, end: row + 1 },
    form: formOf(catalogue, view, asked, baseUrl),
    keys: asked.keys,
  };
  const format = exportFormatOf(asked);
  const written = format ? exported(format, collection, rows) : singleRecord(rows);
  return rowsAnswer(catalogue.answers, written, { varies, ignored: asked.ignored }, disconnection);
}

function listAnswer(
  catalogue: Catalogue,
  view: View<'list'>,
  request: Request,
  disconnection: Disconnection,
): Answer | Promise<Answer> {
  const collection = catalogue.collections(view.collection.name);
  const asked = parseListQuery(collection, request.query, catalogue.queryOptions);
  const refusal = refusalOf(catalogue, view, request, asked);
  if (refusal) return refusal;
  const choice = catalogue.chooseBaseUrl(request);
  const listed: Page = {
    collection,
    asked,
    choice,
    path: request.target,
    form: formOf(catalogue, view, asked, choice.baseUrl),
  };
  const query = { collection, request: asked, plan: plan(collection, asked, listed.form) };
  const found = catalogue.router.find(query, disconnection);
  return found instanceof Promise
    ? found.then((later) => laterAnswer(catalogue, listed, later, disconnection))
    : pageAnswer(catalogue, listed, found, disconnection);
}

/** A list once it is parsed: all that its page needs beside the rows, so that the request may be gone by then. */
interface Page {
  readonly collection: CollectionIndex;
  readonly asked: ListRequest;
  readonly choice: BaseUrlChoice;
  readonly path: string;
  readonly form: ServedForm;
}

/** Nobody reads the answer to a client that is gone. */
function laterAnswer(
  catalogue: Catalogue,
  listed: Page,
  found: Listed | Missed,
  disconnection: Disconnection,
): Answer | Promise<Answer> {
  if (found === 'busy' || found === 'gone') return catalogue.answers.busy;
  if (found === 'overtime') return catalogue.answers.refused(regexProblems(listed.asked));
  return pageAnswer(catalogue, listed, found, disconnection);
}

function pageAnswer(
  { answers }: Catalogue,
  { collection, asked, choice, path, form }: Page,
  { count, rows, offset, facets }: Listed,
  disconnection: Disconnection,
): Answer | Promise<Answer> {
  const served: ServedRows = { records: collection.records, rows, form, keys: asked.keys };
  const format = exportFormatOf(asked);
  const remarks = { varies: choice.varies, ignored: asked.ignored };
  if (format) return rowsAnswer(answers, exported(format, collection, served), remarks, disconnection);
  const { parameters, limit, after } = asked;
  const lastId = after === undefined ? undefined : (lastIdOf(collection, rows) ?? after);
  const head = pageHead(count, pageLinks(`${choice.baseUrl}${path}`, { parameters, limit, offset, lastId }, count));
  return rowsAnswer(answers, page(head, served, facets), remarks, disconnection);
}

function exportFormatOf({ format }: RecordRequest): ExportFormat | undefined {
  return format === 'ndjson' || format === 'csv' ? format : undefined;
}

function lastIdOf({ ids }: CollectionIndex, rows: Selection): number | undefined {
  const count = countSelected(rows);
  return count === 0 ? undefined : ids.dictionary.numbers![selectedRow(rows, count - 1)];
}

/** Judges the format, then the parameters: an answer that is no page, or undefined. */
function refusalOf(
  { answers }: Catalogue,
  { kind, isJsonPath }: View<'root' | 'list' | 'record'>,
  request: Request,
  { format, problems }: RecordRequest,
): Answer | undefined {
  const negotiation = negotiate({ accept: request.header('accept'), format, isJsonPath });
  if (negotiation === 'unknownFormat') return answers.notFound;
  if (negotiation === 'notAcceptable') return answers.notAcceptable;
  if (kind === 'root' && negotiation !== 'json') return answers.notFound;
  return problems.length > 0 ? answers.refused(problems) : undefined;
}

/** How records and links are written for a request (A24). With `links` set to `request`, links follow path and format. */
function formOf(
  { settings }: Catalogue,
  { version, isJsonPath }: View<'root' | 'list' | 'record'>,
  { format }: RecordRequest,
  baseUrl: string,
): ServedForm {
  if (settings.links === 'spec') return { baseUrl, version, linkEnd: SPEC_LINK_END };
  return { baseUrl, version, linkEnd: `${isJsonPath ? '.json' : '/'}${format ? `?format=${format}` : ''}` };
}
