// Whether what a crawl collected is accepted: links lead to records, and collections have lost no more than they may.
// Judges and words it; what is done about it is the crawl's business.
import { OperationError } from '../operationError.ts';
import type { CollectionPart } from './part.ts';

/**
 * What a crawl is held to: at least `linksMin` percent of its links lead to a record, and no collection has lost more
 * than `shrinkMax` percent of its records. What is to be done about one that is refused depends on whether it is `new`
 * and kept in `state`.
 */
export interface Acceptance {
  readonly kind: 'new' | 'refresh';
  readonly state: string;
  readonly linksMin: number;
  readonly shrinkMax: number;
}

/** Links from one collection to another that lead to no record: how many, and the id that the first one names. */
interface Dangling {
  readonly from: string;
  readonly to: string;
  readonly count: number;
  readonly id: number;
}

/** So many collections are told that lost too much; the others are counted. */
const NAMED_MAX = 3;

/** All links that were collected, and those that lead nowhere. */
export interface LinkSurvey {
  readonly links: number;
  readonly dangling: number;
  readonly pairs: readonly Dangling[];
}

/** Every link that was collected, against every id. Cost: a look-up for each id that a collection links to. */
export function surveyLinks(parts: ReadonlyMap<string, CollectionPart>): LinkSurvey {
  let links = 0;
  const pairs: Dangling[] = [];
  for (const [from, part] of parts) {
    for (const [to, counts] of part.links) {
      const ids = parts.get(to)?.ids;
      let count = 0;
      let first: number | undefined;
      for (const [id, times] of counts) {
        links += times;
        if (ids?.has(id)) continue;
        count += times;
        first ??= id;
      }
      if (first !== undefined) pairs.push({ from, to, count, id: first });
    }
  }
  return { links, dangling: pairs.reduce((sum, { count }) => sum + count, 0), pairs };
}

function isAccepted({ links, dangling }: LinkSurvey, { linksMin }: Acceptance): boolean {
  return (links - dangling) * 100 >= linksMin * links;
}

/**
 * The collections to read in full because too many links from or to them lead nowhere: an upstream removes what it
 * deletes from the records that link to it, often without a new date.
 */
export function inDoubt(
  survey: LinkSurvey,
  parts: ReadonlyMap<string, CollectionPart>,
  options: Acceptance,
): ReadonlySet<string> {
  if (isAccepted(survey, options)) return new Set();
  const names = survey.pairs.flatMap(({ from, to }) => [from, to]);
  return new Set(names.filter((name) => parts.has(name) && parts.get(name)!.compared !== 'full'));
}

/** Which links lead nowhere most often, as `50 as notes link to times/4`; undefined where none does. */
export function worstLinks({ pairs }: LinkSurvey): string | undefined {
  const [worst] = pairs.toSorted((a, b) => b.count - a.count);
  return worst && `${worst.count} as ${worst.from} link to ${worst.to}/${worst.id}`;
}

/** Throws OperationError `input` where too few links lead to a record; the message names the worst of them. */
export function judgeLinks(survey: LinkSurvey, options: Acceptance): void {
  if (isAccepted(survey, options)) return;
  const { links, dangling } = survey;
  const cure = cureOf('--links-min', options);
  throw new OperationError(
    'input',
    `${dangling} of ${links} links lead to no record, ${worstLinks(survey)!}; ` +
      `less than ${options.linksMin} % resolve: ${cure}`,
  );
}

/** What to do about a crawl that is refused: a replica that follows forgets it, and crawls anew by itself. */
function cureOf(flag: string, { kind, state }: Acceptance): string {
  return kind === 'new' ? `${flag} accepts it, removing ${state} crawls anew` : `${flag} accepts it`;
}

/** Throws OperationError `input` where a collection has lost more of its records than it may. */
export function judgeLosses(
  before: ReadonlyMap<string, number>,
  counts: Readonly<Record<string, number>>,
  options: Acceptance,
): void {
  const { shrinkMax } = options;
  const lost = [...before].filter(([name, count]) => (count - (counts[name] ?? 0)) * 100 > shrinkMax * count);
  if (lost.length === 0) return;
  const named = lost.slice(0, NAMED_MAX);
  const what = named.map(([name, count]) => `${name} has ${counts[name] ?? 0} records, ${count} before`).join('; ');
  const others = lost.length > NAMED_MAX ? `; ${lost.length - NAMED_MAX} other collections lost as much` : '';
  const cure = cureOf('a larger --shrink-max or --force', options);
  throw new OperationError('input', `${what}${others}; more than ${shrinkMax} % are gone: ${cure}`);
}
