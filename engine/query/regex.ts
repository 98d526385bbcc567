// Regular expressions in RE2 syntax, which match in time linear in the text; the one file that knows re2js. A client's
// pattern is bounded before it is compiled, since compiling takes time and memory too.
import { RE2JS, RE2JSException } from 're2js';
import type { Dictionary } from '../column/dictionary.ts';
import { MESSAGES } from './problems.ts';
import type { TextSearch } from './search.ts';
import { parseValue, type Operand, type Parsed } from './values.ts';

/** Characters of a pattern. Those of real clients have a few dozen. */
const PATTERN_LENGTH_MAX = 500;

/** Instructions of the program that a pattern becomes: at worst each costs some ns a character of text. */
const PROGRAM_SIZE_MAX = 2000;

/** What a class of Unicode properties counts as: merging its ranges takes as long as compiling so many characters. */
const PROPERTY_SIZE = 50;

/** Text between two polls: 40 ms at worst, 0.1 ms as a rule. */
const SLICE_BYTES = 4096;

/** A byte costs 1 to 10 ns where the pattern's states are few, see `Lookup.scanCost`. */
const REGEX_COST = 10;

/** An escape, property, class, repetition or bracket of a pattern, or one character. */
const TOKEN =
  /\\Q.*?(?:\\E|$)|\\[pP](?:\{[^}]*\}|.)|\\x\{[^}]*\}|\\.|\[\^?\]?(?:\\[pP]\{[^}]*\}|\\.|\[:\^?\w+:\]|[^\]\\])*\]|\{(?<least>\d+)(?:,(?<most>\d*))?\}|./gsu;

/** A pattern as an operand: trimmed, not empty, of RE2's syntax, within the bounds (A58). Cost: compiles it. */
export function parseRegex(text: string, isFolded: boolean): Parsed<Operand> {
  const parsed = parseValue('text', text);
  if (parsed.kind === 'error') return parsed;
  const pattern = parsed.value;
  if (pattern === '') return { kind: 'error', message: MESSAGES.required };
  if (pattern.length > PATTERN_LENGTH_MAX || sizeOf(pattern) > PROGRAM_SIZE_MAX) {
    return { kind: 'error', message: MESSAGES.regexSize };
  }
  if (!compiled(pattern, isFolded)) return { kind: 'error', message: MESSAGES.regex };
  return { kind: 'value', value: { kind: 'text', values: [pattern] } };
}

/** The search of a pattern that `parseRegex` took: a text is a hit when the pattern matches anywhere in it. */
export function regexSearch(pattern: string, isFolded: boolean): TextSearch {
  const program = compiled(pattern, isFolded)!;
  return {
    kind: 'text',
    matches: (bytes, start, end) => program.test(bytes.subarray(start, end)),
    sliceBytes: SLICE_BYTES,
  };
}

/** What a scan with a regular expression costs, see `Lookup.scanCost`. */
export function regexCost({ text }: Dictionary): number {
  return text.length * REGEX_COST;
}

function compiled(pattern: string, isFolded: boolean): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern, isFolded ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}

/**
 * About how many instructions a pattern becomes: its characters, those of what is repeated as often as it may be. A
 * pattern that is wrong has some size too.
 */
function sizeOf(pattern: string): number {
  const groups: number[] = [];
  let group = 0;
  let last = 0;
  for (const { 0: token, groups: repeat } of pattern.matchAll(TOKEN)) {
    if (repeat?.['least'] !== undefined) {
      const times = Math.max(Number(repeat['least']) + 1, Number(repeat['most'] ?? 0));
      group += last * (times - 1);
      last *= times;
    } else if (token === '(') {
      groups.push(group);
      group = 0;
    } else if (token === ')') {
      last = group + 1;
      group = (groups.pop() ?? 0) + last;
    } else {
      last = atomSize(token);
      group += last;
    }
  }
  return groups.reduce((sum, outer) => sum + outer, group);
}

function atomSize(token: string): number {
  const properties = token.match(/\\[pP]/g)?.length ?? 0;
  return (token.startsWith('\\Q') ? token.length : 1) + properties * PROPERTY_SIZE;
}
