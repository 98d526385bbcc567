// Regular expressions in RE2 syntax, which match in time linear in the text. Only this file uses re2js. A client's
// pattern is bounded before it is compiled, because compiling takes time and memory too.
import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';
import { REGEX_LENGTH_MAX, REGEX_SIZE_MAX } from './limits.ts';
import { HINTS, MESSAGES, wrongRegex } from './problems.ts';
import type { TextSearch } from './dateParts.ts';
import { type Operand, parseValue, type ValueReading } from './values.ts';

/** Size of a class of Unicode properties: merging its ranges takes as long as compiling this many characters. */
const PROPERTY_SIZE = 50;

/**
 * Code points in a range that count as one instruction if case is folded: each is folded separately, in 50 ns. A range
 * that includes all points that fold is not folded, so it costs nothing extra.
 */
const FOLDED_POINTS = 32;
/** The first and last code points that fold to another one. */
const FIRST_FOLDED = 0x41;
const LAST_FOLDED = 0x1e943;

/** Bytes of text between two polls: 40 ms at worst, 0.1 ms typically. */
const SLICE_BYTES = 4096;

/**
 * An escape, property, class, repetition or bracket of a pattern, or one character. The text of a class must match in
 * one way only. With two ways, an unclosed class would take 2^n steps.
 */
const TOKEN =
  /\\Q.*?(?:\\E|$)|\\[pP](?:\{[^}]*\}|.)|\\x\{[^}]*\}|\\.|\[\^?\]?(?:\\(?:[pP]\{[^}]*\}|[pP](?!\{[^}]*\})|[^pP])|\[:\^?\w+:\]|[^\]\\])*\]|\{(?<least>\d+)(?:,(?<most>\d*))?\}|./gsu;

/** Look-around and back-references, which RE2 does not support. */
const LOOKS_AROUND = /\(\?<?[=!]|\\[1-9]/;

/** A flag group with which a pattern itself folds case, such as `(?si:`. */
const FOLDING = /\(\?\w*i/;

/** A character as written in a class, or part of a longer escape. A range is a character, `-` and another character. */
const CHARACTER = /\\x\{[\dA-Fa-f]*\}|\\x[\dA-Fa-f]{2}|\\[0-7]{1,3}|\\?./gsu;

/** Reads a pattern: trimmed, not empty, in RE2 syntax, within the limits (A58). Cost: compiles it. */
export function parseRegex(text: string, isFolded: boolean): ValueReading<Operand> {
  const parsed = parseValue('text', text);
  if (parsed.kind === 'error') return parsed;
  const pattern = parsed.value;
  if (pattern === '') return { kind: 'error', message: MESSAGES.required };
  if (regexSize(pattern, isFolded) > REGEX_SIZE_MAX) return { kind: 'error', message: MESSAGES.regexSize };
  const error = compiled(pattern, isFolded);
  if (!(error instanceof RE2JS)) return { kind: 'error', message: MESSAGES.regex, hints: regexHints(pattern, error) };
  return { kind: 'value', value: { kind: 'text', values: [pattern] } };
}

/**
 * Estimates the number of instructions that take as long to compile as a pattern, without compiling it. Infinity for a
 * pattern longer than REGEX_LENGTH_MAX. Cost: its length.
 */
export function regexSize(text: string, isFolded: boolean): number {
  const pattern = text.trim();
  if (pattern.length > REGEX_LENGTH_MAX) return Infinity;
  const isFolding = isFolded || FOLDING.test(pattern);
  return sizeOf(pattern) + (isFolding ? foldedPoints(pattern) / FOLDED_POINTS : 0);
}

/** A search with a pattern that `parseRegex` accepted: a text matches if the pattern matches anywhere in it. */
export function regexSearch(pattern: string, isFolded: boolean): TextSearch {
  const program = compiled(pattern, isFolded) as RE2JS;
  return {
    kind: 'text',
    matches: (bytes, start, end) => program.test(bytes.subarray(start, end)),
    sliceBytes: SLICE_BYTES,
  };
}

function compiled(pattern: string, isFolded: boolean): RE2JS | RE2JSException {
  try {
    return RE2JS.compile(pattern, isFolded ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (error instanceof RE2JSException) return error;
    throw error;
  }
}

/** Characters of a pattern that an error shows. */
const SHOWN_CHARACTERS = 20;

/** Hints for a wrong pattern. The library names the wrong part, of which the first occurrence is shown. */
function regexHints(pattern: string, error: RE2JSException): readonly string[] {
  if (LOOKS_AROUND.test(pattern)) return [HINTS.regex];
  if (!(error instanceof RE2JSSyntaxException)) return [];
  const part = error.getPattern() ?? '';
  const place = Array.from(pattern.slice(0, Math.max(0, pattern.indexOf(part)))).length + 1;
  return [wrongRegex(error.getDescription(), place, Array.from(part).slice(0, SHOWN_CHARACTERS).join(''))];
}

/**
 * Estimates the number of instructions of a pattern: its characters, with repeated ones counted as often as they may
 * repeat. Invalid patterns have a size too.
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

/**
 * Number of code points in the ranges of a pattern, each folded separately. Whatever looks like a range counts, even
 * outside of classes. So the result does not depend on where classes start and end.
 */
function foldedPoints(pattern: string): number {
  let points = 0;
  let [low, middle] = ['', ''];
  for (const [high] of pattern.matchAll(CHARACTER)) {
    if (middle === '-') points += pointsBetween(codePointOf(low), codePointOf(high));
    low = middle;
    middle = high;
  }
  return points;
}

function pointsBetween(low: number, high: number): number {
  if (low <= FIRST_FOLDED && high >= LAST_FOLDED) return 0;
  return Math.max(0, Math.min(high, LAST_FOLDED) - Math.max(low, FIRST_FOLDED) + 1);
}

/** The code point of a character or of its escape, including `\x41`, `\x{41}` and `\101`. 0 without a code point. */
function codePointOf(character: string): number {
  if (/^\\x./.test(character)) return Number.parseInt(character.replace(/[^\dA-Fa-f]/g, ''), 16) || 0;
  if (/^\\[0-7]/.test(character)) return Number.parseInt(character.slice(1), 8);
  return character.codePointAt(character.length > 1 && character.startsWith('\\') ? 1 : 0) ?? 0;
}

function atomSize(token: string): number {
  const properties = token.match(/\\[pP]/g)?.length ?? 0;
  return (token.startsWith('\\Q') ? token.length : 1) + properties * PROPERTY_SIZE;
}
