// The views that describe the API: the documents of the generation and the page that shows them, answered like all
// else, with their own tags. Read at the first request for one.
import assert from 'node:assert/strict';
import { wholeBody } from '../../engine/engine.ts';
import type { Answer } from '../http/exchange.ts';
import type { Documents } from './openapi/documents.ts';
import { type DescriptionFile, DOCS_POLICY, pageFile } from './openapi/files.ts';
import type { DocumentPath } from '../catalogue/routes.ts';
import { type Making, taggedAs } from '../catalogue/answers.ts';
import { descriptionLink } from '../catalogue/views.ts';
import type { CatalogueService, RouteOf, Visit } from '../catalogue/catalogue.ts';

/** Headers of the page: what it may load and reach, and no type but ours. */
const GUARDED: Answer['headers'] = [
  ['Content-Security-Policy', DOCS_POLICY],
  ['X-Content-Type-Options', 'nosniff'],
  descriptionLink('../'),
];

/** The file at a path, or 304. Rejects if a file of the page cannot be read now. Cost: a look-up. */
export async function descriptionAnswer(
  documents: Documents,
  { answers, conditional }: CatalogueService,
  { path }: RouteOf<'description'>,
  { choice, coding, condition }: Visit,
): Promise<Answer> {
  const isDocument = path === '/openapi.json' || path === '/openapi.yaml';
  const file = isDocument ? documentFor(documents, choice.baseUrl, path) : await pageFile(path);
  const { type, bytes, gzipped, digest } = file;
  const made: Making = coding === 'identity' ? 'identity' : 'live';
  const unchanged = condition && conditional.unchanged(condition, choice.varies, taggedAs(digest, made));
  if (unchanged) return unchanged;
  const body = wholeBody(made === 'identity' ? bytes : gzipped);
  const answer = answers.found(body, { varies: choice.varies, ignored: [], tag: digest }, type, made);
  return isDocument ? answer : { ...answer, headers: [...answer.headers, ...GUARDED] };
}

function documentFor(documents: Documents, baseUrl: string, path: DocumentPath): DescriptionFile {
  const forms = documents.get(baseUrl);
  assert(forms, 'documents are made for each base URL that a request may choose');
  return forms[path];
}
