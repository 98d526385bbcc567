// The common parts of the catalogue's views: settings, services, and the checks of format, generation and parameters.
// Independent of individual views.
import {
  type Ask,
  type CollectionIndex,
  countSelected,
  type QueryOptions,
  type RecordBlocks,
  type Representation,
  type ServedForm,
  SPEC_LINK_END,
} from '../../engine/engine.ts';
import type { ChangeFeed } from '../../data/changeFeed.ts';
import type { MissReason } from '../../workers/protocol.ts';
import type { Router } from '../../workers/router.ts';
import type { Slices } from '../../workers/slices.ts';
import type { Answer, Disconnection, Request } from '../http/exchange.ts';
import type { Tally } from '../observe/tally.ts';
import type { Settings } from '../settings/declarations.ts';
import type { Remarks } from './answers.ts';
import type { BaseUrlChoice } from './baseUrl.ts';
import type { Conditional, Precondition } from './conditional.ts';
import { type Coding, formatsText, negotiate } from './negotiate.ts';
import { partOf, type Range, rangeIn } from './range.ts';
import type { RequestContext, RequestMemory } from './requestMemory.ts';
import type { Route } from './routes.ts';
import { type Delivery, rowsAnswer, type RowsService } from './rows.ts';

/**
 * The settings that responses depend on; true if they are part of the entity tags. Views cannot read other settings.
 */
const IN_TAGS = {
  allowBaseUrls: false,
  trustedProxies: false,
  recordUrl: true,
  siteName: false,
  siteContact: false,
  siteLicence: false,
  links: true,
  limitMax: true,
  strict: true,
  filterErrors: true,
  filters: true,
  explain: true,
  browseOnApi: false,
  pinWalks: true,
  cors: false,
  cacheControl: false,
  gzip: true,
  serverTiming: false,
  answerCacheMb: false,
} as const satisfies Partial<Record<keyof Settings, boolean>>;

/** The settings of the catalogue. The base URL is known by now. */
export interface CatalogueSettings extends Pick<Settings, keyof typeof IN_TAGS> {
  readonly baseUrl: string;
}

/** The settings in entity tags, by name: all that bodies depend on. */
export function settingsInTags(settings: CatalogueSettings): readonly unknown[] {
  const names = Object.keys(IN_TAGS) as (keyof typeof IN_TAGS)[];
  return names.filter((name) => IN_TAGS[name]).map((name) => [name, settings[name]]);
}

/** The parts from which the handler is composed. */
export interface CatalogueOptions {
  /** That of the snapshot, as is `created`. */
  readonly generation: string;
  /** The date of the snapshot, if it has one. */
  readonly created: string | undefined;
  /** When serving it under these settings began, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** Accepts every name in the declaration. */
  readonly collections: (name: string) => CollectionIndex;
  /** The compressed records of collections, if any. */
  readonly blocks: ((name: string) => RecordBlocks) | undefined;
  /** The feed of the changes up to this generation, if there is a change log. */
  readonly changes?: ChangeFeed | undefined;
  readonly pages: Pages;
  readonly settings: CatalogueSettings;
  /** Finds the rows of lists. */
  readonly router: Router;
  /** The thread's slices. */
  readonly slices: Slices;
  /** Counts IGNORED_PARAMETERS. */
  readonly ignored: Tally;
  /** Given if its statistics are published. */
  readonly memory?: RequestMemory;
}

/** The services that views use. */
export interface CatalogueService extends CatalogueOptions, RowsService {
  /** The generation in links, if walks are pinned (A69). */
  readonly pin: string | undefined;
  readonly conditional: Conditional;
  readonly memory: RequestMemory;
  readonly queryOptions: QueryOptions;
  /** Only targets up to this length can be pages for browsers. */
  readonly pageLengthMax: number;
  readonly chooseBaseUrl: (request: Request) => BaseUrlChoice;
  readonly chooseCoding: (request: Request) => Coding;
}

/** A request with properties that are determined once for all views. */
export interface Visit extends RequestContext {
  readonly disconnection: Disconnection;
  readonly condition: Precondition | undefined;
}

