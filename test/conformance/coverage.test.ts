// Tests quote the specification exactly, and every sentence of it is quoted by a test or listed as untestable. Skipped
// if the specification is not next to the project.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { plainOf, unitsOf } from './units.ts';
import { UNTESTABLE } from './untestable.ts';

const SPEC = fileURLToPath(new URL('../../../shared/spec/catalogue-api.md', import.meta.url));
const HERE = fileURLToPath(new URL('.', import.meta.url));

/** The quotes in the tests of this folder, as plain text. */
function quotesOfTests(): string[] {
  const call = /\b(?:spec|row)\(\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")/g;
  const files = readdirSync(HERE).filter((name) => name.endsWith('.test.ts'));
  const sources = files.map((name) => readFileSync(HERE + name, 'utf8'));
  const literals = sources.flatMap((source) => [...source.matchAll(call)].map((match) => match[1] ?? ''));
  return literals.map((literal) => plainOf(literal.slice(1, -1).replaceAll(/\\(.)/g, '$1')));
}

describe.skipIf(!existsSync(SPEC))('the specification next to the project', () => {
  const units = existsSync(SPEC) ? unitsOf(readFileSync(SPEC, 'utf8')).map(plainOf) : [];
  const quotes = quotesOfTests();

  test('contains every quote of the tests', () => {
    const whole = units.join(' ');
    for (const quote of quotes) expect(whole.includes(quote), quote).toBe(true);
    expect(quotes.length).toBeGreaterThan(100);
  });

  test('has every requirement quoted by a test or listed as untestable', () => {
    const listed = UNTESTABLE.map(({ quote }) => plainOf(quote));
    for (const quote of listed) expect(units, 'an untestable sentence').toContain(quote);
    const saying = units.filter((unit) => !/not shown/i.test(unit) && !listed.includes(unit));
    const missing = saying.filter((unit) => !quotes.some((quote) => unit.includes(quote) || quote.includes(unit)));
    expect(missing).toEqual([]);
  });
});
