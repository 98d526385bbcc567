// The responses of the catalogue except for the bodies of pages: status, headers, dates and Server-Timing. Constant
// headers are built once.
import type { Clock } from '../observe/clock.ts';
import type { Answer, Handler } from '../http/exchange.ts';
import {
  type Body,
  type IgnoredName,
  jsonObject,
  jsonText,
  percentEncode,
  type Problem,
  wholeBody,
} from '../../engine/engine.ts';

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const TIME = '[0-2]\\d:[0-5]\\d:[0-5]\\d';
/** IMF-fixdate, and the obsolete forms of RFC 850 and asctime, all in UTC. */
const HTTP_DATE = new RegExp(
  `^(?:[A-Z][a-z]{2}, (\\d\\d) ${MONTH} \\d{4} ${TIME} GMT|[A-Z][a-z]{5,8}, (\\d\\d)-${MONTH}-\\d\\d ${TIME} GMT|` +
    `[A-Z][a-z]{2} ${MONTH} ([ \\d]\\d) ${TIME} \\d{4})$`,
);

/** A time in whole seconds since 1970 as an IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`. Source: RFC 9110, 5.6.7. */
export function httpDate(seconds: number): string {
  return new Date(seconds * 1000).toUTCString();
}

/** Parses all three forms. Does not compare the day of the week with the date. Source: RFC 9110, 5.6.7. */
export function parseHttpDate(text: string): number | undefined {
  const match = HTTP_DATE.exec(text);
  if (!match) return undefined;
  const ms = Date.parse(match[3] === undefined ? text : `${text} GMT`);
  // Date.parse reads February 31 as a day in March, and 24:00:00 as the next day.
  const isDay = new Date(ms).getUTCDate() === Number(match[1] ?? match[2] ?? match[3]);
  return isDay ? ms / 1000 : undefined;
}

type Timed = 'pool' | 'total';

const HEADER = 'Server-Timing';

/** Adds a duration in milliseconds to Server-Timing. Cost: a headers array. */
export function withTiming(answer: Answer, timed: Timed, ms: number): Answer {
  const said = answer.headers.filter(([name]) => name === HEADER).map(([, value]) => value);
  const others = answer.headers.filter(([name]) => name !== HEADER);
  const value = [...said, `${timed};dur=${ms.toFixed(1)}`].join(', ');
  return { ...answer, headers: [...others, [HEADER, value]] };
}

/** Adds Server-Timing to every response of a handler (design: Responses). */
export function timedHandler(
  handler: Handler<Answer | Promise<Answer>>,
  clock: Clock,
): Handler<Answer | Promise<Answer>> {
  return (request, disconnection) => {
    const start = clock();
    const addTiming = (answer: Answer): Answer => withTiming(answer, 'total', clock() - start);
    const answer = handler(request, disconnection);
    return answer instanceof Promise ? answer.then(addTiming) : addTiming(answer);
  };
}

type Headers = Answer['headers'];

/** The variable headers of a response with a body. */
export interface Remarks {
  readonly varies: readonly string[];
  readonly ignored: readonly IgnoredName[];
  /** Without quotes. */
  readonly tag: string;
  readonly totalCount?: number | undefined;
  readonly exported?: { readonly rows: number; readonly fileName: string } | undefined;
}

/** The media types of responses with records: JSON, and those of exports (A62). */
export type MediaType =
  'application/json' | 'application/x-ndjson' | 'text/csv; charset=utf-8' | 'application/vnd.apache.parquet';

/** The way a body was made. `...Only` is for clients that refuse identity. Each way has a separate tag. */
export type Making = 'identity' | 'stored' | 'live' | 'storedOnly' | 'liveOnly';

const TAG_ENDS: Readonly<Record<Making, string>> = {
  identity: '',
  stored: '-s',
  live: '-z',
  storedOnly: '-so',
  liveOnly: '-zo',
};

/** Appends the way in which the body was made to a tag. */
export function entityTag(tag: string, made: Making): string {
  return tag + TAG_ENDS[made];
}

/** All responses under one configuration. */
export type Answers = ReturnType<typeof answersFor>;

/** The methods of every view, as in Allow (spec 1). */
const ALLOW = 'GET, HEAD, OPTIONS';

const NOT_FOUND = 'Not found.';

/** A queue of heavy queries drains in much less time, but Retry-After has no smaller value. */
export const RETRY_AFTER = ['Retry-After', '1'] as const;

/** The longest X-Ignored-Params. Proxies commonly limit the header block of a response to 4 to 8 kB (A27). */
const IGNORED_BYTES_MAX = 1024;

