// Content negotiation: which requests get JSON, and whether gzip is accepted, required or refused.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codingOf, negotiate, prefersPage } from '../../../../server/catalogue/negotiate.ts';

function byAccept(accept: string | undefined): string {
  return negotiate({ accept, format: undefined, ending: undefined, mayExport: true });
}

describe('Accept without a format', () => {
  test.each([
    undefined,
    '',
    ' ',
    '*/*',
    'application/*',
    'application/json',
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8',
    'application/json; indent=4; q=0.5',
    'application/json;q=1;version="a"',
    'text/html;q=0, */*',
  ])('with %j gives JSON', (accept) => {
    expect(byAccept(accept)).toBe('json');
  });

  test.each([
    'text/html',
    'application/json; q=0, text/html',
    '*/*, application/json;q=0',
    'application/jsonx',
    ',',
    ';',
  ])('with %j excludes JSON', (accept) => {
    expect(byAccept(accept)).toBe('notAcceptable');
  });
});

describe('Accept of an export', () => {
  test.each([
    ['text/csv', 'csv'],
    ['application/x-ndjson', 'ndjson'],
    ['Text/CSV; header=present', 'csv'],
    ['application/vnd.apache.parquet', 'parquet'],
    ['application/vnd.apache.parquet;q=0.1, */*', 'json'],
    ['text/csv, application/json', 'csv'],
    ['text/csv;q=0.9, application/json', 'json'],
    ['application/json, text/csv', 'json'],
    ['*/*, text/csv', 'csv'],
    ['text/csv;q=0.1, */*', 'json'],
    ['text/csv;q=0', 'notAcceptable'],
    ['text/*', 'notAcceptable'],
    ['application/*', 'json'],
  ])('with %j gives %s', (accept, form) => {
    expect(byAccept(accept)).toBe(form);
  });
});

test('throws for no Accept header', () => {
  const part = fc.constantFrom('a', '/', '*', ';', ',', 'q', '=', '"', '\\', ' ', 'application/json', '0.5', '\u00ff');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(part).map((parts) => parts.join('')),
      ),
      (accept) => {
        expect(['json', 'ndjson', 'csv', 'notAcceptable']).toContain(byAccept(accept));
      },
    ),
    { numRuns: 3000 },
  );
});

test.each([
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'gzip'],
  ['br;q=1.0, gzip;q=0.2', 'gzip'],
  ['*', 'gzip'],
  ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ['*, identity', 'gzip'],
  ['gzip;q=0.000, *', 'identity'],
  ['identity, gzip;q=0.5', 'identity'],
  ['*;q=0', 'identity'],
  ['gzip;q=0, identity;q=0', 'identity'],
  ['identity;q=0, *', 'gzipOnly'],
  ['gzip, *;q=0', 'gzipOnly'],
  ['gzip;q=0.001,identity;q=0', 'gzipOnly'],
  ['gzipped', 'identity'],
  [';;;,,q=', 'identity'],
] as const)('selects for %j the coding %s, each time', (header, coding) => {
  expect(codingOf(header)).toBe(coding);
  expect(codingOf(header)).toBe(coding);
});

test('reads nothing of values beyond 1,024 characters: they count as absent', () => {
  const padded = (value: string, length: number): string => value.padStart(length, 'x/y,');
  expect(codingOf(padded(',gzip', 1024))).toBe('gzip');
  expect(codingOf(padded(',gzip', 1025))).toBe('identity');
  expect(byAccept(padded(',text/csv', 1024))).toBe('csv');
  for (const named of [',text/csv', ',text/html']) expect(byAccept(padded(named, 1025))).toBe('json');
  expect([1024, 1025].map((length) => prefersPage(padded(',text/html', length), false))).toEqual([true, false]);
});

test.each([
  ['text/html, text/csv', true, true],
  ['text/csv, text/html;q=0.5', false, true],
  ['text/csv, application/json', false, false],
  ['application/json, text/html', false, false],
])('decides for Accept %j whether a list is a page: %s, and anything else: %s', (accept, ofList, ofOthers) => {
  expect([prefersPage(accept, true), prefersPage(accept, false)]).toEqual([ofList, ofOthers]);
});
