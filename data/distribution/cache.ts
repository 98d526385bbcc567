// What a replica has of a target on its own disk: the last two generations that it served, so that it can start without
// the target. Each is whole before `cache.json` names it. Several replicas may share one directory.
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { blocksFileAt } from '../blocks/blockStore.ts';
import { attempt, cannotRead, failWith, foundAt, makeFolder, openFile, renameDurably, statOf } from '../files.ts';
import { touchedMsAgo, unfinished } from '../leftovers.ts';
import { OperationError } from '../operationError.ts';
import type { HeldFile } from '../store/load.ts';
import { assertAnswers } from '../timeLimit.ts';
import { partialOf } from './fetch.ts';
import { decodePointer, encodePointer, type Pointer, POINTER_BYTES_MAX, snapshotName } from './target.ts';

/** So many generations are kept: the one that is served and the one before. */
const KEPT = 2;
const INDEX_NAME = 'cache.json';
const INDEX_BYTES_MAX = POINTER_BYTES_MAX * (KEPT + 1);
/** What nobody has written to for so long is no fetch: one that stalls is given up sooner, in any replica. */
const ABANDONED_MS = 600_000;
const INDEX_FORMAT = 1;

interface Index {
  readonly format: number;
  readonly target: string;
  readonly pointers: readonly unknown[];
  /** The file that was fetched last, which is not the first where somebody went back from it. */
  readonly fetched?: string | undefined;
}

export class SnapshotCache {
  readonly directory: string;
  /** The setting that names the directory, for messages. */
  readonly #setting: string;
  readonly #target: string;
  #pointers: readonly Pointer[];
  #fetched: string | undefined;
  /** All that it had by now: what is another's, it never had. */
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
   * The cache in a directory, which is made. Throws OperationError: `usage` where it is of another target, `file` where
   * it cannot be had. A damaged index counts for nothing, since all can be fetched again. `setting` names the
   * directory.
   */
  static async open(directory: string, target: string, setting = '--cache'): Promise<SnapshotCache> {
    attempt(`cannot write ${directory}, the folder of ${setting}`, () => makeFolder(directory));
    const index = await indexIn(path.join(directory, INDEX_NAME));
    if (index && index.target !== target)
      throw new OperationError(
        'usage',
        `${directory} has generations of ${index.target}: name another with ${setting}`,
      );
    return new SnapshotCache(directory, setting, target, index);
  }

  /** The generations that it has, the one that was served last first. */
  get pointers(): readonly Pointer[] {
    return this.#pointers;
  }

  get fetched(): Pointer | undefined {
    return this.#pointers.find(({ sha256 }) => sha256 === this.#fetched) ?? this.#pointers[0];
  }

  snapshotFile(pointer: Pointer): string {
    return path.join(this.directory, snapshotName(pointer));
  }

  /** The snapshot file of a pointer, open. Throws OperationError `file`, or `network` if the cache does not answer. */
  async hold(pointer: Pointer): Promise<HeldFile> {
    const file = this.snapshotFile(pointer);
    await assertAnswers(file, this.directory);
    return { descriptor: openFile(file), file };
  }

  /** Where the compressed records for an address lie beside it. */
  blocksFile(pointer: Pointer, address: string): string {
    return blocksFileAt(this.snapshotFile(pointer), pointer.generation, address);
  }

