// The oracle's lookups: turn a lookup's name and a raw value into a test of one JSON value of a record. Case folding
// uses the language's regular expressions, parts of dates use Date. Add a lookup as a row here.
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { compareCodePoints } from './query.ts';
import {
  instantInFilter,
  instantOf,
  jsonText,
  lookedUpText,
  NUL,
  parseExact,
  REQUIRED,
  type OperandType,
  type Parsed,
  type Test,
} from './values.ts';

export type Lookup = keyof typeof ROWS;

/**
 * The test of a lookup with a raw (decoded) value. `lenient` drops wrong members of `in` instead of refusing the list.
 */
export function parseTest(type: OperandType, lookup: Lookup, raw: string, lenient: boolean): Parsed {
  return ROWS[lookup].parse(type, raw, lenient);
}

/** Whether a lookup applies to values of a type. */
export function suits(lookup: Lookup, type: OperandType): boolean {
  return ROWS[lookup].suits(type);
}

type Suits = (type: OperandType) => boolean;
type Parser = (type: OperandType, raw: string, lenient: boolean) => Parsed;

const isAny: Suits = () => true;
/** A relation has no text. */
const hasText: Suits = (type) => type !== 'id';
const hasOrder: Suits = (type) => type !== 'boolean';
const isDate: Suits = (type) => type === 'date' || type === 'dateTime';

/** The lookups of the design, Filters, grouped by the types that they apply to. */
const ROWS = {
  ...rows(isAny, { exact: parseExact, in: parseIn, isnull: parseNull }),
  ...rows(hasOrder, {
    gt: ordered((order) => order > 0),
    gte: ordered((order) => order >= 0),
    lt: ordered((order) => order < 0),
    lte: ordered((order) => order <= 0),
    range: parseRange,
  }),
  ...rows(hasText, {
    contains: textual((text, operand) => text.includes(operand)),
    startswith: textual((text, operand) => text.startsWith(operand)),
    endswith: textual((text, operand) => text.endsWith(operand)),
    iexact: folded('^', '$'),
    icontains: folded('', ''),
    istartswith: folded('^', ''),
    iendswith: folded('', '$'),
    regex: regular(0),
    iregex: regular(RE2JS.CASE_INSENSITIVE),
  }),
  ...rows(isDate, {
    date: parseDay,
    year: part((date) => date.getUTCFullYear()),
    month: part((date) => date.getUTCMonth() + 1),
    day: part((date) => date.getUTCDate()),
    week_day: part((date) => date.getUTCDay() + 1),
    hour: part((date) => date.getUTCHours()),
    minute: part((date) => date.getUTCMinutes()),
    second: part((date) => date.getUTCSeconds()),
  }),
};

export const LOOKUPS = Object.keys(ROWS) as readonly Lookup[];

function rows<N extends string>(suits: Suits, parsers: Readonly<Record<N, Parser>>): Record<N, Row> {
  const all = Object.entries<Parser>(parsers).map(([name, parse]) => [name, { suits, parse }]);
  return Object.fromEntries(all) as Record<N, Row>;
}

interface Row {
  readonly suits: Suits;
  readonly parse: Parser;
}

const MEMBERS_MAX = 16_384;

function tooLong(most: number, raw: string): Parsed {
  return { message: `Ensure this value has at most ${most} items (it has ${raw.split(',').length}).` };
}

function parseIn(type: OperandType, raw: string, lenient: boolean): Parsed {
  if (raw === '') return { test: () => false };
  if (raw.split(',').length > MEMBERS_MAX) return tooLong(MEMBERS_MAX, raw);
  const members = raw.split(',').map((member) => parseExact(type, member));
  const tests = members.flatMap((member) => ('test' in member ? [member.test] : []));
  const wrong = wrongOf(members, raw);
  if (wrong && (!lenient || tests.length === 0)) return wrong;
  return { test: (value, text) => tests.some((test) => test(value, text)) };
}

/** The first wrong member, with its position in a longer list. */
function wrongOf(members: readonly Parsed[], raw: string): Parsed | undefined {
  const at = members.findIndex((member) => 'message' in member);
  const wrong = members[at];
  if (!wrong || 'test' in wrong || members.length === 1) return wrong;
  const shown = raw.split(',')[at]!.trim().slice(0, 40);
  return { ...wrong, hints: [...(wrong.hints ?? []), `Member ${at + 1} is "${shown}".`] };
}

function onText(raw: string, fits: (text: string) => boolean): Parsed {
  if (raw.includes('\0')) return NUL;
  const test: Test = (value, text) => {
    const served = lookedUpText(value, text);
    return served !== undefined && fits(served);
  };
  return { test };
}

function textual(fits: (text: string, operand: string) => boolean): Parser {
  return (_, raw) => onText(raw, (text) => fits(text, raw.trim()));
}

