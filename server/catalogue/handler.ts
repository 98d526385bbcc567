// The catalogue's handler: path, method, format, parameters, rows, page, in the order in which the stock service
// judges. Knows no transport and no thread: the router says where rows come from.
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
  type RecordBlocks,
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
} from '../../engine/engine.ts';
import type { Missed } from '../../workers/protocol.ts';
import type { ListQuery } from '../../workers/heavyLists.ts';
import type { Router } from '../../workers/router.ts';
import { newTrace } from '../../workers/trace.ts';
import { baseUrlChooser, type BaseUrlChoice } from './baseUrl.ts';
import type { Settings } from '../settings/declarations.ts';
import type { Tally } from '../observe/tally.ts';
import { epochMs, steadyMs } from '../observe/clock.ts';
import { answersFor, type Answers, type Remarks } from './answers.ts';
import { Conditional, lastModifiedSeconds } from './conditional.ts';
import type { Answer, Disconnection, Handler, Request } from '../http/exchange.ts';
import { codingChooser, type Coding } from './coding.ts';
import { KnownAnswers } from './knownAnswers.ts';
import { LiveGzip } from './liveGzip.ts';
import { negotiate } from './negotiate.ts';
import { route, type Route } from './routes.ts';
import { timedHandler, waitedFor } from './serverTiming.ts';
import { explanationText } from './explanation.ts';
import { MEGABYTE } from '../observe/quantities.ts';
import { countIgnored } from './tally.ts';
import { viewName } from './viewName.ts';
import { type Delivery, exported, type ExportFormat, page, rowsAnswer, singleRecord } from './rows.ts';

/** The settings that the catalogue's answers depend on; the base URL is known by now. */
export interface CatalogueSettings extends Pick<
  Settings,
  | 'allowBaseUrls'
  | 'trustedProxies'
  | 'links'
  | 'limitMax'
  | 'strict'
  | 'filterErrors'
  | 'filters'
  | 'explain'
  | 'pinWalks'
  | 'cors'
  | 'cacheControl'
  | 'gzip'
  | 'serverTiming'
  | 'answerCacheMb'
> {
  readonly baseUrl: string;
}

/**
 * What the handler is composed of. `collections` answers every name of the declaration, `router` the rows of lists.
 * `generation` and `created` are those of the snapshot, `blocks` its records by collection as blocks where there are
 * any. `ignored` is a tally of IGNORED_PARAMETERS.
 */
export interface CatalogueOptions {
  readonly generation: string;
  readonly created: string | undefined;
  readonly collections: (name: string) => CollectionIndex;
  readonly blocks: ((name: string) => RecordBlocks) | undefined;
  readonly settings: CatalogueSettings;
  readonly router: Router;
  readonly ignored: Tally;
}

/** spec 8: the page size of every link shown. */
export const LIMIT_DEFAULT = 100;

/** Digits of a generation that links name it by, as `serve` prints it: two of one catalogue never share them. */
const GENERATION_DIGITS = 12;

/** `pin` is what links name the generation by, undefined where walks are not pinned (A69). */
interface Catalogue extends CatalogueOptions {
  readonly pin: string | undefined;
  readonly answers: Answers;
  readonly conditional: Conditional;
  readonly known: KnownAnswers;
  readonly live: LiveGzip;
  readonly queryOptions: QueryOptions;
  readonly chooseBaseUrl: (request: Request) => BaseUrlChoice;
  readonly chooseCoding: (request: Request) => Coding;
}

/** A request with what the views want to know of it, asked once. */
interface Visit {
  readonly request: Request;
  readonly disconnection: Disconnection;
  readonly choice: BaseUrlChoice;
  readonly isConditional: boolean;
}

type View<Kind extends Route['kind']> = Extract<Route, { kind: Kind }>;

/**
 * The handler of every path of the catalogue. HEAD is answered like GET. Cost: see engine/query/plan.ts; all but heavy
 * plans that the router has not met are answered at once. Throws OperationError `usage` for a trusted proxy that is no
 * network.
 */
