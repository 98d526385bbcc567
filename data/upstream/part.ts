// The records of one collection during a crawl: a file that only grows, its contents as far as needed, and the position
// where the next run resumes. Knows no upstream.
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeFileSync } from 'node:fs';
import type { Collection } from '../../engine/schema/types.ts';
import { attempt } from '../files.ts';
import { readLines } from '../import/ndjson.ts';
import { OperationError } from '../operationError.ts';
import { parseInstant } from '../../engine/query/decimal.ts';
import type { ComparisonKind } from './held.ts';
import { type PageMark, recordIn, type SentRecord, withOwnUrls } from './page.ts';
import type { Position } from './walk.ts';

/** Collections and foreign hosts with such links that one collection may link to. Each takes a set of ids. */
const LINKED_TO_MAX = 4096;
const LINKED_TOO_MUCH = `links to more than ${LINKED_TO_MAX} collections and hosts, the most that is taken`;

/**
 * A collection in the checkpoint: the position of its walk, the bytes of its file at that point, how it was compared
 * with the upstream, its pages and the number of their requests. Without `marks` its validators are not used.
 */
export interface PartState {
  readonly position: Position;
  readonly bytes: number;
  readonly isDone: boolean;
  readonly compared?: ComparisonKind;
  readonly requests?: number;
  readonly marks?: readonly PageMark[] | undefined;
}

/** The state of a collection before its first record. */
export const NOTHING: PartState = {
  position: { collected: 0, recent: [], isOrdered: true },
  bytes: 0,
  isDone: false,
  marks: [],
};

/** A modification date that is later than the start of the crawl by more than this is ignored: zones differ by less. */
export const OVERLAP_MICROSECONDS = 86_400_000_000;

/** The ids of a collection, the number of links to each record (by collection and id), and its modification dates. */
interface Contents {
  readonly ids: Set<number>;
  readonly links: Map<string, Map<number, number>>;
  lastId: number;
  isAscending: boolean;
  isDated: boolean;
  latest: string | undefined;
  /** In microseconds since 1970. */
  latestInstant: number;
}

function noContents(): Contents {
  const [ids, links] = [new Set<number>(), new Map<string, Map<number, number>>()];
  return { ids, links, lastId: -1, isAscending: true, isDated: true, latest: undefined, latestInstant: 0 };
}

/** The base URLs of the upstream, and the start of the crawl. */
export interface CrawlOrigin {
  readonly bases: ReadonlySet<string>;
  readonly begun: string;
  /** Throws OperationError `file` if another process has taken the state. */
  readonly assertHeld: () => void;
}

/** The file of one collection. `position` and `isDone` are the progress of its walk. */
export class CollectionPart {
  readonly #file: string;
  readonly #idField: string;
  readonly #bases: ReadonlySet<string>;
  readonly #descriptor: number;
  #hash = createHash('sha256');
  readonly #latestMax: number;
  readonly #assertHeld: () => void;
  #contents = noContents();
  #bytes = 0;
  position: Position = NOTHING.position;
  isDone = false;
  compared: ComparisonKind = 'full';
  requests = 0;
  marks: PageMark[] | undefined = [];

  private constructor(file: string, idField: string, { bases, begun, assertHeld }: CrawlOrigin) {
    this.#file = file;
    this.#idField = idField;
    this.#bases = bases;
    this.#latestMax = parseInstant(begun) + OVERLAP_MICROSECONDS;
    this.#assertHeld = assertHeld;
    this.#descriptor = this.#attempt(() => openSync(file, 'a'));
  }

  /**
   * Opens the file of a collection as it was in `state`, and cuts off later bytes. Throws OperationError `file`. Cost:
   * a pass over the file.
   */
  static async open(
    file: string,
    { name, idField }: Collection,
    origin: CrawlOrigin,
    state: PartState,
  ): Promise<CollectionPart> {
    const part = new CollectionPart(file, idField, origin);
    try {
      await part.#readWhole(name, state);
      return part;
    } catch (error) {
      part.close();
      throw error;
    }
  }

