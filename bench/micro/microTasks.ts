// The micro-benchmarks as a table: task, calibration, and the slow reference for the result. A run takes microseconds,
// so the clock hardly counts. Results are returned, so that no work is optimised away.
import assert from 'node:assert/strict';
import { Random, streamKeys } from '../../data/synth/random.ts';
import { hasBit, wordsFor } from '../../engine/bits/bitmap.ts';
import { eachCodeContaining } from '../../engine/column/dictionary.ts';
import { type ServedForm, SPEC_LINK_END } from '../../engine/column/served.ts';
import type { FieldIndex } from '../../engine/index/field.ts';
import { countRows, intersect, ofBitmap, type RowSet } from '../../engine/index/rowset.ts';
import type { CollectionIndex } from '../../engine/index/table.ts';
import type { Body } from '../../engine/page/envelope.ts';
import { kernelBetween } from '../../engine/kernel/kernel.ts';
import { rowsBody } from '../processes/bodies.ts';
import { naiveCountOf } from '../processes/memoryScan.ts';
import type { LoopTask } from './microTask.ts';
import { BENCH_BASE_URL } from '../processes/processes.ts';
import type { Choice } from '../scenarios/scenario.ts';
import type { TimedSearch } from './timedTasks.ts';

/** The input of tasks: the collection, what to search for, and the size and seed of generated bitmaps. */
export interface MicroInput {
  readonly collection: CollectionIndex;
  readonly choice: Choice;
  readonly seed: number;
  readonly bits: number;
}

/** The micro-benchmarks over an input, and the last one with its search. */
export function microTasks(input: MicroInput): { readonly tasks: readonly LoopTask[]; readonly search: TimedSearch } {
  const scan = scanTask(input);
  const makers = [andTask, gatherTask, patchTask, spliceTask];
  const { text } = titlesOf(input.collection).dictionary;
  return { tasks: [...makers.map((make) => make(input)), scan], search: { task: scan, text, word: input.choice.word } };
}

const PAGE_ROWS = 100;
const WASM_PAGE_BYTES = 65_536;
const FORM: ServedForm = { baseUrl: BENCH_BASE_URL, version: 'v3', linkEnd: SPEC_LINK_END };
const NO_TARGET = { pass: undefined, great: undefined };

/** The AND of three filters that half of all rows match each. */
function andTask({ seed, bits }: MicroInput): LoopTask {
  const random = new Random(streamKeys(seed, 'bitmaps'), 0);
  const bitmaps = [0, 1, 2].map(() => inSnapshot(Uint32Array.from({ length: wordsFor(bits) }, () => random.next())));
  const [a, b, c] = bitmaps.map(ofBitmap) as [RowSet, RowSet, RowSet];
  return {
    name: 'and',
    calibration: 'reading the three bitmaps once',
    pass: 15,
    great: 3,
    run: () => countRows(intersect(intersect(a, b), c)),
    calibrate: () => bitmaps.reduce((sum, words) => sum ^ xorOf(words), 0),
    check: () => {
      let count = 0;
      for (let row = 0; row < wordsFor(bits) * 32; row++) if (bitmaps.every((words) => hasBit(words, row))) count++;
      assert.equal(countRows(intersect(intersect(a, b), c)), count);
      return `${count}`;
    },
  };
}

