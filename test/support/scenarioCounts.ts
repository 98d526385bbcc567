// What one question of a scenario costs as counts, which know no noise: rows, postings, copies, hops, allocation.
// Asks the engine as the catalogue's handler does, without a transport.
import assert from 'node:assert/strict';
import { measured } from '../../engine/page/rows.ts';
import { measuringOf, recordRepresentation, type Representation } from '../../engine/page/representation.ts';
import { copying } from '../../engine/page/rewrite.ts';
import { SPEC_LINK_END, type ServedForm } from '../../engine/column/served.ts';
import { rowOfId, type CollectionIndex } from '../../engine/index/table.ts';
import { listHere } from '../../engine/list.ts';
import { Meter, newCounters, type Counters } from '../../engine/find/counters.ts';
import { queryOptionsOf } from '../../server/catalogue/queryOptions.ts';
import { BUDGET_NS } from '../../workers/router.ts';
import { readSettings } from '../../server/settings/declarations.ts';
import { BENCH_BASE_URL } from '../../bench/processes/processes.ts';
import type { ScenarioQuestion } from '../../bench/scenarios/scenario.ts';

/**
 * The engine's counters, and beside them `copies` of each byte of the body while it was read, rounded up: 0 where none
 * was copied; `hops` into the pool; and `bufferBytes`: bytes of array buffers made for the request, those in V8's own
 * heap (64 bytes at most each) left out.
 */
export interface Counts extends Counters {
  readonly copies: number;
  readonly hops: number;
  readonly bufferBytes: number;
}

const OPTIONS = queryOptionsOf(readSettings({}, {}));

/**
 * Answers a question once, so that the buffers of the thread have their size, then twice more, and counts; of the
 * buffers it made the fewer, since one answer in a hundred begins a slab for all of these.
 */
export function countsOf(collection: CollectionIndex, question: ScenarioQuestion): Counts {
  answer(collection, question, newCounters());
  const [one, other] = [counted(collection, question), counted(collection, question)];
  return { ...other, bufferBytes: Math.min(one.bufferBytes, other.bufferBytes) };
}

function counted(collection: CollectionIndex, question: ScenarioQuestion): Counts {
  const counters = newCounters();
  const copied = copying.bytes;
  const buffers = process.memoryUsage().arrayBuffers;
  const { bodyBytes, hops } = answer(collection, question, counters);
  const bufferBytes = Math.max(0, process.memoryUsage().arrayBuffers - buffers);
  return { ...counters, copies: Math.ceil((copying.bytes - copied) / Math.max(1, bodyBytes)), hops, bufferBytes };
}

interface Answer {
  readonly bodyBytes: number;
  readonly hops: number;
}

/** Makes and reads an answer; answers how long its body is and how many hops it would take. */
function answer(collection: CollectionIndex, question: ScenarioQuestion, counters: Counters): Answer {
  const { target, version, baseUrl = BENCH_BASE_URL, expected } = question;
  const [path = '', query] = target.split('?');
  const form: ServedForm = { baseUrl, version, linkEnd: SPEC_LINK_END };
  if (expected.kind === 'record' || expected.kind === 'text') {
    const row = rowOfId(collection, Number(/(\d+)\/$/.exec(path)?.[1]));
    if (row < 0) return { bodyBytes: 0, hops: 0 };
    const rows = { kind: 'range', start: row, end: row + 1 } as const;
    const record = recordRepresentation({ records: collection.records, rows, form, keys: undefined }, false);
    return { bodyBytes: readAll(record), hops: 0 };
  }
  assert(expected.kind !== 'table', 'pages for people are none of the engine');
  const { page } = listHere(collection, query, { options: OPTIONS, form, path, meter: new Meter(BUDGET_NS, counters) });
  if (page) return { bodyBytes: readAll(page), hops: 0 };
  const pooled = listHere(collection, query, { options: OPTIONS, form, path, meter: new Meter(Infinity, counters) });
  return { bodyBytes: readAll(pooled.page!), hops: 1 };
}

function readAll(representation: Representation): number {
  const body = measured(measuringOf(representation));
  for (let at = 0; at < body.bytes;) at += body.pieceAt(at).length;
  return body.bytes;
}
