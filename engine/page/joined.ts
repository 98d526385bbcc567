// Reads joined fields (A169): values below a field of a record, mostly over links, as JSON. A path with a to-many step
// gives an array of all values at its end, other paths give one value or null.
import { hasBytesAt } from '../bits/bytes.ts';
import { findChunk, type RecordChunk, type Records } from '../column/records.ts';
import type { FieldNode, Link, Members } from '../index/table.ts';
import { membersPart, newPart, outlineMemory, recordStart } from './cut.ts';
import {
  digits,
  eachElement,
  eachMember,
  isArray,
  isNull,
  isRecord,
  isText,
  type JsonDraft,
  keyText,
  linkedId,
  type Value,
} from './linked.ts';

/** A joined field of a collection. */
export interface JoinedColumn {
  readonly name: string;
  /** The name as a key of an object. */
  readonly key: Uint8Array;
  readonly steps: readonly Step[];
  /** The field at the end of the path. */
  readonly node: FieldNode;
  /** The last to-many step, or -1. */
  readonly lastMany: number;
}

/** A name on the path of a joined field. */
interface Step {
  /** The name as a key of an object. */
  readonly key: Uint8Array;
  /** The link that leads to the record with this field, if the step crosses one. */
  readonly link: Link | undefined;
  /** The field is the id of the linked record, which the link has too. */
  readonly isLinkedId: boolean;
  readonly isMany: boolean;
  /** For a top-level field: its place in an outline, -1 if missing. */
  readonly top: { readonly growth: number; readonly placeIn: (outline: number) => Place } | undefined;
}

interface Place {
  readonly member: number;
}

/** A joined field, given the names of its path in full. Cost: the names, and the keys of the collections. */
export function joinedColumn(
  { members, records }: { readonly members: Members; readonly records: Records },
  { name, path }: { readonly name: string; readonly path: readonly string[] },
): JoinedColumn {
  const steps: Step[] = [];
  let [below, node] = [members, undefined as FieldNode | undefined];
  for (const [i, field] of path.entries()) {
    const own = below.get(field);
    const link = own ? undefined : node?.link;
    const to = link?.to();
    node = own ?? to?.members.get(field);
    if (!node) throw new Error(`a page joins ${name}, which is no field`);
    steps.push({
      key: keyText(field),
      link,
      isLinkedId: to?.declaration.idField === field,
      isMany: node.kind === 'many',
      top: i === 0 || to ? topLevel(to?.records ?? records, field) : undefined,
    });
    below = node.members;
  }
  const lastMany = steps.map(({ isMany }) => isMany).lastIndexOf(true);
  return { name, key: keyText(name), steps, node: node!, lastMany };
}

function topLevel({ growth, outlines: { keys, lists } }: Records, field: string): Step['top'] {
  const key = keys.indexOf(field);
  return { growth, placeIn: outlineMemory((outline) => ({ member: lists[outline]!.lastIndexOf(key) })) };
}

const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const NULL = new TextEncoder().encode('null');

/** Adds a field of a record. Cost: a search for each link, and the bytes of the arrays and records around values. */
export function readJoined(draft: JsonDraft, column: JoinedColumn, chunk: RecordChunk, index: number): void {
  const isMany = column.lastMany >= 0;
  draft.step();
  if (isMany) draft.json.pushByte(OPEN_BRACKET);
  readRecord({ draft, column, start: draft.json.length }, 0, chunk, index);
  if (isMany) draft.json.pushByte(CLOSE_BRACKET);
}

interface Reading {
  readonly draft: JsonDraft;
  readonly column: JoinedColumn;
  /** The bytes of the draft before the first value. */
  readonly start: number;
}

/** Reads step `i`, a top-level field of a record. */
function readRecord(reading: Reading, i: number, chunk: RecordChunk, index: number): void {
  const { key, top } = reading.column.steps[i]!;
  const { member } = top!.placeIn(chunk.outlines[index]!);
  if (member < 0) return addMissing(reading, i);
  const part = newPart();
  recordStart(part, chunk, index);
  membersPart(part, chunk, { growth: top!.growth, index, first: member, last: member });
  readValue(reading, i, { chunk, index, start: part.start + key.length, end: part.end });
}

/** Reads the value of step `i`. */
function readValue(reading: Reading, i: number, value: Value): void {
  const { draft, column } = reading;
  const isMany = column.steps[i]!.isMany;
  if (isMany && isNull(value)) return;
  if (!isMany || !isArray(value)) return readElement(reading, i, value);
  draft.scan(value);
  eachElement(value, (element) => {
    if (!draft.isFull) readElement(reading, i, element);
  });
}

function readElement(reading: Reading, i: number, value: Value): void {
  const { draft, column } = reading;
  const next = column.steps[i + 1];
  if (!next) return add(reading, value);
  if (next.link) return readLinked(reading, i + 1, next.link, value);
  let found: Value | undefined;
  if (isRecord(value)) {
    draft.scan(value);
    eachMember(value, (key, member) => {
      if (hasBytesAt(value.chunk.bytes, key, next.key)) found = member;
    });
  }
  if (found) readValue(reading, i + 1, found);
  else addMissing(reading, i + 1);
}

/** Reads step `i`, a field of the record that a link leads to. */
function readLinked(reading: Reading, i: number, link: Link, value: Value): void {
  if (!isText(value)) return addMissing(reading, i);
  if (reading.column.steps[i]!.isLinkedId) {
    reading.draft.step();
    return linkedId(link.to(), value) < 0 ? addMissing(reading, i) : add(reading, { ...value, ...digits });
  }
  const row = reading.draft.follow(link, value);
  if (row < 0) return addMissing(reading, i);
  const chunk = findChunk(link.to().records, row);
  readRecord(reading, i, chunk, row - chunk.firstRow);
}

/** A missing value at step `i` is null, or no value if it would be an array. */
function addMissing(reading: Reading, i: number): void {
  if (i > reading.column.lastMany) add(reading, undefined);
}

function add({ draft, start }: Reading, value: Value | undefined): void {
  if (draft.json.length > start) draft.json.pushByte(COMMA);
  if (value) draft.copy(value, value.start, value.end);
  else draft.json.push(NULL);
}