/** Browsers cache a preflight for at most this long. */
const PREFLIGHT_SECONDS = '86400';

const CONTENT_TYPE = ['Content-Type', 'application/json'] as const;
export const GZIP_CODING = ['Content-Encoding', 'gzip'] as const;
const ALLOWED = ['Allow', ALLOW] as const;
const RANGES = ['Accept-Ranges', 'bytes'] as const;
export const NO_RANGES = ['Accept-Ranges', 'none'] as const;
const ERRORS_CACHED = ['Cache-Control', 'public, no-cache'] as const;
/** For responses that are only valid now. */
export const NOT_STORED = ['Cache-Control', 'no-store'] as const;
const EXPOSED =
  'Accept-Ranges, Allow, Content-Disposition, Content-Range, ETag, Retry-After, Server-Timing, X-Generation, X-Ignored-Params, X-Request-Id, X-Total-Count';
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

const UTF8 = new TextEncoder();
const EMPTY = wholeBody(new Uint8Array(0));

interface AnswerOptions {
  readonly cors: boolean;
  readonly cacheControl: string;
  /** Seconds since 1970. */
  readonly lastModified: number | undefined;
  readonly gzip: 'stored' | 'live' | 'off';
  /** The generation that responses name (A69). */
  readonly generation: string;
}

/** The responses under a configuration. `cors` opens them to scripts of every origin (A52). Called once, at start. */
export function answersFor(options: AnswerOptions) {
  const { generation } = options;
  const { found, inRanges, unchanged, moved, errors, described, unstored, busy } = headersFor(options);
  return {
    /** 200 with a page, record, root view, index, export, or a description of the API. */
    found: (
      body: Body,
      { varies, ignored, tag, totalCount, exported }: Remarks,
      type = 'application/json',
      made: Making = 'identity',
    ): Answer => {
      const headers = withIgnored((exported ? inRanges : found)(varies, type, made !== 'identity'), ignored);
      const answer = { status: 200, headers, etag: `"${entityTag(tag, made)}"`, totalCount, body };
      if (!exported) return answer;
      const disposition = ['Content-Disposition', `attachment; filename="${exported.fileName}"`] as const;
      return { ...answer, headers: [...headers, disposition], exportedRows: exported.rows };
    },
    /** `tag` has no quotes but includes the ending from `taggedAs`. */
    notModified: (tag: string, varies: readonly string[]): Answer => ({
      status: 304,
      headers: unchanged(varies, '', false),
      etag: `"${tag}"`,
      body: EMPTY,
    }),
    /** For OPTIONS, including preflights (A49). `name` is the name of the view, such as `Observations List`. */
    described: (name: string): Answer => ({ status: 200, headers: described, body: viewBody(name) }),
    /** `query` is kept byte for byte (A14). */
    redirected: (path: string, query: string | undefined, varies: readonly string[]): Answer => {
      const vary: Headers = varies.length === 0 ? [] : [['Vary', varies.join(', ')]];
      return redirection(query === undefined ? path : `${path}?${query}`, [...vary, ...moved]);
    },
    refused: (problems: readonly Problem[]): Answer => ({ status: 400, headers: errors, body: problemsBody(problems) }),
    methodNotAllowed: (method: string): Answer => ({
      status: 405,
      headers: errors,
      body: detail(`Method "${method}" not allowed.`),
    }),
    notFound: { status: 404, headers: errors, body: detail(NOT_FOUND) },
    notFoundNear: (sentence: string): Answer => ({
      status: 404,
      headers: errors,
      body: detail(`${NOT_FOUND} ${sentence}`),
    }),
    /** 416: the requested range is beyond the end of the export, which has this many bytes. */
    unsatisfiable: (bytes: number): Answer => ({
      status: 416,
      headers: [...errors, ['Content-Range', `bytes */${bytes}`]],
      body: detail(`Range not satisfiable: the export has ${bytes} bytes.`),
    }),
    notAcceptable: { status: 406, headers: errors, body: detail('Could not satisfy the request Accept header.') },
    badTarget: { status: 400, headers: errors, body: detail('The request target is malformed.') },
    busy: {
      status: 503,
      headers: busy,
      body: detail('Too many heavy queries at the moment; try again shortly.'),
    },
    /** A heavy query ran too long (A108). */
    overtime: {
      status: 503,
      headers: busy,
      body: detail('This query took too long; add a filter that leaves fewer records.'),
    },
    /** JSON that is only valid now, such as a query plan (A68). */
    momentary: (json: string): Answer => ({ status: 200, headers: unstored, body: wholeBody(UTF8.encode(json)) }),
    /** A walk (A69) or a copy (A153) began in another generation of the data. */
    gone: { status: 410, headers: unstored, body: goneBody(generation) },
  };
}

