// The only snapshot file I/O: writes a snapshot beside its final name and moves it there whole, and loads one into
// shared memory, checking every byte on the way. A file that fails any check is never opened.
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { checksum, checksumOf } from '../engine/bits/checksum.ts';
import { PLACEHOLDER } from '../engine/column/records.ts';
import { decodeHeader, HEADER_BYTES, isRefusal, type Header, type Refusal } from '../engine/snapshot/header.ts';
import { decodeDirectory, paddedBytes, type Directory, type Section } from '../engine/snapshot/directory.ts';
import type { LoadedSnapshot, Placement } from '../engine/snapshot/open.ts';
import { misplacedLink, Rebase } from '../engine/snapshot/rebase.ts';
import { SnapshotWriter, type Sink } from '../engine/snapshot/write.ts';
import { removedBySignal } from './leftovers.ts';
import { OperationError } from './operationError.ts';
import type { OnProgress } from './progress.ts';

const PAGE_BYTES = 65536;
const MEMORY_BYTES_MAX = 2 ** 32 - PAGE_BYTES;
const WRITE_BYTES = 4 << 20;
const READ_BYTES = 8 << 20;

/**
 * Writes the snapshot that `fill` adds sections to. Answers its bytes and generation. The file appears under its name only
 * when it is whole; a failure or a signal leaves what was there before. Throws OperationError `file` when it cannot be written.
 */
export async function writeSnapshot(
  file: string,
  fill: (writer: SnapshotWriter) => Promise<{ created: string | undefined }>,
): Promise<{ bytes: number; generation: string }> {
  const partial = `${file}.partial-${process.pid}`;
  return removedBySignal(partial, async () => {
    const output = attempt(`cannot write ${file}`, () => new SnapshotOutput(partial));
    try {
      const writer = new SnapshotWriter(output);
      const { created } = await fill(writer);
      const header = writer.finish(created, () => output.hash());
      const written = attempt(`cannot write ${file}`, () => output.close(header));
      attempt(`cannot write ${file}`, () => renameSync(partial, file));
      return written;
    } catch (error) {
      output.discard();
      throw error;
    }
  });
}

/**
 * Loads a snapshot into shared memory with `baseUrl` in its own URLs. Checks, in this order: header, directory, then the
 * checksum of every section. Throws OperationError `snapshot` with what was found, `file` when it cannot be read.
 * Cost: one read and one checksum pass; memory is that of the file and its longer URLs.
 */
export async function loadSnapshot(
  file: string,
  options: { baseUrl: string; memoryBytesMax?: number },
  onProgress: OnProgress = () => undefined,
): Promise<LoadedSnapshot> {
  const descriptor = attempt(`cannot read ${file}`, () => openSync(file, 'r'));
  try {
    const { header, directory } = readDirectory(descriptor, file);
    const base = new TextEncoder().encode(options.baseUrl);
    const growth = base.length - PLACEHOLDER.length;
    const placements = place(directory.sections, growth, options.memoryBytesMax ?? MEMORY_BYTES_MAX);
    const memories = memoriesFor(placements, file);
    const loader = new Loader(descriptor, file, { sections: directory.sections, placements, memories, base });
    await loader.run(onProgress, header.fileBytes);
    const generation = Buffer.from(header.contentHash).toString('hex');
    return {
      memories,
      placements,
      sections: directory.sections,
      generation,
      created: directory.created,
      baseUrl: options.baseUrl,
    };
  } finally {
    closeSync(descriptor);
  }
}

/** SHA-256 of all bytes behind the header, as the header states it. Cost: one pass over the file. */
export async function contentHashOf(file: string, onProgress: OnProgress = () => undefined): Promise<string> {
  const descriptor = attempt(`cannot read ${file}`, () => openSync(file, 'r'));
  try {
    const total = fstatSync(descriptor).size;
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (let at = HEADER_BYTES; ;) {
      const bytes = attempt(`cannot read ${file}`, () => readSync(descriptor, buffer, 0, buffer.length, at));
      if (bytes === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytes));
      at += bytes;
      onProgress({ phase: 'hashing the snapshot', done: at, total, unit: 'bytes' });
      await setImmediate();
    }
  } finally {
    closeSync(descriptor);
  }
}

