// How stored own URLs become the ones a request is answered with: base URL, version, end of links. Filters on texts and
// pages of records must agree on it; page/rewrite.ts does the same to whole records, byte by byte.
import type { Version } from '../schema/types.ts';
import { PLACEHOLDER } from './records.ts';

/** What a link inside a record ends with behind its id in the form of the specification (spec 2.2). */
export const SPEC_LINK_END = '/?format=api';

/**
 * How own URLs are served. `baseUrl`: ASCII without quote, backslash and final slash. `linkEnd`: what takes the place
 * of `/?format=api` behind the id of own record links; `SPEC_LINK_END` leaves them alone. In v2, `/api/v3/` behind the
 * base URL becomes `/api/v2/`.
 */
export interface ServedForm {
  readonly baseUrl: string;
  readonly version: Version;
  readonly linkEnd: string;
}

/** An own link to a record, behind the base URL; what JSON would escape is no part of one. */
// oxlint-disable-next-line no-control-regex -- these are the characters that make a text differ from its JSON form
const RECORD_LINK = /^\/api\/v3\/[^/"\\\u0000-\u001f\u2028\u2029]+\/\d+\/\?format=api$/;

/** Whether a form changes nothing but the base URL. */
export function isSpecForm({ version, linkEnd }: ServedForm): boolean {
  return version === 'v3' && linkEnd === SPEC_LINK_END;
}

/** A stored own URL, placeholder first, as it is served. Cost: a few short strings. */
export function servedUrl(stored: string, form: ServedForm): string {
  const rest = stored.slice(PLACEHOLDER.length);
  const ended = RECORD_LINK.test(rest) ? rest.slice(0, -SPEC_LINK_END.length) + form.linkEnd : rest;
  return form.baseUrl + (form.version === 'v2' && ended.startsWith('/api/v3/') ? `/api/v2/${ended.slice(8)}` : ended);
}

/** The stored texts that are served as this one: none, one, or several that the form does not tell apart. */
export function storedUrls(served: string, form: ServedForm): readonly string[] {
  if (!served.startsWith(form.baseUrl)) return [];
  const rests = [served.slice(form.baseUrl.length)];
  if (rests[0]!.startsWith('/api/v2/')) rests.push(`/api/v3/${rests[0]!.slice(8)}`);
  for (const rest of rests.slice()) {
    if (rest.endsWith(form.linkEnd)) rests.push(rest.slice(0, rest.length - form.linkEnd.length) + SPEC_LINK_END);
  }
  return [...new Set(rests)].map((rest) => PLACEHOLDER + rest).filter((stored) => servedUrl(stored, form) === served);
}
