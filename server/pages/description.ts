// The views that describe the API: the OpenAPI documents of the generation, and Swagger UI, which shows one of them.
// Entity tags are digests of the bytes. Loaded on the first request for such a view.
import assert from 'node:assert/strict';
import { parseRecordQuery, wholeBody } from '../../engine/engine.ts';
import type { Answer } from '../http/exchange.ts';
import type { Spellings } from './openapi/document.ts';
import type { Documents } from './openapi/documents.ts';
import { type DescriptionFile, DOCS_POLICY, pageFile, robotsFile } from './openapi/files.ts';
import { type Making, entityTag } from '../catalogue/answers.ts';
import { wayUp } from './browse/address.ts';
import { descriptionLink } from '../catalogue/views.ts';
import type { CatalogueService, RouteOf, Visit } from '../catalogue/catalogue.ts';
import type { DocumentPath } from '../catalogue/routes.ts';

/** Headers of the page: what it may load, and that browsers must not guess content types. */
const GUARDED: Answer['headers'] = [
  ['Content-Security-Policy', DOCS_POLICY],
  ['X-Content-Type-Options', 'nosniff'],
];

/** The only parameter. It selects one of the two documents. */
const PARAMETER = 'spellings';
const UNKNOWN_SPELLINGS = { key: PARAMETER, messages: ['Write "usual" or "all".'] };

/** Responds with the file at a path, 304, or 400. Rejects if a file of the page cannot be read now. Cost: a lookup. */
export async function descriptionAnswer(
  documents: Documents,
  { answers, conditional, queryOptions }: CatalogueService,
  { path }: RouteOf<'description'>,
  { request, choice, coding, condition }: Visit,
): Promise<Answer> {
  const isDocument = path === '/openapi.json' || path === '/openapi.yaml';
  const query = isDocument ? request.query : undefined;
  const { parameters, ignored, problems } = parseRecordQuery(query, queryOptions, undefined, [PARAMETER]);
  const spellings = parameters.findLast(([name]) => name === PARAMETER)?.[1] || 'usual';
  const isKnown = spellings === 'usual' || spellings === 'all';
  if (!isKnown || problems.length > 0) return answers.refused(isKnown ? problems : [UNKNOWN_SPELLINGS]);
  const file = await (isDocument
    ? documentFor(documents, choice.baseUrl, spellings, path)
    : path === '/robots.txt'
      ? robotsFile(choice.baseUrl, choice.path)
      : pageFile(path));
  const { type, bytes, gzipped, digest } = file;
  const made: Making = coding === 'identity' ? 'identity' : 'live';
  const unchanged = condition && conditional.unchanged(condition, choice.varies, entityTag(digest, made));
  if (unchanged) return unchanged;
  const body = wholeBody(made === 'identity' ? bytes : gzipped);
  const answer = answers.found(body, { varies: choice.varies, ignored, tag: digest }, type, made);
  if (!path.startsWith('/docs/')) return answer;
  return { ...answer, headers: [...answer.headers, ...GUARDED, descriptionLink(wayUp(path))] };
}

function documentFor(documents: Documents, baseUrl: string, spellings: Spellings, path: DocumentPath): DescriptionFile {
  const all = documents.get(baseUrl);
  assert(all, 'documents are made for each base URL that a request may choose');
  return all[spellings][path];
}
