// Adversarial values for random catalogues and requests: few enough that filters hit, odd enough to hurt.
// Called by catalogues.ts and requests.ts.

/** Texts that stress escapes, folding, trimming, decoding and splitting. None holds a lone surrogate. */
export const TEXTS: readonly string[] = [
  '',
  'ocean',
  'Ocean',
  'Ocean colour',
  'ocean, colour',
  'sea ice',
  'océan',
  'oce\u0301an',
  'Ångström',
  'ångström',
  '東京の気温',
  '😀 ocean 😀',
  'ﬁsh',
  'Straße',
  'İstanbul',
  '\u2028line\u2029paragraph',
  'quote " backslash \\ slash /',
  'line\nbreak\r\n\ttab',
  '\b\f\u0001\u001f\u007f\u0080',
  'nul\u0000inside',
  ' padded ',
  '\u00a0blank\u3000',
  '\ufeffmark',
  '\ufffd',
  '\uffff\u{10ffff}',
  '100%',
  'a+b=c&d;e',
  '%41',
  '<p class="x">HTML &amp; more</p>',
  'null',
  'true',
  '0',
  '42',
  '1.50',
  '__proto__',
  'constructor',
  'x{base_url}/api/v3/',
  "it's (a) *star*!~",
  'cf_standard_names',
  '/archive/ocean/2015',
  '/archive/ocean',
  'standard_name',
  'units',
  'K',
];

/** Date-times, some of one instant in several spellings, some that are none. */
export const DATE_TIMES: readonly string[] = [
  '2015-01-02T03:04:05',
  '2015-01-02T03:04:05Z',
  '2015-01-02T04:04:05+01:00',
  '2015-01-02T03:04:05.000000',
  '2015-01-02T03:04:05.000001',
  '2015-01-02T03:04:05.5',
  '2015-01-02 03:04',
  '2015-01-02T00:00:00',
  '2015-01-02',
  '2016-02-29T23:59:59',
  '1899-12-31T23:59:59',
  '9999-12-31T23:59:59',
  '2015-02-29T00:00:00',
  'yesterday',
  '',
];

/** Dates as migration properties carry them. */
export const DATES: readonly string[] = ['2015-01-02', '2016-02-29', '1999-12-31', '2020-01-01', '2015-02-30', 'soon'];

/** Integers, some beyond what a double tells apart. */
export const INTEGERS: readonly string[] = [
  '0',
  '-0',
  '1',
  '2',
  '3',
  '5',
  '42',
  '-7',
  '100000',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '123456789012345678901234567890',
];

/** JSON numbers that are served as written. */
export const NUMBER_TOKENS: readonly string[] = [
  '0',
  '-0',
  '1.50',
  '1e3',
  '1E+2',
  '-0.0',
  '9007199254740993',
  '123456789012345678901234567890',
  '0.1000',
  '1e400',
];
