// The citation of an observation over HTTP. The entity tag is a digest of the text. Loaded on the first request for
// one.
import { createHash } from 'node:crypto';
import { COLLECTIONS, parseRecordQuery, wholeBody } from '../../engine/engine.ts';
import type { Answer } from '../http/exchange.ts';
import type { CatalogueService, RouteOf, Visit } from '../catalogue/catalogue.ts';
import { countIgnored } from '../catalogue/tally.ts';
import { RecordReader } from './browse/records.ts';
import { CITATION_FORMS, readCitation } from './citation.ts';

/** Browsers must not take a text for a page. */
const UNSNIFFED = ['X-Content-Type-Options', 'nosniff'] as const;

const TAG_DIGITS = 32;
const FORM_NAMES = `Formats are ${Object.keys(CITATION_FORMS)
  .join(', ')
  .replace(/, (\w+)$/, ' and $1')}.`;

/** The citation, 304, 400 or 404. Never compressed, because it is short. Cost: the records that it cites. */
export function citationAnswer(
  { answers, collections, conditional, queryOptions, settings, ignored: counts }: CatalogueService,
  { id, form: name }: RouteOf<'citation'>,
  { request, choice, condition }: Visit,
): Answer {
  const { ignored, problems } = parseRecordQuery(request.query, queryOptions, undefined, []);
  if (problems.length > 0) return answers.refused(problems);
  const form = Object.hasOwn(CITATION_FORMS, name) ? CITATION_FORMS[name] : undefined;
  if (!form) return answers.notFoundNear(FORM_NAMES);
  const storedBaseUrl = collections(COLLECTIONS[0]!.name).records.baseUrl;
  const reader = new RecordReader({ collections, storedBaseUrl }, choice);
  const data = reader.record('observations', id);
  if (!data) return answers.notFound;
  countIgnored(counts, '', ignored);
  const bytes = Buffer.from(form.write(readCitation(reader, settings, { id, data })));
  const tag = createHash('sha256').update(bytes).digest('hex').slice(0, TAG_DIGITS);
  const unchanged = condition && conditional.unchanged(condition, choice.varies, tag);
  if (unchanged) return unchanged;
  const answer = answers.found(wholeBody(bytes), { varies: choice.varies, ignored, tag }, form.type);
  return { ...answer, headers: [...answer.headers, UNSNIFFED] };
}
