// Bodies of requests and their outcomes, from the rules of RFC 9112, 6 and 7. Add a row for a rule without one.
import { requestOf } from '../../support/rawSocket.ts';
import { get, HEAD_WAITS, NEXT, own, post, REASONS, REFUSED, SERVED, rows, type Row } from './row.ts';

const ABC = '(POST / abc) open';
const ABC_NEXT = '(POST / abc) (GET /next) open';
const chunked = (body: string): string => post(['Transfer-Encoding: chunked'], body + NEXT);
const NEXT_LENGTH = `Content-Length: ${NEXT.length}`;

/** RFC 9112, 6: the length of a body. */
const LENGTHS = [
  ...rows(ABC, {
    'a length': post(['Content-Length: 3'], 'abc'),
    'a length with zeros before': post(['Content-Length: 003'], 'abc'),
    'an expectation of 100-continue': post(['Content-Length: 3', 'Expect: 100-CONTINUE'], 'abc'),
  }),
  ...rows('(POST / ) open', {
    'no length': post([]),
    'a length of zero': post(['Content-Length: 0']),
  }),
  ...rows(SERVED, { 'GET with a length of none': get('Host: test', 'Content-Length: 0') }),
  ...rows('(GET /) (GET /next) open', {
    'GET with no chunks': requestOf('GET', '/', ['Transfer-Encoding: chunked'], `0\r\n\r\n${NEXT}`),
  }),
  ...rows('(PUT / ) (GET /next) open', { 'a request as a body': requestOf('PUT', '/', [NEXT_LENGTH], NEXT) + NEXT }),
  ...rows(REFUSED, {
    'an empty length': post(['Content-Length:'], NEXT),
    'an empty length before another': post(['Content-Length:', NEXT_LENGTH], NEXT),
    'an empty length after another': post([NEXT_LENGTH, 'Content-Length:'], NEXT),
    'an empty length before another, of PUT': requestOf('PUT', '/', ['Content-Length:', NEXT_LENGTH], NEXT),
    'an empty length before another, of DELETE': requestOf('DELETE', '/', ['Content-Length:', NEXT_LENGTH], NEXT),
    'an empty length before another, of GET': requestOf('GET', '/', ['Content-Length:', NEXT_LENGTH], NEXT),
    'two lengths': post(['Content-Length: 0', NEXT_LENGTH], NEXT),
    'the same length twice': post(['Content-Length: 3', 'Content-Length: 3'], `abc${NEXT}`),
    'the same length twice in a line': post(['Content-Length: 3, 3'], `abc${NEXT}`),
    'a negative length': post(['Content-Length: -3'], `abc${NEXT}`),
    'a length with a sign': post(['Content-Length: +3'], `abc${NEXT}`),
    'a hexadecimal length': post(['Content-Length: 0x3'], `abc${NEXT}`),
    'a length with decimals': post(['Content-Length: 3.0'], `abc${NEXT}`),
    'a length of two words': post(['Content-Length: 3 3'], `abc${NEXT}`),
    'a length beyond the range of numbers': post([`Content-Length: ${'9'.repeat(40)}`], NEXT),
    'GET with a body': requestOf('GET', '/', [NEXT_LENGTH], NEXT),
    'GET with a chunk': requestOf('GET', '/', ['Transfer-Encoding: chunked'], `3\r\nabc\r\n0\r\n\r\n`),
    'GET with a chunk, and a request after it': requestOf(
      'GET',
      '/',
      ['Transfer-Encoding: chunked'],
      `3\r\nabc\r\n0\r\n\r\n${NEXT}`,
    ),
    'GET with a request in a chunk': requestOf(
      'GET',
      '/',
      ['Transfer-Encoding: chunked'],
      `${NEXT.length.toString(16)}\r\n${NEXT}\r\n0\r\n\r\n`,
    ),
    'a length after a coding': post(['Transfer-Encoding: chunked', 'Content-Length: 3'], `0\r\n\r\n${NEXT}`),
    'a length before a coding': post(['Content-Length: 3', 'Transfer-Encoding: chunked'], `0\r\n\r\n${NEXT}`),
    'an empty length before a coding': post(['Content-Length:', 'Transfer-Encoding: chunked'], `0\r\n\r\n${NEXT}`),
    'an empty coding': post(['Transfer-Encoding:'], NEXT),
    'an empty coding before a length': post(['Transfer-Encoding:', NEXT_LENGTH], NEXT),
    'an empty coding before another': post(['Transfer-Encoding:', 'Transfer-Encoding: chunked'], `0\r\n\r\n${NEXT}`),
    identity: post(['Transfer-Encoding: identity'], NEXT),
    'an unknown coding': post(['Transfer-Encoding: xchunked'], `0\r\n\r\n${NEXT}`),
    'chunked in quotes': post(['Transfer-Encoding: "chunked"'], `0\r\n\r\n${NEXT}`),
    'gzip and chunked': post(['Transfer-Encoding: gzip, chunked'], `0\r\n\r\n${NEXT}`),
    'chunked and gzip': post(['Transfer-Encoding: chunked, gzip'], `0\r\n\r\n${NEXT}`),
    'chunked twice in a line': post(['Transfer-Encoding: chunked, chunked'], `0\r\n\r\n${NEXT}`),
    'chunked twice': post(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], `0\r\n\r\n${NEXT}`),
  }),
  ...rows(
    REFUSED,
    {
      'a blank after Transfer-Encoding': post(['Transfer-Encoding : chunked'], `0\r\n\r\n${NEXT}`),
      'a coding in a folded line': post(['Transfer-Encoding:', ' chunked'], `0\r\n\r\n${NEXT}`),
      'a vertical tab before a coding': post(['Transfer-Encoding: \x0bchunked'], `0\r\n\r\n${NEXT}`),
    },
    HEAD_WAITS,
  ),
  ...rows(
    REFUSED,
    { 'a length behind an empty name': post([': 1', NEXT_LENGTH], NEXT) },
    {
      uws: own('(POST / ) (GET /next) open', REASONS.emptyName),
    },
  ),
];

