// What a crawl has so far, in a directory that outlives a run that is killed: the collections' files, and a checkpoint
// that tells where each stands. Whatever the checkpoint says is on the disk before it says so.
import { existsSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Collection } from '../../engine/schema/types.ts';
import { attempt, makeFolder, placesIn, readAtMost, replaceFile, syncDirectory } from '../files.ts';
import { lock } from '../lock.ts';
import { OperationError } from '../operationError.ts';
import { NOTHING, CollectionPart, type PartState } from './part.ts';

/** Held open until the state is let go of: on NFS a directory cannot go while it has a file that is open. */
const LOCK_NAME = 'lock';
const CHECKPOINT_NAME = 'checkpoint.json';

const CHECKPOINT_BYTES_MAX = 16 << 20;

/** What pages are known by takes up to so much of it, each with the names of its two members. */
const MARKS_CHARACTERS_MAX = 8 << 20;
const MARK_CHARACTERS = 32;

/** The form of the checkpoint. */
const VERSION = 1;

/** What is done of a renewal that began longer ago is renewed once more, which costs little. */
const RENEWAL_MS_MAX = 3_600_000;

/**
 * What the checkpoint holds; `begun` is the time of the crawl, `isRenewal` where it takes what is held for what has not
 * changed, `isAccepted` that only publishing it is left.
 */
interface Checkpoint {
  readonly version: number;
  readonly url: string;
  readonly begun: string;
  readonly isRenewal?: boolean;
  readonly isAccepted: boolean;
  readonly parts: Readonly<Record<string, PartState>>;
}

/** The state of one crawl, held by one process at a time. */
export class CrawlState {
  readonly directory: string;
  readonly url: string;
  readonly begun: string;
  /** Whether what is held stands for what has not changed. */
  readonly isRenewal: boolean;
  /** Whether an earlier run began it. */
  readonly isResumed: boolean;
  isAccepted: boolean;
  readonly parts = new Map<string, CollectionPart>();
  #saved: Record<string, PartState>;
  readonly #letGo: () => void;
  #isRemoved = false;

  private constructor(directory: string, letGo: () => void, checkpoint: Checkpoint, isResumed: boolean) {
    this.directory = directory;
    this.#letGo = letGo;
    this.url = checkpoint.url;
    this.begun = checkpoint.begun;
    this.isRenewal = checkpoint.isRenewal === true;
    this.isAccepted = checkpoint.isAccepted;
    this.isResumed = isResumed;
    this.#saved = { ...checkpoint.parts };
  }

  /**
   * The state in a directory, which is made, or the one that is there; a whole crawl does not go on with a renewal, and
   * what is done of an old renewal is forgotten: it would be taken for what the catalogue has now. Throws
   * OperationError: `usage` where it is of another URL, `file` where it cannot be had, is damaged, or another process
   * has it.
   */
  static open(directory: string, url: string, { now, isRenewal }: { now: string; isRenewal: boolean }): CrawlState {
    attempt(`cannot write ${directory}`, () => makeFolder(placesIn(directory).collected));
    const letGo = lock(path.join(directory, LOCK_NAME), 'crawls');
    try {
      const found = checkpointIn(path.join(directory, CHECKPOINT_NAME));
      if (found && found.url !== url) {
        const cure = 'remove it, or name another with --state';
        throw new OperationError('usage', `${directory} holds a crawl of ${found.url}, not of ${url}: ${cure}`);
      }
      const begun = { version: VERSION, url, begun: now, isRenewal, isAccepted: false, parts: {} };
      const goesOn = found !== undefined && (isRenewal || found.isRenewal !== true || found.isAccepted);
      return new CrawlState(directory, letGo, goesOn ? stillTrue(found, now) : begun, goesOn);
    } catch (error) {
      letGo();
      throw error;
    }
  }

  /** Where the data set is put together. */
  get data(): string {
    return placesIn(this.directory).collected;
  }

