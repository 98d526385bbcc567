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
export const LINE_505 = { uws: own('505 close', 'the library answers so to a request line that it cannot read') };
/** The outcome of HTTP/1.0 over uWebSockets.js. */
export const OLD_505 = {
  uws: own('505 close', 'the library speaks HTTP/1.1 alone; the other listener speaks HTTP/1.0'),
};
/** The outcome of other forms of targets over uWebSockets.js. */
export const FORMS_505 = { uws: own('505 close', 'the library accepts only paths as targets') };
/** The outcome of broken header lines over uWebSockets.js. */
export const HEAD_WAITS = {
  uws: own('silent', 'the library waits for the rest of a head that it cannot read, until its 10 s are over'),
};
/** Reasons to accept what a library does: it reports nothing that would help. */
export const REASONS = {
  emptyName: 'the library ends the header lines at an empty name and hides the rest',
  trimmed: 'the library trims bytes above 0x7f off the ends of values',
  behindClose: 'the library answers requests that it has read together with this one, and then ignores the close',
  collected: 'the library refuses what it cannot read at once, and drops earlier responses that it still collects',
  fiveLetters: 'the library reads every Connection of five letters as close',
  chunks: 'the library accepts wrong line breaks and lengths of chunks without any sign',
  extensions: 'the library does not support chunk extensions',
  trailers: 'the library does not support trailers and reads them as a request',
  methods: 'the library refuses unknown methods before it calls the handler',
  blanks: 'the library skips blanks between the parts of a request line',
  protocols: 'the library reads other protocols of this form as HTTP/1.0',
  upgrade: 'the library drops bytes that it has read together with an offer to upgrade',
  oldest: 'the library reads a line without a version as HTTP/0.9',
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
