// Decimal tokens of any length as exact values: two tokens have the same value exactly when their forms are equal.
// Linear in the token, so that a number of thousands of digits costs no more than its text.

const TOKEN = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
const ZERO = 48;
/** More zeros than this stay a power of ten. */
const ZEROS_WRITTEN_MAX = 20;
/** What nearly all tokens of whole numbers are, which is their form already. */
const PLAIN = /^[1-9]\d{0,14}$/;
const PLAIN_LIST = /^[1-9]\d{0,14}(?:,[1-9]\d{0,14})*$/;

/** Whether a token has up to 15 digits and nothing else, the first of them not 0: it is its own form. */
export function isPlainDecimal(token: string): boolean {
  return PLAIN.test(token);
}

/** Whether all tokens between commas are such. Cost: the length of the list. */
export function arePlainDecimals(list: string): boolean {
  return PLAIN_LIST.test(list);
}

/**
 * The form of a decimal token (a JSON number; `+`, leading zeros, `5.` and `.5` too) that is equal for equal values:
 * `1200`, `1.2e3` and `+01200.0` give `1200`, `0.0120` gives `12e-3`, `1e21` is `1e21`; every zero gives `0`. Undefined
 * for any other text. Cost: its length.
 */
export function canonicalDecimal(token: string): string | undefined {
  const match = TOKEN.exec(token);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  if (digits === '') return undefined;
  const start = firstDigit(digits);
  if (start === digits.length) return '0';
  const end = lastDigit(digits);
  const power = Number(exponent) - fraction.length + (digits.length - end);
  const isWritten = power >= 0 && power <= ZEROS_WRITTEN_MAX;
  return (sign === '-' ? '-' : '') + digits.slice(start, end) + (isWritten ? '0'.repeat(power) : `e${power}`);
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
