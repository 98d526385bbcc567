// The views without records: the root view of a version (spec 2.1) and the index at `/`.
// Pure but for what the catalogue gives.
import { type Ask, indentedAtOnce, indexBody, parseRecordQuery, rootViewBody, wholeBody } from '../../engine/engine.ts';
import type { Answer } from '../http/exchange.ts';
import { type CatalogueService, formOf, refusalOf, type RouteOf, validated, type Visit } from './catalogue.ts';
import { countIgnored } from './tally.ts';

/**
 * The index, whose query says nothing; what it leads to begins with `down`. Like the root views it is never compressed.
 */
export function indexAnswer(catalogue: CatalogueService, visit: Visit, down: string): Answer {
  const { choice } = visit;
  const { tag, unchanged } = validated(catalogue, visit, INDEX, nothingAsked(catalogue), 'identity');
  if (unchanged) return unchanged;
  const body = wholeBody(indexBody(choice.baseUrl));
  const answer = catalogue.answers.found(body, { varies: choice.varies, ignored: [], tag });
  return { ...answer, headers: [...answer.headers, descriptionLink(down)] };
}

/** Where the API is described, as what stands at `up` from the root tells programs and people (RFC 8631, 4). */
export function descriptionLink(up: string): Answer['headers'][number] {
  return ['Link', `<${up}openapi.json>; rel="service-desc", <${up}docs/>; rel="service-doc"`];
}

/** Always JSON, whatever Accept says. */
const INDEX = { version: 'v3', ending: 'json' } as const;

function nothingAsked({ queryOptions }: CatalogueService): Ask {
  return parseRecordQuery(undefined, queryOptions);
}

/** The collections of a version with the addresses of their lists. */
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
