// The micro-benchmarks as a table: what runs, what it is compared with, and the slow twin that its answer must match.
// A run takes microseconds, so that the clock is no part of it; results flow out, so that no work is optimised away.
import assert from 'node:assert/strict';
import { Random, streamKeys } from '../../data/synth/random.ts';
import { countBits, hasBit, setBit, wordsFor } from '../../engine/bits/bitmap.ts';
import { lowerBound } from '../../engine/bits/lists.ts';
import { codesOfText, eachCodeContaining, textAt } from '../../engine/column/dictionary.ts';
import { SPEC_LINK_END, type ServedForm } from '../../engine/column/served.ts';
import type { FieldIndex } from '../../engine/index/field.ts';
import { countRows, eachRow, intersect, ofBitmap, select, type RowSet } from '../../engine/index/rowset.ts';
import type { CollectionIndex } from '../../engine/index/table.ts';
import type { Body } from '../../engine/page/body.ts';
import { kernelBetween } from '../../engine/kernel/kernel.ts';
import { pageHead, pageTail } from '../../engine/page/envelope.ts';
import { answerList, type Asker, type List, listHere } from '../../engine/list.ts';
import { pageLinks } from '../../engine/query/links.ts';
import { pageBody, rowsBody } from '../../engine/page/rows.ts';
import { codesOfServedPrefix } from '../../engine/query/codes.ts';
import { queryOptionsOf } from '../../server/catalogue/catalogue.ts';
import { readSettings } from '../../server/settings/declarations.ts';
import { naiveCountOf } from '../processes/memoryScan.ts';
import type { LoopTask } from './microTask.ts';
import { BENCH_BASE_URL } from '../processes/processes.ts';
import type { Choice } from '../scenarios/scenario.ts';
import type { TimedSearch } from './timedTasks.ts';

/** What tasks work on: the collection, what to search for, and the size and seed of made-up bitmaps. */
export interface MicroInput {
  readonly collection: CollectionIndex;
  readonly choice: Choice;
  readonly seed: number;
  readonly bits: number;
}

/** The micro-benchmarks over an input, and the last of them with what it searches. */
export function microTasks(input: MicroInput): { readonly tasks: readonly LoopTask[]; readonly search: TimedSearch } {
  const scan = scanTask(input);
  const makers = [
    andTask,
    selectTask,
    dictionaryTask,
    postingsTask,
    planTask,
    headTask,
    pageTask,
    gatherTask,
    patchTask,
    spliceTask,
  ];
  const { text } = titlesOf(input.collection).dictionary;
  return { tasks: [...makers.map((make) => make(input)), scan], search: { task: scan, text, word: input.choice.word } };
}

const PAGE_ROWS = 100;
const WASM_PAGE_BYTES = 65_536;
const FORM: ServedForm = { baseUrl: BENCH_BASE_URL, version: 'v3', linkEnd: SPEC_LINK_END };
const NO_TARGET = { pass: undefined, great: undefined };

/** Three filters that half of all rows match each, ANDed. */
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

/** Words where those of a snapshot lie: in a shared memory that the kernel reads. */
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

/** The rows of a page near the end of a bitmap. */
function selectTask({ seed, bits }: MicroInput): LoopTask {
  const random = new Random(streamKeys(seed, 'select'), 0);
  const words = new Uint32Array(wordsFor(bits));
  for (let row = 0; row < bits; row++) if (random.chance(30)) setBit(words, row);
  const set = ofBitmap(words);
  const offset = Math.floor(countRows(set) * 0.9);
  const page = (): Uint32Array => listOf(select(set, offset, PAGE_ROWS));
  return {
    name: 'select',
    calibration: 'counting the bits of the bitmap',
    ...NO_TARGET,
    run: page,
    calibrate: () => countBits(words),
    check: () => {
      const rows: number[] = [];
      eachRow(set, (row) => rows.push(row));
      assert.deepEqual([...page()], rows.slice(offset, offset + PAGE_ROWS));
      return page().join();
    },
  };
}

function listOf(set: RowSet): Uint32Array {
  const rows: number[] = [];
  eachRow(set, (row) => rows.push(row));
  return Uint32Array.from(rows);
}

function titlesOf(collection: CollectionIndex): FieldIndex {
  const node = collection.members.get('title');
  assert(node?.kind === 'values');
  return node.index;
}

/** 256 titles looked up in their dictionary. */
function dictionaryTask({ collection }: MicroInput): LoopTask {
  const { dictionary } = titlesOf(collection);
  const codes = Array.from({ length: 256 }, (_, i) => Math.floor((i * dictionary.size) / 256));
  const texts = codes.map((code) => textAt(dictionary, code).slice());
  const numbers = Float64Array.from({ length: dictionary.size }, (_, i) => i);
  return {
    name: 'dictionary',
    calibration: 'as many binary searches over numbers',
    ...NO_TARGET,
    run: () => texts.reduce((sum, text) => sum + codesOfText(dictionary, text).start, 0),
    calibrate: () => codes.reduce((sum, code) => sum + lowerBound(numbers, code), 0),
    check: () => {
      const found = texts.map((text) => codesOfText(dictionary, text));
      assert.deepEqual(
        found,
        codes.map((code) => ({ start: code, end: code + 1 })),
      );
      return codes.join();
    },
  };
}

