// Every answer of the catalogue but what stands in its bodies: status, headers, and the bodies of all that is not a page.
// Header sets that do not change are built once. Knows no transport; called by the catalogue's handler.
import { type Body, type IgnoredName, jsonObject, jsonText, percentEncode, wholeBody } from '../../engine/engine.ts';
import type { Answer } from './exchange.ts';

type Headers = Answer['headers'];

/** A bad parameter: its key as sent, decoded, and what is wrong with it. */
export interface ParameterProblem {
  readonly key: string;
  readonly messages: readonly string[];
}

/** What an answer with a body of the catalogue carries beside it: headers that chose the base URL, ignored parameters. */
export interface Remarks {
  readonly varies: readonly string[];
  readonly ignored: readonly IgnoredName[];
}

/** The media types of answers with a body of the catalogue: JSON, and the two of exports (A62). */
export type MediaType = 'application/json' | 'application/x-ndjson' | 'text/csv; charset=utf-8';

/** All answers under one configuration. */
export interface Answers {
  /** 200 with a page, record, root view, index or export. */
  found(body: Body, remarks: Remarks, type?: MediaType): Answer;
  /** 200 to OPTIONS, preflights included (A49). `name` is the view's, such as `Observations List`. */
  described(name: string): Answer;
  /** 301 to a path on this host. `query` is kept byte for byte (A14). */
  redirected(location: string, query: string | undefined): Answer;
  /** 400 that lists every bad parameter (A29). */
  refused(problems: readonly ParameterProblem[]): Answer;
  /** 405. */
  methodNotAllowed(method: string): Answer;
  /** 404. */
  readonly notFound: Answer;
  /** 406. */
  readonly notAcceptable: Answer;
  /** 400 to a target that is no target, such as one with a raw `#`. */
  readonly badTarget: Answer;
  /** 503: too much heavy work waits. */
  readonly busy: Answer;
  /** 200 with a JSON text that is true only now, such as how a list was found (A68). */
  momentary(json: string): Answer;
  /** 410: another generation of the data is served than the one that a walk began in (A69). */
  readonly gone: Answer;
}

/** The methods of every view, as Allow names them (spec 1). */
const ALLOW = 'GET, HEAD, OPTIONS';

/** A queue of heavy queries drains in well under this; the smallest value Retry-After can say. */
const RETRY_AFTER_SECONDS = '1';

/** The longest X-Ignored-Params: proxies commonly cap the header block of an answer at 4 to 8 kB (A27). */
const IGNORED_BYTES_MAX = 1024;

/** Browsers keep a preflight's outcome at most this long. */
const PREFLIGHT_SECONDS = '86400';

const CONTENT_TYPE = ['Content-Type', 'application/json'] as const;
const ALLOWED = ['Allow', ALLOW] as const;
const CACHED = ['Cache-Control', 'public, no-cache'] as const;
const NOT_STORED = ['Cache-Control', 'no-store'] as const;
const EXPOSED = 'Allow, ETag, Retry-After, Server-Timing, X-Generation, X-Ignored-Params';
const CORS: Headers = [
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', EXPOSED],
];
const PREFLIGHT: Headers = [
  ['Access-Control-Allow-Methods', ALLOW],
  ['Access-Control-Allow-Headers', '*'],
  ['Access-Control-Max-Age', PREFLIGHT_SECONDS],
];
const RENDERS = '["application/json","text/html"]';
const PARSES = '["application/json","application/x-www-form-urlencoded","multipart/form-data"]';

/** Everything up to the blank, and DEL. */
const CONTROLS = /[^!-\uffff]|\u007f/g;

const UTF8 = new TextEncoder();

/** What answers depend on. `generation` is the one that lists name where walks are pinned (A69), else undefined. */
export interface AnswerOptions {
  readonly cors: boolean;
  readonly generation?: string | undefined;
}

