// Blocks that were made before, as what is to be deflated now looks for its records among them: those of a generation
// that is served, in shared memory, or of a file. Rows count through all chunks of a collection. Without them blocks
// for new data take 18 s of CPU at 100,000 observations, not 6.6.
import { upperBound } from '../../engine/bits/lists.ts';
import { type LoadedSnapshot, sectionsOf } from '../../engine/snapshot/loaded.ts';
import {
  BLOCKS,
  BLOCKS_TITLE,
  isBlocksTitle,
  runPath,
  sectionName,
  type SectionViews,
} from '../../engine/snapshot/sections.ts';
import { OperationError } from '../operationError.ts';
import { SectionFile } from '../store/sectionFile.ts';

/** Loaded blocks, or the path of a file of them. Plain data, which threads can be sent. */
export type EarlierBlocks = LoadedSnapshot | string;

/** Some neighbouring blocks of one chunk. The first starts where `start` says in what `ends` counts from. */
export interface BlockStretch {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly ends: Uint32Array;
}

/** The earlier blocks of a collection. `crcs` has the CRC-32 of each record, by row. */
export interface RecordsWithBlocks {
  readonly crcs: Uint32Array;
  /** Whether a row is the first of its chunk. */
  isFirst(row: number): boolean;
  /** The blocks of rows of one chunk, by themselves or chained. Cost: of a file a read, of shared memory none. */
  blocks(kind: 'independent' | 'chained', row: number, end: number): BlockStretch;
}

/** The earlier blocks of each collection, until they are closed. */
export interface OpenedBlocks {
  collection(name: string): RecordsWithBlocks;
  close(): void;
}

/** The sections of one chunk; `read` answers bytes of one of those that are not read at once. */
interface Chunk {
  readonly views: SectionViews<typeof BLOCKS>;
  read(kind: 'independent' | 'chained', from: number, to: number): Uint8Array;
}

/** Opens them; undefined where a file is gone meanwhile. Cost: none, that of a file its directory. */
export function openEarlier(blocks: EarlierBlocks): OpenedBlocks | undefined {
  if (typeof blocks !== 'string') return { collection: (name) => recordsOf(loadedChunks(blocks, name)), close: noop };
  const file = orUndefined(() => new SectionFile(blocks));
  return file && { collection: (name) => recordsOf(fileChunks(file, name)), close: () => file.close() };
}

/**
 * Whether a file has blocks of a title, of this form unless told otherwise, each section with its right checksum. Cost:
 * one pass over it.
 */
export function isSound(file: string, isWanted: (title: string) => boolean = isBlocksTitle): boolean {
  const sections = orUndefined(() => new SectionFile(file));
  if (!sections) return false;
  try {
    const { title } = sections.arrays(BLOCKS_TITLE, BLOCKS_TITLE.path);
    if (!isWanted(Buffer.from(title).toString())) return false;
    sections.assertWhole(sections.sections);
    return true;
  } catch (error) {
    if (error instanceof OperationError) return false;
    throw error;
  } finally {
    sections.close();
  }
}

function noop(): void {}

/** Without earlier blocks everything is deflated, with the same result. */
function orUndefined(open: () => SectionFile): SectionFile | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof OperationError) return undefined;
    throw error;
  }
}

function loadedChunks(loaded: LoadedSnapshot, name: string): readonly Chunk[] {
  const sections = sectionsOf(loaded);
  const chunks: Chunk[] = [];
  for (let i = 0; sections.has(BLOCKS, runPath(BLOCKS, name, i)); i++) {
    const views = sections.views(BLOCKS, runPath(BLOCKS, name, i));
    chunks.push({ views, read: (kind, from, to) => views[kind].subarray(from, to) });
  }
  return chunks;
}

function fileChunks(file: SectionFile, name: string): readonly Chunk[] {
  const chunks: Chunk[] = [];
  const sectionOf = (kind: 'independent' | 'chained', i: number): ReturnType<SectionFile['section']> =>
    file.section(sectionName(BLOCKS, kind, runPath(BLOCKS, name, i)));
  for (let i = 0; sectionOf('chained', i); i++) {
    const read = (kind: 'independent' | 'chained', from: number, to: number): Uint8Array => {
      const bytes = new Uint8Array(to - from);
      file.read(sectionOf(kind, i)!, from, bytes);
      return bytes;
    };
    chunks.push({ views: file.arrays(BLOCKS, runPath(BLOCKS, name, i)), read });
  }
  return chunks;
}

function recordsOf(chunks: readonly Chunk[]): RecordsWithBlocks {
  const firsts = new Float64Array(chunks.length);
  const crcs = new Uint32Array(chunks.reduce((sum, { views }) => sum + views.crcs.length, 0));
  let rows = 0;
  for (const [i, { views }] of chunks.entries()) {
    firsts[i] = rows;
    crcs.set(views.crcs, rows);
    rows += views.crcs.length;
  }
  return {
    crcs,
    isFirst: (row) => firsts.includes(row),
    blocks: (kind, row, end) => {
      const i = upperBound(firsts, row) - 1;
      const { views, read } = chunks[i]!;
      const ends = views[`${kind}Ends`].subarray(row - firsts[i]!, end - firsts[i]!);
      const start = row === firsts[i] ? 0 : views[`${kind}Ends`][row - firsts[i]! - 1]!;
      return { bytes: read(kind, start, ends.at(-1) ?? start), start, ends };
    },
  };
}
