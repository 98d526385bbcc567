// Whether the sections of a group have the form that sections.ts declares: how many elements, how wide, and whose parts
// they bound. For `verify` only, as what its checks have in common; yields the first thing found wrong.
import { narrowWidth, type UnsignedArray } from '../bits/narrow.ts';
import type { Refusal } from './header.ts';
import type { Sections } from './loaded.ts';
import {
  sectionName,
  type SectionArray,
  type SectionCount,
  type SectionGroup,
  type SectionKind,
  type SectionViews,
} from './sections.ts';

/**
 * Checks the form of a group's sections in their order; returns their views. Where `counts` does not say how many "one
 * a record" are, the first section that has so many does. Cost: one pass over narrow elements and bounds.
 */
export function* verifyForm<G extends SectionGroup>(
  sections: Sections,
  group: G,
  path: string,
  counts: Partial<Record<SectionCount, number>> = {},
): Generator<Refusal, SectionViews<G>> {
  const views = sections.views(group, path);
  const arrays: Readonly<Record<string, SectionArray | undefined>> = views;
  const amounts = { ...counts };
  for (const key in group.kinds) {
    const { element, count, startsOf, endsOf }: SectionKind = group.kinds[key]!;
    const [name, array] = [sectionName(group, key, path), arrays[key]];
    if (!array) continue;
    if (element === 'narrow') yield* verifyWidth(name, array as UnsignedArray);
    if (count) yield* verifyLength(name, array.length, (amounts[count] ??= array.length));
    if (startsOf && array[0] !== 0) yield refusalIn(name, `element 0 is ${array[0]}`, '0');
    const bounded = startsOf ?? endsOf;
    if (bounded) yield* verifyEnds(name, array, arrays[bounded]!.length);
  }
  return views;
}

/** Checks that a section has these elements. Cost: one pass. */
export function* verifySame(name: string, found: SectionArray, expected: SectionArray): Generator<Refusal> {
  yield* verifyLength(name, found.length, expected.length);
  const i = firstDifferent(found, expected);
  if (i >= 0) yield refusalIn(name, `element ${i} is ${found[i]}`, String(expected[i]));
}

/** Checks how many elements a section has. */
export function* verifyLength(name: string, length: number, expected: number): Generator<Refusal> {
  if (length !== expected) yield refusalIn(name, `${length} elements`, String(expected));
}

/** A refusal of a section, with what was found and what was expected. */
export function refusalIn(section: string, found: string, expected: string): Refusal {
  return { refusal: `section ${section}: ${found}, expected ${expected}` };
}

/** A section of narrow integers is as narrow as its greatest element allows. */
function* verifyWidth(name: string, values: UnsignedArray): Generator<Refusal> {
  const expected = narrowWidth(values);
  const found = values.BYTES_PER_ELEMENT;
  if (found !== expected) yield refusalIn(name, `elements of ${found} bytes`, `of ${expected}`);
}

/** Ends never descend and the last is `end`; 0 when there are none. */
function* verifyEnds(name: string, ends: SectionArray, end: number): Generator<Refusal> {
  const i = firstDescent(ends);
  if (i >= 0) yield refusalIn(name, `element ${i} is ${ends[i]}`, `at least the ${ends[i - 1]} before it`);
  const last = ends[ends.length - 1] ?? 0;
  if (last !== end) yield refusalIn(name, `the last element is ${last}`, String(end));
}

function firstDescent(ends: SectionArray): number {
  for (let i = 1; i < ends.length; i++) if (ends[i]! < ends[i - 1]!) return i;
  return -1;
}

function firstDifferent(found: SectionArray, expected: SectionArray): number {
  for (let i = 0; i < expected.length; i++) if (!Object.is(found[i], expected[i])) return i;
  return -1;
}
