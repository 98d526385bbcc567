// Loads snapshot files into shared memory and checks every byte. A file that fails any check is never opened. This file
// places the sections, allocates the memories and divides the work. sectionLoader.ts does the work, here or in threads.
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
import { findMisnamedSection } from '../../engine/snapshot/inventory.ts';
import { type LoadedSnapshot, type Placement, openSections } from '../../engine/snapshot/loaded.ts';
import { checkLinkCount } from '../../engine/snapshot/rebase.ts';
import { findLinkSections, METADATA, countPartBytes } from '../../engine/snapshot/sections.ts';
import { attempt, openFile, readInto } from '../files.ts';
import { OperationError } from '../operationError.ts';
import type { OnProgress } from '../progress.ts';
import { OrderThreads } from '../threadsInOrder.ts';
import { type LoadOrder, type PlacedFile, SectionLoader } from './sectionLoader.ts';

const PAGE_BYTES = 65536;
const MEMORY_BYTES_MAX = 2 ** 32 - PAGE_BYTES;

/** For fewer bytes, starting threads takes longer than loading. */
const INLINE_BYTES_MAX = 128 << 20;
/** More threads than this wait for memory bandwidth. */
const THREADS_MAX = 4;
/** Upper limit of the bytes in one order. Loading this many takes much longer than sending an order to a thread. */
const ORDER_BYTES_MAX = 4 << 20;
/** At least this many orders per loader, so that all loaders finish at about the same time. */
const ORDERS_MIN = 8;

/**
 * Options of a load. `memoryBytesMax` and `threads` (including the calling one) have good defaults. `assertRoom` is
 * called with the bytes of memory before any is allocated, and throws if they are not available. `isUncached` reads
 * past the page cache, for a file that is not in it. `isOffThread` reads all sections in other threads, so that a
 * hanging mount blocks only those.
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
 * Loads a snapshot into shared memory, with `baseUrl` in its own URLs. Checks the header, then the directory, then the
 * checksum of every section. Throws OperationError `snapshot` with what was found, and `file` if the file cannot be
 * read. Cost: one read and one checksum pass, divided among the cores. The memory is the size of the file plus its
 * longer URLs.
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
 * An open snapshot file and its name. It can be loaded even if another file has taken the name. A file that was
 * imported from a directory has the directory's name and `isNameless`, so no file can be kept next to it.
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

/** Like `loadSnapshot`, for an open file, which stays open. */
export async function loadHeld(
  { descriptor, file }: HeldFile,
  options: LoadOptions,
  onProgress: OnProgress,
): Promise<LoadedSnapshot> {
  const { header, directory, generation } = readDirectory(descriptor, file);
  const { sections, created } = directory;
  const growth = new TextEncoder().encode(options.baseUrl).length - PLACEHOLDER.length;
  const links = findLinkSections(sections);
  accept(file, checkLinkCount(sections, links) ?? {});
  const insertedBytes = (i: number): number => (links.has(i) ? growth * (sections[links.get(i)!]!.bytes / 4) : 0);
  const placements = place(sections, insertedBytes, options.memoryBytesMax ?? MEMORY_BYTES_MAX);
  const ends = memoryEnds(placements);
  options.assertRoom?.(ends.reduce((sum, bytes) => sum + bytes, 0));
  const memories = allocateMemories(ends, file);
  const threads =
    options.threads ?? (header.fileBytes < INLINE_BYTES_MAX ? 1 : Math.min(THREADS_MAX, availableParallelism()));
  const { baseUrl, isUncached = false, isOffThread = false } = options;
  const placed = { descriptor, file, sections, links, placements, memories, baseUrl, isUncached };
  await load(placed, threads, isOffThread, onProgress);
  return { memories, placements, sections, generation, created, baseUrl };
}

type Loader = Pick<SectionLoader, 'load'>;

/**
 * Loads every place once, even if sections share it. The positions of own URLs come first, because rebasing record
 * bytes needs them. The calling thread loads too, so no time is lost until the threads run. Each loader takes the next
 * order, so a thread that starts late does less.
 */
async function load(placed: PlacedFile, threads: number, isOffThread: boolean, onProgress: OnProgress): Promise<void> {
  const { sections, links, placements } = placed;
  const places = new Set<Placement>();
  const unique = [...sections.keys()].filter((i) => !places.has(placements[i]!) && places.add(placements[i]!));
  const ofLinks = new Set([...links.values()].map((i) => placements[i]!));
  const isLinks = (i: number): boolean => ofLinks.has(placements[i]!);
  const total = unique.reduce((sum, i) => sum + sections[i]!.bytes, 0);
  let done = 0;
  const onBytes = (bytes: number): void => {
    done += bytes;
    onProgress({ phase: 'loading the snapshot', done, total, unit: 'bytes' });
  };
  const local = isOffThread ? undefined : await SectionLoader.open(placed, onBytes);
  let others: OrderThreads | undefined;
  try {
    const pool = new OrderThreads(new URL('./loadThread.ts', import.meta.url), local ? threads - 1 : threads, placed);
    others = pool;
    const inThread: Loader = {
      load: async (indexes) => {
        await pool.ask({ indexes } satisfies LoadOrder);
        onBytes(indexes.reduce((sum, i) => sum + sections[i]!.bytes, 0));
      },
    };
    const loaders = [...(local ? [local] : []), ...Array.from({ length: pool.count }, () => inThread)];
    await loaders[0]!.load(unique.filter(isLinks));
    const queue = groupIntoOrders(
      unique.filter((i) => !isLinks(i)),
      sections,
      Math.min(ORDER_BYTES_MAX, total / loaders.length / ORDERS_MIN),
    );
    const ends = await Promise.allSettled(loaders.map((loader) => loadFromQueue(queue, loader)));
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  } finally {
    // Threads read through the descriptor, which the caller closes next.
    local?.close();
    await others?.close();
  }
}

