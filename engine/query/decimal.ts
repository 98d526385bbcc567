// Decimal numbers, and dates and date-times as instants: the grammar of A34, checked against the calendar by
// arithmetic. No clock, and no time zone other than the one in the text.

const TOKEN = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
const ZERO = 48;
/** With more trailing zeros than this, the canonical form uses an exponent. */
const ZEROS_WRITTEN_MAX = 20;
/** Nearly all whole-number tokens match this; they are already canonical. */
const PLAIN = /^[1-9]\d{0,14}$/;
const PLAIN_LIST = /^[1-9]\d{0,14}(?:,[1-9]\d{0,14})*$/;

/** Whether a token consists of 1 to 15 digits without a leading 0. Such a token is its own canonical form. */
export function isPlainDecimal(token: string): boolean {
  return PLAIN.test(token);
}

/** Whether all comma-separated tokens are plain decimals. Cost: the length of the list. */
export function arePlainDecimals(list: string): boolean {
  return PLAIN_LIST.test(list);
}

/**
 * Canonical form of a decimal token, equal for equal values. `1200`, `1.2e3` and `+01200.0` give `1200`, `0.0120` gives
 * `12e-3`, `1e21` stays `1e21`, every zero gives `0`. Accepts JSON numbers, and also `+`, leading zeros, `5.` and `.5`.
 * `undefined` for any other text. Cost: its length.
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

/**
 * Loops, because a regular expression for leading or trailing zeros takes quadratic time on long runs of zeros inside.
 */
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
 * Compares two decimal tokens that `canonicalDecimal` can read, exactly: negative, 0 or positive. Cost: their lengths.
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

/** `magnitude` counts the digits before the point. For equal magnitudes, `digits` compare as texts. */
function partsOf(token: string): DecimalParts {
  const form = canonicalDecimal(token) ?? '0';
  if (form === '0') return { sign: 0, magnitude: 0, digits: '' };
  const sign = form.startsWith('-') ? -1 : 1;
  const [digits = '', power = '0'] = form.slice(sign < 0 ? 1 : 0).split('e');
  return { sign, magnitude: digits.length + Number(power), digits };
}

const GRAMMAR = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?)?(?:(Z)|([+-])(\d\d):(\d\d))?$/;
const DAYS_BEFORE_1970 = 719_468;
const MICROSECONDS = 1_000_000;

interface Instant {
  readonly seconds: number;
  readonly microseconds: number;
}

/**
 * The instant of a date or date-time in microseconds since 1970-01-01T00:00:00Z, as the nearest double. NaN if the text
 * is not a date. A missing time is 00:00:00, a missing zone is UTC; nothing is trimmed. Exact between the years 1684
 * and 2255. Source: A34.
 */
export function parseInstant(text: string): number {
  const instant = read(text);
  // For four-digit years, seconds * 1,000,000 has at most 52 significant bits, so only the sum is rounded.
  return instant ? instant.seconds * MICROSECONDS + instant.microseconds : NaN;
}

/** The same instant as an exact integer in decimal digits; `undefined` if the text is not a date. */
export function exactInstant(text: string): string | undefined {
  const instant = read(text);
  return instant && String(BigInt(instant.seconds) * 1_000_000n + BigInt(instant.microseconds));
}

function read(text: string): Instant | undefined {
  const match = GRAMMAR.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(numberOf);
  const [zoneHour, zoneMinute] = match.slice(10, 12).map(numberOf);
  if (month! < 1 || month! > 12 || day! < 1 || day! > daysOfMonth(year!, month!)) return undefined;
  if (hour! > 23 || minute! > 59 || second! > 59 || zoneHour! > 23 || zoneMinute! > 59) return undefined;
  const zone = (zoneHour! * 60 + zoneMinute!) * 60 * (match[9] === '-' ? -1 : 1);
  const seconds = daysSince1970(year!, month!, day!) * 86_400 + hour! * 3600 + minute! * 60 + second! - zone;
  return { seconds, microseconds: Number((match[7] ?? '').padEnd(6, '0')) };
}

/** The number in a group of the grammar; 0 if the group did not match. */
function numberOf(part: string | undefined): number {
  return Number(part ?? 0);
}

function daysOfMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/**
 * Days from 1970-01-01 to a day of the proleptic Gregorian calendar; any year, month 1 to 12. Years are counted from
 * March, so the leap day is the last day of its year. Eras have 400 years of 146,097 days in all.
 */
export function daysSince1970(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - DAYS_BEFORE_1970;
}
