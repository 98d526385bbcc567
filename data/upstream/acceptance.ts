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

function isAccepted(
  { links, dangling }: Pick<LinkSurvey, 'links' | 'dangling'>,
  { linksMin }: Pick<Acceptance, 'linksMin'>,
): boolean {
  return (links - dangling) * 100 >= linksMin * links;
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
  const refusals = [...linkRefusal(survey, options), ...lossRefusal(before, counts, options)];
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

function linkRefusal(survey: LinkSurvey, options: Acceptance): readonly Refusal[] {
  if (isAccepted(survey, options)) return [];
  const { links, dangling } = survey;
  const worst = `${dangling} of ${links} links lead to no record, ${worstLinks(survey)!}`;
  const reason = `${worst}; less than ${options.linksMin} % resolve`;
  return [{ reason, flag: `--links-min ${largestLinksMin(survey)}` }];
}

/** The largest --links-min that accepts these links, in percent with two decimals. */
function largestLinksMin(survey: LinkSurvey): number {
  const { links, dangling } = survey;
  const hundredths = links === 0 ? 10_000 : Math.floor(((links - dangling) * 10_000) / links);
  const linksMin = hundredths / 100;
  // The decimals of a percentage are rounded in binary.
  return isAccepted(survey, { linksMin }) ? linksMin : (hundredths - 1) / 100;
}

function lossRefusal(
  before: ReadonlyMap<string, number>,
  counts: Readonly<Record<string, number>>,
  { shrinkMax }: Acceptance,
): readonly Refusal[] {
  const losses = [...before].map(([name, had]) => ({ name, had, has: counts[name] ?? 0 }));
  const accepts = (percent: number): boolean => losses.every(({ had, has }) => (had - has) * 100 <= percent * had);
  if (accepts(shrinkMax)) return [];
  const excessive = losses.filter(({ had, has }) => (had - has) * 100 > shrinkMax * had);
  const named = excessive.slice(0, NAMED_MAX).map(({ name, had, has }) => `${name} has ${has} records, ${had} before`);
  const others = excessive.length > NAMED_MAX ? `; ${excessive.length - NAMED_MAX} other collections lost as much` : '';
  const hundredths = Math.ceil(Math.max(...excessive.map(({ had, has }) => ((had - has) * 10_000) / had)));
  const percent = accepts(hundredths / 100) ? hundredths / 100 : (hundredths + 1) / 100;
  const reason = `${named.join('; ')}${others}; more than ${shrinkMax} % are gone`;
  return [{ reason, flag: `--shrink-max ${percent} or --force` }];
}