/** Loads from the queue until it is empty. A failure empties it, so that the other loaders stop soon. */
async function loadFromQueue(queue: (readonly number[])[], loader: Loader): Promise<void> {
  try {
    for (let order = queue.shift(); order; order = queue.shift()) await loader.load(order);
  } catch (error) {
    queue.length = 0;
    throw error;
  }
}

/** Groups sections into orders, longest first. Short sections share an order until it has `bytesMin`. */
function groupIntoOrders(
  indexes: readonly number[],
  sections: readonly Section[],
  bytesMin: number,
): (readonly number[])[] {
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
 * The name of a snapshot: SHA-256 of its header and directory, in lower-case hexadecimal. Every load reads both, and
 * the directory has the digest of every section.
 */
export function hashGeneration(header: Uint8Array, directory: Uint8Array): string {
  return createHash('sha256').update(header).update(directory).digest('hex');
}

export interface HeldDescription {
  readonly bytes: number;
  readonly generation: string;
  readonly created: string | undefined;
}

/** Describes an open file. Throws OperationError `file` or `snapshot`. Cost: reading its directory. */
export function describeSnapshot({ descriptor, file }: HeldFile): HeldDescription {
  const { header, directory, generation } = readDirectory(descriptor, file);
  return { bytes: header.fileBytes, generation, created: directory.created };
}

/** Reads the header, directory and generation of an open file. Throws OperationError `file` or `snapshot`. */
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
  return { header, directory: accept(file, decodeDirectory(bytes, header)), generation: hashGeneration(head, bytes) };
}

/** Returns the result of a check of a snapshot file. Throws OperationError `snapshot` for a refusal. */
export function accept<T extends object>(file: string, result: T | Refusal): T {
  if (isRefusal(result)) throw new OperationError('snapshot', `${file}: ${result.refusal}`);
  return result;
}

/**
 * Places all sections one after another. A new memory starts when the next section would exceed the limit of one. A
 * section longer than the limit has its own memory. Sections that share their place in the file share it in memory.
 */
function place(
  sections: readonly Section[],
  insertedBytes: (i: number) => number,
  memoryBytesMax: number,
): readonly Placement[] {
  const placed = new Map<number, Placement>();
  let memory = 0;
  let end = 0;
  return sections.map(({ offset, bytes }, i) => {
    const known = placed.get(offset);
    if (known && bytes > 0) return known;
    const loaded = bytes + insertedBytes(i);
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

function memoryEnds(placements: readonly Placement[]): readonly number[] {
  const ends: number[] = [];
  for (const { memory, offset, bytes } of placements)
    ends[memory] = Math.max(ends[memory] ?? 0, offset + paddedBytes(bytes));
  return ends;
}

function allocateMemories(ends: readonly number[], file: string): readonly WebAssembly.Memory[] {
  return ends.map((bytes) => {
    const pages = Math.max(1, Math.ceil(bytes / PAGE_BYTES));
    return attempt(`cannot hold ${file} in memory (${bytes} bytes of shared memory)`, () => {
      return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    });
  });
}

/**
 * The metadata of a loaded snapshot. Checks that the file has exactly the sections that its metadata requires: blocks
 * files have the same format (blockStore.ts), and right checksums do not prove that import wrote the file. Call it
 * once, before any thread opens the snapshot. Throws OperationError `snapshot` with what was found in `file` and what
 * was expected. Cost: the number of sections.
 */
export function readCatalogue(file: string, loaded: LoadedSnapshot): Metadata {
  const sections = openSections(loaded);
  if (!sections.has(METADATA, METADATA.path)) {
    const reason = `no snapshot of a catalogue, since it has no section ${METADATA_NAME}`;
    throw new OperationError('snapshot', `${file}: ${reason}`);
  }
  const metadata = accept(file, readMetadata(sections.views(METADATA, METADATA.path).bytes));
  accept(file, findMisnamedSection(loaded.sections, metadata) ?? {});
  return metadata;
}

/** The bytes of each part of a snapshot in shared memory, for reports. Cost: the number of sections. */
export function bytesByPart({ sections, placements }: LoadedSnapshot): Readonly<Record<string, number>> {
  // Records are longer than in the file because of their URLs.
  const loaded = sections.map((section, i) => ({ ...section, bytes: placements[i]!.bytes }));
  return Object.fromEntries(countPartBytes(loaded).map(({ name, bytes }) => [name, bytes]));
}