  /**
   * A pointer's generation was taken: it is kept, with the one that was served before. Where that cannot be noted, as
   * on a full disk, all else is removed but what a restart begins with meanwhile. Throws OperationError `file`; may be
   * asked again.
   */
  async keep(pointer: Pointer): Promise<void> {
    const others = this.#pointers.filter(({ sha256 }) => sha256 !== pointer.sha256);
    this.#fetched = pointer.sha256;
    this.#known.add(pointer.sha256);
    this.#pointers = this.#servedFirst([pointer, ...others]).slice(0, KEPT);
    try {
      await this.#write();
    } catch {
      await this.removeOthers((await this.#noted()).slice(0, 1));
      await this.#write();
    }
  }

  /**
   * What the index names where another replica that shares the directory has taken what is newer: that stays, and so
   * does the index.
   */
  async #ahead(): Promise<readonly Pointer[]> {
    const there = await this.#noted();
    const newest = Math.max(0, ...this.#pointers.map(({ sequence }) => sequence));
    return there.some(({ sha256, sequence }) => !this.#known.has(sha256) && sequence > newest) ? there : [];
  }

  async #noted(): Promise<readonly Pointer[]> {
    return (await indexIn(path.join(this.directory, INDEX_NAME)))?.pointers ?? [];
  }

  /** A generation is served now: where it has that one, the next start begins with it, whatever was fetched last. */
  async serves(generation: string): Promise<void> {
    this.#served = generation;
    const pointers = this.#servedFirst(this.#pointers);
    if (pointers[0] === this.#pointers[0]) return;
    this.#fetched = this.fetched?.sha256;
    this.#pointers = pointers;
    await this.#write();
  }

  #servedFirst(pointers: readonly Pointer[]): readonly Pointer[] {
    const isServed = ({ generation }: Pointer): boolean => generation === this.#served;
    return [...pointers.filter(isServed), ...pointers.filter((one) => !isServed(one))];
  }

  /** Writes the index, unless another replica is ahead. */
  async #write(): Promise<void> {
    if ((await this.#ahead()).length > 0) return;
    const file = path.join(this.directory, INDEX_NAME);
    const pointers = this.#pointers.map((one) => JSON.parse(encodePointer(one)) as unknown);
    const index: Index = { format: INDEX_FORMAT, target: this.#target, pointers, fetched: this.#fetched };
    await unfinished(file, async (partial) => {
      await writeFile(partial, JSON.stringify(index), { flush: true });
      await renameDurably(partial, file);
    }).catch(failWith(`cannot write ${file}, in the folder of ${this.#setting}`));
  }

  /** The target's pointer was seen to be the one that is served, now, in milliseconds since 1970. */
  async confirm(nowMs: number): Promise<void> {
    const file = path.join(this.directory, INDEX_NAME);
    const failure = failWith(`cannot write ${file}, in the folder of ${this.#setting}`);
    await utimes(file, nowMs / 1000, nowMs / 1000).catch(failure);
  }

  /** When that was last, in milliseconds since 1970; undefined where it never was. */
  confirmedMs(): number | undefined {
    return foundAt(path.join(this.directory, INDEX_NAME))?.mtimeMs;
  }

  /**
   * Removes all but the generations that are kept, here or by a replica that is ahead, `others`, and partial files that
   * a fetch may still write. Throws OperationError `file`.
   */
  async removeOthers(others: readonly Pointer[] = []): Promise<void> {
    const kept = new Set([...this.#pointers, ...(await this.#ahead()), ...others].map(({ sha256 }) => sha256));
    const failure = failWith(`cannot remove from ${this.directory}`);
    for (const name of await readdir(this.directory).catch(failure)) {
      const sha256 = /^([0-9a-f]{64})\.snapshot/.exec(name)?.[1];
      if (sha256 === undefined) continue;
      const file = path.join(this.directory, name);
      const isUnneeded = name.endsWith(partialOf(''))
        ? (await touchedMsAgo(file)) > ABANDONED_MS && !others.some((other) => other.sha256 === sha256)
        : !kept.has(sha256);
      if (isUnneeded) await rm(file, { force: true }).catch(failure);
    }
  }
}

interface KnownIndex {
  readonly target: string;
  readonly pointers: readonly Pointer[];
  readonly fetched: string | undefined;
}

async function indexIn(file: string): Promise<KnownIndex | undefined> {
  const found = await statOf(file);
  if (!found?.isFile() || found.size > INDEX_BYTES_MAX) return undefined;
  const text = await readFile(file, 'utf8').catch(cannotRead(file));
  try {
    const { format, target, pointers, fetched } = JSON.parse(text) as Index;
    if (format !== INDEX_FORMAT) return undefined;
    return { target, pointers: pointers.map((one) => decodePointer(JSON.stringify(one), file)), fetched };
  } catch {
    return undefined;
  }
}
