// The catalogue's handler: checks path, method and view, in the order of the stock service. Independent of
// transports and threads: the router finds the rows.
import assert from 'node:assert';
import { GENERATION_DIGITS, type QueryOptions } from '../../engine/engine.ts';
import type { MissReason } from '../../workers/protocol.ts';
import { isOutOfHeap, isStarved } from '../../workers/starvation.ts';
import { baseUrlChooser } from './baseUrl.ts';
import { epochMs, steadyMs } from '../observe/clock.ts';
import { type Answers, answersFor, timedHandler } from './answers.ts';
import { changesAnswer } from './changes.ts';
import {
  type CatalogueOptions,
  type CatalogueService,
  type CatalogueSettings,
  settingsInTags,
  type Visit,
} from './catalogue.ts';
import { Conditional, lastModifiedSeconds } from './conditional.ts';
import { type Answer, type Disconnection, type Handler, type Request, requestWithin, ROUTE } from '../http/exchange.ts';
import { codingChooser, prefersPage } from './negotiate.ts';
import { indexAnswer, listAnswer, recordAnswer, rootAnswer } from './views.ts';
import { LiveGzip } from './liveGzip.ts';
import type { resolutionAnswer } from './resolution.ts';
import { type KnownRequest, RequestMemory } from './requestMemory.ts';
import { queryOptionsOf } from './queryOptions.ts';
import { Exports } from './rows.ts';
import { nearestPath, PATH_CHARACTERS_MAX, route, type Route, viewName } from './routes.ts';

/** HEAD is handled like GET. Throws OperationError `usage` for an invalid trusted proxy. */
export function catalogueHandler(options: CatalogueOptions): Handler<Answer | Promise<Answer>> {
  const { generation, created, sinceMs, settings } = options;
  const { baseUrl, allowBaseUrls, trustedProxies } = settings;
  const served = generation.slice(0, GENERATION_DIGITS);
  const pin = settings.pinWalks ? served : undefined;
  const queryOptions: QueryOptions = queryOptionsOf(settings);
  const chooseCoding = codingChooser(settings.gzip !== 'off');
  const lastModified = lastModifiedSeconds(created, sinceMs, epochMs());
  const answers = answersFor({ ...settings, lastModified, generation: served });
  const validated = {
    generation,
    settings: settingsInTags(settings),
    lastModified,
  };
  const catalogue: CatalogueService = {
    ...options,
    pin,
    answers,
    conditional: new Conditional(validated, answers),
    memory: options.memory ?? requestMemory(settings),
    live: new LiveGzip(options.slices),
    exports: new Exports(),
    queryOptions,
    pageLengthMax: settings.browseOnApi ? PATH_CHARACTERS_MAX : START_LENGTH_MAX,
    chooseBaseUrl: baseUrlChooser({ baseUrl, allowed: allowBaseUrls, trustedProxies }),
    chooseCoding,
  };
  const handler: Handler<Answer | Promise<Answer>> = (request, disconnection) => {
    const answer = answerTo(catalogue, request, disconnection);
    return answer instanceof Promise ? busyOnRefusal(answers, answer) : answer;
  };
  return settings.serverTiming ? timedHandler(handler, steadyMs) : handler;
}

