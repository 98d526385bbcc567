// The local copies of a replica: the last two generations that it served, so that it can start without the target.
// `cache.json` names a generation only when its file is complete. Several replicas may share a directory.
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { blocksFileAt } from '../blocks/blockStore.ts';
import {
  attempt,
  cannotRead,
  failWith,
  statIfExists,
  makeFolder,
  openFile,
  renameDurably,
  statWithoutBlocking,
} from '../files.ts';
import { ageMs, withPartialPath } from '../leftovers.ts';
import { OperationError } from '../operationError.ts';
import type { HeldFile } from '../store/load.ts';
import { assertAnswers } from '../timeLimit.ts';
import { partialPath } from './fetch.ts';
import { decodePointer, encodePointer, type Pointer, POINTER_BYTES_MAX, snapshotName } from './target.ts';

/** Generations that are kept: the served one and the previous one. */
const KEPT = 2;
const INDEX_NAME = 'cache.json';
const INDEX_BYTES_MAX = POINTER_BYTES_MAX * (KEPT + 1);
/**
 * A partial file that has not been written to for this long is abandoned. A stalled fetch is given up sooner in every
 * replica.
 */
const ABANDONED_MS = 600_000;
const INDEX_FORMAT = 1;

interface Index {
  readonly format: number;
  readonly target: string;
  readonly pointers: readonly unknown[];
  /** The file that was fetched last. After a rollback it is not the first one. */
  readonly fetched?: string | undefined;
}

export class SnapshotCache {
  readonly directory: string;
  /** The setting that names the directory, for messages. */
  readonly #setting: string;
  readonly #target: string;
  #pointers: readonly Pointer[];
  #fetched: string | undefined;
  /** All generations that this replica has had. Others were fetched by another replica. */
  readonly #known = new Set<string>();
  #served: string | undefined;

