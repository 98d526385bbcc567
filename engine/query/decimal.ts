// Decimal tokens of any length as exact values: two tokens have the same value exactly when their forms are equal.
// Linear in the token, so that a number of thousands of digits costs no more than its text.

const TOKEN = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
const PLAIN_DIGITS = 15;
const ZERO = 48;
/** A comma, counted from `ZERO` as digits are. */
const COMMA = 44 - ZERO;
const EXPONENTS = Array.from({ length: PLAIN_DIGITS }, (_, zeros) => `e${zeros}`);
/**
 * 15 digits, `e` and one more: digits and power are doubles themselves, so that their product is rounded once (Clinger
 * 1990).
 */
const SHORT = 17;
const POWERS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9] as const;

/**
 * The form of a decimal token (a JSON number; `+`, leading zeros, `5.` and `.5` too) that is equal for equal values:
 * `1200`, `1.2e3` and `+01200.0` give `12e2`; every zero gives `0`. Undefined for any other text. Cost: its length.
 */
export function canonicalDecimal(token: string): string | undefined {
  return plainDecimal(token) ?? anyDecimal(token);
}

/** The form of what nearly all tokens are: up to 15 digits, the first of them not 0; undefined for any other text. */
export function plainDecimal(token: string): string | undefined {
  if (token.length > PLAIN_DIGITS) return undefined;
  let end = 0;
  for (let i = 0; i < token.length; i++) {
    const digit = token.charCodeAt(i) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    if (digit > 0) end = i + 1;
    else if (i === 0) return undefined;
  }
  return end === 0 ? undefined : `${end === token.length ? token : token.slice(0, end)}e${token.length - end}`;
}

/**
 * The forms of tokens between commas, where each is as `plainDecimal` wants it; undefined for any other text. Cost: its
 * length, in one pass.
 */
export function plainDecimals(list: string): string[] | undefined {
  const forms: string[] = [];
  let start = 0;
  let end = 0;
  for (let i = 0; i <= list.length; i++) {
    const digit = i < list.length ? list.charCodeAt(i) - ZERO : COMMA;
    if (digit > 0 && digit <= 9) end = i + 1;
    else if (digit === COMMA) {
      if (end <= start || i - start > PLAIN_DIGITS) return undefined;
      forms.push(list.slice(start, end) + EXPONENTS[i - end]!);
      start = i + 1;
    } else if (digit !== 0 || i === start) return undefined;
  }
  return forms;
}

/** More zeros than this stay a power of ten. */
const ZEROS_WRITTEN_MAX = 20;
const WHOLE_FORM = /^(-?\d+)e(\d+)$/;

/**
 * A whole number's form as people write it, `12e2` as `1200`; what is none, or has very many zeros, as it is. Cost: its
 * length.
 */
export function writtenOut(form: string): string {
  const [, digits = '', zeros = ''] = WHOLE_FORM.exec(form) ?? [];
  return digits === '' || Number(zeros) > ZEROS_WRITTEN_MAX ? form : digits + '0'.repeat(Number(zeros));
}

function anyDecimal(token: string): string | undefined {
  const match = TOKEN.exec(token);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  if (digits === '') return undefined;
  const start = firstDigit(digits);
  if (start === digits.length) return '0';
  const end = lastDigit(digits);
  const power = Number(exponent) - fraction.length + (digits.length - end);
  return `${sign === '-' ? '-' : ''}${digits.slice(start, end)}e${power}`;
}

/** The double next to a decimal token. Cost: its length; forms of few digits are read without the platform's parser. */
export function decimalNumber(token: string): number {
  if (token.length > SHORT) return Number(token);
  let value = 0;
  let i = 0;
  for (; i < token.length; i++) {
    const digit = token.charCodeAt(i) - ZERO;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (i === 0 || i + 2 !== token.length || token[i] !== 'e') return Number(token);
  const power = POWERS[token.charCodeAt(i + 1) - ZERO];
  return power === undefined ? Number(token) : value * power;
}

/** Loops, since a pattern for the zeros at an end takes quadratic time on long runs of zeros inside. */
function firstDigit(digits: string): number {
  let start = 0;
  while (start < digits.length && digits.charCodeAt(start) === ZERO) start++;
  return start;
}

function lastDigit(digits: string): number {
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === ZERO) end--;
  return end;
}

/**
 * Order of two decimal tokens that `canonicalDecimal` can read: negative, 0 or positive, exact. Cost: their lengths.
 */
export function compareDecimals(a: string, b: string): number {
  const [first, second] = [partsOf(a), partsOf(b)];
  if (first.sign !== second.sign) return first.sign - second.sign;
  if (first.magnitude !== second.magnitude) return first.sign * (first.magnitude < second.magnitude ? -1 : 1);
  if (first.digits === second.digits) return 0;
  return first.sign * (first.digits < second.digits ? -1 : 1);
}

interface DecimalParts {
  readonly sign: number;
  readonly magnitude: number;
  readonly digits: string;
}

/** `magnitude` counts the digits before the point; digits behind equal magnitudes are in the order of texts. */
function partsOf(token: string): DecimalParts {
  const form = canonicalDecimal(token) ?? '0';
  if (form === '0') return { sign: 0, magnitude: 0, digits: '' };
  const sign = form.startsWith('-') ? -1 : 1;
  const [digits = '', power = '0'] = form.slice(sign < 0 ? 1 : 0).split('e');
  return { sign, magnitude: digits.length + Number(power), digits };
}
