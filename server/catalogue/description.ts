// The views that describe the API: files made of its declaration and of what the data has, answered like all else, with
// their own tags.
// Read when the first is asked for: no start and no other request has anything of it.
import type { RecordShape } from '../../engine/described.ts';
import { type QueryOptions, wholeBody } from '../../engine/engine.ts';
import type { OnLostThread } from '../../workers/starvation.ts';
import type { Answer } from '../http/exchange.ts';
import { DescriptionFiles, DOCS_POLICY } from '../openapi/files.ts';
import { shapesOf } from '../openapi/shapes.ts';
import { type Making, taggedAs } from './answers.ts';
import { DocumentMaker } from './documentMaker.ts';
import { descriptionLink } from './root.ts';
import type { CatalogueService, CatalogueSettings, RouteOf, Visit } from './catalogue.ts';

/** Those of each configuration; new data brings documents where it has other fields. */
const filesUnder = new WeakMap<CatalogueSettings, DescriptionFiles>();
/** What the data of each generation has. */
const shapesIn = new WeakMap<CatalogueService, readonly RecordShape[]>();

/** Of a page, what it may load and reach; and no type but ours. */
const GUARDED: Answer['headers'] = [
  ['Content-Security-Policy', DOCS_POLICY],
  ['X-Content-Type-Options', 'nosniff'],
  descriptionLink('../'),
];

/** The file at a path, or 304. Rejects where the system has no thread to make it. Cost: see files.ts. */
export async function descriptionAnswer(
  catalogue: CatalogueService,
  { path }: RouteOf<'description'>,
  { choice, coding, condition }: Visit,
): Promise<Answer> {
  const { settings, queryOptions, answers, conditional, onLostDocument } = catalogue;
  const files = filesUnder.get(settings) ?? filesOf(queryOptions, onLostDocument);
  filesUnder.set(settings, files);
  const { type, bytes, gzipped, digest } = await files.file(path, choice.baseUrl, () => shapesServedBy(catalogue));
  const made: Making = coding === 'identity' ? 'identity' : 'live';
  const unchanged = condition && conditional.unchanged(condition, choice.varies, taggedAs(digest, made));
  if (unchanged) return unchanged;
  const body = wholeBody(made === 'identity' ? bytes : gzipped);
  const answer = answers.found(body, { varies: choice.varies, ignored: [], tag: digest }, type, made);
  return path.startsWith('/docs/') ? { ...answer, headers: [...answer.headers, ...GUARDED] } : answer;
}

function shapesServedBy(catalogue: CatalogueService): readonly RecordShape[] {
  const known = shapesIn.get(catalogue) ?? shapesOf(catalogue.collections);
  shapesIn.set(catalogue, known);
  return known;
}

function filesOf(queryOptions: QueryOptions, onLost: OnLostThread = () => undefined): DescriptionFiles {
  const maker = new DocumentMaker(onLost);
  return new DescriptionFiles(queryOptions, (order) => maker.make(order));
}
