// The URLs of an upstream in its records: made those of a data set, in its one spelling, and counted. Pure, on the text
// of whole records; knows the forms of links that services of this kind write.
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { collectionsOfPath } from '../../engine/schema/catalogue.ts';

const LINK = /^\/api\/v[23]\/(\w+)\/(\d{1,16})(?:\/|\.json\/?)?(?:\?format=[a-z]*)?$/;

/** Longer than any link; a bound for the work that a text makes. */
const PATH_MAX = 2000;

/**
 * What turns a record as sent into one of a data set: texts that start with one of `bases` and `/api/v2/` or `/api/v3/`
 * start with `{base_url}/api/v3/` then, and links to records have the data set's spelling, whichever they had. Slashes
 * may be escaped. Cost: a pass over the text.
 */
export function ownUrlsOf(bases: readonly string[]): (text: string) => string {
  const starts = bases.toSorted((a, b) => b.length - a.length).map(patternOf);
  // A quote behind a backslash starts no text; one before a colon ends a key.
  const own = new RegExp(
    `(?<!\\\\)"(?:${starts.join('|')})(\\\\?/api\\\\?/v[23]\\\\?/(?:[^"\\\\]|\\\\.){0,${PATH_MAX}})"(?!\\s*:)`,
    'g',
  );
  return (text) => text.replace(own, (_, path: string) => `"${PLACEHOLDER}${normalPath(path.replaceAll('\\/', '/'))}"`);
}

function patternOf(base: string): string {
  return base.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('/', String.raw`\\?/`);
}

function normalPath(path: string): string {
  const [, segment = '', id = ''] = LINK.exec(path) ?? [];
  const to = collectionsOfPath(segment, 'v3')[0];
  return to ? `/api/v3/${to.name}/${id}/?format=api` : path.replace(/^\/api\/v2\//, '/api/v3/');
}

const LINKS = new RegExp(
  String.raw`(?<!\\)"(?:\{base_url\}|(https?://[^"\\]{1,256}?))/api/v[23]/([a-z]+)/(\d{1,16})/?(?:\?format=[a-z]+)?"`,
  'g',
);

/**
 * The links of a record of a data set, in order: the collection and the id of each. What looks like a link but stands
 * at another host leads to a collection with that host's name in front: to none. Cost: a pass over the text.
 */
export function* linksIn(text: string): Generator<{ readonly to: string; readonly id: number }> {
  for (const [, host = '', name = '', id] of text.matchAll(LINKS)) {
    yield { to: host === '' ? name : `${host}/api/v3/${name}`, id: Number(id) };
  }
}
