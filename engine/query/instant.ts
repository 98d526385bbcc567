// Dates and date-times as instants: the grammar of A34, checked against the calendar, by pure arithmetic. Knows no
// clock and no time zone but the one written in the text.

const GRAMMAR = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?)?(?:(Z)|([+-])(\d\d):(\d\d))?$/;
const DAYS_BEFORE_1970 = 719_468;
const MICROSECONDS = 1_000_000;

interface Instant {
  readonly seconds: number;
  readonly microseconds: number;
}

/**
 * The instant of a date or date-time in microseconds since 1970-01-01T00:00:00Z, as the nearest double; NaN where the
 * text is no date. A missing time is 00:00:00, a missing zone UTC; nothing is trimmed. Exact between the years 1684 and
 * 2255. Source: A34.
 */
export function parseInstant(text: string): number {
  const instant = read(text);
  // seconds * 1,000,000 has at most 52 significant bits for years of four digits, so only the sum rounds.
  return instant ? instant.seconds * MICROSECONDS + instant.microseconds : NaN;
}

/** The same instant as an exact integer in decimal digits, or undefined where the text is no date. */
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

/** What a group of the grammar says; one that took no part says 0. */
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
 * Days from 1970-01-01 to a day of the proleptic Gregorian calendar; any year, month 1 to 12. Cost: none. Years are
 * counted from March, so that the leap day is the last of its year, and grouped in eras of 400 years, each of 146,097
 * days.
 */
export function daysSince1970(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - DAYS_BEFORE_1970;
}
