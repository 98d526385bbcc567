// A row is a raw HTTP request and its outcome. The outcome is the same over both transports, except when a library
// decides by itself, which the row states with a reason. headRows.ts and bodyRows.ts have the rows.
import { requestOf } from '../../support/rawSocket.ts';

/**
 * The text of each 200 in parentheses, the status of each other response, and the end. `open`: a further request is
 * answered. `close`: the connection ends. `silent`: nothing comes until the client ends it.
 */
export type Outcome = `${string}${'open' | 'close' | 'silent'}`;

/** An outcome that a library decides, and why nothing can be done about it. */
export type Own = readonly [outcome: Outcome, reason: string];

/** A request, named by what is unusual about it. */
export interface Row {
  readonly name: string;
  readonly bytes: string;
  readonly outcome: Outcome;
  readonly uws?: Own;
  readonly node?: Own;
}

/** Sent after a request, shows where a transport took that request to end. */
export const NEXT = requestOf('GET', '/next');
/** The outcome of most requests. */
export const SERVED = '(GET /) open';
/** The outcome of most malformed requests. */
export const REFUSED = '400 close';

/** An outcome that a library decides, with the reason. */
export const own = (outcome: Outcome, reason: string): Own => [outcome, reason];

/** uWebSockets.js responds with 505 to every request line that it cannot read, and to every version except 1.1. */
export const LINE_505 = { uws: own('505 close', 'the library answers a request line that it cannot read so') };
/** The outcome of HTTP/1.0 over uWebSockets.js. */
export const OLD_505 = {
  uws: own('505 close', 'the library speaks HTTP/1.1 alone; the other listener speaks HTTP/1.0'),
};
/** The outcome of other forms of targets over uWebSockets.js. */
export const FORMS_505 = { uws: own('505 close', 'the library knows paths alone as targets') };
/** The outcome of broken header lines over uWebSockets.js. */
export const HEAD_WAITS = {
  uws: own('silent', 'the library waits for the rest of a head that it cannot read, until its 10 s are over'),
};
/** Reasons to accept what a library does: it reports nothing that would help. */
export const REASONS = {
  emptyName: 'to the library an empty name ends the header lines: those behind it cannot be seen',
  trimmed: 'the library trims bytes above 0x7f off the ends of values',
  behindClose: 'the library answers what it has read together with the request, and drops the end for that',
  collected: 'the library answers what it cannot read at once, and drops the answers before that it still collects',
  fiveLetters: 'the library takes every Connection of five letters for close',
  chunks: 'the library lets line breaks and lengths of chunks pass that are wrong, and tells nobody',
  extensions: 'the library knows no chunk extensions',
  trailers: 'the library knows no trailers and takes them for a request',
  methods: 'the library refuses methods that it does not know before anybody is asked',
  blanks: 'the library skips blanks between the parts of a request line',
  protocols: 'the library takes other protocols of this form for HTTP/1.0',
  upgrade: 'the library drops what it has read together with an offer to upgrade',
  oldest: 'the library takes a line without a version for HTTP/0.9',
} as const;

/** A request with these header lines and no others. */
export const get = (...lines: readonly string[]): string => ['GET / HTTP/1.1', ...lines, '', ''].join('\r\n');
/** A request with this line. */
export const requestLine = (text: string): string => `${text}\r\nHost: test\r\n\r\n`;
/** A POST with Host, further lines and a body. */
export const post = (lines: readonly string[], body = ''): string => requestOf('POST', '/', lines, body);
/** A request of HTTP/1.0 with these header lines and no others. */
export const old = (method: string, lines: readonly string[], body = ''): string =>
  [`${method} / HTTP/1.0`, ...lines, '', body].join('\r\n');

/** Makes rows with the same outcome from names and their bytes. */
export function rows(
  outcome: Outcome,
  cases: Readonly<Record<string, string>>,
  libraries: Libraries = {},
): readonly Row[] {
  return Object.entries(cases).map(([name, bytes]) => ({ name, bytes, outcome, ...libraries }));
}

type Libraries = Pick<Row, 'uws' | 'node'>;
