// What is left of a target without the path of a base URL, as proxies send it that strip that path or leave it.
import { describe, expect, test } from 'vitest';
import { targetWithin } from '../../../../server/http/exchange.ts';

const OWN = ['/api', '/api/v3', '/browse', '/docs'];
const SERVED = [
  '/api/v2/',
  '/api/v3/observations/',
  '/api/v3/observations.json',
  '/api/v0/obs/get_info/api/v3',
  '/api/legacy_lookup',
  '/browse/observations/',
  '/browse/assets/browse.css',
  '/docs/docs.js',
];
const BESIDE = ['/openapi.json', '/openapi.yaml', '/attAuthority.wsdl', '/browse', '/docs', '/browse/', '/docs/'];

describe.each(OWN)('%s, a path that the API has itself', (path) => {
  test.each(SERVED)('is left out of %s where a proxy left it, and else stays', (target) => {
    expect([targetWithin(target, path), targetWithin(path + target, path)]).toEqual([target, target]);
  });

  test.each(BESIDE)('is left out in front of %s', (target) => {
    expect(targetWithin(path + target, path)).toBe(target);
  });

  test('alone is the root', () => {
    expect(targetWithin(path, path)).toBe('/');
  });
});

test.each(['/api', '/browse'])('%s with a slash is the root: no view is there', (path) => {
  expect(targetWithin(`${path}/`, path)).toBe('/');
});

test.each([
  ['/catalogue', '/'],
  ['/catalogue/', '/'],
  ['/catalogue/api/v3/', '/api/v3/'],
  ['/catalogue/nothing', '/nothing'],
  ['/catalogue/catalogue/', '/catalogue/'],
  ['/catalogues/api/v3/', '/catalogues/api/v3/'],
  ['/api/v3/', '/api/v3/'],
  ['/', '/'],
])('another path is left out wherever it stands in front: %s is %s', (target, within) => {
  expect(targetWithin(target, '/catalogue')).toBe(within);
});
