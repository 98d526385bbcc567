// Loads snapshot files into shared memory, checking every byte on the way. A file that fails any check is never opened.
// Places the sections, makes the memories and divides the work; sectionLoader.ts does it, here or in threads.
import { createHash } from 'node:crypto';
import { closeSync, fstatSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { type Metadata, METADATA_NAME, readMetadata } from '../../engine/snapshot/metadata.ts';
import { decodeDirectory, type Directory, type Section } from '../../engine/snapshot/directory.ts';
import {
  decodeHeader,
  type Header,
  HEADER_BYTES,
  isRefusal,
  paddedBytes,
  type Refusal,
} from '../../engine/snapshot/header.ts';
import { misnamedSection } from '../../engine/snapshot/inventory.ts';
import { type LoadedSnapshot, type Placement, sectionsOf } from '../../engine/snapshot/loaded.ts';
import { tooManyLinks } from '../../engine/snapshot/rebase.ts';
import { linksOfRecords, METADATA, partsOf } from '../../engine/snapshot/sections.ts';
import { attempt, openFile, readInto } from '../files.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { OrderThreads } from '../threadsInOrder.ts';
import { type LoadOrder, type PlacedFile, SectionLoader } from './sectionLoader.ts';

const PAGE_BYTES = 65536;
const MEMORY_BYTES_MAX = 2 ** 32 - PAGE_BYTES;

/** Below this many bytes, starting threads takes longer than loading. */
const INLINE_BYTES_MAX = 128 << 20;
/** More threads than this wait for memory, not for work. */
const THREADS_MAX = 4;
/** Bytes that take much longer to load than to ask another thread for. */
const ORDER_BYTES_MAX = 4 << 20;
/** So many orders a thread, that all end at about the same time. */
const ORDERS_MIN = 8;

/**
 * What to load with: `memoryBytesMax` and `threads` (the calling one included) are chosen well where left out.
 * `assertRoom` is told how many bytes of memory will be taken, before any is, and throws where there is none. A file
 * that `isUncached` is read past the page cache of the system, for one that is not there. If `isOffThread`, other
 * threads read all sections, so that a mount that stops answering blocks no more than them.
 */
export interface LoadOptions {
  readonly baseUrl: string;
  readonly assertRoom?: ((bytes: number) => void) | undefined;
  readonly memoryBytesMax?: number;
  readonly threads?: number;
  readonly isUncached?: boolean | undefined;
  readonly isOffThread?: boolean | undefined;
}

/**
 * Loads a snapshot into shared memory with `baseUrl` in its own URLs. Checks, in this order: header, directory, then
 * the checksum of every section. Throws OperationError `snapshot` with what was found, `file` when it cannot be read.
 * Cost: one read and one checksum pass, divided over the cores; memory is that of the file and its longer URLs.
 */
export async function loadSnapshot(
  file: string,
  options: LoadOptions,
  onProgress: OnProgress = () => undefined,
): Promise<LoadedSnapshot> {
  const descriptor = openFile(file);
  try {
    return await loadHeld({ descriptor, file }, options, onProgress);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * A snapshot file that is held open under its name, so that it can be loaded whatever has taken the name since. One
 * that was imported of a directory has the name of that, and `isNameless`: nothing can lie beside it.
 */
export interface HeldFile {
  readonly descriptor: number;
  readonly file: string;
  readonly isNameless?: boolean;
}

export interface OpenedData {
  readonly loaded: LoadedSnapshot;
  readonly held: HeldFile;
}

/** Loads a snapshot as `loadSnapshot` does; the file stays open. */
export async function loadHeld(
  { descriptor, file }: HeldFile,
  options: LoadOptions,
  onProgress: OnProgress,
): Promise<LoadedSnapshot> {
  const { header, directory, generation } = readDirectory(descriptor, file);
  const { sections, created } = directory;
  const growth = new TextEncoder().encode(options.baseUrl).length - PLACEHOLDER.length;
  const links = linksOfRecords(sections);
  accept(file, tooManyLinks(sections, links) ?? {});
  const growthOf = (i: number): number => (links.has(i) ? growth * (sections[links.get(i)!]!.bytes / 4) : 0);
  const placements = place(sections, growthOf, options.memoryBytesMax ?? MEMORY_BYTES_MAX);
  const ends = endsOf(placements);
  options.assertRoom?.(ends.reduce((sum, bytes) => sum + bytes, 0));
  const memories = memoriesFor(ends, file);
  const threads =
    options.threads ?? (header.fileBytes < INLINE_BYTES_MAX ? 1 : Math.min(THREADS_MAX, availableParallelism()));
  const { baseUrl, isUncached = false, isOffThread = false } = options;
  const placed = { descriptor, file, sections, links, placements, memories, baseUrl, isUncached };
  await load(placed, threads, isOffThread, onProgress);
  return { memories, placements, sections, generation, created, baseUrl };
}

type Loader = Pick<SectionLoader, 'load'>;

/**
 * The positions of own URLs first: record bytes are rebased with them. A shared place is loaded once. The calling
 * thread loads too, so that no time passes until the others run; each takes what is next, so that one that came late
 * does less.
 */
async function load(placed: PlacedFile, threads: number, isOffThread: boolean, onProgress: OnProgress): Promise<void> {
  const { sections, links, placements } = placed;
  const places = new Set<Placement>();
  const once = [...sections.keys()].filter((i) => !places.has(placements[i]!) && places.add(placements[i]!));
  const ofLinks = new Set([...links.values()].map((i) => placements[i]!));
  const isLinks = (i: number): boolean => ofLinks.has(placements[i]!);
  const total = once.reduce((sum, i) => sum + sections[i]!.bytes, 0);
  let done = 0;
  const onBytes = (bytes: number): void => {
    done += bytes;
    onProgress({ phase: 'loading the snapshot', done, total, unit: 'bytes' });
  };
  const own = isOffThread ? undefined : await SectionLoader.open(placed, onBytes);
  let others: OrderThreads | undefined;
  try {
    const pool = new OrderThreads(new URL('./loadThread.ts', import.meta.url), own ? threads - 1 : threads, placed);
    others = pool;
    const inThread: Loader = {
      load: async (indexes) => {
        await pool.ask({ indexes } satisfies LoadOrder);
        onBytes(indexes.reduce((sum, i) => sum + sections[i]!.bytes, 0));
      },
    };
    const loaders = [...(own ? [own] : []), ...Array.from({ length: pool.count }, () => inThread)];
    await loaders[0]!.load(once.filter(isLinks));
    const queue = inOrders(
      once.filter((i) => !isLinks(i)),
      sections,
      Math.min(ORDER_BYTES_MAX, total / loaders.length / ORDERS_MIN),
    );
    const ends = await Promise.allSettled(loaders.map((loader) => takeFrom(queue, loader)));
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  } finally {
    // Threads read through the descriptor, which is closed next.
    own?.close();
    await others?.close();
  }
}

/** Loads what is next in the queue until there is no more. One that fails empties it, so that the others end soon. */
async function takeFrom(queue: (readonly number[])[], loader: Loader): Promise<void> {
  try {
    for (let order = queue.shift(); order; order = queue.shift()) await loader.load(order);
  } catch (error) {
    queue.length = 0;
    throw error;
  }
}

/** Sections in orders, the longest first, short ones together until they have `bytesMin`. */
function inOrders(indexes: readonly number[], sections: readonly Section[], bytesMin: number): (readonly number[])[] {
  const orders: number[][] = [];
  let bytes = Infinity;
  for (const i of indexes.toSorted((a, b) => sections[b]!.bytes - sections[a]!.bytes)) {
    if (bytes >= bytesMin) {
      orders.push([]);
      bytes = 0;
    }
    orders.at(-1)!.push(i);
    bytes += sections[i]!.bytes;
  }
  return orders;
}

/**
 * What names a snapshot: SHA-256 of its header and its directory, in lower-case hexadecimal. Both are read whenever it
 * is loaded, and bind every section by its digest.
 */
export function generationOf(header: Uint8Array, directory: Uint8Array): string {
  return createHash('sha256').update(header).update(directory).digest('hex');
}

export interface HeldDescription {
  readonly bytes: number;
  readonly generation: string;
  readonly created: string | undefined;
}

/** Describes a file that is held open. Throws OperationError `file` or `snapshot`. Cost: reads its directory. */
export function describeHeld({ descriptor, file }: HeldFile): HeldDescription {
  const { header, directory, generation } = readDirectory(descriptor, file);
  return { bytes: header.fileBytes, generation, created: directory.created };
}

/** Header, directory and generation of a file that is held open. Throws OperationError `file` or `snapshot`. */
export function readDirectory(
  descriptor: number,
  file: string,
): { readonly header: Header; readonly directory: Directory; readonly generation: string } {
  const fileBytes = attempt(`cannot read ${file}`, () => fstatSync(descriptor).size);
  const head = new Uint8Array(Math.min(fileBytes, HEADER_BYTES));
  readInto(descriptor, file, head, 0);
  const header = accept(file, decodeHeader(head, fileBytes));
  const bytes = new Uint8Array(header.directoryBytes);
  readInto(descriptor, file, bytes, header.directoryOffset);
  return { header, directory: accept(file, decodeDirectory(bytes, header)), generation: generationOf(head, bytes) };
}

/** What a check of a snapshot file answers, unless it refuses it: then OperationError `snapshot`. */
export function accept<T extends object>(file: string, result: T | Refusal): T {
  if (isRefusal(result)) throw new OperationError('snapshot', `${file}: ${result.refusal}`);
  return result;
}

/**
 * Where every section goes: one after the other, a new memory where the next would pass the limit of one. A section
 * longer than the limit has a memory of its own; one that shares its place in the file shares it in memory.
 */
function place(
  sections: readonly Section[],
  growthOf: (i: number) => number,
  memoryBytesMax: number,
): readonly Placement[] {
  const placed = new Map<number, Placement>();
  let memory = 0;
  let end = 0;
  return sections.map(({ offset, bytes }, i) => {
    const known = placed.get(offset);
    if (known && bytes > 0) return known;
    const loaded = bytes + growthOf(i);
    if (end > 0 && end + paddedBytes(loaded) > memoryBytesMax) {
      memory++;
      end = 0;
    }
    const placement = { memory, offset: end, bytes: loaded };
    end += paddedBytes(loaded);
    if (bytes > 0) placed.set(offset, placement);
    return placement;
  });
}

function endsOf(placements: readonly Placement[]): readonly number[] {
  const ends: number[] = [];
  for (const { memory, offset, bytes } of placements)
    ends[memory] = Math.max(ends[memory] ?? 0, offset + paddedBytes(bytes));
  return ends;
}

function memoriesFor(ends: readonly number[], file: string): readonly WebAssembly.Memory[] {
  return ends.map((bytes) => {
    const pages = Math.max(1, Math.ceil(bytes / PAGE_BYTES));
    return attempt(`cannot hold ${file} in memory (${bytes} bytes of shared memory)`, () => {
      return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    });
  });
}

/**
 * The metadata of a loaded snapshot of a catalogue, whose sections are those that it asks for: other files have the
 * same form (blockStore.ts), and right checksums make no work of import. Asked once, before any thread opens it. Throws
 * OperationError `snapshot` with what was found in `file` and what was expected. Cost: the number of sections.
 */
export function catalogueIn(file: string, loaded: LoadedSnapshot): Metadata {
  const sections = sectionsOf(loaded);
  if (!sections.has(METADATA, METADATA.path)) {
    const why = `no snapshot of a catalogue, since it has no section ${METADATA_NAME}`;
    throw new OperationError('snapshot', `${file}: ${why}`);
  }
  const metadata = accept(file, readMetadata(sections.views(METADATA, METADATA.path).bytes));
  accept(file, misnamedSection(loaded.sections, metadata) ?? {});
  return metadata;
}

/**
 * The bytes of each part of a snapshot in the memory that all threads share, for reports. Cost: the number of sections.
 */
export function bytesByPart({ sections, placements }: LoadedSnapshot): Readonly<Record<string, number>> {
  // Records are longer than in the file by their URLs.
  const loaded = sections.map((section, i) => ({ ...section, bytes: placements[i]!.bytes }));
  return Object.fromEntries(partsOf(loaded).map(({ name, bytes }) => [name, bytes]));
}
