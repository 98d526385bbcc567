// The progress of a crawl in a directory, from which the next run resumes after a kill: the collections' files, and a
// checkpoint with the position in each. Data is synced to the disk before the checkpoint refers to it.
import { existsSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Collection } from '../../engine/schema/types.ts';
import { attempt, makeFolder, statePaths, readAtMost, replaceFile, syncDirectory } from '../files.ts';
import { type Lock, lock } from '../lock.ts';
import { OperationError } from '../operationError.ts';
import { NOTHING, CollectionPart, type PartState } from './part.ts';

const CHECKPOINT_NAME = 'checkpoint.json';

const CHECKPOINT_BYTES_MAX = 16 << 20;

/** Limit of the pages' marks in the checkpoint, each with its punctuation and its limit. */
const MARKS_CHARACTERS_MAX = 8 << 20;
const MARK_CHARACTERS = 16;

const VERSION = 1;

/** A refresh compares collections again if it resumes comparisons that are older than this. */
const RESUMED_MS_MAX = 3_600_000;

/**
 * The checkpoint. `begun` is the time of the crawl. `isRefresh` means that it compares with an earlier crawl. Once it
 * is accepted, only publishing remains.
 */
interface Checkpoint {
  readonly version: number;
  readonly url: string;
  readonly begun: string;
  readonly isRefresh?: boolean;
  readonly isAccepted: boolean;
  readonly parts: Readonly<Record<string, PartState>>;
}

/** The state of one crawl. One process at a time has it. */
export class CrawlState {
  readonly directory: string;
  readonly lock: Lock;
  readonly url: string;
  readonly begun: string;
  readonly isRefresh: boolean;
  /** Whether an earlier run began it. */
  readonly isResumed: boolean;
  isAccepted: boolean;
  readonly parts = new Map<string, CollectionPart>();
  #saved: Record<string, PartState>;
  #isRemoved = false;

  private constructor(directory: string, held: Lock, checkpoint: Checkpoint, isResumed: boolean) {
    this.directory = directory;
    this.lock = held;
    this.url = checkpoint.url;
    this.begun = checkpoint.begun;
    this.isRefresh = checkpoint.isRefresh === true;
    this.isAccepted = checkpoint.isAccepted;
    this.isResumed = isResumed;
    this.#saved = { ...checkpoint.parts };
  }

  /**
   * Opens the state in a directory, or creates one. A full crawl does not resume a refresh, and a refresh repeats old
   * comparisons. Throws OperationError `usage` if it is of another URL, `file` if it is unusable, damaged, or in use by
   * another process.
   */
  static open(directory: string, url: string, { now, isRefresh }: { now: string; isRefresh: boolean }): CrawlState {
    attempt(`cannot write ${directory}`, () => makeFolder(statePaths(directory).collected));
    const held = lock(statePaths(directory).lock, 'crawls');
    try {
      const checkpoint = checkpointIn(path.join(directory, CHECKPOINT_NAME));
      if (checkpoint && checkpoint.url !== url) {
        const cure = 'remove it, or name another directory with --state';
        throw new OperationError('usage', `${directory} holds a crawl of ${checkpoint.url}, not of ${url}: ${cure}`);
      }
      const initial = { version: VERSION, url, begun: now, isRefresh, isAccepted: false, parts: {} };
      const resumes = checkpoint !== undefined && (isRefresh || checkpoint.isRefresh !== true || checkpoint.isAccepted);
      return new CrawlState(directory, held, resumes ? dropOldParts(checkpoint, now) : initial, resumes);
    } catch (error) {
      held.release();
      throw error;
    }
  }

  get data(): string {
    return statePaths(this.directory).collected;
  }