/** The parts of a visit that outlive its request. */
export type VisitRest = Pick<Visit, 'choice' | 'coding' | 'condition'> & {
  /** Without the base path. */
  readonly target: string;
  /** The target as received. */
  readonly sent: string;
  readonly query: string | undefined;
  readonly disconnection: Disconnection;
  /** The reason if the request got no time slice. */
  readonly missed: MissReason | undefined;
};

/** The responses other than the API: pages for browsers, sitemaps, citations, and documents that describe the API. */
export interface Pages {
  browse(catalogue: CatalogueService, visited: VisitRest): Promise<Answer>;
  sitemap(catalogue: CatalogueService, view: RouteOf<'sitemap'>, visit: Visit): Promise<Answer>;
  cite(catalogue: CatalogueService, view: RouteOf<'citation'>, visit: Visit): Promise<Answer>;
  describe(catalogue: CatalogueService, view: RouteOf<'description'>, visit: Visit): Promise<Answer>;
}

export type RouteOf<Kind extends Route['kind']> = Extract<Route, { kind: Kind }>;
type Named = Pick<RouteOf<'list'>, 'version' | 'ending'>;

/** The 404 texts for an unknown format (A26, A62). */
const FORMAT_NAMES = {
  root: 'Formats are api and json.',
  list: `Formats are ${formatsText('and')}.`,
  record: `Formats are ${formatsText('and')}.`,
} as const;

/** Checks format, generation and parameters, in this order. Returns a refusal, or undefined. */
export function refusalOf(
  { answers, pin, generation: served }: CatalogueService,
  { kind, ending }: RouteOf<'root' | 'list' | 'record'>,
  request: Request,
  { page: { format }, generation, problems }: Ask,
): Answer | undefined {
  const negotiation = negotiate({ accept: request.header('accept'), format, ending, mayExport: kind === 'list' });
  if (negotiation === 'notAcceptable') return answers.notAcceptable;
  if (negotiation === 'unknownFormat' || (kind === 'root' && negotiation !== 'json')) {
    return answers.notFoundNear(FORMAT_NAMES[kind]);
  }
  if (generation !== undefined && generation !== pin && generation !== served) return answers.gone;
  return problems.length > 0 ? answers.refused(problems) : undefined;
}

/** The form of links in records (A24). */
export function formOf(
  { settings }: CatalogueService,
  { version, ending }: Named,
  format: string | undefined,
  { baseUrl }: BaseUrlChoice,
): ServedForm {
  if (settings.links === 'spec') return { baseUrl, version, linkEnd: SPEC_LINK_END };
  return { baseUrl, version, linkEnd: `${ending === 'json' ? '.json' : '/'}${format ? `?format=${format}` : ''}` };
}

/** The tag of the 200, the 304 if the client has it, and the range of an export that the client requests. */
interface Validated {
  readonly tag: string;
  readonly unchanged: Answer | undefined;
  readonly range: Range | undefined;
}

/** Compares the request with the tag of its response. A Parquet file (A101) and a range (A162) have no coding. */
export function validated(
  { conditional, memory }: CatalogueService,
  visit: Visit,
  route: Named,
  ask: Ask,
  codingMax: Coding = ask.page.exported === 'parquet' ? 'identity' : visit.coding,
): Validated {
  const { request, choice, condition } = visit;
  const path = isKnowable(route, ask) ? request.target : `${request.target} ${ask.page.exported!}`;
  const tag = conditional.tagOf({ baseUrl: choice.baseUrl, path, parameters: ask.parameters });
  const range = ask.page.exported && codingMax !== 'gzipOnly' ? rangeIn(request, tag) : undefined;
  const coding = range ? 'identity' : codingMax;
  const unchanged = condition && conditional.unchangedIfKnown(condition, choice.varies, coding, tag);
  // Ignored names must be counted each time, so such requests are not cached.
  if (unchanged && !range && isKnowable(route, ask) && ask.ignored.length === 0) {
    memory.keep(visit, { tag, isForeseen: coding !== 'identity', dependsOnAccept: !isNamed(route, ask) });
  }
  return { tag, unchanged, range };
}

