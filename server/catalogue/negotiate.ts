// In which form a request can be answered: by the format it names, the ending of its path, its Accept header, in this
// order; and in which content coding: gzip, nothing but gzip, or none. Pure but for a memory of headers met.
import Negotiator from 'negotiator';
import { EXPORT_FORMATS, EXPORT_TYPES, exportOf, type ExportFormat } from '../../engine/engine.ts';
import type { Request } from '../http/exchange.ts';
import { remembered } from '../http/memory.ts';

/** The outcome: the format to send, the format is not known (404), or Accept rules JSON out (406). */
export type Negotiation = Ending | 'unknownFormat' | 'notAcceptable';

export const ENDINGS: readonly Ending[] = ['json', ...EXPORT_FORMATS];

export type Ending = 'json' | ExportFormat;

/** The formats of lists and records, in words: `api, json and csv`. */
export function formatsText(conjunction: 'and' | 'or'): string {
  const formats = ['api', ...ENDINGS];
  return `${formats.slice(0, -1).join(', ')} ${conjunction} ${formats.at(-1)}`;
}

/** `format` is the decoded parameter; empty counts as none (A26). `mayExport`: Accept can ask for an export. */
export interface Wishes {
  readonly accept: string | undefined;
  readonly format: string | undefined;
  readonly ending: Ending | undefined;
  readonly mayExport: boolean;
}

/** The media types that Accept may ask for, beside a page. */
const FORMS: ReadonlyMap<string, Ending> = new Map([
  ['application/json', 'json'],
  ...EXPORT_FORMATS.map((format) => [EXPORT_TYPES[format], format] as const),
]);
const [JSON_TYPE = '', ...EXPORTED] = FORMS.keys();
const PAGE_TYPE = 'text/html';

/** Longer headers are not read (A51): 4 kB take 4 ms. Those of browsers have 150 characters. */
const WISHES_CHARACTERS_MAX = 1024;

/** Parameters of a media range but `q`: they do not tell one JSON from another. */
const PARAMETERS = /;(?!\s*q\s*=)[^;,]*/gi;

/**
 * Judges the wishes (A26, A51, A62). A named format and an ending override Accept; an empty Accept counts as none;
 * parameters of media ranges but `q` are not looked at. Cost: none for what most clients send, a look-up for what was
 * met before, else one pass over Accept. Source: RFC 9110, 12.5.1.
 */
export function negotiate({ accept, format, ending, mayExport }: Wishes): Negotiation {
  if (format) return exportOf(format) ?? (format === 'api' || format === 'json' ? 'json' : 'unknownFormat');
  if (ending) return ending;
  if (accept === undefined || isUsual(accept)) return 'json';
  const { list, record } = wishedOnce(accept);
  return mayExport ? list : record;
}

/** The export of a list that path or Accept ask for where no format is named: undefined where they ask for none. */
export function exportWished(accept: string | undefined, ending: Ending | undefined): ExportFormat | undefined {
  if (ending === undefined && (accept === undefined || isUsual(accept))) return undefined;
  return exportOf(negotiate({ accept, format: undefined, ending, mayExport: true }));
}

/** Whether Accept prefers a page to JSON, and for lists to exports. */
export function prefersPage(accept: string | undefined, mayExport: boolean): boolean {
  if (accept === undefined || isUsual(accept)) return false;
  const { isPage, isListPage } = wishedOnce(accept);
  return mayExport ? isListPage : isPage;
}

/** Whether Accept is what most clients send, which takes JSON, or nothing that is read. */
function isUsual(accept: string): boolean {
  return accept.length > WISHES_CHARACTERS_MAX || accept === '*/*' || accept === 'application/json';
}

/** What Accept asks for: of lists, of records, and whether a page is preferred to JSON, and to exports. */
interface Wished {
  readonly list: Negotiation;
  readonly record: Negotiation;
  readonly isPage: boolean;
  readonly isListPage: boolean;
}

/** An export or a page is asked for by its name: what would take anything gets JSON. */
const wishedOnce = remembered((accept): Wished => {
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

/** `gzip`: gzip where it pays. `gzipOnly`: the client refuses bodies without a coding. `identity`: no gzip. */
export type Coding = 'identity' | 'gzip' | 'gzipOnly';

/** gzip needs a quality above 0 and not below identity's (A101); `x-gzip` is gzip. Source: RFC 9110, 12.5.3. */
export function codingOf(header: string | undefined): Coding {
  return header === undefined || header.length > WISHES_CHARACTERS_MAX ? 'identity' : negotiatedOnce(header);
}

/** What requests ask for, where gzip is offered; none where it is not, and then no header is looked at. */
export function codingChooser(isOffered: boolean): (request: Request) => Coding {
  return isOffered ? (request) => codingOf(request.header('accept-encoding')) : () => 'identity';
}

/** As it is and is documented: of codings of one quality those that are `preferred` come first. */
interface PreferringNegotiator {
  encodings(available: readonly string[], options: { readonly preferred: readonly string[] }): readonly string[];
}

const negotiatedOnce = remembered(negotiated);

function negotiated(header: string): Coding {
  const named = header.toLowerCase().replace(/\bx-gzip\b/g, 'gzip');
  const negotiator: PreferringNegotiator = new Negotiator({ headers: { 'accept-encoding': named } });
  const accepted = negotiator.encodings(['gzip', 'identity'], { preferred: ['gzip'] });
  if (!accepted.includes('gzip')) return 'identity';
  if (!accepted.includes('identity')) return 'gzipOnly';
  return accepted[0] === 'gzip' ? 'gzip' : 'identity';
}