  private constructor(directory: string, setting: string, target: string, index: KnownIndex | undefined) {
    this.directory = directory;
    this.#setting = setting;
    this.#target = target;
    this.#pointers = index?.pointers ?? [];
    this.#fetched = index?.fetched;
    for (const { sha256 } of this.#pointers) this.#known.add(sha256);
  }

  /**
   * Opens the cache in a directory, which is created. `setting` names the directory. A damaged index is ignored,
   * because everything can be fetched again. Throws OperationError `usage` if it belongs to another target, and `file`
   * if it cannot be created or read.
   */
  static async open(directory: string, target: string, setting = '--cache'): Promise<SnapshotCache> {
    attempt(`cannot write ${directory}, the folder of ${setting}`, () => makeFolder(directory));
    const index = await readIndex(path.join(directory, INDEX_NAME));
    if (index && index.target !== target)
      throw new OperationError(
        'usage',
        `${directory} has generations of ${index.target}: name another with ${setting}`,
      );
    return new SnapshotCache(directory, setting, target, index);
  }

  /** The cached generations. The one that was served most recently is first. */
  get pointers(): readonly Pointer[] {
    return this.#pointers;
  }

  get fetched(): Pointer | undefined {
    return this.#pointers.find(({ sha256 }) => sha256 === this.#fetched) ?? this.#pointers[0];
  }

  snapshotFile(pointer: Pointer): string {
    return path.join(this.directory, snapshotName(pointer));
  }

  /** Opens the snapshot file of a pointer. Throws OperationError `file`, or `network` if the cache does not respond. */
  async hold(pointer: Pointer): Promise<HeldFile> {
    const file = this.snapshotFile(pointer);
    await assertAnswers(file, this.directory);
    return { descriptor: openFile(file), file };
  }

  /** The path of the compressed records for an address. */
  blocksFile(pointer: Pointer, address: string): string {
    return blocksFileAt(this.snapshotFile(pointer), pointer.generation, address);
  }

  /**
   * Notes that a pointer's generation has been adopted. It is kept, with the one that was served before. If the index
   * cannot be written, for example on a full disk, everything else is removed except the file with which a restart
   * would begin. Throws OperationError `file`, and can be repeated.
   */
  async keep(pointer: Pointer): Promise<void> {
    const others = this.#pointers.filter(({ sha256 }) => sha256 !== pointer.sha256);
    this.#fetched = pointer.sha256;
    this.#known.add(pointer.sha256);
    this.#pointers = this.#sortServedFirst([pointer, ...others]).slice(0, KEPT);
    try {
      await this.#write();
    } catch {
      await this.removeOthers((await this.#readIndex()).slice(0, 1));
      await this.#write();
    }
  }

  /**
   * The pointers in the index if another replica that shares the directory has adopted a newer generation. Its files
   * and the index are then left alone.
   */
  async #downloadedPointers(): Promise<readonly Pointer[]> {
    const stored = await this.#readIndex();
    const newest = Math.max(0, ...this.#pointers.map(({ sequence }) => sequence));
    return stored.some(({ sha256, sequence }) => !this.#known.has(sha256) && sequence > newest) ? stored : [];
  }

  async #readIndex(): Promise<readonly Pointer[]> {
    return (await readIndex(path.join(this.directory, INDEX_NAME)))?.pointers ?? [];
  }

  /**
   * Notes that a generation is served now. If the cache has it, the next start begins with it, whatever was fetched
   * last.
   */
  async noteServed(generation: string): Promise<void> {
    this.#served = generation;
    const pointers = this.#sortServedFirst(this.#pointers);
    if (pointers[0] === this.#pointers[0]) return;
    this.#fetched = this.fetched?.sha256;
    this.#pointers = pointers;
    await this.#write();
  }

  #sortServedFirst(pointers: readonly Pointer[]): readonly Pointer[] {
    const isServed = ({ generation }: Pointer): boolean => generation === this.#served;
    return [...pointers.filter(isServed), ...pointers.filter((pointer) => !isServed(pointer))];
  }

  /** Writes the index, unless another replica is ahead. */
  async #write(): Promise<void> {
    if ((await this.#downloadedPointers()).length > 0) return;
    const file = path.join(this.directory, INDEX_NAME);
    const pointers = this.#pointers.map((pointer) => JSON.parse(encodePointer(pointer)) as unknown);
    const index: Index = { format: INDEX_FORMAT, target: this.#target, pointers, fetched: this.#fetched };
    await withPartialPath(file, async (partial) => {
      await writeFile(partial, JSON.stringify(index), { flush: true });
      await renameDurably(partial, file);
    }).catch(failWith(`cannot write ${file}, in the folder of ${this.#setting}`));
  }

  /** Notes that the target's pointer was seen to be the served one, at a time in milliseconds since 1970. */
  async confirm(nowMs: number): Promise<void> {
    const file = path.join(this.directory, INDEX_NAME);
    const failure = failWith(`cannot write ${file}, in the folder of ${this.#setting}`);
    await utimes(file, nowMs / 1000, nowMs / 1000).catch(failure);
  }

  /** The time of the last confirmation in milliseconds since 1970; undefined before the first one. */
  confirmedMs(): number | undefined {
    return statIfExists(path.join(this.directory, INDEX_NAME))?.mtimeMs;
  }

  /**
   * Removes all generations except those that are kept by this replica, by a replica that is ahead, or in `others`.
   * Partial files that a fetch may still write also stay. Throws OperationError `file`.
   */
  async removeOthers(others: readonly Pointer[] = []): Promise<void> {
    const retained = new Set(
      [...this.#pointers, ...(await this.#downloadedPointers()), ...others].map(({ sha256 }) => sha256),
    );
    const failure = failWith(`cannot remove from ${this.directory}`);
    for (const name of await readdir(this.directory).catch(failure)) {
      const sha256 = /^([0-9a-f]{64})\.snapshot/.exec(name)?.[1];
      if (sha256 === undefined) continue;
      const file = path.join(this.directory, name);
      const isUnneeded = name.endsWith(partialPath(''))
        ? (await ageMs(file)) > ABANDONED_MS && !others.some((other) => other.sha256 === sha256)
        : !retained.has(sha256);
      if (isUnneeded) await rm(file, { force: true }).catch(failure);
    }
  }
}

interface KnownIndex {
  readonly target: string;
  readonly pointers: readonly Pointer[];
  readonly fetched: string | undefined;
}

async function readIndex(file: string): Promise<KnownIndex | undefined> {
  const stats = await statWithoutBlocking(file);
  if (!stats?.isFile() || stats.size > INDEX_BYTES_MAX) return undefined;
  const text = await readFile(file, 'utf8').catch(cannotRead(file));
  try {
    const { format, target, pointers, fetched } = JSON.parse(text) as Index;
    if (format !== INDEX_FORMAT) return undefined;
    return { target, pointers: pointers.map((pointer) => decodePointer(JSON.stringify(pointer), file)), fetched };
  } catch {
    return undefined;
  }
}
