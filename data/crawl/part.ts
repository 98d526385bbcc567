// The records of one collection while a crawl collects them: a file that only grows, what is known of it, and where a
// run that was killed goes on. Knows no upstream.
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { Collection } from '../../engine/schema/types.ts';
import { attempt } from '../files.ts';
import { readLines } from '../import/ndjson.ts';
import { OperationError } from '../operationError.ts';
import { withOwnUrls } from './ownUrls.ts';
import type { SentRecord } from './page.ts';
import type { PageMark, Position } from './walk.ts';

/** Collections, and hosts elsewhere that have such links, of which one collection has some: each takes a set of ids. */
const LINKED_TO_MAX = 4096;
const LINKED_TOO_MUCH = `links to more than ${LINKED_TO_MAX} collections and hosts, the most that is taken`;

/**
 * The pages of a collection as long as all have a validator: by these a renewal knows whether they are as they were.
 * `tooMany` are known by none of them any more.
 */
export type PageMarks = readonly PageMark[] | 'tooMany' | undefined;

/** What is kept of a collection between two runs: where its walk stands, the bytes of its file then, and its pages. */
export interface PartState {
  readonly position: Position;
  readonly bytes: number;
  readonly isDone: boolean;
  readonly pages?: PageMarks;
}

/** The state of a collection of which nothing was collected. */
export const NOTHING: PartState = {
  position: { collected: 0, recent: [], isOrdered: true },
  bytes: 0,
  isDone: false,
  pages: [],
};

/** The ids of a collection, and how often its records link to which: by collection and id. */
interface Contents {
  readonly ids: Set<number>;
  readonly links: Map<string, Map<number, number>>;
}

/** One collection's file; `position` and `isDone` say how far its walk is. */
export class CollectionPart {
  readonly #file: string;
  readonly #idField: string;
  readonly #bases: ReadonlySet<string>;
  readonly #descriptor: number;
  #hash = createHash('sha256');
  #contents: Contents = { ids: new Set(), links: new Map() };
  #bytes = 0;
  position: Position = NOTHING.position;
  isDone = false;
  pages: PageMark[] | Exclude<PageMarks, readonly PageMark[]> = [];

  private constructor(file: string, idField: string, bases: ReadonlySet<string>) {
    this.#file = file;
    this.#idField = idField;
    this.#bases = bases;
    this.#descriptor = this.#attempt(() => openSync(file, 'a'));
  }

  /**
   * The file of a collection of the upstream with the base URLs `bases`, as it was in `state`: what was written later
   * is cut off. Throws OperationError `file`. Cost: a pass over what was collected.
   */
  static async open(
    file: string,
    { name, idField }: Collection,
    bases: ReadonlySet<string>,
    state: PartState,
  ): Promise<CollectionPart> {
    const part = new CollectionPart(file, idField, bases);
    try {
      await part.#readWhole(name, state);
      return part;
    } catch (error) {
      part.close();
      throw error;
    }
  }

  async #readWhole(collection: string, state: PartState): Promise<void> {
    this.#attempt(() => {
      const { size } = fstatSync(this.#descriptor);
      if (size < state.bytes) throw new Error(`it has ${size} bytes, ${state.bytes} were written: remove the state`);
      ftruncateSync(this.#descriptor, state.bytes);
    });
    const whole = { collection, path: this.#file, bytes: state.bytes, sha256: undefined };
    for await (const { bytes } of readLines(whole)) {
      this.#hash.update(bytes);
      this.#bytes += bytes.length;
      for (const line of Buffer.from(bytes).toString().split('\n')) if (line !== '') this.#addLine(line);
    }
    this.position = state.position;
    this.isDone = state.isDone;
    this.pages = state.pages === 'tooMany' ? state.pages : state.pages && [...state.pages];
  }

  get ids(): ReadonlySet<number> {
    return this.#contents.ids;
  }

  /** How long the file is. */
  get bytes(): number {
    return this.#bytes;
  }

  get links(): ReadonlyMap<string, ReadonlyMap<number, number>> {
    return this.#contents.links;
  }

  /** The SHA-256 sum of the file; nothing can be added then. */
  sum(): string {
    return this.#hash.digest('hex');
  }

  /**
   * Adds records as they were sent, in the form of a data set. Answers one whose id is there already, which ends the
   * adding.
   */
  add(records: readonly SentRecord[]): SentRecord | undefined {
    let lines = '';
    for (const record of records) {
      if (this.#contents.ids.has(record.id)) return record;
      lines += `${this.#addRecord(record)}\n`;
    }
    const bytes = Buffer.from(lines);
    this.#hash.update(bytes);
    this.#attempt(() => {
      for (let at = 0; at < bytes.length;) at += writeSync(this.#descriptor, bytes, at);
    });
    this.#bytes += bytes.length;
    return undefined;
  }

  /** Notes a page that was collected. */
  addPage(page: PageMark): void {
    if (page.validator === undefined) this.pages = undefined;
    else if (Array.isArray(this.pages)) this.pages.push(page);
  }

  /** Forgets all records. */
  restart(): void {
    this.#attempt(() => ftruncateSync(this.#descriptor, 0));
    this.#hash = createHash('sha256');
    this.#contents = { ids: new Set(), links: new Map() };
    this.#bytes = 0;
    this.position = { ...NOTHING.position, isOrdered: this.position.isOrdered };
    this.isDone = false;
    this.pages = [];
  }

  /** Waits until the disk has the file; answers its state. */
  sync(): PartState {
    this.#attempt(() => fsyncSync(this.#descriptor));
    return { position: this.position, bytes: this.#bytes, isDone: this.isDone, pages: this.pages };
  }

  /** Closes the file. Throws OperationError `file` where the system says only now what it did not keep. */
  close(): void {
    this.#attempt(() => closeSync(this.#descriptor));
  }

  #addLine(text: string): void {
    const record = this.#attempt(() => JSON.parse(text) as Readonly<Record<string, number>>);
    this.#addRecord({ id: record[this.#idField]!, text });
  }

  #addRecord({ id, text }: SentRecord): string {
    const { ids, links } = this.#contents;
    ids.add(id);
    return withOwnUrls(text, this.#bases, (to, target) => {
      let counts = links.get(to);
      if (!counts) {
        if (links.size === LINKED_TO_MAX) throw new OperationError('input', `${this.#file}: ${LINKED_TOO_MUCH}`);
        links.set(to, (counts = new Map()));
      }
      counts.set(target, (counts.get(target) ?? 0) + 1);
    });
  }

  #attempt<T>(operation: () => T): T {
    return attempt(`cannot go on with ${this.#file}`, operation);
  }
}