/** Copies words to where those of a snapshot are: shared memory that the kernel reads. */
function inSnapshot(words: Uint32Array): Uint32Array {
  const pages = Math.ceil(words.byteLength / WASM_PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  kernelBetween(memory, memory);
  const stored = new Uint32Array(memory.buffer, 0, words.length);
  stored.set(words);
  return stored;
}

function xorOf(words: Uint32Array): number {
  let sum = 0;
  for (let i = 0; i < words.length; i++) sum ^= words[i]!;
  return sum;
}

function titlesOf(collection: CollectionIndex): FieldIndex {
  const node = collection.members.get('title');
  assert(node?.kind === 'values');
  return node.index;
}

/** Reads a body as a transport does. Returns the number of pieces. */
function read(body: Body): number {
  let pieces = 0;
  for (let at = 0; at < body.bytes; pieces++) at += body.pieceAt(at).length;
  return pieces;
}

/** A copy of a body's bytes: a piece is valid only until the next one. */
function bytesOf(body: Body): Buffer {
  const whole = Buffer.alloc(body.bytes);
  for (let at = 0; at < body.bytes;) {
    const piece = body.pieceAt(at);
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** A page of rows with gaps, copied from shared memory. */
function gatherTask({ collection: { records, rows: all } }: MicroInput): LoopTask {
  const step = Math.max(1, Math.floor(all / PAGE_ROWS));
  const rows = Uint32Array.from({ length: Math.min(PAGE_ROWS, all) }, (_, i) => i * step);
  const gather = (): Body => rowsBody(records, { kind: 'list', rows }, FORM);
  const whole = bytesOf(gather());
  const target = new Uint8Array(whole.length);
  return {
    name: 'gather',
    calibration: 'one copy of the same bytes, not shared',
    ...NO_TARGET,
    run: () => read(gather()),
    calibrate: () => target.set(whole),
    check: () => {
      const singles = [...rows].map((row) => rowsBody(records, { kind: 'range', start: row, end: row + 1 }, FORM));
      const joined = singles.map((body) => bytesOf(body).toString()).join(',');
      assert(whole.toString() === joined, 'a gathered page holds other bytes than its records one by one');
      return joined;
    },
  };
}

/**
 * A page of neighbours in another form, against one copy of its bytes. The reference implementation in JavaScript
 * checks it.
 */
function rewriteTask({ collection: { records, rows } }: MicroInput, name: string, form: ServedForm): LoopTask {
  const selection = { kind: 'range', start: 0, end: Math.min(PAGE_ROWS, rows) } as const;
  const page = (): Body => rowsBody(records, selection, form);
  const whole = bytesOf(page());
  const target = new Uint8Array(whole.length);
  return {
    name,
    calibration: 'one copy of the same bytes, not shared',
    ...NO_TARGET,
    run: () => read(page()),
    calibrate: () => target.set(whole),
    check: () => {
      const stored = bytesOf(rowsBody(records, selection, FORM)).toString();
      const api = `"${form.baseUrl}/api/${form.version}/`;
      const expected = stored
        .replaceAll(`"${FORM.baseUrl}/api/v3/`, api)
        .replaceAll(`"${FORM.baseUrl}`, `"${form.baseUrl}`);
      assert(whole.toString() === expected, 'a rewritten page holds other bytes than its records rewritten as text');
      return expected;
    },
  };
}

function patchTask(input: MicroInput): LoopTask {
  return rewriteTask(input, 'patch', { ...FORM, version: 'v2' });
}

function spliceTask(input: MicroInput): LoopTask {
  return rewriteTask(input, 'splice', { ...FORM, baseUrl: 'https://elsewhere.example/catalogue' });
}

/** A search for a word in all titles. */
function scanTask({ collection, choice }: MicroInput): LoopTask {
  const { dictionary } = titlesOf(collection);
  const needle = Buffer.from(choice.word);
  const find = (): number => {
    let hits = 0;
    eachCodeContaining(dictionary, { start: 0, end: dictionary.size }, needle, () => hits++);
    return hits;
  };
  return {
    name: 'scan',
    calibration: 'one native scan of the same titles',
    pass: 1,
    great: 0.25,
    run: find,
    calibrate: () => naiveCountOf(dictionary.text, needle),
    check: () => {
      const titles = new Set(choice.catalogue.rows.map(({ title }) => title));
      assert.equal(find(), [...titles].filter((title) => title.includes(choice.word)).length);
      return `${find()}`;
    },
  };
}
