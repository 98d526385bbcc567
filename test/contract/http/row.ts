// What a row of raw HTTP is: a request, and what becomes of it over both transports but where a library decides by
// itself, which is said with its reason. Holds no rows: those of heads and of bodies have a file each.
import { requestOf } from '../../support/rawSocket.ts';

/**
 * What comes back: the text of each 200 in parentheses, the status of each other answer, and how it ends. `open`: a
 * further request is answered. `close`: the connection ends. `silent`: nothing comes until the client ends it.
 */
export type Outcome = `${string}${'open' | 'close' | 'silent'}`;

/** An outcome that a library decides, and why nothing can be done about it. */
export type Own = readonly [outcome: Outcome, reason: string];

/** A request by what is unusual about it. */
export interface Row {
  readonly name: string;
  readonly bytes: string;
  readonly outcome: Outcome;
  readonly uws?: Own;
  readonly node?: Own;
}

/** Behind a request it shows where a transport took that to end. */
export const NEXT = requestOf('GET', '/next');
/** What becomes of most requests. */
export const SERVED = '(GET /) open';
/** What becomes of those that are no HTTP. */
export const REFUSED = '400 close';

/** What a library decides, for a reason. */
export const own = (outcome: Outcome, reason: string): Own => [outcome, reason];

/** uWebSockets.js answers every request line that it cannot read, and every version but 1.1, with 505. */
export const LINE_505 = { uws: own('505 close', 'the library answers a request line that it cannot read so') };
/** What becomes of HTTP/1.0 over uWebSockets.js. */
export const OLD_505 = {
  uws: own('505 close', 'the library speaks HTTP/1.1 alone; the other listener speaks HTTP/1.0'),
};
/** What becomes of other forms of targets over uWebSockets.js. */
export const FORMS_505 = { uws: own('505 close', 'the library knows paths alone as targets') };
/** What becomes of broken header lines over uWebSockets.js. */
export const HEAD_WAITS = {
  uws: own('silent', 'the library waits for the rest of a head that it cannot read, until its 10 s are over'),
};
/** Why a library is let decide: nothing that it tells would do. */
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
/** A POST with Host, further lines and what follows. */
export const post = (lines: readonly string[], body = ''): string => requestOf('POST', '/', lines, body);
/** A request of HTTP/1.0 with these header lines and no others. */
export const old = (method: string, lines: readonly string[], body = ''): string =>
  [`${method} / HTTP/1.0`, ...lines, '', body].join('\r\n');

/** Rows of one outcome, a name and the bytes each. */
export function rows(
  outcome: Outcome,
  cases: Readonly<Record<string, string>>,
  libraries: Libraries = {},
): readonly Row[] {
  return Object.entries(cases).map(([name, bytes]) => ({ name, bytes, outcome, ...libraries }));
}

type Libraries = Pick<Row, 'uws' | 'node'>;
