// Converts stored own URLs to served ones: base URL, version, end of links. Filters on texts and pages of records
// must agree on it. page/rewrite.ts does the same to whole records, byte by byte.
import type { Version } from '../schema/types.ts';
import { PLACEHOLDER } from './records.ts';

/** The end of a link inside a record, after its id, as the specification has it (spec 2.2). */
export const SPEC_LINK_END = '/?format=api';

/** The form of served own URLs. In v2, `/api/v3/` after the base URL becomes `/api/v2/`. */
export interface ServedForm {
  /** ASCII without quote, backslash and final slash. */
  readonly baseUrl: string;
  readonly version: Version;
  /** Replaces `/?format=api` at the end of own links to records; `SPEC_LINK_END` keeps it. */
  readonly linkEnd: string;
}

/** An own link to a record, after the base URL. It contains no character that JSON would escape. */
// oxlint-disable-next-line no-control-regex -- these are the characters that make a text differ from its JSON form
const RECORD_LINK = /^\/api\/v3\/[^/"\\\u0000-\u001f\u2028\u2029]+\/\d+\/\?format=api$/;

/** Whether a form changes only the base URL. */
export function isSpecForm({ version, linkEnd }: ServedForm): boolean {
  return version === 'v3' && linkEnd === SPEC_LINK_END;
}

/** The served form of a stored own URL, which starts with the placeholder. Cost: a few short strings. */
export function servedUrl(stored: string, form: ServedForm): string {
  const rest = stored.slice(PLACEHOLDER.length);
  const url = RECORD_LINK.test(rest) ? rest.slice(0, -SPEC_LINK_END.length) + form.linkEnd : rest;
  return form.baseUrl + (form.version === 'v2' && url.startsWith('/api/v3/') ? `/api/v2/${url.slice(8)}` : url);
}

/** The stored texts that are served as `served`: none, one, or several if the form maps them to the same URL. */
export function storedUrls(served: string, form: ServedForm): readonly string[] {
  if (!served.startsWith(form.baseUrl)) return [];
  const rests = [served.slice(form.baseUrl.length)];
  if (rests[0]!.startsWith('/api/v2/')) rests.push(`/api/v3/${rests[0]!.slice(8)}`);
  for (const rest of rests.slice()) {
    if (rest.endsWith(form.linkEnd)) rests.push(rest.slice(0, rest.length - form.linkEnd.length) + SPEC_LINK_END);
  }
  return [...new Set(rests)].map((rest) => PLACEHOLDER + rest).filter((stored) => servedUrl(stored, form) === served);
}