export function catalogueHandler(options: CatalogueOptions): Handler<Answer | Promise<Answer>> {
  const { generation, created, settings } = options;
  const { baseUrl, allowBaseUrls, trustedProxies, strict, explain, pinWalks, limitMax, filterErrors, filters } =
    settings;
  const pin = pinWalks ? generation.slice(0, GENERATION_DIGITS) : undefined;
  const asked = { limitDefault: LIMIT_DEFAULT, limitMax, isStrict: strict, filterErrors, filters };
  const queryOptions: QueryOptions = { ...asked, mayExplain: explain, pinsWalks: pinWalks };
  const chooseCoding = codingChooser(settings.gzip !== 'off');
  const lastModified = lastModifiedSeconds(created, epochMs());
  const answers = answersFor({ ...settings, lastModified, generation: pin });
  const validated = {
    generation,
    settings: [settings.links, ...Object.values(queryOptions)],
    lastModified,
    isGzipOffered: settings.gzip !== 'off',
  };
  const catalogue: Catalogue = {
    ...options,
    pin,
    answers,
    conditional: new Conditional(validated, answers),
    known: new KnownAnswers(settings.answerCacheMb * MEGABYTE, chooseCoding),
    live: new LiveGzip(),
    queryOptions,
    chooseBaseUrl: baseUrlChooser({ baseUrl, allowed: allowBaseUrls, trustedProxies }),
    chooseCoding,
  };
  const handler: Handler<Answer | Promise<Answer>> = (request, disconnection) =>
    answerTo(catalogue, request, disconnection);
  return settings.serverTiming ? timedHandler(handler, steadyMs) : handler;
}

/** Judges the path, then the method; the views judge the rest. */
function answerTo(catalogue: Catalogue, request: Request, disconnection: Disconnection): Answer | Promise<Answer> {
  const { answers, conditional } = catalogue;
  const choice = catalogue.chooseBaseUrl(request);
  const isConditional = conditional.isConditional(request);
  const unchanged = isConditional ? conditional.known(request, choice) : undefined;
  if (unchanged) return unchanged;
  const known = isConditional ? undefined : catalogue.known.find(request, choice);
  if (known) return known;
  const view = request.query?.includes('#') ? BAD_TARGET : route(request.target);
  if (view.kind === 'badTarget') return answers.badTarget;
  if (view.kind === 'notFound') return answers.notFound;
  if (view.kind === 'redirect') return answers.redirected(view.location, request.query);
  if (request.method === 'OPTIONS') return answers.described(viewName(view));
  if (request.method !== 'GET' && request.method !== 'HEAD') return answers.methodNotAllowed(request.method);
  const visit: Visit = { request, disconnection, choice, isConditional };
  switch (view.kind) {
    case 'index':
      return indexAnswer(catalogue, visit);
    case 'root':
      return rootAnswer(catalogue, view, visit);
    case 'list':
      return listAnswer(catalogue, view, visit);
    case 'record':
      return recordAnswer(catalogue, view, visit);
  }
}

const BAD_TARGET: Route = { kind: 'badTarget' };

function indexAnswer(catalogue: Catalogue, visit: Visit): Answer {
  const { choice } = visit;
  const { tag, unchanged } = validate(catalogue, visit, { parameters: [], filters: NO_FILTERS, isNamed: true });
  if (unchanged) return unchanged;
  const body = wholeBody(indexBody(choice.baseUrl));
  return catalogue.answers.found(body, { varies: choice.varies, ignored: [], tag });
}

function rootAnswer(catalogue: Catalogue, view: View<'root'>, visit: Visit): Answer {
  const { request, choice } = visit;
  const asked = parseRecordQuery(request.query, catalogue.queryOptions);
  const refusal = refusalOf(catalogue, view, request, asked);
  if (refusal) return refusal;
  countIgnored(catalogue.ignored, '', asked.ignored);
  const { tag, unchanged } = validate(catalogue, visit, judgedOf(view, asked, NO_FILTERS));
  if (unchanged) return unchanged;
  const { linkEnd } = formOf(catalogue, view, asked, choice.baseUrl);
  const body = wholeBody(rootViewBody(choice.baseUrl, view.version, linkEnd));
  return catalogue.answers.found(body, { varies: choice.varies, ignored: asked.ignored, tag });
}