/** The response with the rows, or a 304 if the tag was only known after making the response. */
export function delivered(
  catalogue: CatalogueService,
  visit: Visit,
  view: View,
  rows: Representation,
): Answer | Promise<Answer> {
  const answer = rowsAnswer(rows, deliveryOf(catalogue, visit, view, exportRemarks(rows, view)));
  const { condition, choice, coding } = visit;
  const { range } = view;
  if (range) {
    const part = (whole: Answer): Answer => (whole.status === 200 ? partOf(whole, range, catalogue.answers) : whole);
    return answer instanceof Promise ? answer.then(part) : part(answer);
  }
  if (!condition || coding === 'identity') return answer;
  const applyConditions = (made: Answer): Answer => {
    const tag = tagIn(made);
    const unchanged = tag === undefined ? undefined : catalogue.conditional.unchanged(condition, choice.varies, tag);
    if (unchanged && isKnowable(view.route, view.ask) && view.ask.ignored.length === 0) {
      catalogue.memory.keep(visit, { tag: tag!, dependsOnAccept: !isNamed(view.route, view.ask) });
    }
    return unchanged ?? made;
  };
  return answer instanceof Promise ? answer.then(applyConditions) : applyConditions(answer);
}

/** The tag of a response, without quotes. */
export function tagIn({ etag }: Answer): string | undefined {
  return etag?.slice(1, -1);
}

/** The rows and the file name of an export: `observations.csv`, `observations-17.csv`. */
function exportRemarks({ format, rows: { rows } }: Representation, { route, collection }: View): Remarks['exported'] {
  if (format === 'json') return undefined;
  const record = route.kind === 'record' ? `-${route.id}` : '';
  return { rows: countSelected(rows), fileName: `${collection.declaration.name}${record}.${format}` };
}

/** A view of a list or record. */
interface View {
  readonly route: RouteOf<'list' | 'record'>;
  readonly ask: Ask;
  readonly tag: string;
  readonly collection: CollectionIndex;
  /** The number of records of a list. */
  readonly totalCount?: number;
  readonly range: Range | undefined;
  /** The key of a list's export, see rows.ts. */
  readonly exportKey?: (() => string) | undefined;
}

/** Describes the delivery of a response with this tag. It is cached if it is due and has no individual headers. */
function deliveryOf(
  service: CatalogueService,
  visit: Visit,
  { route, ask, tag, collection, totalCount, range, exportKey }: View,
  exported: Remarks['exported'],
): Delivery {
  const { request, choice, disconnection, condition } = visit;
  const coding = range ? 'identity' : visit.coding;
  const { blocks, memory } = service;
  const stored = coding === 'identity' ? undefined : blocks?.(collection.declaration.name);
  const listed = { varies: choice.varies, ignored: ask.ignored, tag, totalCount };
  const remarks = exported ? { ...listed, exported } : listed;
  const isHead = request.method === 'HEAD';
  const isReadAgain = isHead || range !== undefined;
  const delivery: Delivery = { service, remarks, coding, stored, isHead, isReadAgain, disconnection, exportKey };
  if (condition || range || ask.ignored.length > 0 || !isKnowable(route, ask) || !memory.isDue()) return delivery;
  const heedsAccept = !isNamed(route, ask);
  const keep: Delivery['keep'] = (answer, ownBytes) =>
    memory.keep(visit, { tag: tagIn(answer)!, dependsOnAccept: heedsAccept, answer }, ownBytes);
  return { ...delivery, keep };
}

/** Whether path or format name the form of a response, so that Accept has no effect. */
function isNamed({ ending }: Named, { page: { format } }: Ask): boolean {
  return ending !== undefined || format !== undefined;
}

/** Whether the text of a request identifies it. False only for an export that is named by Accept alone. */
function isKnowable(route: Named, ask: Ask): boolean {
  return ask.page.exported === undefined || isNamed(route, ask);
}
