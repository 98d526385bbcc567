// Accept-Encoding: when gzip is welcome, when nothing else is, and when it is not.
import { expect, test } from 'vitest';
import { codingOf } from '../../../../server/catalogue/coding.ts';

test.each([
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['GZip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'gzip'],
  ['deflate, gzip;q=1.0, *;q=0.5', 'gzip'],
  ['br;q=1.0, gzip;q=0.2', 'gzip'],
  ['*', 'gzip'],
  ['gzip;q=0.5, identity;q=0.5', 'gzip'],
  ['gzip;q=0', 'identity'],
  ['gzip;q=0.000, *', 'identity'],
  ['identity', 'identity'],
  ['br', 'identity'],
  ['identity, gzip;q=0.5', 'identity'],
  ['*;q=0', 'identity'],
  ['gzip;q=0, identity;q=0', 'identity'],
  ['identity;q=0, gzip', 'gzipOnly'],
  ['identity;q=0, *', 'gzipOnly'],
  ['gzip, *;q=0', 'gzipOnly'],
  ['gzip;q=0.001,identity;q=0', 'gzipOnly'],
  ['gzipped', 'identity'],
  [';;;,,q=', 'identity'],
] as const)('%j asks for %s, each time', (header, coding) => {
  expect(codingOf(header)).toBe(coding);
  expect(codingOf(header)).toBe(coding);
});

test('many and long values are answered alike', () => {
  for (let i = 0; i < 1000; i++) expect(codingOf(`x${i}, gzip`)).toBe('gzip');
  expect(codingOf(`${'x, '.repeat(5000)}gzip`)).toBe('gzip');
});
