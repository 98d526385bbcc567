// Reads the records that a page or a citation needs, by their ids and by the links in other records, up to a number of
// records and bytes.
import { type Collection, type CollectionIndex, collectionsOfPath, rowOfId } from '../../../engine/engine.ts';
import { type Member, recordMembers } from '../../../engine/described.ts';
import { labelOf } from './names.ts';
import { ownRest, servedText, type Source, type Visit } from './site.ts';

/** A record by its parsed members. A text that was too long to read whole ends with an ellipsis. */
export type Data = Readonly<Record<string, unknown>>;

/** The record that a link names. It may not exist. */
export interface LinkTarget {
  readonly declared: Collection;
  readonly id: number;
}

/** Path of a record. Of the stored links, only these become links to pages. */
const API_LINK = /^\/api\/(v2|v3)\/([^/?]+)\/(\d{1,15})\/?(?:\?.*)?$/;

/** Records that one reader reads: for a citation, two for each party. */
const RECORDS_MAX = 512;
/** Bytes that are read of one member, of the start of a longer text, and in total. */
const MEMBER_BYTES_MAX = 64 * 1024;
const START_BYTES = 4 * 1024;
const BYTES_MAX = 1024 * 1024;

/** Whether a text is an address of the web. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/\S+$/.test(text) && URL.canParse(text);
}

/** The record that a stored link names; undefined for any other text. Cost: two binary searches at most. */
export function linkTarget(source: Source, text: string): LinkTarget | undefined {
  const [, version, segment = '', digits = ''] = API_LINK.exec(ownRest(source, text) ?? '') ?? [];
  if (version !== 'v2' && version !== 'v3') return undefined;
  const id = Number(digits);
  const candidates = collectionsOfPath(segment, version);
  const hasRecord = ({ name }: Collection): boolean => rowOfId(source.collections(name), id) >= 0;
  const declared = (candidates.length > 1 ? candidates.find(hasRecord) : undefined) ?? candidates[0];
  return declared && { declared, id };
}

export class RecordReader {
  readonly #source: Source;
  readonly visit: Visit;
  readonly #budget = { wholeBytesMax: MEMBER_BYTES_MAX, startBytes: START_BYTES, left: BYTES_MAX };
  #recordsLeft = RECORDS_MAX;

  constructor(source: Source, visit: Visit) {
    this.#source = source;
    this.visit = visit;
  }

  /** The members of a record; undefined if it does not exist, or if enough records were read. */
  record(collection: string, id: number): Data | undefined {
    const index = this.#source.collections(collection);
    return this.row(index, rowOfId(index, id));
  }

  /** The members of the record in a row, likewise. */
  row(index: CollectionIndex, row: number): Data | undefined {
    if (row < 0 || this.#recordsLeft <= 0) return undefined;
    this.#recordsLeft--;
    return dataFrom(recordMembers(index, row, undefined, this.#budget));
  }

  /** The record that a value links to, likewise. */
  linked(value: unknown): Data | undefined {
    const target = this.target(value);
    return target && this.record(target.declared.name, target.id);
  }

  /** The label of the record that a value links to; empty if it has none. */
  name(value: unknown): string {
    const target = this.target(value);
    const index = target && this.#source.collections(target.declared.name);
    const row = index ? rowOfId(index, target.id) : -1;
    return row < 0 ? '' : (labelOf(this.#source, this.visit, index!, row) ?? '');
  }

  target(value: unknown): LinkTarget | undefined {
    return typeof value === 'string' ? linkTarget(this.#source, value) : undefined;
  }

  /** A text as the API returns it, without blanks around; empty for any other value. */
  text(value: unknown): string {
    return typeof value === 'string' ? servedText(this.#source, this.visit, value).trim() : '';
  }
}

export function dataFrom(members: readonly Member[]): Data {
  return Object.fromEntries(members.map(parseMember));
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The members of an embedded record; empty for any other value. */
export function dataOf(value: unknown): Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Data) : {};
}

function parseMember({ key, value }: Member): readonly [key: string, value: unknown] {
  if (value.kind !== 'whole') return [key, value.kind === 'start' ? `${value.text}…` : undefined];
  try {
    return [key, JSON.parse(value.json)];
  } catch {
    // The bytes of a forged snapshot need not be JSON.
    return [key, undefined];
  }
}
