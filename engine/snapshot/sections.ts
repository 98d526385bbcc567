// Declares every kind of section in a snapshot or a file of blocks: name, elements, count, and the part of the report.
// Writing, opening, checking, the reports and the tables of FORMAT.md are derived from this table. A new kind is a new
// entry here, in file order, and a new version of the format.
import type { UnsignedArray } from '../bits/narrow.ts';
import type { Section, Width } from './directory.ts';
import { paddedBytes } from './header.ts';

/**
 * The optional indexes. Without `grams`, the n-gram indexes, or `words`, searches scan all texts. Without `bitmaps`,
 * combining values that many rows have costs their rows. Outlines, ends of members and targets of links are not
 * optional. They take 2 %, and without them `fields`, CSV and joins would need a second implementation.
 */
export const VARIANTS = ['grams', 'words', 'bitmaps'] as const;

export type Variant = (typeof VARIANTS)[number];

/**
 * Parses a comma-separated list of variants. Returns them sorted and without duplicates; undefined if one is unknown or
 * the list is empty.
 */
export function parseVariants(text: string): readonly Variant[] | undefined {
  const names = new Set(text.split(',').map((name) => name.trim()));
  const variants = VARIANTS.filter((variant) => names.has(variant));
  return variants.length === names.size ? variants : undefined;
}

/**
 * The element types of sections, with their permitted widths. `pieces` are bytes that are written in pieces and never
 * share a place. `narrow` integers are as narrow as the maximum of the section permits.
 */
export const ELEMENTS = { bytes: [1], pieces: [1], u32: [4], f64: [8], narrow: [1, 2, 4] } as const satisfies Readonly<
  Record<string, readonly Width[]>
>;

/** The parts of the report of a snapshot's bytes, in its order. */
const PARTS = [
  'records',
  'positions of records, links and members',
  'different texts',
  'numbers and instants',
  'codes of rows',
  'posting lists',
  'bitmaps',
  'n-gram indexes',
  'word indexes',
  'embedded rows',
  'targets of links',
  'metadata',
] as const;

/** Exclusive upper bounds of elements, so that none is out of range. */
export type SectionBound = 'outlines' | 'parents' | 'rows' | 'codes + 1';

/** The number of elements of a section, if it follows from other sections. */
export type SectionCount =
  'one a record' | 'one a row' | 'one a code' | 'one a gram' | 'one a word' | 'one more than parents' | 'codes + 2';

/** One kind of section. */
export interface SectionKind {
  /** The text after the last dot of the section's name, if it is not the key in the group. */
  readonly suffix?: string;
  readonly element: keyof typeof ELEMENTS;
  readonly count?: SectionCount;
  /** Key of a section that consists of parts. These elements are the ends of the parts. */
  readonly endsOf?: string;
  /** Key of a section that consists of parts. These elements are the starts of the parts; the first one is 0. */
  readonly startsOf?: string;
  /** Exclusive upper bound of all elements. */
  readonly below?: SectionBound;
  readonly isOptional?: true;
  readonly part?: (typeof PARTS)[number];
  /** For FORMAT.md. */
  readonly meaning: string;
}

/** Sections that follow one another under one path: those of a run of records, a table, a column, or the whole file. */
export interface SectionGroup {
  readonly path: string;
  /** The default for kinds without a part. */
  readonly part?: (typeof PARTS)[number];
  /** Imports without this variant omit the sections or leave them empty. */
  readonly variant?: Variant;
  readonly kinds: Readonly<Record<string, SectionKind>>;
}

export const RECORDS = {
  path: '<collection>/records/<i>',
  part: 'positions of records, links and members',
  kinds: {
    bytes: { element: 'pieces', part: 'records', meaning: 'the records as served, each followed by one comma' },
    ends: { element: 'u32', count: 'one a record', endsOf: 'bytes', meaning: 'end of each record, after its comma' },
    links: { element: 'u32', meaning: 'position of every own URL, ascending: that of its `{`' },
    linkEnds: {
      element: 'u32',
      count: 'one a record',
      endsOf: 'links',
      meaning: 'number of own URLs up to and including each record',
    },
    outlines: {
      element: 'narrow',
      count: 'one a record',
      below: 'outlines',
      meaning: "number of each record's outline in the metadata",
    },
    members: { element: 'narrow', meaning: 'end of each member in its record: the position of a comma or `}`' },
    memberEnds: {
      element: 'u32',
      count: 'one a record',
      endsOf: 'members',
      meaning: 'number of members up to and including each record',
    },
  },
} as const satisfies SectionGroup;

export const TABLE = {
  path: '<path>',
  part: 'embedded rows',
  kinds: {
    starts: {
      suffix: 'rowStarts',
      element: 'u32',
      count: 'one more than parents',
      startsOf: 'parents',
      meaning: 'the rows of parent p are `rowStarts[p]` to `rowStarts[p + 1]`',
    },
    parents: { element: 'u32', count: 'one a row', below: 'parents', meaning: 'the parent of each row' },
  },
} as const satisfies SectionGroup;