type FoundHeaders = (varies: readonly string[], type: string, isGzip: boolean) => Headers;

function headersFor({ cors, cacheControl, lastModified, gzip, generation }: AnswerOptions) {
  const open: Headers = cors ? CORS : [];
  const cached = ['Cache-Control', cacheControl] as const;
  const named: Headers = [['X-Generation', generation]];
  const modified: Headers = lastModified === undefined ? [] : [['Last-Modified', httpDate(lastModified)]];
  const errors: Headers = [CONTENT_TYPE, ['Vary', 'Accept'], ALLOWED, ERRORS_CACHED, ...named, ...open];
  const unstored: Headers = [CONTENT_TYPE, ['Vary', 'Accept'], ALLOWED, NOT_STORED, ...named, ...open];
  const busy: Headers = [CONTENT_TYPE, ['Vary', 'Accept'], ALLOWED, RETRY_AFTER, NOT_STORED, ...open];
  const foundHeaders = (ranges: Headers[number], ...[varies, type, isGzip]: Parameters<FoundHeaders>): Headers => [
    ['Content-Type', type],
    ...(isGzip ? [GZIP_CODING] : []),
    varyOf(gzip, varies),
    ALLOWED,
    ranges,
    cached,
    ...modified,
    ...named,
    ...open,
  ];
  return {
    found: memoized((...form) => foundHeaders(NO_RANGES, ...form)),
    /** Of exports. */
    inRanges: memoized((...form) => foundHeaders(RANGES, ...form)),
    unchanged: memoized((varies) => [varyOf(gzip, varies), cached, ...named, ...open]),
    moved: [cached, ...open],
    errors,
    described: cors ? [...errors, ...PREFLIGHT] : errors,
    unstored,
    busy,
  };
}

/** Vary of a response with a body. The headers that chose the base URL are added. */
export function varyOf(gzip: AnswerOptions['gzip'], varies: readonly string[]): Headers[number] {
  return ['Vary', ['Accept', ...(gzip === 'off' ? [] : ['Accept-Encoding']), ...varies].join(', ')];
}

/** X-Ignored-Params: each name once, percent-encoded, as `ordering=foo` within a parameter; cut with `...` at 1 kB. */
function ignoredNames(names: readonly IgnoredName[]): string | undefined {
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

function withIgnored(headers: Headers, ignored: readonly IgnoredName[]): Headers {
  const names = ignored.length === 0 ? undefined : ignoredNames(ignored);
  return names === undefined ? headers : [...headers, ['X-Ignored-Params', names]];
}

function viewBody(name: string): Body {
  const members = [
    ['name', jsonText(name)],
    ['description', '""'],
    ['renders', RENDERS],
    ['parses', PARSES],
  ] as const;
  return wholeBody(UTF8.encode(jsonObject(members)));
}

/** Sent back unchanged: transports accept only targets of visible ASCII characters (A104). */
function redirection(location: string, others: Headers): Answer {
  return { status: 301, headers: [['Location', location], ...others], body: EMPTY };
}

function problemsBody(problems: readonly Problem[]): Body {
  const members = problems.map(({ key, messages }) => [key, `[${messages.map(jsonText).join(',')}]`] as const);
  return wholeBody(UTF8.encode(jsonObject(members)));
}

function goneBody(generation: string): Body {
  const members = [
    ['detail', jsonText(`This generation of the data is gone; ${generation} is served now. Begin again.`)],
    ['generation', jsonText(generation)],
  ] as const;
  return wholeBody(UTF8.encode(jsonObject(members)));
}

function detail(message: string): Body {
  return wholeBody(UTF8.encode(jsonObject([['detail', jsonText(message)]])));
}

/** Builds each array once, so that transports recognise it. */
function memoized(make: FoundHeaders): FoundHeaders {
  const made = [new Map<string, Headers>(), new Map<string, Headers>()] as const;
  return (varies, type, isGzip) => {
    const ofCoding = made[isGzip ? 1 : 0];
    const key = varies.length === 0 ? type : `${type} ${varies.join()}`;
    const known = ofCoding.get(key);
    if (known) return known;
    const headers = make(varies, type, isGzip);
    ofCoding.set(key, headers);
    return headers;
  };
}
