// Content negotiation. The form of a response: by format parameter, ending of the path, or Accept, in this order. Its
// content coding: gzip, only gzip, or none. Caches parsed headers.
import Negotiator from 'negotiator';
import { EXPORT_FORMATS, EXPORT_TYPES, exportOf, type ExportFormat } from '../../engine/engine.ts';
import type { Request } from '../http/exchange.ts';
import { cacheMeanings } from '../http/memory.ts';

/** The format to send, an unknown format (404), or an Accept that excludes JSON (406). */
export type Negotiation = Ending | 'unknownFormat' | 'notAcceptable';

export const ENDINGS: readonly Ending[] = ['json', ...EXPORT_FORMATS];

export type Ending = 'json' | ExportFormat;

/** The formats of lists and records as text: `api, json and csv`. */
export function formatsText(conjunction: 'and' | 'or'): string {
  const formats = ['api', ...ENDINGS];
  return `${formats.slice(0, -1).join(', ')} ${conjunction} ${formats.at(-1)}`;
}

export interface RequestedForm {
  readonly accept: string | undefined;
  /** The decoded parameter; empty counts as missing (A26). */
  readonly format: string | undefined;
  readonly ending: Ending | undefined;
  /** Whether Accept can request an export. */
  readonly mayExport: boolean;
}

/** The media types that Accept can request, other than pages. */
const FORMS: ReadonlyMap<string, Ending> = new Map([
  ['application/json', 'json'],
  ...EXPORT_FORMATS.map((format) => [EXPORT_TYPES[format], format] as const),
]);
const [JSON_TYPE = '', ...EXPORTED] = FORMS.keys();
const PAGE_TYPE = 'text/html';

/** Longer headers are ignored (A51): 4 kB take 4 ms. Those of browsers have 150 characters. */
const WISHES_CHARACTERS_MAX = 1024;

/** Parameters of a media range other than `q`: they do not distinguish JSON variants. */
const PARAMETERS = /;(?!\s*q\s*=)[^;,]*/gi;

/**
 * Negotiates the form (A26, A51, A62). A named format and an ending override Accept. An empty Accept counts as missing.
 * Parameters of media ranges other than `q` are ignored. Cost: none for what most clients send, a lookup for cached
 * headers, else one pass over Accept. Source: RFC 9110, 12.5.1.
 */
export function negotiate({ accept, format, ending, mayExport }: RequestedForm): Negotiation {
  if (format) return exportOf(format) ?? (format === 'api' || format === 'json' ? 'json' : 'unknownFormat');
  if (ending) return ending;
  if (accept === undefined || isUsual(accept)) return 'json';
  const { list, record } = acceptedForms(accept);
  return mayExport ? list : record;
}

/** The export of a list that path or Accept request without a named format; undefined if they request none. */
export function requestedExport(accept: string | undefined, ending: Ending | undefined): ExportFormat | undefined {
  if (ending === undefined && (accept === undefined || isUsual(accept))) return undefined;
  return exportOf(negotiate({ accept, format: undefined, ending, mayExport: true }));
}

/** Whether Accept prefers a page to JSON and, for lists, to exports. */
export function prefersPage(accept: string | undefined, mayExport: boolean): boolean {
  if (accept === undefined || isUsual(accept)) return false;
  const { isPage, isListPage } = acceptedForms(accept);
  return mayExport ? isListPage : isPage;
}

/** Whether Accept has a value that most clients send and that accepts JSON, or one that is ignored. */
function isUsual(accept: string): boolean {
  return accept.length > WISHES_CHARACTERS_MAX || accept === '*/*' || accept === 'application/json';
}

/** The outcome of parsing Accept: for lists, for records, and whether a page is preferred to JSON and to exports. */
interface AcceptedForms {
  readonly list: Negotiation;
  readonly record: Negotiation;
  readonly isPage: boolean;
  readonly isListPage: boolean;
}

/** An export or a page must be named explicitly; wildcards get JSON. */
const acceptedForms = cacheMeanings((accept): AcceptedForms => {
  if (accept.trim() === '') return { list: 'json', record: 'json', isPage: false, isListPage: false };
  const named = accept.toLowerCase();
  const types = [JSON_TYPE, ...[...EXPORTED, PAGE_TYPE].filter((type) => named.includes(type))];
  const wished = new Negotiator({ headers: { accept: accept.replace(PARAMETERS, '') } }).mediaTypes(types);
  return {
    list: FORMS.get(wished.find((type) => type !== PAGE_TYPE) ?? '') ?? 'notAcceptable',
    record: wished.includes(JSON_TYPE) ? 'json' : 'notAcceptable',
    isPage: wished.find((type) => !EXPORTED.includes(type)) === PAGE_TYPE,
    isListPage: wished[0] === PAGE_TYPE,
  };
});

/** `gzip`: gzip if it is smaller. `gzipOnly`: the client refuses bodies without coding. `identity`: no gzip. */
export type Coding = 'identity' | 'gzip' | 'gzipOnly';

/** gzip needs a quality above 0 and at least that of identity (A101); `x-gzip` is gzip. Source: RFC 9110, 12.5.3. */
export function codingOf(header: string | undefined): Coding {
  return header === undefined || header.length > WISHES_CHARACTERS_MAX ? 'identity' : rememberedCoding(header);
}

/** Determines the coding of requests. If gzip is off, no header is read. */
export function codingChooser(isOffered: boolean): (request: Request) => Coding {
  return isOffered ? (request) => codingOf(request.header('accept-encoding')) : () => 'identity';
}

/** The documented signature, which the types lack. `preferred` comes first among codings of the same quality. */
interface PreferringNegotiator {
  encodings(available: readonly string[], options: { readonly preferred: readonly string[] }): readonly string[];
}

const rememberedCoding = cacheMeanings(negotiated);

function negotiated(header: string): Coding {
  const named = header.toLowerCase().replace(/\bx-gzip\b/g, 'gzip');
  const negotiator: PreferringNegotiator = new Negotiator({ headers: { 'accept-encoding': named } });
  const accepted = negotiator.encodings(['gzip', 'identity'], { preferred: ['gzip'] });
  if (!accepted.includes('gzip')) return 'identity';
  if (!accepted.includes('identity')) return 'gzipOnly';
  return accepted[0] === 'gzip' ? 'gzip' : 'identity';
}
