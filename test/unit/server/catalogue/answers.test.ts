// Statuses, headers and bodies of all answers, byte for byte.
import { describe, expect, test } from 'vitest';
import { wholeBody } from '../../../../engine/page/body.ts';
import { answersFor, ignoredNames } from '../../../../server/catalogue/answers.ts';
import type { Answer } from '../../../../server/http/exchange.ts';

const OPTIONS = {
  cacheControl: 'public, max-age=60',
  lastModified: 784_111_777,
  gzip: 'off',
  generation: undefined,
} as const;
const answers = answersFor({ cors: false, ...OPTIONS });
const open = answersFor({ cors: true, ...OPTIONS });
const NO_REMARKS = { varies: [], ignored: [], tag: 'a-b' };

function text({ body }: Answer): string {
  return body.bytes === 0 ? '' : Buffer.from(body.pieceAt(0)).toString();
}

function headersOf({ headers }: Answer): Record<string, string> {
  return Object.fromEntries(headers);
}

describe('a found body', () => {
  test('is JSON that varies with Accept and lists the methods', () => {
    const answer = answers.found(wholeBody(Buffer.from('{}')), NO_REMARKS);
    expect(answer.status).toBe(200);
    expect(answer.headers).toEqual([
      ['Content-Type', 'application/json'],
      ['Vary', 'Accept'],
      ['Allow', 'GET, HEAD, OPTIONS'],
      ['Cache-Control', 'public, max-age=60'],
      ['Last-Modified', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    ]);
    expect(answer.etag).toBe('"a-b"');
  });

  test('names the headers that chose the base URL in Vary', () => {
    const remarks = { ...NO_REMARKS, varies: ['X-Forwarded-Host', 'X-Forwarded-Proto'] };
    const answer = answers.found(wholeBody(Buffer.from('{}')), remarks);
    expect(headersOf(answer)['Vary']).toBe('Accept, X-Forwarded-Host, X-Forwarded-Proto');
  });

  test('is open to scripts of every origin where that is set', () => {
    const headers = headersOf(open.found(wholeBody(Buffer.from('{}')), NO_REMARKS));
    expect(headers['Access-Control-Allow-Origin']).toBe('*');
    expect(headers['Access-Control-Expose-Headers']).toContain('X-Ignored-Params');
  });

  test('names ignored parameters', () => {
    const answer = answers.found(wholeBody(Buffer.from('{}')), { ...NO_REMARKS, ignored: ['page', 'a b'] });
    expect(headersOf(answer)['X-Ignored-Params']).toBe('page, a%20b');
  });
});

test('the headers of answers alike are one list, so that transports know it again', () => {
  const varies = ['X-Forwarded-Host'];
  for (const type of ['application/json', 'application/x-ndjson', 'text/csv; charset=utf-8'] as const) {
    const [first, second] = [0, 1].map(() => answers.found(wholeBody(Buffer.from('x')), NO_REMARKS, type));
    expect(second!.headers).toBe(first!.headers);
    expect(headersOf(first!)['Content-Type']).toBe(type);
  }
  expect(answers.notModified('a', varies).headers).toBe(answers.notModified('b', [...varies]).headers);
  expect(answers.notModified('a', varies).headers).not.toBe(answers.notModified('a', []).headers);
});

describe('an answer that is not modified', () => {
  test('has what a cache must know, and nothing of the body', () => {
    const answer = answers.notModified('a-b', ['X-Forwarded-Host']);
    expect([answer.status, answer.etag, answer.body.bytes]).toEqual([304, '"a-b"', 0]);
    expect(answer.headers).toEqual([
      ['Vary', 'Accept, X-Forwarded-Host'],
      ['Cache-Control', 'public, max-age=60'],
    ]);
    expect(headersOf(open.notModified('a', []))['Access-Control-Allow-Origin']).toBe('*');
  });

  test('has no Last-Modified, and neither has a page of data whose time is not known', () => {
    const timeless = answersFor({
      cors: false,
      cacheControl: 'no-store',
      lastModified: undefined,
      gzip: 'off',
      generation: undefined,
    });
    expect(headersOf(timeless.found(wholeBody(Buffer.from('{}')), NO_REMARKS))).not.toHaveProperty('Last-Modified');
  });
});

test('errors and OPTIONS carry neither an entity tag nor a time, whatever is set for caches', () => {
  const others = [answers.notFound, answers.notAcceptable, answers.badTarget, answers.busy, answers.described('x')];
  for (const answer of [...others, answers.methodNotAllowed('PUT'), answers.refused([])]) {
    expect(answer.etag).toBeUndefined();
    expect(headersOf(answer)).not.toHaveProperty('Last-Modified');
    expect(headersOf(answer)['Cache-Control']).not.toBe('public, max-age=60');
  }
});

describe('ignored names', () => {
  test('are percent-encoded, once each, in order, without empty ones', () => {
    expect(ignoredNames(['b', 'é,\r\n', '', 'b', '*'])).toBe('b, %C3%A9%2C%0D%0A, %2A');
    expect(ignoredNames([['ordering', 'a=b'], 'ordering=a', ['ordering', 'a=b']])).toBe('ordering=a%3Db, ordering%3Da');
    expect(ignoredNames([])).toBeUndefined();
    expect(ignoredNames([''])).toBeUndefined();
  });

  test('are cut at a whole name, to at most 1024 bytes', () => {
    expect(ignoredNames(['a'.repeat(1024)])).toBe('a'.repeat(1024));
    expect(ignoredNames(['a'.repeat(1025)])).toBe('...');
    expect(ignoredNames(['a'.repeat(1019), 'bbbb'])).toBe(`${'a'.repeat(1019)}, ...`);
    expect(ignoredNames(['a'.repeat(1020), 'bbbb'])).toBe('...');
    const many = ignoredNames(Array.from({ length: 1000 }, (_, i) => `name${i}`))!;
    expect(many.length).toBeLessThanOrEqual(1024);
    expect(many).toMatch(/, name\d+, \.\.\.$/);
  });
});

describe('OPTIONS', () => {
  test('describes the view', () => {
    const answer = answers.described('Observations List');
    expect(answer.status).toBe(200);
    expect(text(answer)).toBe(
      '{"name":"Observations List","description":"","renders":["application/json","text/html"],' +
        '"parses":["application/json","application/x-www-form-urlencoded","multipart/form-data"]}',
    );
    expect(headersOf(answer)['Allow']).toBe('GET, HEAD, OPTIONS');
    expect(headersOf(answer)).not.toHaveProperty('Access-Control-Allow-Methods');
  });

  test('answers a preflight where CORS is on', () => {
    expect(headersOf(open.described('x'))).toMatchObject({
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
      'Access-Control-Allow-Headers': '*',
    });
  });
});

describe('a redirection', () => {
  test('keeps the query byte for byte and has no body', () => {
    const answer = answers.redirected('/api/v3/observations/', 'a=%zz&&b=é?c', []);
    expect(answer.status).toBe(301);
    expect(headersOf(answer)['Location']).toBe('/api/v3/observations/?a=%zz&&b=é?c');
    expect(answer.body.bytes).toBe(0);
  });

  test('says which headers chose where it leads', () => {
    const varyOf = (varies: readonly string[]): unknown => headersOf(answers.redirected('/x/', '', varies))['Vary'];
    expect([[], ['Accept', 'X-Forwarded-Host']].map(varyOf)).toEqual([undefined, 'Accept, X-Forwarded-Host']);
  });

  test('keeps an empty query and adds none', () => {
    expect(headersOf(answers.redirected('/x/', '', []))['Location']).toBe('/x/?');
    expect(headersOf(answers.redirected('/x/', undefined, []))['Location']).toBe('/x/');
  });
});

test.each([
  [answers.notFound, 404, '{"detail":"Not found."}'],
  [answers.notAcceptable, 406, '{"detail":"Could not satisfy the request Accept header."}'],
  [answers.methodNotAllowed('POST'), 405, '{"detail":"Method \\"POST\\" not allowed."}'],
  [answers.badTarget, 400, '{"detail":"The request target is malformed."}'],
  [answers.busy, 503, '{"detail":"Too many heavy queries at the moment; try again shortly."}'],
])('refusal %# has its status and body', (answer, status, body) => {
  expect(answer.status).toBe(status);
  expect(text(answer)).toBe(body);
  expect(headersOf(answer)['Content-Type']).toBe('application/json');
});

test('a refused method is told the methods, and a busy service when to come again', () => {
  expect(headersOf(answers.methodNotAllowed('PUT'))['Allow']).toBe('GET, HEAD, OPTIONS');
  expect(headersOf(answers.busy)['Retry-After']).toBe('1');
});

test('refused parameters are listed in order, whatever their names', () => {
  const problems = [
    { key: 'b', messages: ['Enter a whole number.'] },
    { key: '__proto__', messages: ['"x" lookup is not supported', '\u2028'] },
    { key: '1', messages: [] },
  ];
  expect(text(answers.refused(problems))).toBe(
    '{"b":["Enter a whole number."],"__proto__":["\\"x\\" lookup is not supported","\\u2028"],"1":[]}',
  );
});
