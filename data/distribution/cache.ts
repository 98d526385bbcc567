// What a replica has of a target on its own disk: the last two generations that it served, so that it can start without
// the target. Each is whole before `cache.json` names it. Several replicas may share one directory.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { blocksFileAt } from '../blocks/blockFiles.ts';
import { attempt, readAtMost, syncDirectory } from '../files.ts';
import { unfinished } from '../leftovers.ts';
import { OperationError } from '../operationError.ts';
import { partialOf } from './fetch.ts';
import { decodePointer, encodePointer, type Pointer, POINTER_BYTES_MAX, snapshotName } from './pointer.ts';

/** So many generations are kept: the one that is served and the one before. */
const KEPT = 2;
const INDEX_NAME = 'cache.json';
const INDEX_BYTES_MAX = POINTER_BYTES_MAX * (KEPT + 1);
/** The form of `cache.json`. */
const INDEX_FORMAT = 1;

interface Index {
  readonly format: number;
  readonly target: string;
  readonly pointers: readonly unknown[];
}

/** The cache of one target. */
export class SnapshotCache {
  readonly #directory: string;
  readonly #target: string;
  #pointers: readonly Pointer[];

  private constructor(directory: string, target: string, pointers: readonly Pointer[]) {
    this.#directory = directory;
    this.#target = target;
    this.#pointers = pointers;
  }

  /**
   * The cache in a directory, which is made. Throws OperationError: `usage` where it is of another target, `file` where
   * it cannot be had. A damaged index counts for nothing, since all can be fetched again.
   */
  static open(directory: string, target: string): SnapshotCache {
    attempt(`cannot write ${directory}`, () => mkdirSync(directory, { recursive: true }));
    const index = indexIn(path.join(directory, INDEX_NAME));
    if (index && index.target !== target)
      throw new OperationError('usage', `${directory} has generations of ${index.target}: name another with --cache`);
    return new SnapshotCache(directory, target, index?.pointers ?? []);
  }

  /** The generations that it has, the one that was served last first. */
  get pointers(): readonly Pointer[] {
    return this.#pointers;
  }

  /** Where the snapshot of a pointer lies. */
  snapshotFile(pointer: Pointer): string {
    return path.join(this.#directory, snapshotName(pointer));
  }

  /** Where the compressed records for an address lie beside it. */
  blocksFile(pointer: Pointer, address: string): string {
    return blocksFileAt(this.snapshotFile(pointer), pointer.generation, address);
  }

  /** A pointer's generation is served: it is kept, with the one before, and all else is removed. */
  async keep(pointer: Pointer): Promise<void> {
    const others = this.#pointers.filter(({ sha256 }) => sha256 !== pointer.sha256);
    this.#pointers = [pointer, ...others].slice(0, KEPT);
    const file = path.join(this.#directory, INDEX_NAME);
    const pointers = this.#pointers.map((one) => JSON.parse(encodePointer(one)) as unknown);
    const index: Index = { format: INDEX_FORMAT, target: this.#target, pointers };
    await unfinished(file, async (partial) =>
      attempt(`cannot write ${file}`, () => {
        writeFileSync(partial, JSON.stringify(index), { flush: true });
        renameSync(partial, file);
        syncDirectory(this.#directory);
      }),
    );
    this.#removeOthers();
  }

  /** The target's pointer was seen to be the one that is served, now, in milliseconds since 1970. */
  confirm(nowMs: number): void {
    const file = path.join(this.#directory, INDEX_NAME);
    attempt(`cannot write ${file}`, () => utimesSync(file, nowMs / 1000, nowMs / 1000));
  }

  /** When that was last, in milliseconds since 1970; undefined where it never was. */
  confirmedMs(): number | undefined {
    return statSync(path.join(this.#directory, INDEX_NAME), { throwIfNoEntry: false })?.mtimeMs;
  }

  #removeOthers(): void {
    const kept = new Set(this.#pointers.map(({ sha256 }) => sha256));
    attempt(`cannot remove from ${this.#directory}`, () => {
      for (const name of readdirSync(this.#directory)) {
        const sha256 = /^([0-9a-f]{64})\.snapshot/.exec(name)?.[1];
        const isLeft = sha256 !== undefined && (!kept.has(sha256) || name.endsWith(partialOf('')));
        if (isLeft) rmSync(path.join(this.#directory, name), { force: true });
      }
    });
  }
}

function indexIn(file: string): { readonly target: string; readonly pointers: readonly Pointer[] } | undefined {
  if (!existsSync(file)) return undefined;
  const text = attempt(`cannot read ${file}`, () => readAtMost(file, INDEX_BYTES_MAX));
  try {
    const { format, target, pointers } = JSON.parse(String(text)) as Index;
    if (format !== INDEX_FORMAT) return undefined;
    return { target, pointers: pointers.map((one) => decodePointer(JSON.stringify(one), file)) };
  } catch {
    return undefined;
  }
}