  async #readWhole(collection: string, state: PartState): Promise<void> {
    this.#assertHeld();
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
    this.compared = state.compared ?? 'full';
    this.requests = state.requests ?? 0;
    this.marks = state.marks && [...state.marks];
  }

  get ids(): ReadonlySet<number> {
    return this.#contents.ids;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get links(): ReadonlyMap<string, ReadonlyMap<number, number>> {
    return this.#contents.links;
  }

  /** The latest modification date that is not ignored, if every record has one and the ids ascend. */
  get latest(): string | undefined {
    const { isDated, isAscending, latest } = this.#contents;
    return isDated && isAscending ? latest : undefined;
  }

  /** The SHA-256 sum of the file. Add nothing after this. */
  sum(): string {
    return this.#hash.digest('hex');
  }

  /**
   * Adds records as they were sent, in the form of a data set. Stops at a record whose id has been added before, and
   * returns it.
   */
  add(records: readonly SentRecord[]): SentRecord | undefined {
    let lines = '';
    for (const record of records) {
      if (this.#contents.ids.has(record.id)) return record;
      lines += `${this.#addRecord(record)}\n`;
    }
    const bytes = Buffer.from(lines);
    this.#hash.update(bytes);
    this.#assertHeld();
    this.#attempt(() => writeFileSync(this.#descriptor, bytes));
    this.#bytes += bytes.length;
    return undefined;
  }

  /** Notes a page that was collected. `isUnchanged` means that its response was a 304. */
  addPage(mark: PageMark, isUnchanged: boolean): void {
    this.requests++;
    if (isUnchanged) this.compared = 'validators';
    this.marks?.push(mark);
  }

  /** Removes all records, so that the collection is read from its start. */
  restart(): void {
    this.#attempt(() => ftruncateSync(this.#descriptor, 0));
    this.#hash = createHash('sha256');
    this.#contents = noContents();
    this.#bytes = 0;
    this.position = { ...NOTHING.position, isOrdered: this.position.isOrdered };
    this.isDone = false;
    this.compared = 'full';
    this.requests = 0;
    this.marks = [];
  }

  /** Syncs the file to the disk. Returns its state. */
  sync(): PartState {
    this.#attempt(() => fsyncSync(this.#descriptor));
    const { position, isDone, compared, requests, marks } = this;
    return { position, bytes: this.#bytes, isDone, compared, requests, marks };
  }

  /** Closes the file. Throws OperationError `file` if the system reports a failed write only now. */
  close(): void {
    this.#attempt(() => closeSync(this.#descriptor));
  }

  #addLine(text: string): void {
    this.#addRecord(this.#attempt(() => recordIn(text, this.#idField)));
  }

  #addRecord({ id, stamp, text }: SentRecord): string {
    const { ids, links } = this.#contents;
    ids.add(id);
    this.#addDate(id, stamp);
    return withOwnUrls(text, this.#bases, (to, target) => {
      let counts = links.get(to);
      if (!counts) {
        if (links.size === LINKED_TO_MAX) throw new OperationError('input', `${this.#file}: ${LINKED_TOO_MUCH}`);
        links.set(to, (counts = new Map()));
      }
      counts.set(target, (counts.get(target) ?? 0) + 1);
    });
  }

  #addDate(id: number, stamp: string | undefined): void {
    const contents = this.#contents;
    const instant = parseInstant(stamp ?? '');
    contents.isAscending &&= id > contents.lastId;
    contents.lastId = id;
    contents.isDated &&= !Number.isNaN(instant);
    if (!(instant > contents.latestInstant) || instant > this.#latestMax) return;
    contents.latest = stamp;
    contents.latestInstant = instant;
  }

  #attempt<T>(operation: () => T): T {
    return attempt(`cannot continue with ${this.#file}`, operation);
  }
}
