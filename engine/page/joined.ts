// Reads joined fields (A169): values below a field of a record, mostly over links, as JSON. A path with a to-many step
// gives an array of all values at its end, other paths give one value or null.
import { hasBytesAt } from '../bits/bytes.ts';
import { keyText } from '../bits/json.ts';
import { findChunk, type RecordChunk, type Records } from '../column/records.ts';
import type { FieldNode, Link, Members } from '../index/table.ts';
import { membersByOutline, membersPart, newPart, recordStart } from './cut.ts';
import { digits, firstCharacter, type JsonDraft, linkedId, type Value } from './linked.ts';

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
  /** For a top-level field: the growth of URLs in records, and its place in them (`membersByOutline`). */
  readonly top: { readonly growth: number; readonly membersOf: (outline: number) => Int32Array } | undefined;
}

/** A joined field, given the names of its path in full. Cost: the names, and the keys of the collections. */
export function joinedColumn(
  { members, records }: { readonly members: Members; readonly records: Records },
  { name, path }: { readonly name: string; readonly path: readonly string[] },
): JoinedColumn {
  const steps: Step[] = [];
  const { growth } = records;
  let node: FieldNode | undefined;
  for (const field of path) {
    const own = (node?.members ?? members).get(field);
    const link = own ? undefined : node?.link;
    const to = link?.to();
    const isTopLevel = to !== undefined || !node;
    node = own ?? to?.members.get(field);
    if (!node) throw new Error(`a page joins ${name}, which is no field`);
    steps.push({
      key: keyText(field),
      link,
      isLinkedId: to?.declaration.idField === field,
      isMany: node.kind === 'many',
      top: isTopLevel ? { growth, membersOf: membersByOutline((to?.records ?? records).outlines, [field]) } : undefined,
    });
  }
  const lastMany = steps.map(({ isMany }) => isMany).lastIndexOf(true);
  return { name, key: keyText(name), steps, node: node!, lastMany };
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
  const { growth, membersOf } = reading.column.steps[i]!.top!;
  const members = membersOf(chunk.outlines[index]!);
  const member = members[0]!;
  if (member < 0) return readValue(reading, i, undefined);
  const part = newPart();
  recordStart(part, chunk, index);
  membersPart(part, chunk, { growth, index, first: member, last: member });
  readValue(reading, i, { chunk, index, start: part.start + members[1]!, end: part.end });
}

/** Reads the value of step `i`. A missing value is null, or no value if it would be an array. */
function readValue(reading: Reading, i: number, value: Value | undefined): void {
  const { draft, column } = reading;
  if (!value) {
    if (i > column.lastMany) add(reading, undefined);
  } else if (!column.steps[i]!.isMany) readElement(reading, i, value);
  else if (firstCharacter(value) === '[') draft.eachInner(value, (element) => readElement(reading, i, element));
  else if (firstCharacter(value) !== 'n') readElement(reading, i, value);
}

function readElement(reading: Reading, i: number, value: Value): void {
  const next = reading.column.steps[i + 1];
  if (!next) return add(reading, value);
  if (next.link) return readLinked(reading, i + 1, next.link, value);
  let inner: Value | undefined;
  if (firstCharacter(value) === '{') {
    reading.draft.eachInner(value, (member, key) => {
      if (hasBytesAt(value.chunk.bytes, key, next.key)) inner = member;
    });
  }
  readValue(reading, i + 1, inner);
}

/** Reads step `i`, a field of the record that a link leads to. */
function readLinked(reading: Reading, i: number, link: Link, value: Value): void {
  const { draft, column } = reading;
  if (column.steps[i]!.isLinkedId) {
    draft.step();
    return readValue(reading, i, linkedId(link.to(), value) < 0 ? undefined : { ...value, ...digits });
  }
  const row = draft.follow(link, value);
  if (row < 0) return readValue(reading, i, undefined);
  const chunk = findChunk(link.to().records, row);
  readRecord(reading, i, chunk, row - chunk.firstRow);
}

function add({ draft, start }: Reading, value: Value | undefined): void {
  if (draft.json.length > start) draft.json.pushByte(COMMA);
  if (value) draft.copy(value, value.start, value.end);
  else draft.json.push(NULL);
}
