// The data set directory of the last crawl: its files and, in the manifest, how each collection was read. A manifest is
// trusted only as far as its form: the checksums of the files are compared before any of them is used.
import { closeSync, existsSync } from 'node:fs';
import { GrowableF64 } from '../../engine/bits/growable.ts';
import { isObject } from '../../engine/bits/json.ts';
import { parseInstant } from '../../engine/query/decimal.ts';
import { attempt, openFile, readAllAt } from '../files.ts';
import type { Manifest } from '../import/manifest.ts';
import { type CollectionFile, type DataSet, openDataSet, readLines } from '../import/ndjson.ts';
import { OperationError } from '../operationError.ts';
import { type PageMark, recordIn, type SentRecord } from './page.ts';

/** A time later than all others. */
const NEVER = '9999-12-31T23:59:59Z';

/**
 * The method by which a collection was compared with the upstream: the dates of its records, the validators of its
 * pages (at least one response was a 304), or reading every record.
 */
export type ComparisonKind = 'dates' | 'validators' | 'full';

/** How the last crawl read a collection. The manifest has one of these for each. */
export interface CollectionRead {
  readonly compared: ComparisonKind;
  /** When the last crawl began that read every record of it. */
  readonly lastFullRead: string;
  /** The number of requests for its pages. */
  readonly requests: number;
  /** Whether the upstream lists it by ascending id. */
  readonly isOrdered: boolean;
  /** The latest modification date, if every record has one and the ids ascend. */
  readonly latest?: string | undefined;
  /** Its pages, if one of them has a validator. */
  readonly pages?: readonly PageMark[] | undefined;
}

/** A collection of the last crawl. */
export interface HeldCollection extends CollectionRead {
  readonly file: CollectionFile;
}

/** The collections in `output` from a crawl of this base URL. Empty if the data is from another catalogue. */
export async function readHeld(output: string, base: string): Promise<ReadonlyMap<string, HeldCollection>> {
  const { files, manifest } = (await readDataSet(output)) ?? {};
  const reads = manifest?.collections;
  if (!files || manifest?.source !== base || !isObject(reads)) return new Map();
  return new Map(
    files.flatMap((file) => {
      const read = reads[file.collection];
      const isUsable = file.sha256 !== undefined && file.path.endsWith('.ndjson') && isCollectionRead(read);
      return isUsable ? [[file.collection, { ...read, file }] as const] : [];
    }),
  );
}

function isCollectionRead(value: unknown): value is CollectionRead {
  if (!isObject(value)) return false;
  const { compared, lastFullRead, requests, isOrdered, latest = '', pages = [] } = value;
  return (
    (compared === 'dates' || compared === 'validators' || compared === 'full') &&
    typeof lastFullRead === 'string' &&
    Number.isSafeInteger(requests) &&
    typeof isOrdered === 'boolean' &&
    typeof latest === 'string' &&
    Array.isArray(pages) &&
    pages.every(isPageMark)
  );
}

function isPageMark(value: unknown): value is PageMark {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [limit, validator] = value as unknown[];
  const isLimit = Number.isSafeInteger(limit) && Number(limit) > 1 && Number(limit) < 1e9;
  return isLimit && (validator === null || (typeof validator === 'string' && /^[\x20-\x7e]{1,250}$/.test(validator)));
}

/** The records of a file from a crawl, by their index in it. Call `close` after use. */
export class HeldRecords {
  readonly #file: string;
  readonly #idField: string;
  readonly #descriptor: number;
  /** The end of each line, after its line break. */
  readonly #ends: Float64Array;

  private constructor(file: string, idField: string, ends: Float64Array) {
    this.#file = file;
    this.#idField = idField;
    this.#ends = ends;
    this.#descriptor = openFile(file);
  }

  /** Opens a file. Returns undefined if its checksum is wrong. Cost: a pass over it, and 8 bytes of memory a record. */
  static async open(file: CollectionFile, idField: string): Promise<HeldRecords | undefined> {
    const ends = await ignoreDamaged(lineEnds(file));
    return ends && new HeldRecords(file.path, idField, ends);
  }

  get count(): number {
    return this.#ends.length;
  }

  /** The records from `start` to `end` (exclusive), as far as they exist. */
  slice(start: number, end: number): readonly SentRecord[] {
    const last = Math.min(end, this.count);
    if (start >= last) return [];
    const offset = start === 0 ? 0 : this.#ends[start - 1]!;
    const bytes = Buffer.allocUnsafe(this.#ends[last - 1]! - offset);
    const filled = attempt(`cannot read ${this.#file}`, () => readAllAt(this.#descriptor, bytes, offset));
    if (filled < bytes.length) throw new OperationError('file', `${this.#file} was truncated while it was read`);
    const lines = bytes.toString().split('\n').slice(0, -1);
    return lines.map((text) => recordIn(text, this.#idField));
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

async function lineEnds(file: CollectionFile): Promise<Float64Array> {
  const ends = new GrowableF64();
  let start = 0;
  for await (const { bytes } of readLines(file)) {
    for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) ends.push(start + at + 1);
    start += bytes.length;
  }
  return ends.view();
}

/** The time of the data in `output`, if it has one. */
export async function readCreated(output: string): Promise<string | undefined> {
  return (await readDataSet(output))?.manifest.created;
}

/**
 * The time of data that replaces data of the time `before`: `now`, or a second after `before` if the clock went back.
 * Replicas and publishers refuse older data (A111).
 */
export function laterTime(before: string | undefined, now: string): string {
  const held = parseInstant(before ?? '');
  if (!(parseInstant(now) < held && held < parseInstant(NEVER))) return now;
  return `${new Date(held / 1000 + 1000).toISOString().slice(0, 19)}Z`;
}

/**
 * The manifest in `output` if its files have exactly these sums. Cost: a pass over the files if the manifest has the
 * same sums.
 */
export async function findUnchanged(
  output: string,
  sha256: Readonly<Record<string, string>>,
): Promise<Manifest | undefined> {
  const dataSet = await readDataSet(output);
  const { manifest, files } = dataSet ?? {};
  const isSame =
    manifest?.created !== undefined &&
    manifest.sha256.size === Object.keys(sha256).length &&
    Object.entries(sha256).every(([file, sum]) => manifest.sha256.get(file) === sum);
  if (!isSame) return undefined;
  for (const file of files!) if (!(await ignoreDamaged(lineEnds(file)))) return undefined;
  return manifest;
}

/** Undefined for a data set that cannot be read: it is replaced. */
async function readDataSet(output: string): Promise<DataSet | undefined> {
  return existsSync(output) ? ignoreDamaged(openDataSet(output)) : undefined;
}

/** The result of reading data; undefined if the data is damaged. */
async function ignoreDamaged<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (error instanceof OperationError && error.code === 'input') return undefined;
    throw error;
  });
}
