// Resolves paths of data, ids of datasets, and addresses of identifiers. Decodes and bounds requests and sends the
// engine's results. Imported with the first such request.
import {
  type Ask,
  type Body,
  decodedBytes,
  indented,
  indentedAtOnce,
  parseRecordQuery,
  type Problem,
  wholeBody,
} from '../../engine/engine.ts';
import {
  type TextListing,
  listingMeasuring,
  RESOLVED_BYTES_MAX,
  Resolver,
  SEGMENTS_MAX,
} from '../../engine/resolved.ts';
import type { Disconnection } from '../../workers/waiter.ts';
import type { Answer } from '../http/exchange.ts';
import { Memory } from '../http/memory.ts';
import { type CatalogueService, type RouteOf, validated, type Visit } from './catalogue.ts';
import { countIgnored } from './tally.ts';

type ResolutionRoute = RouteOf<'resolution'>;

/** The only parameter with an effect here, and only for identifiers. */
const ADDRESS = 'identifier';
/** Always this form, whatever Accept says. Never compressed, like root views. */
const FORM = { version: 'v3', ending: 'json' } as const;
const PLAIN_TEXT = 'text/plain; charset=utf-8';
/** Cache of measured listings, for each of a few base URLs. A listing takes one number per 32 entries. */
const MEASURED_BYTES_MAX = 4 << 20;
const MEASURED_BYTES = 1 << 18;
const SLASH = 0x2f;
const UTF8 = new TextEncoder();

/** A thread's state of one catalogue: its resolver, and measured listings of everything. */
interface Kept {
  readonly resolver: Resolver;
  readonly listings: Memory<Body>;
}

const cacheByCatalogue = new WeakMap<CatalogueService, Kept>();

/** Cost: see engine/resolve/; a listing is measured in slices. */
export function resolutionAnswer(
  catalogue: CatalogueService,
  route: ResolutionRoute,
  visit: Visit,
): Answer | Promise<Answer> {
  const { answers, ignored } = catalogue;
  const ask = askOf(catalogue, route, visit);
  const asked = route.of === 'identifier' ? addressOf(ask) : decoded(route.rest);
  const length = typeof asked === 'string' ? Buffer.byteLength(asked) : asked?.length;
  const problems = length === undefined || length > RESOLVED_BYTES_MAX ? [tooLong(route)] : ask.problems;
  if (problems.length > 0 || asked === undefined) return answers.refused(problems);
  countIgnored(ignored, '', ask.ignored);
  const { tag, unchanged } = validated(catalogue, visit, FORM, ask, 'identity');
  if (unchanged) return unchanged;
  const found = resolved(catalogue, route, visit, asked);
  if (found === undefined) return answers.refused([TOO_DEEP]);
  const remarks = { varies: visit.choice.varies, ignored: ask.ignored, tag };
  if (typeof found === 'string') {
    const compact = wholeBody(UTF8.encode(found));
    return answers.found(ask.page.isIndented ? indentedAtOnce(compact) : compact, remarks);
  }
  const type = route.of === 'completeness' ? PLAIN_TEXT : 'application/json';
  const isIndented = ask.page.isIndented && route.of !== 'completeness';
  return listed(catalogue, route, visit, { listing: found, isIndented }).then((body) =>
    body ? answers.found(body, remarks, type) : answers.busy,
  );
}

/** Parses the query like that of a view without records. Identifiers have one additional parameter. */
function askOf({ queryOptions }: CatalogueService, { of }: ResolutionRoute, { request }: Visit): Ask {
  return parseRecordQuery(request.query, queryOptions, undefined, of === 'identifier' ? [ADDRESS] : []);
}

/** The last value counts (A47). */
function addressOf({ parameters }: Ask): string {
  return parameters.findLast(([name]) => name === ADDRESS)?.[1] ?? '';
}

/**
 * Decodes the bytes after the name of a resolution. Invalid escapes stay as they are, so that any bytes can be
 * requested (A131). Undefined if they are too long to decode.
 */
function decoded(rest: string): Uint8Array | undefined {
  return rest.length > RESOLVED_BYTES_MAX * '%00'.length ? undefined : decodedBytes(rest, false);
}

/** An id without its leading slash and an optional final one. */
function idIn(bytes: Uint8Array): Uint8Array {
  const start = bytes[0] === SLASH ? 1 : 0;
  const end = bytes.length > start && bytes.at(-1) === SLASH ? bytes.length - 1 : bytes.length;
  return bytes.subarray(start, end);
}

function resolved(
  catalogue: CatalogueService,
  { of }: ResolutionRoute,
  { choice }: Visit,
  asked: string | Uint8Array,
): string | TextListing | undefined {
  const { resolver } = cacheFor(catalogue);
  const pages = { baseUrl: choice.baseUrl, template: catalogue.settings.recordUrl };
  if (typeof asked === 'string') return resolver.identified(asked, pages);
  switch (of) {
    case 'paths':
      return resolver.allPlaced(pages);
    case 'completeness':
      return resolver.completeness();
    case 'dataset':
      return resolver.dataset(idIn(asked));
    case 'datasets':
      return resolver.datasets(idIn(asked));
    default:
      return resolver.placed(asked, pages);
  }
}

function cacheFor(catalogue: CatalogueService): Kept {
  const known = cacheByCatalogue.get(catalogue);
  if (known) return known;
  const kept = { resolver: new Resolver(catalogue.collections), listings: new Memory<Body>(MEASURED_BYTES_MAX) };
  cacheByCatalogue.set(catalogue, kept);
  return kept;
}

/** The body of a listing, measured once for all concurrent requests; undefined if too much work is in progress. */
async function listed(
  catalogue: CatalogueService,
  { of, rest }: ResolutionRoute,
  { choice, disconnection }: Visit,
  { listing, isIndented }: { readonly listing: TextListing; readonly isIndented: boolean },
): Promise<Body | undefined> {
  const { slices, exports } = catalogue;
  const { listings } = cacheFor(catalogue);
  const isWhole = of !== 'datasets';
  const key = `${of} ${isIndented ? 'pretty' : ''} ${choice.baseUrl} ${isWhole ? '' : rest}`;
  const known = listings.find(key);
  if (known) return known;
  const compact = listingMeasuring(listing);
  const measuring = isIndented ? indented(compact) : compact;
  const run = (waiter: Disconnection): ReturnType<typeof slices.run<Body>> => slices.run('exports', measuring, waiter);
  const body = await exports.plain.wait(key, disconnection, run);
  if (typeof body === 'string') return undefined;
  // An indented text is held in memory as a whole, up to some MB, and is not cached. Longer ones stay compact.
  if (isWhole && body.isSlow) listings.keep(key, body, MEASURED_BYTES);
  return body;
}

function tooLong({ of }: ResolutionRoute): Problem {
  const key = of === 'path' ? 'path' : of === 'identifier' ? ADDRESS : 'id';
  return { key, messages: [`Ensure this value has at most ${RESOLVED_BYTES_MAX} bytes.`] };
}

const TOO_DEEP: Problem = { key: 'path', messages: [`Ensure this path has at most ${SEGMENTS_MAX} segments.`] };