/** RFC 9112, 7.1: chunks. */
const CHUNKS = [
  ...rows(ABC_NEXT, {
    'a chunk': chunked('3\r\nabc\r\n0\r\n\r\n'),
    'two chunks': chunked('1\r\na\r\n2\r\nbc\r\n0\r\n\r\n'),
    'zeros before a size': chunked('0003\r\nabc\r\n0\r\n\r\n'),
    'several zeros at the end': chunked('3\r\nabc\r\n000\r\n\r\n'),
    'a coding after a tab': post(['Transfer-Encoding:\tChunked'], `3\r\nabc\r\n0\r\n\r\n${NEXT}`),
  }),
  ...rows('(POST / 0123456789) (GET /next) open', {
    'a size in upper case': chunked('A\r\n0123456789\r\n0\r\n\r\n'),
    'a size in lower case': chunked('a\r\n0123456789\r\n0\r\n\r\n'),
  }),
  ...rows(REFUSED, {
    'a size of letters': chunked('zz\r\nabc\r\n0\r\n\r\n'),
    'a size with 0x': chunked('0x3\r\nabc\r\n0\r\n\r\n'),
    'a negative size': chunked('-3\r\nabc\r\n0\r\n\r\n'),
    'a size with a sign': chunked('+3\r\nabc\r\n0\r\n\r\n'),
    'a size beyond 64 bits': chunked('10000000000000003\r\nabc\r\n0\r\n\r\n'),
    'a size of 17 digits': chunked('ffffffffffffffff3\r\nabc\r\n0\r\n\r\n'),
  }),
  ...rows(
    ABC_NEXT,
    { 'an extension': chunked('3;a=b\r\nabc\r\n0\r\n\r\n') },
    {
      uws: own('silent', REASONS.extensions),
    },
  ),
  ...rows(
    ABC_NEXT,
    { 'a trailer': chunked('3\r\nabc\r\n0\r\nX: 1\r\n\r\n') },
    {
      uws: own('505 close', REASONS.trailers),
    },
  ),
  ...rows(
    REFUSED,
    {
      'a blank after a size': chunked('3 \r\nabc\r\n0\r\n\r\n'),
      'a line feed after a size': chunked('3\nabc\r\n0\r\n\r\n'),
      'a line feed after a chunk': chunked('3\r\nabc\n0\r\n\r\n'),
    },
    { uws: own(ABC_NEXT, REASONS.chunks) },
  ),
  ...rows(
    REFUSED,
    { 'a chunk longer than its size': chunked('3\r\nabcd\r\n0\r\n\r\n') },
    {
      uws: own('505 close', REASONS.chunks),
    },
  ),
  ...rows(
    REFUSED,
    { 'line feeds behind the last chunk': chunked('3\r\nabc\r\n0\n\n') },
    {
      uws: own('(POST / abc) (ET /next) open', REASONS.chunks),
    },
  ),
  ...rows(
    REFUSED,
    { 'no end behind the last chunk': chunked('3\r\nabc\r\n0\r\n') },
    {
      uws: own('(POST / abc) (T /next) open', REASONS.chunks),
    },
  ),
];

/** The rows of bodies, by the part of the rules. */
export const BODY_ROWS: Readonly<Record<string, readonly Row[]>> = {
  'the length of a body': LENGTHS,
  chunks: CHUNKS,
};
