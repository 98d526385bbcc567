// The URLs of an upstream in its records: made those of a data set, in its one spelling, and its links told. Pure, on
// the text of whole records; knows the forms of links that services of this kind write (A109).
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { collectionsOfPath } from '../../engine/schema/catalogue.ts';

/**
 * Texts that may be own URLs: a base, then the API and all behind it. A quote behind a backslash starts no text, one
 * before a colon ends a key; slashes may be escaped; the lengths bound the work that a text makes.
 */
const URLS =
  /(?<!\\)"(\{base_url\}|https?:(?:[^"\\]|\\\/){1,256}?)\\?\/api\\?\/v[23]\\?\/((?:[^"\\]|\\.){0,2000})"(?!\s*:)/g;

const LINK = /^(\w+)\/(\d{1,16})(?:\/|\.json\/?)?(?:\?format=[a-z]*)?$/;

/** What a record links to: the collection, and the id. */
export type OnLink = (to: string, id: number) => void;

/**
 * The text of a record as a data set has it, and each of its links told: texts that start with one of `bases` and
 * `/api/v2/` or `/api/v3/` start with `{base_url}/api/v3/` then, and links to records have the data set's spelling.
 * What is so already stays so. What looks like a link but stands at another host is told as one to a collection with
 * that host in its name: to none. Cost: a pass over the text.
 */
export function withOwnUrls(text: string, bases: ReadonlySet<string>, onLink: OnLink): string {
  return text.replace(URLS, (whole, start: string, end: string) => {
    const base = start.includes('\\') ? start.replaceAll('\\/', '/') : start;
    const path = end.includes('\\') ? end.replaceAll('\\/', '/') : end;
    const [, segment = '', id = ''] = LINK.exec(path) ?? [];
    const to = collectionsOfPath(segment, 'v3')[0]?.name;
    const isOwn = base === PLACEHOLDER || bases.has(base);
    if (to !== undefined) onLink(isOwn ? to : `${base}/api/v3/${to}`, Number(id));
    if (!isOwn) return whole;
    return `"${PLACEHOLDER}/api/v3/${to === undefined ? path : `${to}/${id}/?format=api`}"`;
  });
}
