// Which sections a snapshot has: those that its metadata and the declaration ask for, in their order. Judges names and
// widths, what is in them is for others. Knows no index, since whoever loads a snapshot asks here.
import { COLLECTIONS } from '../schema/catalogue.ts';
import { hasNumbers } from '../schema/layout.ts';
import type { Section } from './directory.ts';
import type { Refusal } from './header.ts';
import { layoutIn, type Metadata } from './metadata.ts';
import {
  BITMAPS,
  DICTIONARY,
  ELEMENTS,
  GRAMS,
  METADATA,
  POSTINGS,
  RECORDS,
  runPath,
  sectionName,
  TABLE,
  TARGETS,
  type SectionGroup,
} from './sections.ts';

/**
 * Why the directory does not list exactly the sections that the declaration and the metadata ask for, in their order.
 * Cost: their number; of the listed ones, whatever the metadata claims.
 */
export function misnamedSection(listed: readonly Section[], metadata: Metadata): Refusal | undefined {
  const names = new Set(listed.map(({ name }) => name));
  let i = 0;
  for (const wanted of expectedSections(metadata, (path) => names.has(sectionName(GRAMS, 'keys', path)))) {
    const found = listed[i];
    if (!found || found.name !== wanted.name || !wanted.widths.includes(found.width)) return misnamed(i, found, wanted);
    i++;
  }
  return i < listed.length ? misnamed(i, listed[i], undefined) : undefined;
}

/** The name of a section and the widths that its elements may have; which of several, verifyForm.ts judges. */
interface SectionForm {
  readonly name: string;
  readonly widths: readonly number[];
}

function misnamed(i: number, found: Section | undefined, wanted: SectionForm | undefined): Refusal {
  const text = found && sectionText({ name: found.name, widths: [found.width] });
  return {
    refusal: `section ${i} of the directory: ${text ?? 'none'}, expected ${wanted ? sectionText(wanted) : 'none'}`,
  };
}

function sectionText({ name, widths }: SectionForm): string {
  const text = widths.length === 1 ? widths[0] : `${widths.slice(0, -1).join(', ')} or ${widths.at(-1)}`;
  return `${name} in elements of ${text} bytes`;
}

/** Which columns have an n-gram index follows from their texts, so that verifyColumn.ts judges it. */
function* expectedSections(metadata: Metadata, isWithGrams: (path: string) => boolean): Generator<SectionForm> {
  const layouts = COLLECTIONS.map((collection) => layoutIn(metadata, collection));
  for (const [i, { collection, tables, columns }] of layouts.entries()) {
    for (let run = 0; run < metadata.collections[i]!.chunks; run++)
      yield* sectionsIn(RECORDS, runPath(RECORDS, collection.name, run));
    for (const { path, parent } of tables) if (parent >= 0) yield* sectionsIn(TABLE, path);
    for (const { path, type, isId } of columns) {
      yield* sectionsIn(DICTIONARY, path, hasNumbers(type));
      if (isWithGrams(path)) yield* sectionsIn(GRAMS, path);
      if (isId) continue;
      yield* sectionsIn(POSTINGS, path);
      yield* sectionsIn(BITMAPS, path);
    }
  }
  for (const { columns } of layouts)
    for (const { path, to } of columns) if (to !== undefined) yield* sectionsIn(TARGETS, path);
  yield* sectionsIn(METADATA, METADATA.path);
}

function sectionsIn(group: SectionGroup, path: string, isWithOptional = true): readonly SectionForm[] {
  return Object.entries(group.kinds)
    .filter(([, { isOptional }]) => isWithOptional || !isOptional)
    .map(([key, { element }]) => ({ name: sectionName(group, key, path), widths: ELEMENTS[element] }));
}
