// Heads of requests and their outcomes, from the rules of RFC 9110 and RFC 9112. Add a row for a rule without one.
import {
  FORMS_505,
  get,
  HEAD_WAITS,
  LINE_505,
  NEXT,
  old,
  OLD_505,
  own,
  post,
  REASONS,
  REFUSED,
  requestLine,
  SERVED,
  rows,
  type Row,
} from './row.ts';

/** RFC 9112, 2.2 to 3.2: the request line. */
const REQUEST_LINES = [
  ...rows(SERVED, { 'a request': get('Host: test') }),
  ...rows('(GET /) (GET /) (GET /) open', { 'three requests at once': get('Host: test').repeat(3) }),
  ...rows('(GET /a?b?c=%zz+) open', { 'odd characters in a query': requestLine('GET /a?b?c=%zz+ HTTP/1.1') }),
  ...rows(
    '(FOO /) open',
    { 'a method nobody knows': requestLine('FOO / HTTP/1.1') },
    {
      node: own(REFUSED, REASONS.methods),
    },
  ),
  ...rows(
    '(get /) open',
    { 'a method in lower case': requestLine('get / HTTP/1.1') },
    {
      node: own(REFUSED, REASONS.methods),
    },
  ),
  ...rows(REFUSED, {
    'a method that is not a token': requestLine('G(T / HTTP/1.1'),
    'a byte above 0x7f in a path': requestLine('GET /\xe9 HTTP/1.1'),
    'UTF-8 in a path': requestLine('GET /\xc3\xa9 HTTP/1.1'),
    'a byte above 0x7f in a query': requestLine('GET /?a=\xff HTTP/1.1'),
    'DEL in a target': requestLine('GET /\x7f HTTP/1.1'),
  }),
  ...rows(
    REFUSED,
    {
      'a blank in a path': requestLine('GET /a b HTTP/1.1'),
      'a blank in a query': requestLine('GET /?a b HTTP/1.1'),
      'a tab in a target': requestLine('GET /a\tb HTTP/1.1'),
      'a form feed in a target': requestLine('GET /a\fb HTTP/1.1'),
      'a NUL in a target': requestLine('GET /a\0b HTTP/1.1'),
      'a blank before the method': requestLine(' GET / HTTP/1.1'),
      'a tab after the method': requestLine('GET\t/ HTTP/1.1'),
      'a blank after the version': requestLine('GET / HTTP/1.1 '),
      'a target without a slash': requestLine('GET a HTTP/1.1'),
      'an authority as target': requestLine('GET test:80 HTTP/1.1'),
      'an asterisk as target': requestLine('GET * HTTP/1.1'),
      'another scheme in a target': requestLine('GET ftp://test/ HTTP/1.1'),
      CONNECT: requestLine('CONNECT test:80 HTTP/1.1'),
      'a version in lower case': requestLine('GET / http/1.1'),
      'a version without a point': requestLine('GET / HTTP/11'),
      'a version of two digits': requestLine('GET / HTTP/1.10'),
      'line feeds alone for line breaks': 'GET / HTTP/1.1\nHost: test\n\n',
      'carriage returns alone for line breaks': 'GET / HTTP/1.1\rHost: test\r\r',
      'two carriage returns after the line': 'GET / HTTP/1.1\r\r\nHost: test\r\n\r\n',
      'a TLS handshake': '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n',
      'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    },
    LINE_505,
  ),
  ...rows(
    REFUSED,
    {
      'two blanks before the target': requestLine('GET  / HTTP/1.1'),
      'two blanks after the target': requestLine('GET /  HTTP/1.1'),
    },
    { ...LINE_505, node: own(SERVED, REASONS.blanks) },
  ),
  ...rows('505 close', {
    'HTTP/2.0': requestLine('GET / HTTP/2.0'),
    'HTTP/3.0': requestLine('GET / HTTP/3.0'),
    'HTTP/1.2': requestLine('GET / HTTP/1.2'),
    'HTTP/0.9': requestLine('GET / HTTP/0.9'),
  }),
  ...rows(
    '400 close',
    { 'no version': requestLine('GET /') },
    {
      ...HEAD_WAITS,
      node: own('505 close', REASONS.oldest),
    },
  ),
  ...rows(
    '505 close',
    { 'another protocol': requestLine('GET / RTSP/1.0') },
    {
      node: own('(GET /) close', REASONS.protocols),
    },
  ),
  ...rows(SERVED, { 'an empty line before': `\r\n${get('Host: test')}` }, HEAD_WAITS),
  ...rows('(OPTIONS *) open', { 'an asterisk for OPTIONS': requestLine('OPTIONS * HTTP/1.1') }, FORMS_505),
  ...rows('(GET /a?b) open', { 'an absolute target': requestLine('GET http://other/a?b HTTP/1.1') }, FORMS_505),
  ...rows(
    REFUSED,
    {
      'an absolute target with a user': requestLine('GET http://me@test/ HTTP/1.1'),
      'an absolute target without a host': requestLine('GET http:///a HTTP/1.1'),
      'an absolute target and no Host': 'GET http://test/ HTTP/1.1\r\nX: 1\r\n\r\n',
    },
    FORMS_505,
  ),
];

/** RFC 9112, 3.2, and RFC 9110, 7.2: Host. */
const HOSTS = [
  ...rows(SERVED, {
    'a host with a port': get('Host: test:8080'),
    'a host with an empty port': get('Host: test:'),
    'an IPv4 address': get('Host: 127.0.0.1'),
    'an IPv6 address': get('Host: [::1]:80'),
    'an escape in a host': get('Host: a%20b'),
    'blanks around a host': get('Host: \t test \t '),
  }),
  ...rows(REFUSED, {
    'another header, but no Host': get('X: 1'),
    'two hosts': get('Host: a', 'Host: b'),
    'the same host twice': get('Host: a', 'Host: a'),
    'a second host many lines later': get('Host: a', ...Array.from({ length: 20 }, (_, i) => `X-${i}: 1`), 'Host: a'),
    'an empty host': get('Host:'),
    'an empty host before another': get('Host:', 'Host: a'),
    'a blank in a host': get('Host: a b'),
    'a tab in a host': get('Host: a\tb'),
    'a slash in a host': get('Host: a/b'),
    'a user before a host': get('Host: me@a'),
    'a URL as host': get('Host: http://a'),
    'two ports': get('Host: a:1:2'),
    'a port of letters': get('Host: a:b'),
    'an IPv6 address without brackets': get('Host: ::1'),
    'an unclosed bracket': get('Host: [::1'),
    'a broken escape in a host': get('Host: a%2'),
    'a byte above 0x7f in a host': get('Host: a\xe9b'),
    'a quote in a host': get('Host: "a"'),
  }),
  ...rows(REFUSED, { 'no header line': get() }, HEAD_WAITS),
  ...rows(
    REFUSED,
    { 'a byte above 0x7f at the end of a host': get('Host: a\xe9') },
    {
      uws: own(SERVED, REASONS.trimmed),
    },
  ),
];

/** RFC 9112, 5: header lines. */
const HEADERS = [
  ...rows(SERVED, {
    'a tab in a value': get('Host: test', 'X: a\tb'),
    'a byte above 0x7f in a value': get('Host: test', 'X: a\xe9b'),
    'a name in capitals': get('HOST: test'),
    'an empty value': get('Host: test', 'X:'),
    'an unknown expectation': get('Host: test', 'Expect: miracles'),
  }),
  ...rows(
    REFUSED,
    {
      'a blank after a name': get('Host: test', 'X : 1'),
      'a line without a colon': get('Host: test', 'X'),
      'a folded line': get('Host: test', 'X: 1', ' 2'),
      'a folded first line': get(' Host: test', 'X: 1'),
      'a name that is not a token': get('Host: test', 'X@: 1'),
      'a byte above 0x7f in a name': get('Host: test', 'X\xe9: 1'),
      'a NUL in a value': get('Host: test', 'X: a\0b'),
      'a control character in a value': get('Host: test', 'X: a\x01b'),
      'a carriage return in a value': get('Host: test', 'X: a\rb'),
      'a line feed after a line': 'GET / HTTP/1.1\r\nHost: test\nX: 1\r\n\r\n',
    },
    HEAD_WAITS,
  ),
  ...rows(REFUSED, { 'an empty name': get('Host: test', ': 1') }, { uws: own(SERVED, REASONS.emptyName) }),
  ...rows(
    '(GET /) 400 close',
    { 'bytes that are no request behind one': `${get('Host: test')}no request\r\n\r\n` },
    {
      uws: own('505 close', REASONS.collected),
    },
  ),
];

/** RFC 9112, 9.3 and 9.6: which side closes. */
const CONNECTIONS = [
  ...rows(
    SERVED,
    { 'an offer to upgrade': get('Host: test', 'Connection: upgrade', 'Upgrade: h2c') },
    {
      node: own('(GET /) silent', REASONS.upgrade),
    },
  ),
  ...rows(SERVED, { 'keep-alive': get('Host: test', 'Connection: keep-alive') }),
  ...rows('(GET /) close', {
    close: get('Host: test', 'Connection: close'),
    Close: get('Host: test', 'Connection: Close'),
    'close before another option': get('Host: test', 'Connection: close, te'),
    'close after another option': get('Host: test', 'Connection: te ,\tCLOSE'),
    'close in a separate line': get('Host: test', 'Connection: te', 'Connection: close'),
    'close next to keep-alive': get('Host: test', 'Connection: keep-alive, close'),
    'close, and bytes after it': `${get('Host: test', 'Connection: close')}bytes`,
  }),
  ...rows('(POST / abc) close', { 'close with a body': post(['Connection: close', 'Content-Length: 3'], 'abc') }),
  ...rows(
    '(GET /) close',
    { 'close, and a request behind': get('Host: test', 'Connection: close') + NEXT },
    {
      uws: own('(GET /) (GET /next) open', REASONS.behindClose),
    },
  ),
  ...rows(
    SERVED,
    { 'another option of five letters': get('Host: test', 'Connection: x-foo') },
    {
      uws: own('(GET /) close', REASONS.fiveLetters),
    },
  ),
  ...rows(
    '(GET /) close',
    { 'HTTP/1.0': old('GET', []), 'HTTP/1.0, and a request behind': old('GET', []) + NEXT },
    OLD_505,
  ),
  ...rows(SERVED, { 'HTTP/1.0 with keep-alive': old('GET', ['Connection: keep-alive']) }, OLD_505),
  ...rows('(POST / abc) close', { 'HTTP/1.0 with a body': old('POST', ['Content-Length: 3'], 'abc') }, OLD_505),
  ...rows(
    REFUSED,
    {
      'HTTP/1.0 with two hosts': old('GET', ['Host: a', 'Host: b']),
      'HTTP/1.0 with an empty host': old('GET', ['Host:']),
      'HTTP/1.0 with chunks': old('POST', ['Transfer-Encoding: chunked'], `3\r\nabc\r\n0\r\n\r\n${NEXT}`),
      'HTTP/1.0 with keep-alive and chunks': old(
        'POST',
        ['Connection: keep-alive', 'Transfer-Encoding: chunked'],
        `3\r\nabc\r\n0\r\n\r\n${NEXT}`,
      ),
      'HTTP/1.0 with chunks that are a request': old(
        'PUT',
        ['Connection: keep-alive', 'Transfer-Encoding: chunked'],
        NEXT,
      ),
    },
    OLD_505,
  ),
];

/** The rows of heads, by the part of the rules. */
export const HEAD_ROWS: Readonly<Record<string, readonly Row[]>> = {
  'a request line': REQUEST_LINES,
  Host: HOSTS,
  'header lines': HEADERS,
  'the end of a connection': CONNECTIONS,
};
