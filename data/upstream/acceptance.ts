// Checks whether a crawl is accepted: links must lead to records, and collections must not lose too many. Errors say
// what to do; crawl.ts acts on them.
import { OperationError } from '../operationError.ts';
import type { CollectionPart } from './part.ts';

/**
 * The limits of a crawl: at least `linksMin` percent of its links lead to a record, and no collection loses more than
 * `shrinkMax` percent of its records. `kind` and `state` decide which remedy an error names.
 */
export interface Acceptance {
  readonly kind: 'new' | 'refresh';
  readonly state: string;
  readonly linksMin: number;
  readonly shrinkMax: number;
}

/** Links from one collection to another that lead to no record: their number, and the target id of the first one. */
interface Dangling {
  readonly from: string;
  readonly to: string;
  readonly count: number;
  readonly id: number;
}

/** Collections with too many losses that an error names; the others are counted. */
const NAMED_MAX = 3;

/** The number of all collected links, and of those that lead to no record. */
export interface LinkSurvey {
  readonly links: number;
  readonly dangling: number;
  readonly pairs: readonly Dangling[];
}

/** Checks every collected link against the ids. Cost: one look-up for each id that a collection links to. */
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
 * The collections to read in full because too many links from or to them lead to no record. When an upstream deletes a
 * record, it removes the links to it, often without a new date of the linking record.
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

/** The most frequent dangling links, as `50 as notes link to times/4`; undefined if all links lead to a record. */
export function worstLinks({ pairs }: LinkSurvey): string | undefined {
  const [worst] = pairs.toSorted((a, b) => b.count - a.count);
  return worst && `${worst.count} as ${worst.from} link to ${worst.to}/${worst.id}`;
}

/** Throws OperationError `input` if too few links lead to a record. The message names the most frequent ones. */
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

/** The remedy for a refused crawl. A replica that follows a catalogue discards it and crawls again by itself. */
function cureOf(flag: string, { kind, state }: Acceptance): string {
  return kind === 'new' ? `${flag} accepts it, removing ${state} starts a new crawl` : `${flag} accepts it`;
}

/** Throws OperationError `input` if a collection has lost more of its records than allowed. */
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
