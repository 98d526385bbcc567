import { describe, expect, test } from 'vitest';
import { httpDate, parseHttpDate } from '../../../../server/catalogue/answers.ts';

const SECONDS = 784_111_777;

test('writes a time as an IMF-fixdate', () => {
  expect(httpDate(SECONDS)).toBe('Sun, 06 Nov 1994 08:49:37 GMT');
  expect(httpDate(0)).toBe('Thu, 01 Jan 1970 00:00:00 GMT');
});

describe('reading an HTTP date', () => {
  test.each(['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])(
    'understands %s',
    (text) => expect(parseHttpDate(text)).toBe(SECONDS),
  );

  test('returns every time that was written, leap days included', () => {
    for (let seconds = 0; seconds < 5e9; seconds += 86_399 * 13) expect(parseHttpDate(httpDate(seconds))).toBe(seconds);
    expect(parseHttpDate('Thu, 29 Feb 2024 23:59:59 GMT')).toBe(Date.UTC(2024, 2, 1) / 1000 - 1);
    expect(parseHttpDate('Friday, 01-Mar-24 00:00:00 GMT')).toBe(Date.UTC(2024, 2, 1) / 1000);
  });

  test.each([
    '',
    '*',
    'Sun, 06 Nov 1994 08:49:37',
    'sun, 06 nov 1994 08:49:37 gmt',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:00 GMT',
    '1994-11-06T08:49:37Z',
    '784111777',
  ])('finds no date in %j', (text) => expect(parseHttpDate(text)).toBeUndefined());
});
