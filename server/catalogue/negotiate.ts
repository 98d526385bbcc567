// In which form a request can be answered: by the format it names, its path, its Accept header, in this order; and in
// which content coding: gzip, nothing but gzip, or none. Pure but for a memory of headers met.
import Negotiator from 'negotiator';
import type { Request } from '../http/exchange.ts';
import { remembered } from '../http/memory.ts';

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

/** `gzip`: gzip where it pays. `gzipOnly`: the client refuses bodies without a coding. `identity`: no gzip. */
export type Coding = 'identity' | 'gzip' | 'gzipOnly';

/**
 * What a value of Accept-Encoding asks for (A101). gzip counts where its quality is above 0 and not below that of
 * identity; `x-gzip` is gzip. Cost: a look-up for values met before, else one pass. Source: RFC 9110, 12.5.3.
 */
export function codingOf(header: string | undefined): Coding {
  return header === undefined ? 'identity' : negotiatedOnce(header);
}

/** What requests ask for, where gzip is offered; none where it is not, and then no header is looked at. */
export function codingChooser(isOffered: boolean): (request: Request) => Coding {
  return isOffered ? (request) => codingOf(request.header('accept-encoding')) : () => 'identity';
}

const negotiatedOnce = remembered(negotiated);

function negotiated(header: string): Coding {
  const named = header.toLowerCase().replace(/\bx-gzip\b/g, 'gzip');
  const accepted = new Negotiator({ headers: { 'accept-encoding': named } }).encodings(['gzip', 'identity']);
  if (!accepted.includes('gzip')) return 'identity';
  if (!accepted.includes('identity')) return 'gzipOnly';
  return accepted[0] === 'gzip' ? 'gzip' : 'identity';
}
