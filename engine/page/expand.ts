// Writes records with links replaced by the records that they lead to (A170), and with joined fields after their
// members (A169).
import { hasBytesAt } from '../bits/bytes.ts';
import { keyText } from '../bits/json.ts';
import { endOf, findChunk, type RecordChunk, type Records, startOf } from '../column/records.ts';
import type { Link, Members } from '../index/table.ts';
import { scratch } from '../kernel/own.ts';
import { membersPart, newPart, outlineMemory, recordStart, runsOf } from './cut.ts';
import { type RecordWriter, writeEach } from './gather.ts';
import { type JoinedColumn, readJoined } from './joined.ts';
import { firstCharacter, JsonDraft, type Value } from './linked.ts';
import { copyBytes, type Rewrite } from './rewrite.ts';

/** The additions to the records of a page. */
export interface Joins {
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
  readonly link: Link | undefined;
  /** Adds a linked record. */
  readonly add: AddRecord | undefined;
  readonly below: Branches;
}

/** Adds a record without its last brace. */
type AddRecord = (draft: JsonDraft, chunk: RecordChunk, index: number) => void;

/** The tree of the paths to expand; all of them lead to links. Cost: their names, and the keys of the collections. */
export function makeBranches(members: Members, paths: readonly (readonly string[])[]): Branches {
  const branches = new Map<string, Branch>();
  for (const name of new Set(paths.flatMap(([first]) => first ?? []))) {
    const node = members.get(name)!;
    const to = node.link?.to();
    const below = makeBranches(
      (to ?? node).members,
      paths.filter((path) => path[0] === name).map((path) => path.slice(1)),
    );
    const add = to && makeRecordAdder(to.records, below, undefined);
    branches.set(name, { key: keyText(name), link: node.link, add, below });
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
  const add = makeRecordAdder(records, branches, keys);
  const { json } = draft;
  const draw = (chunk: RecordChunk, index: number): void => {
    draft.beginRecord();
    add(draft, chunk, index);
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

function makeRecordAdder(
  { growth, outlines: { keys: names, lists } }: Records,
  branches: Branches,
  keys: ReadonlySet<string> | undefined,
): AddRecord {
  // Leaves out the brace and the comma at the end. Copying a whole record makes `expand` take 0.9 of the time.
  const addWhole: AddRecord = (draft, chunk, index) =>
    draft.copy({ chunk, index }, startOf(chunk, growth, index), endOf(chunk, growth, index) - 2);
  if (branches.size === 0 && !keys) return addWhole;
  const isKept = names.map((name) => !keys || keys.has(name));
  const branchOf = names.map((name, i) => (isKept[i] ? branches.get(name) : undefined));
  const layoutOf = outlineMemory((outline) => {
    const list = lists[outline]!;
    const expanded = list.flatMap((name, member) => (branchOf[name] ? [{ member, branch: branchOf[name] }] : []));
    return { runs: runsOf(list.map((name) => isKept[name]!)), expanded };
  });
  return (draft, chunk, index) => {
    const { runs, expanded } = layoutOf(chunk.outlines[index]!);
    const [run, part] = [newPart(), newPart()];
    recordStart(run, chunk, index);
    recordStart(part, chunk, index);
    let next = 0;
    draft.json.pushByte(OPEN_BRACE);
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
  };
}

/** Replaces the links of a branch in a value. Stored bytes are copied from `from` on. Returns how far they are. */
function expand(draft: JsonDraft, branch: Branch, from: number, value: Value): number {
  const { link, add, below } = branch;
  const first = firstCharacter(value);
  if (first === '[') draft.eachInner(value, (element) => (from = expand(draft, branch, from, element)));
  else if (link && add) {
    const row = draft.follow(link, value);
    if (row < 0) return from;
    const chunk = findChunk(link.to().records, row);
    draft.copy(value, from, value.start);
    add(draft, chunk, row - chunk.firstRow);
    draft.json.pushByte(CLOSE_BRACE);
    return value.end;
  } else if (first === '{') {
    draft.eachInner(value, (member, key) => {
      for (const inner of below.values()) {
        if (hasBytesAt(value.chunk.bytes, key, inner.key)) from = expand(draft, inner, from, member);
      }
    });
  }
  return from;
}
