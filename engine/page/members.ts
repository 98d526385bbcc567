// Reads the top-level members of a record one by one, for pages for people. A member is parsed up to a limit of bytes.
// Of a longer text it returns the start, of other long values only the size.
import { findChunk, type Outlines } from '../column/records.ts';
import { keyText } from '../bits/json.ts';
import { membersPart, newPart, recordStart } from './cut.ts';
import type { ServedRows } from './rows.ts';

/**
 * A member's value: `whole` is its JSON text, `start` the beginning of a text above the limit. Other values above the
 * limit are `long`.
 */
export type MemberValue =
  | { readonly kind: 'whole'; readonly json: string }
  | { readonly kind: 'start'; readonly text: string; readonly bytes: number }
  | { readonly kind: 'long'; readonly bytes: number };

export interface Member {
  readonly key: string;
  readonly value: MemberValue;
}

export interface MemberBudget {
  /** Members up to this size are read whole. */
  readonly wholeBytesMax: number;
  /** Bytes to read of a longer text. */
  readonly startBytes: number;
  /** Bytes that may still be read in total; reduced by every read. */
  left: number;
}

/** Members of a record that are read. People read no more, and a record may have millions. */
const MEMBERS_LOOKED_AT_MAX = 4096;
const QUOTE = 0x22;
/** The maximum length of a JSON escape: a text cut within one ends up to this much earlier. */
const ESCAPE_CHARACTERS = 6;

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The members of the record in a row, in its order; with `keys`, only those. Links have the base URL of the store,
 * whatever the form. Cost: a step per member, and the bytes that the budget allows.
 */
export function recordMembers(
  { records }: Pick<ServedRows, 'records'>,
  row: number,
  keys: ReadonlySet<string> | undefined,
  budget: MemberBudget,
): readonly Member[] {
  const chunk = findChunk(records, row);
  const index = row - chunk.firstRow;
  const part = newPart();
  recordStart(part, chunk, index);
  const { lists, keys: names } = records.outlines;
  const found: Member[] = [];
  const outline = lists[chunk.outlines[index]!]!;
  for (let member = 0; member < outline.length && member < MEMBERS_LOOKED_AT_MAX; member++) {
    const name = outline[member]!;
    const key = names[name]!;
    if (keys && !keys.has(key)) continue;
    membersPart(part, chunk, { growth: records.growth, index, first: member, last: member });
    const start = part.start + keyBytes(records.outlines, name);
    found.push({ key, value: valueIn(chunk.bytes, start, part.end, budget) });
  }
  return found;
}

/** Whether a record has more members than `recordMembers` reads. Cost: none. */
export function hasMoreMembers({ records }: Pick<ServedRows, 'records'>, row: number): boolean {
  const chunk = findChunk(records, row);
  return records.outlines.lists[chunk.outlines[row - chunk.firstRow]!]!.length > MEMBERS_LOOKED_AT_MAX;
}

const lengths = new WeakMap<Outlines, number[]>();

function keyBytes(outlines: Outlines, name: number): number {
  let known = lengths.get(outlines);
  if (!known) lengths.set(outlines, (known = []));
  return (known[name] ??= keyText(outlines.keys[name]!).length);
}

function valueIn(bytes: Uint8Array, start: number, end: number, budget: MemberBudget): MemberValue {
  const length = end - start;
  if (length <= budget.wholeBytesMax && length <= budget.left) {
    budget.left -= length;
    return { kind: 'whole', json: DECODER.decode(bytes.slice(start, end)) };
  }
  if (bytes[start] !== QUOTE || budget.left < budget.startBytes || length <= budget.startBytes) {
    return { kind: 'long', bytes: length };
  }
  budget.left -= budget.startBytes;
  const text = DECODER.decode(bytes.slice(start, start + budget.startBytes)).replace(/\ufffd{1,3}$/, '');
  return { kind: 'start', text: textStarting(text), bytes: length };
}

/** Parses the beginning of a JSON text; an incomplete escape at its end is omitted. */
function textStarting(json: string): string {
  for (let cut = 0; cut <= 2 * ESCAPE_CHARACTERS; cut++) {
    try {
      return JSON.parse(`${json.slice(0, json.length - cut)}"`) as string;
    } catch {
      // An escape is incomplete here: try one character less.
    }
  }
  return '';
}
