// Dates as HTTP writes them: one form to send,
// three to read. Pure; knows no clock.

const DAYS = 'Sun|Mon|Tue|Wed|Thu|Fri|Sat';
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const TIME = '(?<time>\\d\\d:\\d\\d:\\d\\d)';
const MONTH = `(?<month>${MONTHS.join('|')})`;
const FIXED = new RegExp(`^(?:${DAYS}), (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`);
const RFC_850 = new RegExp(
  `^(?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT$`,
);
const ASCTIME = new RegExp(`^(?:${DAYS}) ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`);

/** A two-digit year from here on is of the last century, one before of this: the form is older than this century. */
const CENTURY_TURN = 70;

/** A time in whole seconds since 1970 as an IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`. Source: RFC 9110, 5.6.7. */
export function httpDate(seconds: number): string {
  return new Date(seconds * 1000).toUTCString();
}

/**
 * The seconds since 1970 that a text in any of the three forms says, or undefined where it is no date. The day of the
 * week is not compared with the date. Cost: up to three patterns. Source: RFC 9110, 5.6.7.
 */
export function parseHttpDate(text: string): number | undefined {
  const groups = (FIXED.exec(text) ?? RFC_850.exec(text) ?? ASCTIME.exec(text))?.groups;
  if (!groups) return undefined;
  const [hour, minute, second] = groups['time']!.split(':').map(Number);
  const [month, day] = [MONTHS.indexOf(groups['month']!), Number(groups['day'])];
  // A leap second is the next one.
  if (hour! > 23 || minute! > 59 || second! > 60) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(yearOf(groups['year']!), month, day);
  return date.getUTCMonth() === month && date.getUTCDate() === day
    ? date.getTime() / 1000 + hour! * 3600 + minute! * 60 + second!
    : undefined;
}

function yearOf(digits: string): number {
  if (digits.length === 4) return Number(digits);
  return Number(digits) + (Number(digits) < CENTURY_TURN ? 2000 : 1900);
}
