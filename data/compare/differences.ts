// How two responses to the same request differ, grouped by cause. Each cause has the setting of the replica that
// removes it, if there is one.
import { isObject, parseJson } from '../../engine/bits/json.ts';

/** The compared parts of a response. `body` has `{base_url}` in place of the base URL of its server. */
export interface ComparedResponse {
  readonly status: number;
  readonly contentType: string;
  readonly allow: string;
  readonly vary: string;
  readonly body: string;
}

/** Every cause: its meaning, and the setting or action that removes it. */
export const CAUSES = {
  status: ['statuses differ', ''],
  refused: ['the replica refuses a filter that the upstream ignores', '--filter-errors ignore'],
  filters: ['the upstream ignores a filter, the replica applies it', '--filters documented'],
  unfiltered: ['the replica ignores a filter, the upstream applies it', '--filters all'],
  count: ['counts differ', 'a refresh of the replica'],
  size: ['pages have different numbers of records', '--limit-max with the largest page of the upstream'],
  order: ['the same records in another order', ''],
  records: ['records or values differ', 'a refresh of the replica'],
  links: ['links in records have another form', '--links request, or --links spec if the upstream has ?format=api'],
  pageLinks: ['next or previous differ', ''],
  spelling: ['the same values in other bytes', ''],
  body: ['texts of errors or other bodies differ', ''],
  contentType: ['Content-Type differs', ''],
  allow: ['Allow lacks a method', ''],
  vary: ['Vary lacks a header', ''],
} as const satisfies Readonly<Record<string, readonly [text: string, cure: string]>>;

/** The name of a cause, as in `--accept`. */
export type Cause = keyof typeof CAUSES;

/** The compared headers. */
const HEADERS = ['contentType', 'allow', 'vary'] as const;

/** One difference of one request; `upstream` and `replica` show the two values in a few words. */
export interface Difference {
  readonly cause: Cause;
  readonly upstream: string;
  readonly replica: string;
}

/** The counts of a list without its query in the upstream and in the replica, as far as they are known. */
type UnfilteredCounts = readonly (number | undefined)[];

/**
 * The differences between two responses; none if they are equal. The unfiltered counts distinguish an ignored filter
 * from a wrong count.
 */
export function differencesBetween(
  upstream: ComparedResponse,
  replica: ComparedResponse,
  unfiltered: UnfilteredCounts,
): readonly Difference[] {
  if (upstream.status !== replica.status) {
    const isRefused = upstream.status === 200 && replica.status === 400;
    return [describeDifference(isRefused ? 'refused' : 'status', upstream.status, replica.status)];
  }
  const body = bodyDifference(upstream, replica.body, unfiltered);
  // The replica may list additional members, for example because it compresses.
  const headers = HEADERS.filter((cause) => {
    const members = headerMembers(replica[cause]);
    return headerMembers(upstream[cause]).some((member) => !members.includes(member));
  });
  return [
    ...(body ? [body] : []),
    ...headers.map((cause) => describeDifference(cause, upstream[cause] || 'none', replica[cause] || 'none')),
  ];
}

/** The members of a list without their parameters: JSON is UTF-8, with a charset or without. */
function headerMembers(header: string): readonly string[] {
  return header
    .toLowerCase()
    .split(',')
    .map((member) => member.split(';')[0]!.trim())
    .filter(Boolean);
}

interface Page {
  readonly count: number;
  readonly next: unknown;
  readonly previous: unknown;
  readonly results: readonly unknown[];
}

function bodyDifference(
  { status, body: upstream }: ComparedResponse,
  replica: string,
  unfiltered: UnfilteredCounts,
): Difference | undefined {
  if (upstream === replica) return undefined;
  const [value, other] = [parseJson(upstream), parseJson(replica)];
  if (status >= 400 || value === undefined || other === undefined) return describeDifference('body', upstream, replica);
  const difference =
    isPage(value) && isPage(other) ? pageDifference(value, other, unfiltered) : valueDifference(value, other);
  return difference ?? excerptDifference('spelling', upstream, replica);
}

function pageDifference(page: Page, other: Page, unfiltered: UnfilteredCounts): Difference | undefined {
  if (page.count !== other.count) {
    // If the greater count is that of the list without its query, its server ignores the filter.
    const [i, cause] = page.count > other.count ? ([0, 'filters'] as const) : ([1, 'unfiltered'] as const);
    const isIgnored = Math.max(page.count, other.count) === unfiltered[i];
    return describeDifference(isIgnored ? cause : 'count', page.count, other.count);
  }
  if (page.results.length !== other.results.length)
    return describeDifference('size', page.results.length, other.results.length);
  const [ids, otherIds] = [readIds(page), readIds(other)];
  const at = ids.findIndex((id, i) => id !== otherIds[i]);
  if (at >= 0) {
    const isSameSet = ids.toSorted().join() === otherIds.toSorted().join();
    return describeDifference(isSameSet ? 'order' : 'records', `id ${ids[at]}`, `id ${otherIds[at]}`);
  }
  // Other values come before links: a link in the first record must not hide a value in the second.
  const differences = page.results.flatMap((result, i) => valueDifference(result, other.results[i]) ?? []);
  const [first] = [...differences.filter(({ cause }) => cause === 'records'), ...differences];
  if (first) return first;
  for (const key of ['next', 'previous'] as const) {
    if (page[key] !== other[key]) return describeDifference('pageLinks', page[key], other[key]);
  }
  return undefined;
}

/** Whether two JSON values differ in content or in the form of their links; the bytes of a value do not matter. */
function valueDifference(value: unknown, other: unknown): Difference | undefined {
  const [text, otherText] = [JSON.stringify(value), JSON.stringify(other)];
  if (text === otherText) return undefined;
  const [plain, otherPlain] = [removeFormat(text), removeFormat(otherText)];
  return plain === otherPlain
    ? excerptDifference('links', text, otherText)
    : excerptDifference('records', plain, otherPlain);
}

/** Links to lists and records end in `/?format=api`, or in the form of the request. */
function removeFormat(text: string): string {
  return text.replaceAll(/(\{base_url\}\/api\/v\d\/\w+\/(?:\d+\/)?)\?format=\w+/g, '$1');
}

/** The two texts from shortly before the place where they differ. */
function excerptDifference(cause: Cause, text: string, other: string): Difference {
  let at = 0;
  while (at < text.length && text[at] === other[at]) at++;
  const from = Math.max(0, text.lastIndexOf(',', at - 1), at - 60);
  return describeDifference(cause, text.slice(from), other.slice(from));
}

function describeDifference(cause: Cause, upstream: unknown, replica: unknown): Difference {
  const excerpt = (value: unknown): string => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text.length > 80 ? `${text.slice(0, 77)}...` : text;
  };
  return { cause, upstream: excerpt(upstream), replica: excerpt(replica) };
}

/** The count of a list; undefined if a body is not a page of one. */
export function countIn(body: string): number | undefined {
  const value = parseJson(body);
  return isPage(value) ? value.count : undefined;
}

export function isPage(value: unknown): value is Page {
  return isObject(value) && typeof value['count'] === 'number' && Array.isArray(value['results']);
}

function readIds({ results }: Page): readonly string[] {
  return results.map((record) => {
    const { ob_id: id, id: other } = (record ?? {}) as { readonly ob_id?: unknown; readonly id?: unknown };
    return String(id ?? other);
  });
}