/** Checks the path, then the method; the views check the rest. */
function answerTo(
  catalogue: CatalogueService,
  received: Request,
  disconnection: Disconnection,
): Answer | Promise<Answer> {
  const { answers, conditional } = catalogue;
  const choice = catalogue.chooseBaseUrl(received);
  const request = requestWithin(received, choice.path);
  const coding = catalogue.chooseCoding(request);
  const condition = conditional.conditionOf(request);
  const visit: Visit = { request, choice, coding, disconnection, condition };
  if (request.target.length <= catalogue.pageLengthMax && isPage(catalogue, request)) {
    request.route = ROUTE.browse;
    // Without the slash, relative links of the page would resolve next to the path instead of below it.
    if (received.target === choice.path) {
      const varies = ['Accept', ...choice.varies];
      return answers.redirected(`${choice.path}/`, request.query, varies);
    }
    return answered(catalogue, PAGE, visit, received.target);
  }
  const known = condition || catalogue.memory.keepsAnswers ? catalogue.memory.find(visit) : undefined;
  if (known?.route !== undefined) request.route = known.route;
  const unchanged = known && condition && unchangedResponse(conditional, known, visit);
  if (unchanged) return unchanged;
  if (known?.answer && !(known.answer.exportedRows !== undefined && request.header('range'))) return known.answer;
  const view = request.query?.includes('#') ? BAD_TARGET : route(request.target);
  if (view.kind === 'badTarget') return answers.badTarget;
  // `OPTIONS *` asks about the server itself; only one of the transports lets it pass (RFC 9110, 9.3.7).
  if (view.kind === 'notFound' && received.target === '*') return answers.described(viewName({ kind: 'index' }));
  if (view.kind === 'notFound') return notFound(answers, request.target, choice.path);
  if (view.kind === 'redirect') {
    const varies = catalogue.settings.browseOnApi ? ['Accept', ...choice.varies] : choice.varies;
    return answers.redirected(choice.path + view.location, request.query, varies);
  }
  const isOther = view.kind === 'description' || view.kind === 'citation' || view.kind === 'sitemap';
  request.route = isOther ? ROUTE.other : ROUTE[view.kind];
  if (request.method === 'OPTIONS') return answers.described(viewName(view));
  if (request.method !== 'GET' && request.method !== 'HEAD') return answers.methodNotAllowed(request.method);
  return answered(catalogue, view, visit, received.target);
}

/**
 * The 304 to a known request if the client has the response. A foreseen tag must be compared as such, even from the
 * cache.
 */
function unchangedResponse(
  conditional: Conditional,
  { tag, isForeseen }: KnownRequest,
  { condition, choice, coding }: Visit,
): Answer | undefined {
  return isForeseen
    ? conditional.unchangedIfKnown(condition!, choice.varies, coding, tag)
    : conditional.unchanged(condition!, choice.varies, tag);
}

const PAGE: View = { kind: 'browse' };

/**
 * The response of a view, in a separate turn if that takes long. A function, because a closure would be allocated per
 * request.
 */
function answered(catalogue: CatalogueService, view: View, visit: Visit, sent: string): Answer | Promise<Answer> {
  const { query } = visit.request;
  const isLong = query !== undefined && (query.length > SHORT_CHARACTERS_MAX || PATTERN.test(query));
  return (isLong ? inTurn : viewAnswer)(catalogue, view, visit, sent);
}

/**
 * Shorter queries take less than 0.5 ms to parse; almost all clients send those. The longest take 8 ms, eight patterns
 * 5 ms.
 */
const SHORT_CHARACTERS_MAX = 4096;
/** A pattern lookup, or an escape that could be one of its letters, which real clients do not send. */
const PATTERN = /regex|%[4-7]/;

/** Parses a long query at once if this turn of the event loop has time, else in a later one. */
function inTurn(catalogue: CatalogueService, view: View, visit: Visit, sent: string): Answer | Promise<Answer> {
  const { slices, answers } = catalogue;
  const atOnce = slices.runNow(() => viewAnswer(catalogue, view, visit, sent));
  if (atOnce) return atOnce;
  const kept = { ...visit, request: keptRequest(visit.request) };
  const later = slices.run('queries', () => viewAnswer(catalogue, view, kept, sent), visit.disconnection);
  return later.then((outcome) => {
    if (typeof outcome !== 'string') return outcome;
    // A page is made only if the client is still connected.
    return view.kind === 'browse' && outcome === 'busy' ? pageFor(catalogue, kept, sent, outcome) : answers.busy;
  });
}

/** The headers that views read. The visit has the results of the others. */
const VIEW_HEADERS = ['accept', 'range', 'if-range'];

/** A request beyond its turn. */
function keptRequest(request: Request): Request {
  const { method, target, query, route } = request;
  const values = new Map(VIEW_HEADERS.map((name) => [name, request.header(name)]));
  const header = (name: string): string | undefined => {
    assert(values.has(name), `${name} is gone with its turn`);
    return values.get(name);
  };
  return {
    method,
    target,
    query,
    route: route ?? ROUTE.other,
    header,
    peer: () => assert.fail('the peer is gone with its turn'),
  };
}

type View = Exclude<Route, { kind: 'badTarget' | 'notFound' | 'redirect' }>;