/** The rows of all titles with a prefix. */
function postingsTask({ collection, choice }: MicroInput): LoopTask {
  const index = titlesOf(collection);
  const find = (): RowSet => index.rowsOf(codesOfServedPrefix(index.dictionary, choice.prefix, FORM)[0]!);
  const copied = listOf(find());
  return {
    name: 'postings',
    calibration: 'a copy and sort of as many rows',
    ...NO_TARGET,
    run: find,
    calibrate: () => copied.slice().sort(),
    check: () => {
      const rows = choice.catalogue.rows.flatMap(({ title }, row) => (title.startsWith(choice.prefix) ? [row] : []));
      assert.deepEqual([...copied], rows);
      return copied.join();
    },
  };
}

const OPTIONS = queryOptionsOf(readSettings({}, {}));

/** Asks for a list as far as its plan. */
const PLANNING: Asker<List> = {
  options: OPTIONS,
  path: '',
  stop: () => undefined,
  formOf: () => FORM,
  find: () => undefined,
  miss: (list) => list,
  answer: (_page, _hits, list) => list,
};

/** What clients typically ask, parsed and planned. */
function planTask({ collection, choice }: MicroInput): LoopTask {
  const queries = [
    'format=api',
    'format=api&limit=100&offset=90000',
    'publicationState=citable&offset=200',
    'status=completed&nonGeographicFlag=false',
    'publicationState__in=published,citable&title__startswith!=A',
    `title__contains=${choice.word}`,
    'result_field__dataPath__startswith=%2Fbadc%2F',
    'discoveryKeywords__name=GEMINI&permissions__accessCategory=public',
  ];
  const lists = (): readonly List[] => queries.map((query) => answerList(collection, query, PLANNING) as List);
  return {
    name: 'plan',
    calibration: 'URLSearchParams of the same queries',
    ...NO_TARGET,
    run: lists,
    calibrate: () => queries.map((query) => new URLSearchParams(query).size),
    check: () => {
      lists().forEach(({ ask: { parameters, problems } }, i) => {
        assert.deepEqual(parameters, [...new URLSearchParams(queries[i])]);
        assert.deepEqual(problems, []);
      });
      return JSON.stringify(lists().map(({ plan }) => plan));
    },
  };
}

/** The head of a page's envelope, with both links. */
function headTask({ collection }: MicroInput): LoopTask {
  const address = `${BENCH_BASE_URL}/api/v3/observations/`;
  const { ask } = listHere(collection, 'format=api', { options: OPTIONS, form: FORM });
  const place = { address, count: 100_000, offset: 200 };
  const head = (): Uint8Array => pageHead(place.count, pageLinks(ask, OPTIONS, place));
  const link = (offset: number): string => `${address}?format=api&limit=100&offset=${offset}`;
  const envelope = { count: place.count, next: link(300), previous: link(100), results: [] };
  const encoder = new TextEncoder();
  return {
    name: 'head',
    calibration: 'JSON.stringify of the same envelope, links given',
    ...NO_TARGET,
    run: head,
    calibrate: () => encoder.encode(JSON.stringify(envelope)),
    check: () => {
      assert.equal(Buffer.concat([head(), pageTail([])]).toString(), JSON.stringify(envelope));
      return head().join();
    },
  };
}

/** A page of neighbours put together, no bytes read. */
function pageTask({ collection: { records, rows } }: MicroInput): LoopTask {
  const head = new Uint8Array(200);
  const start = Math.max(0, rows - PAGE_ROWS);
  const page = (): Body => pageBody(head, rowsBody(records, { kind: 'range', start, end: rows }, FORM), pageTail([]));
  const whole = bytesOf(page());
  const pieces = read(page());
  return {
    name: 'page',
    calibration: 'as many views of the same bytes',
    ...NO_TARGET,
    run: () => read(page()),
    calibrate: () => {
      let bytes = 0;
      for (let i = 0; i < pieces; i++) bytes += whole.subarray(i).length;
      return bytes;
    },
    check: () => {
      const served = JSON.parse(`[${whole.toString('utf8', head.length, whole.length - 1)}`) as readonly object[];
      assert.equal(served.length, rows - start);
      return whole.toString();
    },
  };
}

/** Reads a body as a transport does; answers how many pieces it took. */
function read(body: Body): number {
  let pieces = 0;
  for (let at = 0; at < body.bytes; pieces++) at += body.pieceAt(at).length;
  return pieces;
}

/** A body's bytes, copied: a piece is only valid until the next one. */
function bytesOf(body: Body): Buffer {
  const whole = Buffer.alloc(body.bytes);
  for (let at = 0; at < body.bytes;) {
    const piece = body.pieceAt(at);
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** A page of rows with gaps, copied out of shared memory. */
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

/** A page of neighbours in another form, beside one copy of its bytes; checked with the twin in JavaScript. */
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

/** A word looked for in all titles. */
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
