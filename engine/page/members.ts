// The top-level members of a record one by one, for who shows them to people: each parsed within a bound on its bytes,
// the start of a text that is longer, and only the size of all else. Serves no client; knows no transport.
import { chunkOf, endOf, type Outlines, startOf } from '../column/records.ts';
import { jsonText } from '../bits/json.ts';
import { membersPart, newPart, recordStart } from './cut.ts';
import type { ServedRows } from './rows.ts';

/**
 * A member's value: `whole` as its JSON text, the `start` of a text that is longer than the bound, or of anything else
 * that is `long` the bytes alone.
 */
export type MemberValue =
  | { readonly kind: 'whole'; readonly json: string }
  | { readonly kind: 'start'; readonly text: string; readonly bytes: number }
  | { readonly kind: 'long'; readonly bytes: number };

/** A member of a record, in the order in which the record has them. */
export interface Member {
  readonly key: string;
  readonly value: MemberValue;
}

/**
 * What may be read: members of `wholeBytesMax` bytes whole, of longer texts the first `startBytes`, and no more than
 * `left` bytes in all, which what was read is taken from.
 */
export interface MemberBudget {
  readonly wholeBytesMax: number;
  readonly startBytes: number;
  left: number;
}

/** So many members of a record are looked at: people read no more, and a record may have millions. */
const MEMBERS_LOOKED_AT_MAX = 4096;
const QUOTE = 0x22;
/** A JSON escape has at most so many characters: one that is cut ends the text so much earlier. */
const ESCAPE_CHARACTERS = 6;

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });
const UTF8 = new TextEncoder();

/**
 * The members of the record in a row whose keys are among `keys`, all without. Links have the base URL of the store,
 * whatever the form says. Cost: a step a member, and the bytes that the budget allows.
 */
export function recordMembers(
  { records }: Pick<ServedRows, 'records'>,
  row: number,
  keys: ReadonlySet<string> | undefined,
  budget: MemberBudget,
): readonly Member[] {
  const chunk = chunkOf(records, row);
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

/** Whether a record has more members than `recordMembers` looks at. Cost: none. */
export function hasMoreMembers({ records }: Pick<ServedRows, 'records'>, row: number): boolean {
  const chunk = chunkOf(records, row);
  return records.outlines.lists[chunk.outlines[row - chunk.firstRow]!]!.length > MEMBERS_LOOKED_AT_MAX;
}

/** The bytes of the record in a row, with its base URL. Cost: none. */
export function recordBytes({ records }: Pick<ServedRows, 'records'>, row: number): number {
  const chunk = chunkOf(records, row);
  const index = row - chunk.firstRow;
  return endOf(chunk, records.growth, index) - startOf(chunk, records.growth, index) - 1;
}

const lengths = new WeakMap<Outlines, number[]>();

/** The bytes of a key and its colon. */
function keyBytes(outlines: Outlines, name: number): number {
  let known = lengths.get(outlines);
  if (!known) lengths.set(outlines, (known = []));
  return (known[name] ??= UTF8.encode(jsonText(outlines.keys[name]!)).length + 1);
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

/** The text whose JSON starts so; an escape that is cut is left out. */
function textStarting(json: string): string {
  for (let cut = 0; cut <= 2 * ESCAPE_CHARACTERS; cut++) {
    try {
      return JSON.parse(`${json.slice(0, json.length - cut)}"`) as string;
    } catch {
      // An escape is cut here: one character less.
    }
  }
  return '';
}