/** The record of the first collection that has the id (A3). */
function recordAnswer(catalogue: Catalogue, view: View<'record'>, visit: Visit): Answer | Promise<Answer> {
  const { request, choice } = visit;
  let collection = catalogue.collections(view.collections[0]!.name);
  let row = rowOfId(collection, view.id);
  for (let i = 1; row < 0 && i < view.collections.length; i++) {
    const other = catalogue.collections(view.collections[i]!.name);
    row = rowOfId(other, view.id);
    if (row >= 0) collection = other;
  }
  const asked = parseRecordQuery(request.query, catalogue.queryOptions, collection.keys);
  const refusal = refusalOf(catalogue, view, request, asked);
  if (refusal) return refusal;
  if (row < 0) return catalogue.answers.notFound;
  countIgnored(catalogue.ignored, collection.declaration.name, asked.ignored);
  const judged = judgedOf(view, asked, NO_FILTERS);
  const { tag, unchanged } = validate(catalogue, visit, judged);
  if (unchanged) return unchanged;
  const rows: ServedRows = {
    records: collection.records,
    rows: { kind: 'range', start: row, end: row + 1 },
    form: formOf(catalogue, view, asked, choice.baseUrl),
    keys: asked.keys,
  };
  const format = exportFormatOf(asked);
  const written = format ? exported(format, collection, rows) : singleRecord(rows);
  const remarks = { varies: choice.varies, ignored: asked.ignored, tag };
  const delivery = deliveryOf(catalogue, collection, visit, { judged, remarks });
  return rowsAnswer(catalogue.answers, written, delivery, remarks, visit.disconnection);
}

function listAnswer(catalogue: Catalogue, view: View<'list'>, visit: Visit): Answer | Promise<Answer> {
  const { request, choice, disconnection } = visit;
  const collection = catalogue.collections(view.collection.name);
  const asked = parseListQuery(collection, request.query, catalogue.queryOptions);
  const refusal = refusalOf(catalogue, view, request, asked, isGone(catalogue, asked));
  if (refusal) return refusal;
  countIgnored(catalogue.ignored, view.collection.name, asked.ignored);
  const form = formOf(catalogue, view, asked, choice.baseUrl);
  if (asked.isExplained) return explainedAnswer(catalogue, queryOf(collection, asked, form), disconnection);
  const judged = judgedOf(view, asked, asked.conditions);
  const { tag, unchanged } = validate(catalogue, visit, judged);
  if (unchanged) return unchanged;
  const remarks = { varies: choice.varies, ignored: asked.ignored, tag };
  const delivery = deliveryOf(catalogue, collection, visit, { judged, remarks });
  const listed: Page = { collection, asked, baseUrl: choice.baseUrl, remarks, delivery, path: request.target, form };
  const found = catalogue.router.find(queryOf(collection, asked, form), disconnection);
  return found instanceof Promise
    ? waitedFor(found, steadyMs, (later) => laterAnswer(catalogue, listed, later, disconnection))
    : pageAnswer(catalogue, listed, found, disconnection);
}

function queryOf(collection: CollectionIndex, asked: ListRequest, form: ServedForm): ListQuery {
  return { collection, request: asked, plan: plan(collection, asked, form) };
}

/** Whether a list is asked of another generation than the one served. */
function isGone({ pin, generation }: Catalogue, asked: ListRequest): boolean {
  return asked.generation !== undefined && asked.generation !== pin && asked.generation !== generation;
}

/** A list once it is parsed: all that its page needs beside the rows, so that the request may be gone by then. */
interface Page {
  readonly collection: CollectionIndex;
  readonly asked: ListRequest;
  readonly baseUrl: string;
  readonly remarks: Remarks;
  readonly delivery: Delivery;
  readonly path: string;
  readonly form: ServedForm;
}

function laterAnswer(
  catalogue: Catalogue,
  listed: Page,
  found: Listed | Missed,
  disconnection: Disconnection,
): Answer | Promise<Answer> {
  if (typeof found === 'string') return missedAnswer(catalogue.answers, listed.asked, found);
  return pageAnswer(catalogue, listed, found, disconnection);
}

/** Nobody reads the answer to a client that is gone. */
function missedAnswer(answers: Answers, asked: ListRequest, missed: Missed): Answer {
  return missed === 'overtime' ? answers.refused(regexProblems(asked)) : answers.busy;
}

function pageAnswer(
  catalogue: Catalogue,
  { collection, asked, baseUrl, remarks, delivery, path, form }: Page,
  { count, rows, offset, facets }: Listed,
  disconnection: Disconnection,
): Answer | Promise<Answer> {
  const served: ServedRows = { records: collection.records, rows, form, keys: asked.keys };
  const format = exportFormatOf(asked);
  const { answers } = catalogue;
  if (format) return rowsAnswer(answers, exported(format, collection, served), delivery, remarks, disconnection);
  const { parameters, limit, after } = asked;
  const lastId = after === undefined ? undefined : (lastIdOf(collection, rows) ?? after);
  const paging = { parameters, limit, offset, lastId, generation: catalogue.pin };
  const head = pageHead(count, pageLinks(`${baseUrl}${path}`, paging, count));
  return rowsAnswer(answers, page(head, served, facets), delivery, remarks, disconnection);
}

