// What the views of the catalogue share: the settings, the parts that answers are made with, and the judgement of
// format, generation and parameters. Knows no view of its own.
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
import type { RequestContext, RequestMemory } from './requestMemory.ts';
import type { Route } from './routes.ts';
import { type Delivery, rowsAnswer, type RowsService } from './rows.ts';

/** The settings that responses depend on: true if they enter the entity tags. No other setting can be read here. */
const IN_TAGS = {
  allowBaseUrls: false,
  trustedProxies: false,
  recordUrl: true,
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

/** The settings that the catalogue's answers depend on; the base URL is known by now. */
export interface CatalogueSettings extends Pick<Settings, keyof typeof IN_TAGS> {
  readonly baseUrl: string;
}

/** What entity tags are made of beside the request: the settings that bodies depend on, by name. */
export function settingsInTags(settings: CatalogueSettings): readonly unknown[] {
  const names = Object.keys(IN_TAGS) as (keyof typeof IN_TAGS)[];
  return names.filter((name) => IN_TAGS[name]).map((name) => [name, settings[name]]);
}

/**
 * What the handler is composed of. `collections` answers every name of the declaration, `router` the rows of lists.
 * `generation` and `created` are those of the snapshot, `blocks` its records by collection as blocks where there are
 * any; it is served under these settings since `sinceMs`, in milliseconds since 1970. `slices` are those of the thread,
 * `ignored` is a tally of IGNORED_PARAMETERS, `memory` that of its requests where somebody else looks at it.
 */
export interface CatalogueOptions {
  readonly generation: string;
  readonly created: string | undefined;
  readonly sinceMs: number;
  readonly collections: (name: string) => CollectionIndex;
  readonly blocks: ((name: string) => RecordBlocks) | undefined;
  readonly pages: Pages;
  readonly settings: CatalogueSettings;
  readonly router: Router;
  readonly slices: Slices;
  readonly ignored: Tally;
  readonly memory?: RequestMemory;
}

/** `pin`: the generation that links name (A69). Targets up to `pageLengthMax` characters may be pages to a browser. */
export interface CatalogueService extends CatalogueOptions, RowsService {
  readonly pin: string | undefined;
  readonly conditional: Conditional;
  readonly memory: RequestMemory;
  readonly queryOptions: QueryOptions;
  readonly pageLengthMax: number;
  readonly chooseBaseUrl: (request: Request) => BaseUrlChoice;
  readonly chooseCoding: (request: Request) => Coding;
}

/** A request with what the views want to know of it, asked once. */
export interface Visit extends RequestContext {
  readonly disconnection: Disconnection;
  readonly condition: Precondition | undefined;
}

/** The parts of a visit that outlive its request: `sent` is the target as received, `target` has no base path. */
export type VisitRest = Pick<Visit, 'choice' | 'coding' | 'condition'> & {
  readonly target: string;
  readonly sent: string;
  readonly query: string | undefined;
  readonly disconnection: Disconnection;
  /** Set if the request got no time slice: the reason. */
  readonly missed: MissReason | undefined;
};

/** The responses beside the API: pages for people, and documents that describe the API. */
export interface Pages {
  browse(catalogue: CatalogueService, visited: VisitRest): Promise<Answer>;
  describe(catalogue: CatalogueService, view: RouteOf<'description'>, visit: Visit): Promise<Answer>;
}

export type RouteOf<Kind extends Route['kind']> = Extract<Route, { kind: Kind }>;
type Named = Pick<RouteOf<'list'>, 'version' | 'ending'>;

/** What the 404 to a format that is none says (A26, A62). */
const FORMATS_KNOWN = {
  root: 'Formats are api and json.',
  list: `Formats are ${formatsText('and')}.`,
  record: `Formats are ${formatsText('and')}.`,
} as const;

/** Judges the format, then the generation, then the parameters: an answer that is no page, or undefined. */
export function refusalOf(
  { answers, pin, generation: served }: CatalogueService,
  { kind, ending }: RouteOf<'root' | 'list' | 'record'>,
  request: Request,
  { page: { format }, generation, problems }: Ask,
): Answer | undefined {
  const negotiation = negotiate({ accept: request.header('accept'), format, ending, mayExport: kind === 'list' });
  if (negotiation === 'notAcceptable') return answers.notAcceptable;
  if (negotiation === 'unknownFormat' || (kind === 'root' && negotiation !== 'json')) {
    return answers.notFoundNear(FORMATS_KNOWN[kind]);
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

/** The tag of the 200, and the 304 if the client has it. A Parquet file has no other coding (A101). */
export function validated(
  { conditional, memory }: CatalogueService,
  visit: Visit,
  route: Named,
  ask: Ask,
  coding = ask.page.exported === 'parquet' ? 'identity' : visit.coding,
): { readonly tag: string; readonly unchanged: Answer | undefined } {
  const { request, choice, condition } = visit;
  const path = isKnowable(route, ask) ? request.target : `${request.target} ${ask.page.exported!}`;
  const tag = conditional.tagOf({ baseUrl: choice.baseUrl, path, parameters: ask.parameters });
  const unchanged = condition && conditional.foreseen(condition, choice.varies, coding, tag);
  // Names without effect are counted each time.
  if (unchanged && isKnowable(route, ask) && ask.ignored.length === 0) {
    memory.keep(visit, { tag, isForeseen: coding !== 'identity', heedsAccept: !isNamed(route, ask) });
  }
  return { tag, unchanged };
}

/** The rows as an answer, or the 304 in its place where it took the answer to know the tag. */
export function delivered(
  catalogue: CatalogueService,
  visit: Visit,
  view: View,
  rows: Representation,
): Answer | Promise<Answer> {
  const answer = rowsAnswer(rows, deliveryOf(catalogue, visit, view, exportedAs(rows, view)));
  const { condition, choice, coding } = visit;
  if (!condition || coding === 'identity') return answer;
  const judged = (made: Answer): Answer => {
    const tag = tagIn(made);
    const unchanged = tag === undefined ? undefined : catalogue.conditional.unchanged(condition, choice.varies, tag);
    if (unchanged && isKnowable(view.route, view.ask) && view.ask.ignored.length === 0) {
      catalogue.memory.keep(visit, { tag: tag!, heedsAccept: !isNamed(view.route, view.ask) });
    }
    return unchanged ?? made;
  };
  return answer instanceof Promise ? answer.then(judged) : judged(answer);
}

function tagIn({ etag }: Answer): string | undefined {
  return etag?.slice(1, -1);
}

/** Of an export its rows, and the file that it makes: `observations.csv`, `observations-17.csv`. */
function exportedAs({ format, rows: { rows } }: Representation, { route, collection }: View): Remarks['exported'] {
  if (format === 'json') return undefined;
  const record = route.kind === 'record' ? `-${route.id}` : '';
  return { rows: countSelected(rows), fileName: `${collection.declaration.name}${record}.${format}` };
}

/** For a list it has the number of records, and for its export the key (`exportKey` in rows.ts). */
interface View {
  readonly route: RouteOf<'list' | 'record'>;
  readonly ask: Ask;
  readonly tag: string;
  readonly collection: CollectionIndex;
  readonly totalCount?: number;
  readonly exportKey?: (() => string) | undefined;
}

/** How an answer under this tag goes out; it is kept where it is due, unless a header is its own. */
function deliveryOf(
  service: CatalogueService,
  visit: Visit,
  { route, ask, tag, collection, totalCount, exportKey }: View,
  exported: Remarks['exported'],
): Delivery {
  const { request, choice, coding, disconnection, condition } = visit;
  const { blocks, memory } = service;
  const stored = coding === 'identity' ? undefined : blocks?.(collection.declaration.name);
  const listed = { varies: choice.varies, ignored: ask.ignored, tag, totalCount };
  const remarks = exported ? { ...listed, exported } : listed;
  const isHead = request.method === 'HEAD';
  const delivery: Delivery = { service, remarks, coding, stored, isHead, disconnection, exportKey };
  if (condition || ask.ignored.length > 0 || !isKnowable(route, ask) || !memory.isDue()) return delivery;
  const heedsAccept = !isNamed(route, ask);
  const keep: Delivery['keep'] = (answer, ownBytes) =>
    memory.keep(visit, { tag: tagIn(answer)!, heedsAccept, answer }, ownBytes);
  return { ...delivery, keep };
}

/** Whether path or format name the form of an answer, so that Accept plays no part. */
function isNamed({ ending }: Named, { page: { format } }: Ask): boolean {
  return ending !== undefined || format !== undefined;
}

/** Whether a request is known by its text, as all are but those for an export that Accept alone names. */
function isKnowable(route: Named, ask: Ask): boolean {
  return ask.page.exported === undefined || isNamed(route, ask);
}
