// In which form a request can be answered: by the format it names,
// its path, its Accept header, in this order. Pure.
import Negotiator from 'negotiator';

/** The outcome: the format to send, the format is not known (404), or Accept rules JSON out (406). */
export type Negotiation = 'json' | 'ndjson' | 'csv' | 'unknownFormat' | 'notAcceptable';

/** What decides. `format` is the decoded parameter, undefined without one; empty counts as none (A26). */
export interface Wishes {
  readonly accept: string | undefined;
  readonly format: string | undefined;
  readonly isJsonPath: boolean;
}

const JSON_TYPES = ['application/json'];

/** Parameters of a media range but `q`: they do not tell one JSON from another. */
const PARAMETERS = /;(?!\s*q\s*=)[^;,]*/gi;

/**
 * Judges the wishes (A26, A51, A62). A named format and a `.json` path override Accept; an empty Accept counts as none;
 * parameters of media ranges but `q` are not looked at. Cost: none for what most clients send, else one pass over
 * Accept. Source: RFC 9110, 12.5.1.
 */
export function negotiate({ accept, format, isJsonPath }: Wishes): Negotiation {
  if (format === 'ndjson' || format === 'csv') return format;
  if (format) return format === 'api' || format === 'json' ? 'json' : 'unknownFormat';
  if (isJsonPath || accept === undefined || accept === '*/*' || accept === 'application/json') return 'json';
  if (accept.trim() === '') return 'json';
  const negotiator = new Negotiator({ headers: { accept: accept.replace(PARAMETERS, '') } });
  return negotiator.mediaType(JSON_TYPES) === undefined ? 'notAcceptable' : 'json';
}
