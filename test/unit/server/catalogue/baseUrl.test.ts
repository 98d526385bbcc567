// The choice of the base URL: never a host that is not listed, never a header of an untrusted client.
import { describe, expect, test } from 'vitest';
import { baseUrlChooser } from '../../../../server/catalogue/baseUrl.ts';
import { OperationError } from '../../../../data/operationError.ts';
import { requestOf } from '../../../support/requests.ts';

const DEFAULT = 'http://localhost:8080';
const ALLOWED = [
  'http://catalogue.example.org',
  'https://catalogue.example.org',
  'https://data.example.org:8443/base',
  'https://only.example.org',
];

function chooserOf(trustedProxies: readonly string[]): (headers: Record<string, string>, peer?: string) => string {
  const choose = baseUrlChooser({ baseUrl: DEFAULT, allowed: ALLOWED, trustedProxies });
  return (headers, peer = '10.1.2.3') => choose(requestOf({ headers, peer })).baseUrl;
}

describe('the base URL without trusted proxies', () => {
  const choose = chooserOf([]);

  test.each([
    [{}, DEFAULT],
    [{ host: 'evil.example' }, DEFAULT],
    [{ host: 'localhost:8080' }, DEFAULT],
    [{ host: 'catalogue.example.org' }, 'http://catalogue.example.org'],
    [{ host: 'CATALOGUE.example.org:80' }, 'http://catalogue.example.org'],
    [{ host: 'catalogue.example.org:81' }, DEFAULT],
    [{ host: 'only.example.org' }, 'https://only.example.org'],
    [{ host: 'data.example.org:8443' }, 'https://data.example.org:8443/base'],
    [{ host: 'data.example.org' }, DEFAULT],
    [{ host: 'localhost:8080', 'x-forwarded-host': 'only.example.org' }, DEFAULT],
    [{ host: 'catalogue.example.org', 'x-forwarded-proto': 'https' }, 'http://catalogue.example.org'],
  ])('is for %j the choice %s', (headers, baseUrl) => {
    expect(choose(headers as Record<string, string>)).toBe(baseUrl);
  });

  test('depends on Host only', () => {
    const chooser = baseUrlChooser({ baseUrl: DEFAULT, allowed: ALLOWED, trustedProxies: [] });
    expect(chooser(requestOf({ headers: { host: 'only.example.org' } })).varies).toEqual([]);
  });
});

test('returns one object for a choice, by the base URL and by whether a proxy is trusted', () => {
  const choose = baseUrlChooser({ baseUrl: DEFAULT, allowed: ALLOWED, trustedProxies: ['10.0.0.0/8'] });
  const choiceOf = (host: string, peer: string): object => choose(requestOf({ headers: { host }, peer }));
  const hosts = ['only.example.org', 'localhost:8080'];
  const choices = hosts.flatMap((host) => ['10.0.0.1', '192.0.2.1'].map((peer) => choiceOf(host, peer)));
  expect(new Set(choices).size).toBe(4);
  expect(choiceOf('only.example.org:443', '192.0.2.2')).toBe(choices[1]);
  expect(choiceOf('evil.example', '10.0.0.2')).toBe(choices[2]);
});

describe('the base URL of a trusted proxy', () => {
  const choose = chooserOf(['10.0.0.0/8', '::ffff:192.168.0.0/112', 'fd00::/8', '203.0.113.7']);
  const forwarded = { host: 'upstream', 'x-forwarded-host': 'catalogue.example.org', 'x-forwarded-proto': 'https' };

  test.each([
    '10.255.0.1',
    '::ffff:10.0.0.1',
    '0000:0000:0000:0000:0000:ffff:0a00:0001',
    '192.168.0.9',
    'fd12::1',
    '203.0.113.7',
  ])('follows at %s forwarded host and scheme', (peer) => {
    expect(choose(forwarded, peer)).toBe('https://catalogue.example.org');
  });

  test.each(['11.0.0.1', '192.169.0.1', '203.0.113.8', 'fe80::1', '::1', '', 'nonsense'])(
    'ignores forwarded headers of %j, which is not trusted',
    (peer) => {
      expect(choose(forwarded, peer)).toBe(DEFAULT);
    },
  );

  test('depends on the scheme if several have one host', () => {
    expect(choose({ 'x-forwarded-host': 'catalogue.example.org' })).toBe('http://catalogue.example.org');
    expect(choose({ host: 'catalogue.example.org', 'x-forwarded-proto': 'HTTPS' })).toBe(
      'https://catalogue.example.org',
    );
    expect(choose({ host: 'only.example.org', 'x-forwarded-proto': 'http' })).toBe('https://only.example.org');
  });

  test('follows the first of several forwarded hosts, and is the default for an unlisted one', () => {
    expect(choose({ ...forwarded, 'x-forwarded-host': 'only.example.org, inner' })).toBe('https://only.example.org');
    expect(choose({ ...forwarded, host: 'only.example.org', 'x-forwarded-host': 'evil.example' })).toBe(DEFAULT);
  });

  test('makes the response vary with the forwarded headers, set or not', () => {
    const chooser = baseUrlChooser({ baseUrl: DEFAULT, allowed: ALLOWED, trustedProxies: ['10.0.0.0/8'] });
    const varies = ['X-Forwarded-Host', 'X-Forwarded-Proto'];
    expect(chooser(requestOf({ peer: '10.0.0.1' })).varies).toEqual(varies);
    expect(chooser(requestOf({ peer: '11.0.0.1' })).varies).toEqual([]);
  });
});

test('includes the path of a base URL, without a slash at its end', () => {
  const choose = baseUrlChooser({ baseUrl: 'http://a.test/b', allowed: ALLOWED, trustedProxies: [] });
  const pathOf = (host: string): string => choose(requestOf({ headers: { host } })).path;
  expect(['a.test', 'only.example.org', 'data.example.org:8443'].map(pathOf)).toEqual(['/b', '', '/base']);
});

test('allows only the default without a list', () => {
  const chooser = baseUrlChooser({ baseUrl: DEFAULT, allowed: [], trustedProxies: ['0.0.0.0/0'] });
  expect(chooser(requestOf({ headers: { host: 'x', 'x-forwarded-host': 'y' } }))).toEqual({
    baseUrl: DEFAULT,
    path: '',
    varies: [],
  });
});

test('refuses an invalid network at once', () => {
  const config = { baseUrl: DEFAULT, allowed: [], trustedProxies: ['10.0.0.0/33'] };
  expect(() => baseUrlChooser(config)).toThrow(OperationError);
});