class SnapshotOutput implements Sink {
  private readonly descriptor: number;
  private readonly file: string;
  private readonly content = createHash('sha256');
  private readonly buffer = Buffer.allocUnsafe(WRITE_BYTES);
  private buffered = 0;
  private bytes = HEADER_BYTES;
  private isOpen = true;

  constructor(file: string) {
    this.file = file;
    this.descriptor = openSync(file, 'w+');
    writeSync(this.descriptor, new Uint8Array(HEADER_BYTES));
  }

  write(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    const isLarge = bytes.length > WRITE_BYTES / 4;
    if (isLarge || this.buffered + bytes.length > WRITE_BYTES) this.flush();
    if (isLarge) this.put(bytes);
    else {
      this.buffer.set(bytes, this.buffered);
      this.buffered += bytes.length;
    }
  }

  holds(offset: number, bytes: Uint8Array): boolean {
    this.flush();
    const found = Buffer.allocUnsafe(Math.min(READ_BYTES, bytes.length));
    for (let at = 0; at < bytes.length; at += found.length) {
      const piece = bytes.subarray(at, at + found.length);
      readInto(this.descriptor, this.file, found.subarray(0, piece.length), offset + at);
      if (!found.subarray(0, piece.length).equals(piece)) return false;
    }
    return true;
  }

  hash(): Uint8Array {
    this.flush();
    return this.content.copy().digest();
  }

  close(header: Uint8Array): { bytes: number; generation: string } {
    this.flush();
    writeSync(this.descriptor, header, 0, header.length, 0);
    fsyncSync(this.descriptor);
    this.isOpen = false;
    closeSync(this.descriptor);
    return { bytes: this.bytes, generation: this.content.digest('hex') };
  }

  discard(): void {
    if (this.isOpen) closeSync(this.descriptor);
    this.isOpen = false;
    rmSync(this.file, { force: true });
  }

  private flush(): void {
    this.put(this.buffer.subarray(0, this.buffered));
    this.buffered = 0;
  }

  private put(bytes: Uint8Array): void {
    this.content.update(bytes);
    for (let at = 0; at < bytes.length;) {
      at += attempt(`cannot write ${this.file}`, () => writeSync(this.descriptor, bytes, at, bytes.length - at));
    }
  }
}

function readDirectory(descriptor: number, file: string): { header: Header; directory: Directory } {
  const fileBytes = fstatSync(descriptor).size;
  const head = new Uint8Array(Math.min(fileBytes, HEADER_BYTES));
  readInto(descriptor, file, head, 0);
  const header = accepted(file, decodeHeader(head, fileBytes));
  const bytes = new Uint8Array(header.directoryBytes);
  readInto(descriptor, file, bytes, header.directoryOffset);
  return { header, directory: accepted(file, decodeDirectory(bytes, header)) };
}

function accepted<T extends object>(file: string, result: T | Refusal): T {
  if (isRefusal(result)) throw new OperationError('snapshot', `${file}: ${result.refusal}`);
  return result;
}

function readInto(descriptor: number, file: string, target: Uint8Array, offset: number): void {
  for (let at = 0; at < target.length;) {
    const wanted = Math.min(target.length - at, READ_BYTES);
    const bytes = attempt(`cannot read ${file}`, () => readSync(descriptor, target, at, wanted, offset + at));
    if (bytes === 0) throw new OperationError('snapshot', `${file}: ended at byte ${offset + at} while it was read`);
    at += bytes;
  }
}

const RECORD_BYTES = /^(.*\/records\/\d+)\.bytes$/;

/**
 * Where every section goes: one after the other, a new memory where the next would pass the limit of one. A section longer
 * than the limit has a memory of its own; one that shares its place in the file shares it in memory.
 */