export const DICTIONARY = {
  path: '<path>',
  part: 'different texts',
  kinds: {
    text: { element: 'bytes', meaning: 'the distinct values in code order, UTF-8 without escapes' },
    ends: { suffix: 'textEnds', element: 'u32', count: 'one a code', endsOf: 'text', meaning: 'end of each value' },
    numbers: {
      element: 'f64',
      count: 'one a code',
      isOptional: true,
      part: 'numbers and instants',
      meaning: 'the number or instant of each value; absent for text and booleans',
    },
    fitting: {
      element: 'u32',
      below: 'codes + 1',
      isOptional: true,
      meaning: 'one element: the first code whose value does not fit the type; absent if all fit',
    },
  },
} as const satisfies SectionGroup;

export const GRAMS = {
  path: '<path>',
  part: 'n-gram indexes',
  variant: 'grams',
  kinds: {
    keys: {
      suffix: 'gramKeys',
      element: 'u32',
      count: 'one a gram',
      meaning: 'ascending keys: three folded bytes, the first byte highest',
    },
    ends: {
      suffix: 'gramEnds',
      element: 'u32',
      count: 'one a gram',
      endsOf: 'postings',
      meaning: "end of each key's list in `.gramPostings`",
    },
    postings: {
      suffix: 'gramPostings',
      element: 'bytes',
      meaning: 'the block numbers of each key, as differences in LEB128',
    },
  },
} as const satisfies SectionGroup;

/** The words of the texts that `search` reads. */
export const WORDS = {
  path: '<path>',
  part: 'word indexes',
  variant: 'words',
  kinds: {
    text: {
      suffix: 'words',
      element: 'bytes',
      meaning: 'the distinct words in the order of their bytes, with case folded and without accents',
    },
    textEnds: {
      suffix: 'wordEnds',
      element: 'u32',
      count: 'one a word',
      endsOf: 'text',
      meaning: 'end of each word in `.words`',
    },
    ends: {
      suffix: 'wordLists',
      element: 'u32',
      count: 'one a word',
      endsOf: 'postings',
      meaning: "end of each word's list in `.wordPostings`",
    },
    postings: {
      suffix: 'wordPostings',
      element: 'bytes',
      meaning: 'the codes of the texts with each word, as differences in LEB128',
    },
  },
} as const satisfies SectionGroup;

/** The codes of a column's rows, and its rows by code. */
export const POSTINGS = {
  path: '<path>',
  part: 'posting lists',
  kinds: {
    codes: {
      element: 'narrow',
      count: 'one a row',
      below: 'codes + 1',
      part: 'codes of rows',
      meaning: 'the code of each row',
    },
    starts: {
      suffix: 'postingStarts',
      element: 'u32',
      count: 'codes + 2',
      startsOf: 'postings',
      meaning: 'the rows of code c are `postings[postingStarts[c]]` to `postings[postingStarts[c + 1]]`',
    },
    postings: { element: 'u32', count: 'one a row', below: 'rows', meaning: 'rows by code, ascending within a code' },
  },
} as const satisfies SectionGroup;

/** The bitmaps of values that many rows have. */
export const BITMAPS = {
  path: '<path>',
  part: 'bitmaps',
  variant: 'bitmaps',
  kinds: {
    dense: {
      element: 'u32',
      below: 'codes + 1',
      meaning: 'ascending codes, null included, that more than 1 in 32 rows have',
    },
    bitmaps: { element: 'u32', meaning: 'one bitmap over all rows for each dense code, an even number of words' },
  },
} as const satisfies SectionGroup;

/** The rows that the links of a column point to. */
export const TARGETS = {
  path: '<path>',
  part: 'targets of links',
  kinds: {
    targets: {
      element: 'u32',
      count: 'one a code',
      meaning: "row of the record with the code's id, or `ffffffff`",
    },
  },
} as const satisfies SectionGroup;

/** The counts of the import, with which the other sections are compared. */
export const METADATA = {
  path: '',
  part: 'metadata',
  kinds: { bytes: { suffix: 'metadata', element: 'bytes', meaning: 'counts, fields and outlines by collection' } },
} as const satisfies SectionGroup;

/**
 * Deflate blocks of a run of records. If a checksum of a file of blocks fails, the file is made again. No report counts
 * it.
 */
export const BLOCKS = {
  path: '<collection>/blocks/<i>',
  kinds: {
    independent: { element: 'pieces', meaning: "each record's block by itself, then the separator" },
    independentEnds: {
      element: 'u32',
      count: 'one a record',
      endsOf: 'independent',
      meaning: 'end of each block, after its separator',
    },
    chained: { element: 'pieces', meaning: 'the same, each deflated against at most 4 records before it' },
    chainedEnds: { element: 'u32', count: 'one a record', endsOf: 'chained', meaning: 'end of each block' },
    crcs: { element: 'u32', count: 'one a record', meaning: 'CRC-32 of each record, without its comma' },
    sums: {
      element: 'u32',
      count: 'one a record',
      meaning: "CRC-32 of the run up to and including each record's comma",
    },
  },
} as const satisfies SectionGroup;