  /**
   * Opens the parts of these collections at their saved positions, and removes others. `bases` are the base URLs of the
   * upstream. A part without a comparison is from an earlier version and is read again. Cost: a pass over the parts.
   */
  async openParts(collections: readonly Collection[], bases: ReadonlySet<string>): Promise<void> {
    for (const [name, { compared }] of Object.entries(this.#saved)) if (!compared) delete this.#saved[name];
    // The checkpoint must not describe files that are cut below.
    if (this.#isNoted()) this.#write();
    for (const collection of collections) {
      const file = path.join(this.data, `${collection.name}.ndjson`);
      const state = this.#saved[collection.name] ?? NOTHING;
      const origin = { bases, begun: this.begun, assertHeld: this.lock.assertHeld };
      this.parts.set(collection.name, await CollectionPart.open(file, collection, origin, state));
    }
    const names = new Set(collections.map(({ name }) => `${name}.ndjson`));
    attempt(`cannot continue in ${this.data}`, () => {
      for (const name of readdirSync(this.data)) if (!names.has(name)) rmSync(path.join(this.data, name));
      syncDirectory(this.data);
    });
  }

  /** Saves the position of a part, synced to the disk. */
  save(name: string): void {
    const marks = [...this.parts.values()].flatMap((part) => part.marks ?? []);
    const characters = marks.reduce((sum, [, validator]) => sum + (validator?.length ?? 0) + MARK_CHARACTERS, 0);
    if (characters > MARKS_CHARACTERS_MAX) this.parts.get(name)!.marks = undefined;
    this.#saved[name] = this.parts.get(name)!.sync();
    this.#write();
  }

  /** Empties a part. The checkpoint is written before its file is cut. */
  restart(name: string): void {
    this.#saved[name] = NOTHING;
    this.#write();
    this.parts.get(name)!.restart();
  }

  /** Marks the crawl as accepted: only publishing remains. `manifest` is the text of `file`. */
  accept(manifest: string, file: string): void {
    this.#closeParts();
    this.lock.assertHeld();
    const whole = path.join(this.data, file);
    attempt(`cannot write ${whole}`, () => {
      writeFileSync(whole, manifest, { flush: true });
      syncDirectory(this.data);
    });
    this.isAccepted = true;
    this.#write();
  }

  /** Removes everything in the directory except the lock, which `close` removes. */
  remove(): void {
    this.#isRemoved = true;
    this.#closeParts();
    this.lock.assertHeld();
    attempt(`cannot remove ${this.directory}`, () => {
      // First the file from which a later run would resume.
      rmSync(path.join(this.directory, CHECKPOINT_NAME), { force: true });
      for (const name of readdirSync(this.directory)) {
        const file = path.join(this.directory, name);
        if (file !== statePaths(this.directory).lock) rmSync(file, { recursive: true, force: true });
      }
    });
  }

  /** Releases the state for the next run. A crawl without a checkpoint leaves nothing. */
  close(): void {
    try {
      this.#closeParts();
      if (!this.#isRemoved && !this.#isNoted()) this.remove();
    } finally {
      this.lock.release();
    }
    if (this.#isRemoved) removeEmpty(this.directory);
  }

  /** Whether this run or an earlier one has written a checkpoint. */
  #isNoted(): boolean {
    return existsSync(path.join(this.directory, CHECKPOINT_NAME));
  }

  #closeParts(): void {
    // Closes all parts, even if one fails. Throws the first error.
    const failures: unknown[] = [];
    for (const part of this.parts.values()) {
      try {
        part.close();
      } catch (error) {
        failures.push(error);
      }
    }
    this.parts.clear();
    if (failures.length > 0) throw failures[0];
  }

  #write(): void {
    this.lock.assertHeld();
    const file = path.join(this.directory, CHECKPOINT_NAME);
    const { url, begun, isRefresh, isAccepted } = this;
    const checkpoint: Checkpoint = { version: VERSION, url, begun, isRefresh, isAccepted, parts: this.#saved };
    replaceFile(file, JSON.stringify(checkpoint));
  }
}

function dropOldParts(checkpoint: Checkpoint, now: string): Checkpoint {
  const isRecent = Math.abs(Date.parse(now) - Date.parse(checkpoint.begun)) <= RESUMED_MS_MAX;
  if (checkpoint.isRefresh !== true || checkpoint.isAccepted || isRecent) return checkpoint;
  const unfinished = Object.entries(checkpoint.parts).filter(
    ([, { isDone, position }]) => !isDone && position.collected > 0,
  );
  return {
    ...checkpoint,
    begun: unfinished.length > 0 ? checkpoint.begun : now,
    parts: Object.fromEntries(unfinished),
  };
}

function checkpointIn(file: string): Checkpoint | undefined {
  if (!existsSync(file)) return undefined;
  const text = attempt(`cannot read ${file}`, () => readAtMost(file, CHECKPOINT_BYTES_MAX));
  try {
    const checkpoint = JSON.parse(String(text)) as Checkpoint;
    if (checkpoint.version === VERSION) return checkpoint;
  } catch {
    // Not JSON: treated like another version.
  }
  throw new OperationError('file', `${file} is no checkpoint of this program: remove ${path.dirname(file)}`);
}

/** Removes a directory unless it is in use: the next run may have begun. */
function removeEmpty(directory: string): void {
  attempt(`cannot remove ${directory}`, () => {
    try {
      rmdirSync(directory);
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
    }
  });
}