function place(sections: readonly Section[], growth: number, memoryBytesMax: number): readonly Placement[] {
  const bytesOf = new Map(sections.map(({ name, bytes }) => [name, bytes]));
  const placed = new Map<number, Placement>();
  let memory = 0;
  let end = 0;
  return sections.map(({ name, offset, bytes }) => {
    const known = placed.get(offset);
    if (known && bytes > 0) return known;
    const records = RECORD_BYTES.exec(name);
    const loaded = records ? bytes + growth * ((bytesOf.get(`${records[1]}.links`) ?? 0) / 4) : bytes;
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

function memoriesFor(placements: readonly Placement[], file: string): readonly WebAssembly.Memory[] {
  const ends: number[] = [];
  for (const { memory, offset, bytes } of placements) ends[memory] = offset + paddedBytes(bytes);
  return ends.map((bytes) => {
    const pages = Math.max(1, Math.ceil(bytes / PAGE_BYTES));
    return attempt(`cannot hold ${file} in memory (${bytes} bytes of shared memory)`, () => {
      return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    });
  });
}

interface LoaderParts {
  readonly sections: readonly Section[];
  readonly placements: readonly Placement[];
  readonly memories: readonly WebAssembly.Memory[];
  readonly base: Uint8Array;
}

class Loader {
  private readonly descriptor: number;
  private readonly file: string;
  private readonly parts: LoaderParts;
  private readonly loaded = new Set<Placement>();
  private done = 0;

  constructor(descriptor: number, file: string, parts: LoaderParts) {
    this.descriptor = descriptor;
    this.file = file;
    this.parts = parts;
  }

  /** Columns first: record bytes are rebased with the positions that lie in them. */
  async run(onProgress: OnProgress, total: number): Promise<void> {
    const { sections, placements } = this.parts;
    for (const isRecords of [false, true]) {
      for (let i = 0; i < sections.length; i++) {
        if (RECORD_BYTES.test(sections[i]!.name) !== isRecords || this.loaded.has(placements[i]!)) continue;
        this.loaded.add(placements[i]!);
        if (isRecords) await this.records(i, onProgress, total);
        else this.column(i);
        if (this.report(sections[i]!.bytes)) {
          onProgress({ phase: 'loading the snapshot', done: this.done, total, unit: 'bytes' });
          await setImmediate();
        }
      }
    }
  }

  private unreported = 0;

  private report(bytes: number): boolean {
    this.done += bytes;
    this.unreported += bytes;
    if (this.unreported < READ_BYTES * 4) return false;
    this.unreported = 0;
    return true;
  }

  private view(i: number, bytes: number): Uint8Array {
    const { memory, offset } = this.parts.placements[i]!;
    return new Uint8Array(this.parts.memories[memory]!.buffer, offset, bytes);
  }

  private column(i: number): void {
    const section = this.parts.sections[i]!;
    const target = this.view(i, paddedBytes(section.bytes));
    readInto(this.descriptor, this.file, target, section.offset);
    this.check(section, checksumOf(target));
  }

  private async records(i: number, onProgress: OnProgress, total: number): Promise<void> {
    const { sections, placements, base } = this.parts;
    const section = sections[i]!;
    const links = this.linksOf(section);
    const misfit = misplacedLink(links, section.bytes);
    if (misfit) throw new OperationError('snapshot', `${this.file}: section ${section.name}: ${misfit.refusal}`);
    const rebase = new Rebase(this.view(i, placements[i]!.bytes), links, base);
    const running = checksum();
    const staging = new Uint8Array(Math.min(READ_BYTES, paddedBytes(section.bytes)));
    for (let at = 0; at < section.bytes; at += staging.length) {
      const piece = staging.subarray(0, Math.min(staging.length, paddedBytes(section.bytes) - at));
      readInto(this.descriptor, this.file, piece, section.offset + at);
      running.add(piece);
      rebase.piece(piece.subarray(0, Math.min(piece.length, section.bytes - at)), at);
      onProgress({ phase: 'loading the snapshot', done: this.done + at, total, unit: 'bytes' });
      await setImmediate();
    }
    this.check(section, running.digest());
  }

  /** The positions of the own URLs in a section of record bytes, which is loaded already. */
  private linksOf(records: Section): Uint32Array {
    const name = `${RECORD_BYTES.exec(records.name)![1]}.links`;
    const i = this.parts.sections.findIndex((section) => section.name === name);
    if (i < 0) return new Uint32Array(0);
    const { buffer, byteOffset, length } = this.view(i, this.parts.sections[i]!.bytes);
    return new Uint32Array(buffer, byteOffset, length / 4);
  }

  private check(section: Section, computed: number): void {
    if (computed === section.checksum) return;
    const [got, expected] = [computed, section.checksum].map((sum) => sum.toString(16).padStart(8, '0'));
    throw new OperationError(
      'snapshot',
      `${this.file}: section ${section.name}: checksum ${got}, expected ${expected}`,
    );
  }
}

function attempt<T>(what: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    if (error instanceof OperationError) throw error;
    throw new OperationError('file', `${what}: ${(error as Error).message}`, error);
  }
}