/** The response of a view. `sent` is the target as received. */
function viewAnswer(catalogue: CatalogueService, view: View, visit: Visit, sent: string): Answer | Promise<Answer> {
  switch (view.kind) {
    case 'index':
      return indexAnswer(catalogue, visit, pathFrom(sent, visit.choice.path));
    case 'root':
      return rootAnswer(catalogue, view, visit);
    case 'list':
      return listAnswer(catalogue, view, visit);
    case 'record':
      return recordAnswer(catalogue, view, visit);
    case 'description':
      return catalogue.pages.describe(catalogue, view, visit);
    case 'changes':
      return changesAnswer(catalogue, visit);
    case 'resolution':
      return (resolution ?? firstResolution)(catalogue, view, visit);
    case 'citation':
      return catalogue.pages.cite(catalogue, view, visit);
    case 'sitemap':
      return catalogue.pages.sitemap(catalogue, view, visit);
    case 'browse':
      return pageFor(catalogue, visit, sent);
  }
}

/** The paths of the API at which browsers always get a page. */
const STARTS: ReadonlySet<string> = new Set(['/', '/api/', '/api/v2/', '/api/v3/']);
/** The length of the longest. */
const START_LENGTH_MAX = 8;

/** Whether a browser gets a page at a path of the API: at these paths always, elsewhere by setting. */
function isPage({ settings }: CatalogueService, request: Request): boolean {
  const { target, query } = request;
  if (!STARTS.has(target) && !(settings.browseOnApi && UNNAMED.test(target))) return false;
  return prefersBrowsePage(request, settings.browseOnApi ? FORM : ANY_FORM) && !query?.includes('#');
}

/** Paths outside the pages and documents that name no format and have no raw `#`. */
const UNNAMED = /^\/(?!browse(?:\/|$)|cite\/|docs\/|openapi\.|api\/(?:v0|legacy_lookup|v3\/changes)(?:\/|$))[^.#]*$/;

/** Paths of lists, for which Accept can request exports. */
const LIST = /^\/api\/v[23]\/[^/]+\/?$/;

/** A format that is named explicitly. With `browseOnApi`, `api` means the page, as in Django REST Framework. */
const ANY_FORM = /(?:^|&)format=[^&]/;
const FORM = /(?:^|&)format=(?!api(?:&|$))[^&]/;

/** Whether a browser sent the request without naming a format. */
function prefersBrowsePage(request: Request, named: RegExp): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  const isList = LIST.test(request.target);
  return prefersPage(request.header('accept'), isList) && !named.test(request.query ?? '');
}

/**
 * The page of a request. The request is gone when the code of pages is imported. `missed` is the reason if it got no
 * turn.
 */
function pageFor(
  catalogue: CatalogueService,
  { request: { target, query }, choice, coding, disconnection, condition }: Visit,
  sent: string,
  missed?: MissReason,
): Promise<Answer> {
  const visited = { target, sent, query, choice, coding, disconnection, condition, missed };
  return catalogue.pages.browse(catalogue, visited);
}

/** The start of relative links on the index. At a base path without final slash, links resolve next to the path. */
function pathFrom(target: string, path: string): string {
  return target === path ? `${path.slice(path.lastIndexOf('/') + 1)}/` : '';
}

/** Awaits a response. Resolves to a 503 if code or a thread that it needs cannot be loaded for lack of resources. */
async function busyOnRefusal({ busy }: Answers, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (isStarved(error) || isOutOfHeap(error)) return busy;
    throw error;
  }
}

/** Imported with the first such request; later ones are handled synchronously. */
let resolution: typeof resolutionAnswer | undefined;

async function firstResolution(...asked: Parameters<typeof resolutionAnswer>): Promise<Answer> {
  resolution = (await import('./resolution.ts')).resolutionAnswer;
  return resolution(...asked);
}

function notFound(answers: Answers, target: string, prefix: string): Answer {
  const near = nearestPath(target);
  return near === undefined ? answers.notFound : answers.notFoundNear(`Did you mean "${prefix}${near}"?`);
}

/** Not imported from observe/quantities.ts, which threads load only with the first page. */
const MEGABYTE = 1_000_000;

export function requestMemory({ answerCacheMb }: Pick<CatalogueSettings, 'answerCacheMb'>): RequestMemory {
  return new RequestMemory(answerCacheMb * MEGABYTE);
}

const BAD_TARGET: Route = { kind: 'badTarget' };