/** JavaScript folds case like Unicode's simple case folding if the pattern has the flags u and i. */
function folded(before: string, after: string): Parser {
  return (_, raw) => {
    const literal = Array.from(raw.trim(), (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`).join('');
    const pattern = new RegExp(before + literal + after, 'iu');
    return onText(raw, (text) => pattern.test(text));
  };
}

/** No limits of length here: the random patterns are short. */
function regular(flags: number): Parser {
  return (_, raw) => {
    if (raw.includes('\0')) return NUL;
    if (raw.trim() === '') return REQUIRED;
    try {
      const pattern = RE2JS.compile(raw.trim(), flags);
      return onText(raw, (text) => pattern.matcher(text).find());
    } catch (error) {
      const isBeyond = /\(\?<?[=!]|\\[1-9]/.test(raw);
      const hints = isBeyond ? ['Look-around and back-references are not supported.'] : [placeOf(raw.trim(), error)];
      return { message: 'Enter a valid regular expression.', hints };
    }
  };
}

/** Where a pattern is wrong, and why, as the library says it. */
function placeOf(pattern: string, error: unknown): string {
  if (!(error instanceof RE2JSSyntaxException)) throw error;
  const part = error.getPattern() ?? '';
  const before = pattern.slice(0, pattern.indexOf(part));
  return `At character ${Array.from(before).length + 1}, "${Array.from(part).slice(0, 20).join('')}": ${error.getDescription()}.`;
}

function parseNull(_: OperandType, raw: string): Parsed {
  if (raw.includes('\0')) return NUL;
  const wanted = !['', '0', 'false'].includes(raw.trim().toLowerCase());
  return { test: (value) => (value === undefined || value.kind === 'null') === wanted };
}

function ordered(fits: (order: number) => boolean): Parser {
  return (type, raw) => {
    const read = parseExact(type, raw);
    if ('message' in read) return read;
    const orderTo = orderOf(type, raw.trim());
    const test: Test = (value, text) => {
      const order = orderTo(value, text);
      return order !== undefined && fits(order);
    };
    return { test };
  };
}

function parseRange(type: OperandType, raw: string): Parsed {
  const members = raw.split(',');
  if (members.length > MEMBERS_MAX) return tooLong(2, raw);
  const wrong = wrongOf(
    members.map((member) => parseExact(type, member)),
    raw,
  );
  if (wrong) return wrong;
  const bound = members.length < 2 ? 'least' : 'most';
  if (members.length !== 2) {
    return { message: `Ensure this value has at ${bound} 2 items (it has ${members.length}).` };
  }
  const [from, to] = members.map((member) => orderOf(type, member.trim()));
  const test: Test = (value, text) => {
    const orders = [from?.(value, text), to?.(value, text)];
    return orders[0] !== undefined && orders[1] !== undefined && orders[0] >= 0 && orders[1] <= 0;
  };
  return { test };
}

type Order = (...given: Parameters<Test>) => number | undefined;

/** Compares a value with a parsed operand; undefined if the value has no order. */
function orderOf(type: OperandType, operand: string): Order {
  if (type === 'text') {
    return (value, text) => {
      const found = jsonText(value, text);
      return found === undefined ? undefined : compareCodePoints(found, operand);
    };
  }
  const read = readerOf(type);
  const wanted = read === instantOf ? instantInFilter(operand) : read(operand);
  return (value) => {
    const found = read(value?.kind === 'string' ? value.value : value?.kind === 'number' ? value.token : '');
    if (found === undefined || wanted === undefined) return undefined;
    return found < wanted ? -1 : found > wanted ? 1 : 0;
  };
}

/** The reader of a type: turns a valid operand, or the token, text or link of a value, into a comparable value. */
function readerOf(type: OperandType): (text: string) => bigint | number | undefined {
  if (type === 'date' || type === 'dateTime') return instantOf;
  if (type === 'float') return (text) => (text === '' ? undefined : Number(text));
  return (text) => {
    const digits = /^([+-]?\d+)(?:\.0*)?$/.exec(text)?.[1] ?? /(\d+)\/?(?:\?.*)?$/.exec(text)?.[1];
    return digits === undefined ? undefined : BigInt(digits.replace('+', ''));
  };
}

function parseDay(_: OperandType, raw: string): Parsed {
  const read = parseExact('date', raw);
  if ('message' in read) return read;
  if (!/^\d{4}-\d\d-\d\d$/.test(raw.trim())) {
    return { message: 'Enter a valid date.', hints: ['Write a date as 2020-01-31.'] };
  }
  return onDate((date) => date.toISOString().slice(0, -'T00:00:00.000Z'.length) === raw.trim());
}

function part(read: (date: Date) => number): Parser {
  return (_, raw) => {
    const parsed = parseExact('integer', raw);
    if ('message' in parsed) return parsed;
    const wanted = BigInt(raw.trim().replace('+', '').replace(/\..*/, ''));
    return onDate((date) => BigInt(read(date)) === wanted);
  };
}

/** In UTC, fractions of milliseconds cut off downwards. */
function onDate(fits: (date: Date) => boolean): Parsed {
  const test: Test = (value) => {
    const instant = value?.kind === 'string' ? instantOf(value.value) : undefined;
    if (instant === undefined) return false;
    const milliseconds = (instant - (((instant % 1000n) + 1000n) % 1000n)) / 1000n;
    return fits(new Date(Number(milliseconds)));
  };
  return { test };
}
