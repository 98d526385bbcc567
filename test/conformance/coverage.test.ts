// The conformance ring as a whole: what tests quote stands in the texts, and every sentence of the specification is
// quoted or listed as untestable, as is every sentence of the design about queries and answers, but for those that are
// planned. Skipped where the texts are not beside the project.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { PLANNED_DESIGN } from './planned.ts';
import { plainOf, unitsOf } from './units.ts';
import { UNTESTABLE, UNTESTABLE_DESIGN } from './untestable.ts';

const SHARED = fileURLToPath(new URL('../../../shared/', import.meta.url));
const SPEC = `${SHARED}spec/catalogue-api.md`;
const DESIGN = `${SHARED}design/catalogue.md`;
const HERE = fileURLToPath(new URL('.', import.meta.url));

/** What the tests of this folder quote with the named functions, as plain text. */
function quotesWith(names: string): string[] {
  const call = new RegExp(`\\b(?:${names})\\(\\s*('(?:[^'\\\\]|\\\\.)*'|"(?:[^"\\\\]|\\\\.)*")`, 'g');
  const files = readdirSync(HERE).filter((name) => name.endsWith('.test.ts'));
  const sources = files.map((name) => readFileSync(HERE + name, 'utf8'));
  const literals = sources.flatMap((source) => [...source.matchAll(call)].map((match) => match[1] ?? ''));
  return literals.map((literal) => plainOf(literal.slice(1, -1).replaceAll(/\\(.)/g, '$1')));
}

describe.skipIf(!existsSync(SPEC))('the specification, where it lies beside the project', () => {
  const units = existsSync(SPEC) ? unitsOf(readFileSync(SPEC, 'utf8')).map(plainOf) : [];
  const quotes = quotesWith('spec|row');

  test('every quote stands in it', () => {
    const whole = units.join(' ');
    for (const quote of quotes) expect(whole.includes(quote), quote).toBe(true);
    expect(quotes.length).toBeGreaterThan(100);
  });

  test('every sentence that says something is quoted by a test or listed as untestable', () => {
    const listed = UNTESTABLE.map(({ quote }) => plainOf(quote));
    for (const quote of listed) expect(units, 'an untestable sentence').toContain(quote);
    const saying = units.filter((unit) => !/not shown/i.test(unit) && !listed.includes(unit));
    const missing = saying.filter((unit) => !quotes.some((quote) => unit.includes(quote) || quote.includes(unit)));
    expect(missing).toEqual([]);
  });
});

/** A chapter of the design page, its lines that go on joined. */
function chapter(title: string): string {
  const chapters = readFileSync(DESIGN, 'utf8').split(/^## /m);
  const text = chapters.find((one) => one.startsWith(`${title}\n`)) ?? '';
  return text.slice(title.length).replaceAll(/\n(?!- |\n)/g, ' ');
}

const listed = [...UNTESTABLE_DESIGN, ...PLANNED_DESIGN];

describe.skipIf(!existsSync(DESIGN))('the design page, where it lies beside the project', () => {
  test('every quote of it stands in it', () => {
    const whole = plainOf(existsSync(DESIGN) ? readFileSync(DESIGN, 'utf8') : '');
    const quotes = quotesWith('design');
    for (const quote of quotes) expect(whole.includes(quote), quote).toBe(true);
    expect(quotes.length).toBeGreaterThan(20);
  });

  test.each(['Parameters', 'Filters', 'Responses', 'Exports, order, facets, pinned walks'])(
    'every sentence of its chapter "%s" is quoted by a test or listed as untestable or planned',
    (title) => {
      const units = unitsOf(chapter(title)).map(plainOf);
      const quotes = [...quotesWith('design'), ...listed.map(({ quote }) => plainOf(quote))];
      expect(units.length).toBeGreaterThan(3);
      const isCovered = (unit: string): boolean =>
        quotes.some((quote) => unit.includes(quote) || quote.includes(unit.replace(/\.$/, '')));
      expect(units.filter((unit) => !isCovered(unit))).toEqual([]);
    },
  );

  test('every sentence that is listed stands in it, and none that is planned is tested already', () => {
    const whole = plainOf(readFileSync(DESIGN, 'utf8'));
    for (const { quote } of listed) expect(whole.includes(plainOf(quote)), quote).toBe(true);
    const quotes = quotesWith('design');
    for (const { quote } of PLANNED_DESIGN) expect(quotes).not.toContain(plainOf(quote));
  });
});
