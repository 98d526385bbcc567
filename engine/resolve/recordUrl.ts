// The page of a record for people: our own, or what a template of the operator says.
// Pure text.
import { percentEncode } from '../query/links.ts';

/** Where the pages of records are unless a template says so, behind the base URL. */
const OWN_PAGES = '/browse/{collection}/{id}/';

/** A record as far as its page is concerned; `uuid` is empty where it has none. */
export interface RecordName {
  readonly collection: string;
  readonly id: number;
  readonly uuid: string;
}

/**
 * The page of a record; empty where the template names a uuid and the record has none. Values are percent-encoded.
 * Cost: the text.
 */
export function recordUrl(template: string | undefined, baseUrl: string, record: RecordName): string {
  const text = template ?? baseUrl + OWN_PAGES;
  if (record.uuid === '' && text.includes('{uuid}')) return '';
  return text
    .replaceAll('{collection}', record.collection)
    .replaceAll('{id}', String(record.id))
    .replaceAll('{uuid}', () => percentEncode(record.uuid));
}