/** How an answer goes out; it is kept where it came before and is due, unless a header is its own. */
function deliveryOf(
  { blocks, live, known, chooseCoding }: Catalogue,
  { declaration }: CollectionIndex,
  { request, choice, isConditional }: Visit,
  { judged, remarks }: { readonly judged: Judged; readonly remarks: Remarks },
): Delivery {
  const coding = chooseCoding(request);
  const stored = coding === 'identity' ? undefined : blocks?.(declaration.name);
  if (isConditional || remarks.ignored.length > 0 || !known.isDue(remarks.tag)) return { coding, stored, live };
  const asked = { request, choice, coding, heedsAccept: !judged.isNamed };
  return { coding, stored, live, keep: (answer, ownBytes) => known.keep(asked, answer, ownBytes) };
}

function exportFormatOf({ format }: RecordRequest): ExportFormat | undefined {
  return format === 'ndjson' || format === 'csv' ? format : undefined;
}

function lastIdOf({ ids }: CollectionIndex, rows: Selection): number | undefined {
  const count = countSelected(rows);
  return count === 0 ? undefined : ids.dictionary.numbers![selectedRow(rows, count - 1)];
}

/** Judges the format, then the generation, then the parameters: an answer that is no page, or undefined. */
function refusalOf(
  { answers }: Catalogue,
  { kind, isJsonPath }: View<'root' | 'list' | 'record'>,
  request: Request,
  { format, problems }: RecordRequest,
  isGenerationGone = false,
): Answer | undefined {
  const negotiation = negotiate({ accept: request.header('accept'), format, isJsonPath });
  if (negotiation === 'unknownFormat') return answers.notFound;
  if (negotiation === 'notAcceptable') return answers.notAcceptable;
  if (kind === 'root' && negotiation !== 'json') return answers.notFound;
  if (isGenerationGone) return answers.gone;
  return problems.length > 0 ? answers.refused(problems) : undefined;
}

/** A request as far as its validators go; `isNamed` says that its path or format names the form of the answer. */
interface Judged extends Pick<RecordRequest, 'parameters'> {
  readonly filters: ListRequest['conditions'];
  readonly isNamed: boolean;
}

const NO_FILTERS: ListRequest['conditions'] = [];

function judgedOf(
  { isJsonPath }: View<'root' | 'list' | 'record'>,
  { parameters, format }: RecordRequest,
  filters: ListRequest['conditions'],
): Judged {
  return { parameters, filters, isNamed: isJsonPath || format !== undefined };
}

/** The tag of an answer that would be 200, and the 304 that takes its place where the client has it already. */
function validate(
  { conditional }: Catalogue,
  { request, choice, isConditional }: Visit,
  { parameters, filters, isNamed }: Judged,
): { readonly tag: string; readonly unchanged: Answer | undefined } {
  const tag = conditional.tagOf({ baseUrl: choice.baseUrl, path: request.target, parameters, filters });
  return { tag, unchanged: isConditional ? conditional.unchanged(request, choice, tag, isNamed) : undefined };
}

/** How a list is found instead of the list (A68): it is found, and its page dropped. */
function explainedAnswer(
  { router, answers, generation }: Catalogue,
  query: ListQuery,
  disconnection: Disconnection,
): Answer | Promise<Answer> {
  const trace = newTrace();
  const found = router.find(query, disconnection, trace);
  const answer = (later: Listed | Missed): Answer =>
    typeof later === 'string'
      ? missedAnswer(answers, query.request, later)
      : answers.momentary(explanationText({ generation, query, found: later, trace, router }));
  return found instanceof Promise ? waitedFor(found, steadyMs, answer) : answer(found);
}

/**
 * How records and links are written for a request (A24). With `links` set to `request`, links follow path and format.
 */
function formOf(
  { settings }: Catalogue,
  { version, isJsonPath }: View<'root' | 'list' | 'record'>,
  { format }: RecordRequest,
  baseUrl: string,
): ServedForm {
  if (settings.links === 'spec') return { baseUrl, version, linkEnd: SPEC_LINK_END };
  return { baseUrl, version, linkEnd: `${isJsonPath ? '.json' : '/'}${format ? `?format=${format}` : ''}` };
}