/** Identifies the records of a file of blocks. */
export const BLOCKS_TITLE = {
  path: '',
  kinds: { title: { suffix: 'blocks', element: 'bytes', meaning: 'JSON that identifies the records of the blocks' } },
} as const satisfies SectionGroup;

/** Must be changed if blocks are made differently, so that old files are made again. */
const BLOCKS_KIND = 'deflate blocks 3';

/** The title of a file of blocks. Equal titles mean equal records. */
export function blocksTitle({
  generation,
  baseUrl,
}: {
  readonly generation: string;
  readonly baseUrl: string;
}): string {
  return JSON.stringify({ kind: BLOCKS_KIND, generation, baseUrl });
}

/** Whether this is the title of a file of blocks in the format of this version, whatever its records. */
export function isBlocksTitle(text: string): boolean {
  return text.startsWith(`{"kind":"${BLOCKS_KIND}",`);
}

/** All groups in file order: those of a snapshot, then those of a file of blocks. No two kinds have the same suffix. */
export const GROUPS: readonly SectionGroup[] = [
  RECORDS,
  TABLE,
  DICTIONARY,
  GRAMS,
  WORDS,
  POSTINGS,
  BITMAPS,
  TARGETS,
  METADATA,
  BLOCKS,
  BLOCKS_TITLE,
];

/** A typed array with the elements of a section. It determines the element width. */
export type SectionArray = Uint8Array | Uint16Array | Uint32Array | Float64Array;

interface Arrays {
  readonly bytes: Uint8Array;
  readonly pieces: Uint8Array;
  readonly u32: Uint32Array;
  readonly f64: Float64Array;
  readonly narrow: UnsignedArray;
}

type Absent<K extends SectionKind> = K extends { readonly isOptional: true } ? undefined : never;

/** Views of the sections of a group in memory, by key. */
export type SectionViews<G extends SectionGroup> = {
  readonly [K in keyof G['kinds']]: Arrays[G['kinds'][K]['element']] | Absent<G['kinds'][K]>;
};

/** The contents from which a group's sections are written. Bytes may be in pieces, narrow integers in any width. */
export type SectionContents<G extends SectionGroup> = {
  readonly [K in keyof G['kinds']]:
    | (G['kinds'][K]['element'] extends 'pieces' ? Iterable<Uint8Array> : Arrays[G['kinds'][K]['element']])
    | (G['kinds'][K]['element'] extends 'bytes' ? readonly Uint8Array[] : never)
    | Absent<G['kinds'][K]>;
};

/** The path of a group of sections of one run of a collection's records. */
export function runPath({ path }: SectionGroup, collection: string, run: number): string {
  return path.replace('<collection>', collection).replace('<i>', String(run));
}

export function sectionName<G extends SectionGroup>(group: G, key: keyof G['kinds'] & string, path: string): string {
  const suffix = group.kinds[key]?.suffix ?? key;
  return path === '' ? suffix : `${path}.${suffix}`;
}

/** Maps each section of record bytes to the section with the positions of own URLs, by index in the directory. */
export function findLinkSections(sections: readonly Section[]): ReadonlyMap<number, number> {
  const [bytes, positions] = [`.${sectionName(RECORDS, 'bytes', '')}`, `.${sectionName(RECORDS, 'links', '')}`];
  const indexes = new Map(sections.map(({ name }, i) => [name, i]));
  const links = new Map<number, number>();
  sections.forEach(({ name }, i) => {
    const at = name.endsWith(bytes) ? indexes.get(name.slice(0, -bytes.length) + positions) : undefined;
    if (at !== undefined) links.set(i, at);
  });
  return links;
}

/** The bytes of one part of the report, in the file. */
export interface PartBytes {
  readonly name: string;
  readonly bytes: number;
}

const PART_OF_SUFFIX = new Map(
  GROUPS.flatMap((group) =>
    Object.entries(group.kinds).map(([key, { part = group.part }]) => [sectionName(group, key, ''), part]),
  ),
);

/** The bytes of each part of a snapshot. Shared sections count once. Cost: the number of sections. */
export function countPartBytes(sections: readonly Section[]): readonly PartBytes[] {
  const bytes = new Map<string, number>(PARTS.map((name) => [name, 0]));
  const counted = new Set<number>();
  for (const section of sections) {
    if (section.bytes === 0 || counted.has(section.offset)) continue;
    counted.add(section.offset);
    const suffix = section.name.slice(section.name.lastIndexOf('.') + 1);
    const part = PART_OF_SUFFIX.get(suffix) ?? section.name;
    bytes.set(part, (bytes.get(part) ?? 0) + paddedBytes(section.bytes));
  }
  return [...bytes].map(([name, sum]) => ({ name, bytes: sum }));
}
