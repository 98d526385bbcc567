// From rows to an answer: a page, a single record or an export, measured in turns where that takes long.
// Knows neither routes nor queries. Called by catalogue.ts.
import { setImmediate } from 'node:timers/promises';
import {
  type Body,
  type CollectionIndex,
  csvColumns,
  csvHeader,
  csvRows,
  jsonRows,
  type Measuring,
  ndjsonRows,
  pageBody,
  type PageFacet,
  pageTail,
  type ServedRows,
} from '../engine/engine.ts';
import type { Answers, MediaType, Remarks } from './http/answers.ts';
import type { Answer, Disconnection } from './http/exchange.ts';

/** The formats that give rows without an envelope. */
export type ExportFormat = 'ndjson' | 'csv';

/** Rows in one format: what stands before and behind them, and how they are measured. */
export interface WrittenRows {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly measuring: Measuring;
  readonly type: MediaType;
}

const NOTHING = new Uint8Array(0);

/** Rows between the head of a page's envelope and its tail, which has the facets. */
export function page(head: Uint8Array, rows: ServedRows, facets: readonly PageFacet[]): WrittenRows {
  return { head, tail: pageTail(facets), measuring: jsonRows(rows), type: 'application/json' };
}

/** A single record. */
export function singleRecord(rows: ServedRows): WrittenRows {
  return { head: NOTHING, tail: NOTHING, measuring: jsonRows(rows), type: 'application/json' };
}

/** Rows as lines of JSON, or as CSV with a header row (A62, A63). */
export function exported(format: ExportFormat, { keys }: CollectionIndex, rows: ServedRows): WrittenRows {
  if (format === 'ndjson') {
    return { head: NOTHING, tail: NOTHING, measuring: ndjsonRows(rows), type: 'application/x-ndjson' };
  }
  const columns = csvColumns(keys, rows.keys);
  const measuring = csvRows(rows, columns);
  return { head: csvHeader(columns), tail: NOTHING, measuring, type: 'text/csv; charset=utf-8' };
}

/**
 * The answer with these rows: at once where one slice of measuring suffices, else after a slice for each turn of the event
 * loop, so that other requests are answered between them. A client that leaves ends it.
 */
export function rowsAnswer(
  answers: Answers,
  written: WrittenRows,
  remarks: Remarks,
  disconnection: Disconnection,
): Answer | Promise<Answer> {
  const body = written.measuring();
  return body ? found(answers, written, remarks, body) : measuredInTurns(answers, written, remarks, disconnection);
}

async function measuredInTurns(
  answers: Answers,
  written: WrittenRows,
  remarks: Remarks,
  disconnection: Disconnection,
): Promise<Answer> {
  for (;;) {
    await setImmediate();
    // Nobody reads the answer to a client that is gone.
    if (disconnection.isGone()) return answers.busy;
    const body = written.measuring();
    if (body) return found(answers, written, remarks, body);
  }
}

function found(answers: Answers, { head, tail, type }: WrittenRows, remarks: Remarks, rows: Body): Answer {
  const body = head.length + tail.length === 0 ? rows : pageBody(head, rows, tail);
  return answers.found(body, remarks, type === 'application/json' ? undefined : type);
}