/** The answers under a configuration; `cors` opens them to scripts of every origin (A52). Cost: once, at start. */
export function answersFor({ cors, generation }: AnswerOptions): Answers {
  const open: Headers = cors ? CORS : [];
  const headersFor = (varies: readonly string[], type: MediaType = 'application/json'): Headers => [
    ['Content-Type', type],
    ['Vary', ['Accept', ...varies].join(', ')],
    ALLOWED,
    CACHED,
    ...(generation === undefined ? [] : [['X-Generation', generation] as const]),
    ...open,
  ];
  const headers = headersFor([]);
  const unstored: Headers = [CONTENT_TYPE, NOT_STORED, ...open];
  const described = cors ? [...headers, ...PREFLIGHT] : headers;
  const varying = memoized(headersFor);
  const pageHeaders = (varies: readonly string[]): Headers => (varies.length === 0 ? headers : varying(varies));
  return {
    found: (body, { varies, ignored }, type) =>
      withIgnored(type === undefined ? pageHeaders(varies) : headersFor(varies, type), body, ignored),
    described: (name) => ({ status: 200, headers: described, body: viewBody(name) }),
    redirected: (path, query) => redirection(query === undefined ? path : `${path}?${query}`, open),
    refused: (problems) => ({ status: 400, headers, body: problemsBody(problems) }),
    methodNotAllowed: (method) => ({ status: 405, headers, body: detail(`Method "${method}" not allowed.`) }),
    notFound: { status: 404, headers, body: detail('Not found.') },
    notAcceptable: { status: 406, headers, body: detail('Could not satisfy the request Accept header.') },
    badTarget: { status: 400, headers, body: detail('The request target is malformed.') },
    busy: {
      status: 503,
      headers: [CONTENT_TYPE, ['Retry-After', RETRY_AFTER_SECONDS], NOT_STORED, ...open],
      body: detail('Too many heavy queries at the moment; try again shortly.'),
    },
    momentary: (json) => ({ status: 200, headers: unstored, body: wholeBody(UTF8.encode(json)) }),
    gone: { status: 410, headers: unstored, body: goneBody(generation ?? '') },
  };
}

/**
 * The value of X-Ignored-Params: each name once, percent-encoded, in order, a name inside a parameter as `ordering=foo`; cut
 * at a whole name with `...` where it would pass 1 kB; undefined without names. Empty names are left out. Cost: the names.
 */
export function ignoredNames(names: readonly IgnoredName[]): string | undefined {
  const encoded = [...new Set(names.filter((name) => name !== '').map(encodedName))];
  const whole = encoded.join(', ');
  if (whole.length <= IGNORED_BYTES_MAX) return whole === '' ? undefined : whole;
  let cut = '';
  for (const name of encoded) {
    if (cut.length + name.length + ', ...'.length > IGNORED_BYTES_MAX) break;
    cut += `${name}, `;
  }
  return `${cut}...`;
}

function encodedName(name: IgnoredName): string {
  return typeof name === 'string' ? percentEncode(name) : name.map(percentEncode).join('=');
}

function withIgnored(headers: Headers, body: Body, ignored: readonly IgnoredName[]): Answer {
  const names = ignored.length === 0 ? undefined : ignoredNames(ignored);
  return { status: 200, headers: names === undefined ? headers : [...headers, ['X-Ignored-Params', names]], body };
}

/** A view as OPTIONS describes it (design: Responses). */
function viewBody(name: string): Body {
  const members = [
    ['name', jsonText(name)],
    ['description', '""'],
    ['renders', RENDERS],
    ['parses', PARSES],
  ] as const;
  return wholeBody(UTF8.encode(jsonObject(members)));
}

/** Control characters are encoded, since no header may hold one; everything else stays as sent. */
function redirection(location: string, open: Headers): Answer {
  const headers: Headers = [['Location', location.replace(CONTROLS, percentEncode)], CACHED, ...open];
  return { status: 301, headers, body: wholeBody(new Uint8Array(0)) };
}

function problemsBody(problems: readonly ParameterProblem[]): Body {
  const members = problems.map(({ key, messages }) => [key, `[${messages.map(jsonText).join(',')}]`] as const);
  return wholeBody(UTF8.encode(jsonObject(members)));
}

function goneBody(generation: string): Body {
  const message = `This generation of the data is gone; ${generation} is served now. Begin the walk again.`;
  const members = [
    ['detail', jsonText(message)],
    ['generation', jsonText(generation)],
  ] as const;
  return wholeBody(UTF8.encode(jsonObject(members)));
}

function detail(message: string): Body {
  return wholeBody(UTF8.encode(jsonObject([['detail', jsonText(message)]])));
}

/** Remembers the last outcome: the headers that choose a base URL are the same array every time. */
function memoized(make: (varies: readonly string[]) => Headers): (varies: readonly string[]) => Headers {
  let last: readonly string[] = [];
  let made: Headers = [];
  return (varies) => {
    if (varies !== last) {
      last = varies;
      made = make(varies);
    }
    return made;
  };
}
