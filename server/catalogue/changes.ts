// The changes since a generation (A153). The body is the end of the change feed, a view of shared memory.
import { parseRecordQuery, wholeBody } from '../../engine/engine.ts';
import type { Answer } from '../http/exchange.ts';
import type { CatalogueService, Visit } from './catalogue.ts';
import { countIgnored } from './tally.ts';

/** The digits of X-Generation, or more of them. */
const SINCE = /^[0-9a-f]{12,64}$/;
const SINCE_PROBLEM = {
  key: 'since',
  messages: ['Enter a generation: the value of X-Generation of a list, or of "next" in the last line.'],
};
const NO_FEED =
  'This server has no change log. "follow" writes one: serve with --follow, or with --from and a target of "follow --publish-to".';

/** Ignores Accept and is never compressed. Cost: a step per generation of the feed, 0.1 ms at most. */
export function changesAnswer(catalogue: CatalogueService, visit: Visit): Answer {
  const { answers, changes, conditional, ignored, queryOptions } = catalogue;
  const { request, choice, condition } = visit;
  const ask = parseRecordQuery(request.query, { ...queryOptions, exported: 'ndjson' }, undefined, ['since']);
  const since = ask.parameters.findLast(([name]) => name === 'since')?.[1] ?? '';
  const problems = SINCE.test(since) ? ask.problems : [SINCE_PROBLEM, ...ask.problems];
  if (problems.length > 0) return answers.refused(problems);
  if (!changes) return answers.notFoundNear(NO_FEED);
  const entry = changes.generations.findLast(([generation]) => generation.startsWith(since));
  if (!entry) return answers.gone;
  countIgnored(ignored, '', ask.ignored);
  // Two publishers may have seen other generations in between.
  const path = `${request.target} ${changes.sha256}`;
  const tag = conditional.tagOf({ baseUrl: choice.baseUrl, path, parameters: ask.parameters });
  const unchanged = condition && conditional.unchanged(condition, choice.varies, tag);
  if (unchanged) return unchanged;
  const remarks = { varies: choice.varies, ignored: ask.ignored, tag };
  return answers.found(wholeBody(changes.bytes.subarray(entry[1])), remarks, 'application/x-ndjson');
}