  /**
   * Opens the parts of these collections of an upstream with these base URLs, as far as an earlier run got, and removes
   * others. Cost: a pass over them.
   */
  async openParts(collections: readonly Collection[], bases: ReadonlySet<string>): Promise<void> {
    // What an earlier run said of files with which this one does not go on holds no more once one is cut.
    if ((!this.isResumed || this.isRenewal) && this.#isNoted()) this.#write();
    for (const collection of collections) {
      const file = path.join(this.data, `${collection.name}.ndjson`);
      const state = this.#saved[collection.name] ?? NOTHING;
      this.parts.set(collection.name, await CollectionPart.open(file, collection, bases, state));
    }
    const wanted = new Set(collections.map(({ name }) => `${name}.ndjson`));
    attempt(`cannot go on in ${this.data}`, () => {
      for (const name of readdirSync(this.data)) if (!wanted.has(name)) rmSync(path.join(this.data, name));
      syncDirectory(this.data);
    });
  }

  /** Notes where a part stands; once this returns, it is on the disk. */
  save(name: string): void {
    const marks = [...this.parts.values()].flatMap(({ pages }) => (Array.isArray(pages) ? pages : []));
    const characters = marks.reduce((sum, { query, validator }) => sum + query.length + (validator?.length ?? 0), 0);
    if (characters + marks.length * MARK_CHARACTERS > MARKS_CHARACTERS_MAX) this.parts.get(name)!.pages = 'tooMany';
    this.#saved[name] = this.parts.get(name)!.sync();
    this.#write();
  }

  /** Empties a part; the checkpoint says so before its file is cut. */
  restart(name: string): void {
    this.#saved[name] = NOTHING;
    this.#write();
    this.parts.get(name)!.restart();
  }

  /** Nothing but publishing is left; `manifest` is the text of that file. */
  accept(manifest: string, file: string): void {
    this.#closeParts();
    const whole = path.join(this.data, file);
    attempt(`cannot write ${whole}`, () => {
      writeFileSync(whole, manifest, { flush: true });
      syncDirectory(this.data);
    });
    this.isAccepted = true;
    this.#write();
  }

  /** Removes all that is in the directory but its lock, which goes with it as soon as it is closed. */
  remove(): void {
    this.#isRemoved = true;
    this.#closeParts();
    attempt(`cannot remove ${this.directory}`, () => {
      // First what would have a later run go on with the rest.
      rmSync(path.join(this.directory, CHECKPOINT_NAME), { force: true });
      for (const name of readdirSync(this.directory)) {
        if (name !== LOCK_NAME) rmSync(path.join(this.directory, name), { recursive: true, force: true });
      }
    });
  }

  /** Lets go of it, for the next run; what got nowhere leaves nothing. */
  close(): void {
    try {
      this.#closeParts();
      if (!this.#isRemoved && !this.#isNoted()) this.remove();
    } finally {
      this.#letGo();
    }
    if (this.#isRemoved) removeEmpty(this.directory);
  }

  /** Whether this run or an earlier one got somewhere. */
  #isNoted(): boolean {
    return existsSync(path.join(this.directory, CHECKPOINT_NAME));
  }

  #closeParts(): void {
    // Each, whatever the system says of one; that of the first is told.
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
    const file = path.join(this.directory, CHECKPOINT_NAME);
    const { url, begun, isRenewal, isAccepted } = this;
    const checkpoint: Checkpoint = { version: VERSION, url, begun, isRenewal, isAccepted, parts: this.#saved };
    replaceFile(file, JSON.stringify(checkpoint));
  }
}

function stillTrue(found: Checkpoint, now: string): Checkpoint {
  const isNew = Math.abs(Date.parse(now) - Date.parse(found.begun)) <= RENEWAL_MS_MAX;
  if (found.isRenewal !== true || found.isAccepted || isNew) return found;
  const begun = Object.entries(found.parts).filter(([, { isDone, position }]) => !isDone && position.collected > 0);
  return { ...found, begun: begun.length > 0 ? found.begun : now, parts: Object.fromEntries(begun) };
}

function checkpointIn(file: string): Checkpoint | undefined {
  if (!existsSync(file)) return undefined;
  const text = attempt(`cannot read ${file}`, () => readAtMost(file, CHECKPOINT_BYTES_MAX));
  try {
    const checkpoint = JSON.parse(String(text)) as Checkpoint;
    if (checkpoint.version === VERSION) return checkpoint;
  } catch {
    // Told below.
  }
  throw new OperationError('file', `${file} is no checkpoint of this program: remove ${path.dirname(file)}`);
}

/** The next run may be in it already. */
function removeEmpty(directory: string): void {
  attempt(`cannot remove ${directory}`, () => {
    try {
      rmdirSync(directory);
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
    }
  });
}
