// Writes records with links replaced by the records that they lead to (A170), and with joined fields after their
// members (A169).
import { hasBytesAt } from '../bits/bytes.ts';
import { findChunk, endOf, type RecordChunk, type Records, startOf } from '../column/records.ts';
import type { Link, Members } from '../index/table.ts';
import { scratch } from '../kernel/own.ts';
import { membersPart, newPart, outlineMemory, recordStart, runsOf } from './cut.ts';
import { type RecordWriter, writeEach } from './gather.ts';
import { type JoinedColumn, readJoined } from './joined.ts';
import { eachElement, eachMember, isArray, isRecord, isText, JsonDraft, keyText, type Value } from './linked.ts';
import { copyBytes, type Rewrite } from './rewrite.ts';

/** The additions to the records of a page. */
export interface Joins {
  readonly isExpanded: boolean;
  readonly branches: Branches;
  readonly columns: readonly JoinedColumn[];
}

/** The names to expand below a record, by name. */
type Branches = ReadonlyMap<string, Branch>;

/** A name on the way to links. */
interface Branch {
  /** The name as a key of an object. */
  readonly key: Uint8Array;
  /** Undefined for an embedded record. */
  readonly linked: { readonly link: Link; readonly form: RecordForm } | undefined;
  readonly below: Branches;
}

/** The tree of the paths to expand; all of them lead to links. Cost: their names, and the keys of the collections. */
export function makeBranches(members: Members, paths: readonly (readonly string[])[]): Branches {
  const branches = new Map<string, Branch>();
  for (const name of new Set(paths.flatMap(([first]) => first ?? []))) {
    const node = members.get(name)!;
    const { link } = node;
    const inner = (link?.to() ?? node).members;
    const below = makeBranches(
      inner,
      paths.filter((path) => path[0] === name).map((path) => path.slice(1)),
    );
    const linked = link && { link, form: new RecordForm(link.to().records, below, undefined) };
    branches.set(name, { key: keyText(name), linked, below });
  }
  return branches;
}

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const COMMA = 0x2c;

/**
 * Writes records, cut to `keys`, with additions, each followed by a comma. A record that is larger than a response may
 * be, or takes too much work, has infinite bytes. Cost: two copies of the bytes, and a search for each link.
 */
export function expandingWriter(
  records: Records,
  { joins: { branches, columns }, keys }: { readonly joins: Joins; readonly keys: ReadonlySet<string> | undefined },
  rewrite: Rewrite | undefined,
): RecordWriter {
  const draft = new JsonDraft(rewrite);
  const form = new RecordForm(records, branches, keys);
  const { json } = draft;
  const draw = (chunk: RecordChunk, index: number): void => {
    draft.beginRecord();
    json.pushByte(OPEN_BRACE);
    addMembers(draft, form, chunk, index);
    for (const column of columns) {
      if (json.length > 1) json.pushByte(COMMA);
      json.push(column.key);
      readJoined(draft, column, chunk, index);
    }
    json.pushByte(CLOSE_BRACE);
    json.pushByte(COMMA);
  };
  return {
    work: draft.work,
    bytes(chunk, index) {
      draw(chunk, index);
      return draft.isFull ? Infinity : json.length;
    },
    write: writeEach((chunk, index, at) => {
      draw(chunk, index);
      return copyBytes(json.view(), 0, json.length, scratch.bytes, at);
    }),
  };
}

/** Members of one outline to write. */
interface Layout {
  /** The first and the last member of each run. */
  readonly runs: readonly number[];
  /** The members with links to expand, in their order. */
  readonly expanded: readonly { readonly member: number; readonly branch: Branch }[];
}

/** How records of a collection are written. */
class RecordForm {
  readonly records: Records;
  readonly layoutOf: (outline: number) => Layout;

  constructor(records: Records, branches: Branches, keys: ReadonlySet<string> | undefined) {
    this.records = records;
    const { keys: names, lists } = records.outlines;
    const isKept = names.map((name) => !keys || keys.has(name));
    const branchOf = names.map((name) => branches.get(name));
    this.layoutOf = outlineMemory((outline) => {
      const list = lists[outline]!;
      const expanded = list.flatMap((name, member) => {
        const branch = isKept[name] ? branchOf[name] : undefined;
        return branch ? [{ member, branch }] : [];
      });
      return { runs: runsOf(list.map((name) => isKept[name]!)), expanded };
    });
  }
}

/** Adds the members of a record without its braces. */
function addMembers(draft: JsonDraft, { records, layoutOf }: RecordForm, chunk: RecordChunk, index: number): void {
  const { growth } = records;
  const { runs, expanded } = layoutOf(chunk.outlines[index]!);
  const [run, part] = [newPart(), newPart()];
  recordStart(run, chunk, index);
  recordStart(part, chunk, index);
  let next = 0;
  for (let i = 0; i < runs.length; i += 2) {
    if (i > 0) draft.json.pushByte(COMMA);
    membersPart(run, chunk, { growth, index, first: runs[i]!, last: runs[i + 1]! });
    let from = run.start;
    for (; next < expanded.length && expanded[next]!.member <= runs[i + 1]!; next++) {
      const { member, branch } = expanded[next]!;
      membersPart(part, chunk, { growth, index, first: member, last: member });
      from = expand(draft, branch, from, { chunk, index, start: part.start + branch.key.length, end: part.end });
    }
    draft.copy({ chunk, index, ...run }, from, run.end);
  }
}

/** Replaces the links of a branch in a value. Stored bytes are copied from `from` on. Returns how far they are. */
function expand(draft: JsonDraft, branch: Branch, from: number, value: Value): number {
  const { linked, below } = branch;
  if (draft.isFull) return from;
  if (isArray(value)) {
    draft.scan(value);
    eachElement(value, (element) => (from = expand(draft, branch, from, element)));
  } else if (linked && isText(value)) {
    const row = draft.follow(linked.link, value);
    if (row < 0) return from;
    draft.copy(value, from, value.start);
    addLinked(draft, linked.form, branch.below.size > 0, row);
    return value.end;
  } else if (!linked && isRecord(value)) {
    draft.scan(value);
    eachMember(value, (key, member) => {
      for (const inner of below.values()) {
        if (hasBytesAt(value.chunk.bytes, key, inner.key)) from = expand(draft, inner, from, member);
      }
    });
  }
  return from;
}

function addLinked(draft: JsonDraft, form: RecordForm, isExpanded: boolean, row: number): void {
  const chunk = findChunk(form.records, row);
  const index = row - chunk.firstRow;
  if (isExpanded) {
    draft.json.pushByte(OPEN_BRACE);
    addMembers(draft, form, chunk, index);
    draft.json.pushByte(CLOSE_BRACE);
    return;
  }
  const { growth } = form.records;
  const [start, end] = [startOf(chunk, growth, index), endOf(chunk, growth, index) - 1];
  draft.copy({ chunk, index, start, end }, start, end);
}
