// Whether the top-level members of a run of records stand where its sections say, with the keys that the outlines name.
// Reads every byte of the records; for `verify` only, yields the first thing found wrong.
import type { UnsignedArray } from '../bits/narrow.ts';
import type { Outlines } from '../column/outline.ts';
import { hasPrefix } from '../bits/bytes.ts';
import { jsonText } from '../bits/json.ts';
import type { Refusal } from './header.ts';
import type { RECORDS, SectionViews } from './sections.ts';
import { refusalIn } from './verifyForm.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const UTF8 = new TextEncoder();

/** Outlines prepared for one collection; `used` is how many of them the records so far have. */
export interface OutlineCheck {
  readonly outlines: Outlines;
  readonly keys: readonly Uint8Array[];
  used: number;
}

/** Prepares the outlines of a collection, for all its runs in order: keys as records hold them, escaped (A11). */
export function outlineCheck(outlines: Outlines): OutlineCheck {
  return { outlines, keys: outlines.keys.map((key) => UTF8.encode(`${jsonText(key)}:`)), used: 0 };
}

/**
 * Checks one run of records whose sections have their form, with their names. Cost: one pass over its bytes.
 */
export function* verifyMembers(
  { bytes, ends, outlines, members, memberEnds }: SectionViews<typeof RECORDS>,
  names: Readonly<Record<'outlines' | 'members', string>>,
  check: OutlineCheck,
): Generator<Refusal> {
  for (let row = 0, first = 0, start = 0; row < ends.length; row++) {
    const list = check.outlines.lists[outlines[row]!];
    // Numbers follow the order in which outlines are met, so that equal data has equal bytes.
    if (!list || outlines[row]! > check.used) {
      yield refusalIn(names.outlines, `outline ${outlines[row]} of record ${row}`, `at most ${check.used}`);
      return;
    }
    if (outlines[row] === check.used) check.used++;
    const record = bytes.subarray(start, ends[row]! - 1);
    const fault = firstMisplaced(record, members.subarray(first, memberEnds[row]), keysOf(check, list));
    if (fault >= 0)
      yield refusalIn(names.members, `record ${row} without its member ${fault} in its place`, 'each key');
    start = ends[row]!;
    first = memberEnds[row]!;
  }
}

function keysOf({ keys }: OutlineCheck, list: readonly number[]): readonly Uint8Array[] {
  return list.map((key) => keys[key]!);
}

/**
 * The first member that does not end at the next comma or brace of the record itself, or starts with another key; or
 * -1.
 */
function firstMisplaced(record: Uint8Array, members: UnsignedArray, keys: readonly Uint8Array[]): number {
  let start = 1;
  for (let i = 0; i < Math.max(members.length, keys.length); i++) {
    const key = keys[i];
    if (!key || !hasPrefix(record, key, start)) return i;
    const end = memberEnd(record, start);
    if (members[i] !== end) return i;
    start = end + 1;
  }
  return start === record.length ? -1 : members.length;
}

/**
 * Where the member that starts at `start` ends: at a comma or a closing brace outside its strings, objects and arrays.
 */
function memberEnd(record: Uint8Array, start: number): number {
  let depth = 0;
  let isText = false;
  for (let at = start; at < record.length; at++) {
    const byte = record[at]!;
    if (isText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    // The letters of brackets and braces differ in one bit: [ and {, ] and }.
    else if ((byte | 0x20) === 0x7b) depth++;
    else if ((byte | 0x20) === 0x7d && depth-- === 0) return at;
    else if (byte === COMMA && depth === 0) return at;
  }
  return -1;
}
