// Decides whether a crawl is accepted: its links lead to records, and collections have lost no more than they may.
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

/** Collections that a refusal names; it counts the others. */
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

/**
 * Percentages with two decimals are rounded in binary. The error is less than this part of a percent of one record.
 */
const ROUNDING = 1e-3;

function isAccepted({ links, dangling }: LinkSurvey, { linksMin }: Acceptance): boolean {
  return (links - dangling) * 100 >= linksMin * links - ROUNDING;
}

/**
 * The collections to read in full because too many links from or to them lead to no record. When an upstream deletes a
 * record, it removes the links to it, often without a new date of the linking record.
 */
export function collectionsAtRisk(
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

/**
 * Throws OperationError `input` if too few links lead to a record, or a collection has lost too many of the records
 * that it had `before`. The message names what is missing most and the value of each flag that accepts the crawl.
 */
export function judgeCrawl(
  survey: LinkSurvey,
  before: ReadonlyMap<string, number>,
  counts: Readonly<Record<string, number>>,
  options: Acceptance,
): void {
  const refusals = [linkRefusal(survey, options), lossRefusal(before, counts, options)].filter(
    (refusal) => refusal !== undefined,
  );
  if (refusals.length === 0) return;
  const { kind, state } = options;
  const flags = refusals.map(({ flag }) => flag).join(' and ');
  // `follow` removes a refused crawl itself.
  const cure = kind === 'new' ? `, removing ${state} starts the crawl over` : '';
  const reasons = refusals.map(({ reason }) => reason).join('; ');
  throw new OperationError('input', `${reasons}: ${flags} accept${refusals.length === 1 ? 's' : ''} it${cure}`);
}

/** A reason to refuse a crawl, and the flag that removes it, with the value. */
interface Refusal {
  readonly reason: string;
  readonly flag: string;
}

function linkRefusal(survey: LinkSurvey, options: Acceptance): Refusal | undefined {
  if (isAccepted(survey, options)) return undefined;
  const { links, dangling } = survey;
  const worst = `${dangling} of ${links} links lead to no record, ${worstLinks(survey)!}`;
  const reason = `${worst}; less than ${options.linksMin} % resolve`;
  return { reason, flag: `--links-min ${Math.floor(((links - dangling) * 10_000) / links) / 100}` };
}

function lossRefusal(
  before: ReadonlyMap<string, number>,
  counts: Readonly<Record<string, number>>,
  { shrinkMax }: Acceptance,
): Refusal | undefined {
  const losses = [...before]
    .map(([name, had]) => ({ name, had, has: counts[name] ?? 0 }))
    .filter(({ had, has }) => (had - has) * 100 > shrinkMax * had + ROUNDING);
  if (losses.length === 0) return undefined;
  const named = losses.slice(0, NAMED_MAX).map(({ name, had, has }) => `${name} has ${has} records, ${had} before`);
  const others = losses.length > NAMED_MAX ? `; ${losses.length - NAMED_MAX} other collections lost as much` : '';
  const percent = Math.ceil(Math.max(...losses.map(({ had, has }) => ((had - has) * 10_000) / had))) / 100;
  const reason = `${named.join('; ')}${others}; more than ${shrinkMax} % are gone`;
  return { reason, flag: `--shrink-max ${percent} or --force` };
}
