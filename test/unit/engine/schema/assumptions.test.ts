// The document of assumptions: all entries have one form, numbers without gaps, and a reason. Each setting and each
// cited assumption exists.
import { describe, expect, test } from 'vitest';
import { SETTINGS } from '../../../../server/settings/declarations.ts';
import { projectFiles, readProjectFile } from '../../../support/sources.ts';

const DOCUMENT = readProjectFile('engine/schema/ASSUMPTIONS.md');

interface Assumption {
  readonly id: string;
  readonly area: string;
  readonly topic: string;
  readonly choice: string;
  readonly why: string;
  readonly setting: string | undefined;
}

/** A heading, a choice of one or more paragraphs, a reason, and perhaps a setting. Paragraphs are wrapped. */
const ENTRY =
  /^### (?<id>A[1-9]\d*): (?<topic>.+)\n\n(?<choice>[^\n#].*(?:\n\n?.+)*?)\n\nWhy: (?<why>.+(?:\n.+)*)(?:\n\nSetting: `(?<setting>\w+)`)?$/;

const [INTRODUCTION = '', ...AREAS] = DOCUMENT.split(/\n\n(?=## )/);

const ASSUMPTIONS = AREAS.flatMap((section): readonly Assumption[] => {
  const [area = '', ...entries] = section.trimEnd().split(/\n\n(?=### )/);
  return entries.map((entry) => {
    const { id = '', topic = '', choice = '', why = '', setting } = ENTRY.exec(entry)?.groups ?? {};
    return { id: id || entry, area, topic, choice, why, setting };
  });
});

const MERGED: readonly number[] = [
  120, 130, 131, 132, 133, 140, 141, 142, 143, 144, 150, 151, 152, 153, 159, 160, 161, 162, 163, 164, 166, 167, 168,
  169, 170, 171, 172, 173, 174, 175, 176, 177,
];

/** Unused numbers: A89, and the gaps between the numbers of merged branches. */
const isGiven = (number: number): boolean => number !== 89 && (number < 113 || MERGED.includes(number));
const NUMBERS = Array.from({ length: MERGED.at(-1)! }, (_, i) => i + 1)
  .filter(isGiven)
  .map((number) => `A${number}`);

test('numbers assumptions from A1 on, with unique numbers and topics', () => {
  const numberOf = (id: string): number => Number(id.slice(1));
  expect(ASSUMPTIONS.map(({ id }) => id).sort((a, b) => numberOf(a) - numberOf(b))).toEqual(NUMBERS);
  expect(new Set(ASSUMPTIONS.map(({ topic }) => topic)).size).toBe(NUMBERS.length);
});

test('names the next number in the introduction, and makes every area a heading', () => {
  expect(INTRODUCTION).toMatch(/The next new\s+entry is A178\./);
  for (const { area } of ASSUMPTIONS) expect(area).toMatch(/^## [A-Z][\w ,]+$/);
});

/** The numbers of a chapter as the table of contents shows them, such as `A1 to A3, A7`. */
function numberRuns(numbers: readonly number[]): string {
  const runs: [first: number, last: number][] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run?.[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs
    .map(([first, last]) => (first === last ? `A${first}` : `A${first}${last === first + 1 ? ',' : ' to'} A${last}`))
    .join(', ');
}

test('links every chapter in the table of contents, with the numbers of its entries', () => {
  const lines = AREAS.map((section) => {
    const [, title = ''] = /^## (.+)/.exec(section) ?? [];
    const numbers = [...section.matchAll(/^### A(\d+)/gm)].map(([, number]) => Number(number));
    return `- [${title}](#${title.toLowerCase().replaceAll(',', '').replaceAll(' ', '-')}): ${numberRuns(numbers)}`;
  });
  expect(INTRODUCTION.split('\n').filter((line) => line.startsWith('- '))).toEqual(lines);
});

test('has no line wider than code may be', () => {
  expect(DOCUMENT.split('\n').filter((line) => line.length > 120)).toEqual([]);
});

describe.each(ASSUMPTIONS)('$id, $topic', ({ choice, why, setting }) => {
  test('gives the choice and the reason, in sentences, and a real setting if any', () => {
    expect(choice).toMatch(/\.$/);
    expect(why).toMatch(/\.$/);
    if (setting !== undefined) expect(SETTINGS.map(({ name }) => name)).toContain(setting);
  });
});

function citations(folders: RegExp): readonly { readonly path: string; readonly id: string }[] {
  return projectFiles()
    .filter((path) => folders.test(path))
    .flatMap((path) => [...readProjectFile(path).matchAll(/(?<![\w%])A[1-9]\d{0,2}\b/g)].map(([id]) => ({ path, id })));
}

const EXISTING = new Set(NUMBERS);

test('has every assumption that code and conformance tests cite', () => {
  const cited = citations(/^(?:(?:engine|data|workers|server|bench)\/.*|test\/conformance\/[^/]*)\.ts$/);
  expect(cited.length).toBeGreaterThan(20);
  expect(cited.filter(({ id }) => !EXISTING.has(id))).toEqual([]);
});

test('has every assumption that documents cite', () => {
  const cited = citations(/\.md$/);
  // The introduction names the next number.
  const unknown = cited.filter(({ id }) => !EXISTING.has(id)).map(({ id }) => id);
  expect(unknown).toEqual(['A178']);
});
