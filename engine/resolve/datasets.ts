// Datasets with ids, and the directories of the observations that they belong to (A132). Independent of requests and
// responses.
import { compareBytes } from '../bits/bytes.ts';
import { type CodeRange, codesOfPrefix, textAt } from '../column/dictionary.ts';
import type { FieldIndex } from '../index/field.ts';
import type { CollectionIndex, Link } from '../index/table.ts';
import { locate } from '../query/path.ts';
import { DATASETS } from '../schema/resolved.ts';
import { codeOf, indexAt, type PathIndex, rowsOf, servedAt, storedAt, textIndexAt } from './paths.ts';

/** A dataset, as responses contain it. */
export interface Dataset {
  readonly directory: Uint8Array;
  readonly id: Uint8Array;
  /** Empty if the data has no version. */
  readonly version: string;
}

/** An id followed by a version, as files of climate models have it. */
const VERSIONED = /^(?<id>.+)\.v(?<version>[0-9]+)$/s;

const UTF8 = new TextEncoder();
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** The datasets of a catalogue. Empty if the data has no ids, or if none of their observations is linked. */
export class DatasetIndex {
  readonly #ids: FieldIndex | undefined;
  readonly #versions: FieldIndex | undefined;
  readonly #latest: FieldIndex | undefined;
  readonly #latestCode: number;
  readonly #placed: FieldIndex | undefined;
  readonly #link: Link | undefined;
  readonly #paths: PathIndex;

  constructor(collection: CollectionIndex, paths: PathIndex) {
    this.#paths = paths;
    this.#ids = textIndexAt(collection, DATASETS.id);
    this.#versions = indexAt(collection, DATASETS.version);
    this.#latest = indexAt(collection, DATASETS.isLatest);
    const latest = this.#latest?.dictionary;
    this.#latestCode = latest?.type === 'boolean' ? codeOf(latest, UTF8.encode('true')) : -1;
    const located = locate(collection, DATASETS.placed);
    const isLinked = located?.link?.to() === paths.collection && located.steps.length === 0;
    this.#link = isLinked ? located.link : undefined;
    this.#placed = isLinked ? located.index : undefined;
  }

  codesOf(prefix: Uint8Array): CodeRange {
    return this.#ids ? codesOfPrefix(this.#ids.dictionary, prefix) : { start: 0, end: 0 };
  }

  /**
   * The dataset of a code; if several records have the id, the latest (see `find`). Cost: one read of each record, up
   * to CANDIDATES_MAX.
   */
  at(code: number): Dataset | undefined {
    return this.#best(code, undefined);
  }

  /**
   * The dataset that an id names. If several records have the id, those marked as latest come first, then the highest
   * version, then the lowest record id. An unknown id may end in `.v` and a version. Cost: O(log ids), and each record
   * with the id.
   */
  find(id: Uint8Array): Dataset | undefined {
    if (!this.#ids) return undefined;
    const { dictionary } = this.#ids;
    const code = codeOf(dictionary, id);
    if (code < dictionary.size) return this.#best(code, undefined);
    const parts = VERSIONED.exec(DECODER.decode(id))?.groups;
    if (!parts) return undefined;
    const plain = codeOf(dictionary, UTF8.encode(parts['id']!));
    return plain < dictionary.size ? this.#best(plain, parts['version']) : undefined;
  }

  #best(code: number, version: string | undefined): Dataset | undefined {
    let best = -1;
    for (const row of rowsOf(this.#ids!, code)) {
      if (version !== undefined && this.#versionOf(row) !== version) continue;
      if (this.#directoryOf(row) && (best < 0 || this.#isBetter(row, best))) best = row;
    }
    if (best < 0) return undefined;
    const id = textAt(this.#ids!.dictionary, code);
    return { directory: this.#directoryOf(best)!, id, version: this.#versionOf(best) };
  }

  #isBetter(row: number, other: number): boolean {
    const isLatest = this.#isLatest(row);
    if (isLatest !== this.#isLatest(other)) return isLatest;
    return this.#isHigher(this.#versionCode(row), this.#versionCode(other));
  }

  /** Compares versions. Among texts, those of digits compare as numbers and are higher than all others. */
  #isHigher(code: number, other: number): boolean {
    const dictionary = this.#versions?.dictionary;
    if (dictionary?.type !== 'text' || code < 0 || other < 0) return code > other;
    const [digits, others] = [digitsIn(textAt(dictionary, code)), digitsIn(textAt(dictionary, other))];
    if (!digits || !others) return digits ? true : !others && code > other;
    return (digits.length - others.length || compareBytes(digits, others)) > 0;
  }

  #isLatest(row: number): boolean {
    return this.#latest?.codeAt(row) === this.#latestCode;
  }

  /** Codes ascend as versions do, except for texts. -1 if there is no version. */
  #versionCode(row: number): number {
    const code = this.#versions?.codeAt(row) ?? -1;
    return code === this.#versions?.dictionary.size ? -1 : code;
  }

  #versionOf(row: number): string {
    return servedAt(this.#versions, row, '');
  }

  #directoryOf(row: number): Uint8Array | undefined {
    if (!storedAt(this.#placed, row)) return undefined;
    const target = this.#link!.targets![this.#placed!.codeAt(row)]!;
    return target < this.#paths.collection.rows ? this.#paths.pathOf(target) : undefined;
  }
}

/** A text of digits, without its leading zeros; `undefined` for any other text. */
function digitsIn(text: Uint8Array): Uint8Array | undefined {
  if (text.length === 0 || !text.every((byte) => byte >= 0x30 && byte <= 0x39)) return undefined;
  const start = text.findIndex((byte) => byte > 0x30);
  return text.subarray(start < 0 ? text.length : start);
}
