// From rows to an answer: a page, a single record or an export, measured in turns where that takes long, compressed where
// the client takes that and it pays. Knows neither routes nor queries. Called by catalogue.ts.
import { setImmediate } from 'node:timers/promises';
import {
  type Body,
  type CollectionIndex,
  csvColumns,
  csvHeader,
  csvRows,
  type GzipBody,
  jsonRows,
  type Measuring,
  ndjsonRows,
  pageBody,
  type PageFacet,
  pageTail,
  type RecordBlocks,
  type ServedRows,
  type Stitching,
  stitchedRows,
  wholeBody,
} from '../engine/engine.ts';
import type { Answers, MediaType, Remarks } from './http/answers.ts';
import type { Coding } from './http/coding.ts';
import type { Answer, Disconnection } from './http/exchange.ts';
import type { LiveGzip } from './http/liveGzip.ts';

/** The formats that give rows without an envelope. */
export type ExportFormat = 'ndjson' | 'csv';

/**
 * Rows in one format: what stands before and behind them. `measuring` starts to measure them as they are; `stitching` their
 * compressed form with what stands around them, undefined where it cannot be put together from `stored` blocks.
 */
export interface WrittenRows {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly measuring: () => Measuring;
  readonly stitching: (stored: RecordBlocks) => Stitching | undefined;
  readonly type: MediaType;
}

/** How rows may be compressed: blocks of the collection where there are any, and the way for all that has none. */
export interface Compressing {
  readonly coding: Coding;
  readonly stored: RecordBlocks | undefined;
  readonly live: LiveGzip;
}

const NOTHING = new Uint8Array(0);

/** A body of so many bytes fits a packet with its head: compressing it saves nobody anything. */
const SMALL_BYTES_MAX = 1024;

/** Rows between the head of a page's envelope and its tail, which has the facets. */
export function page(head: Uint8Array, rows: ServedRows, facets: readonly PageFacet[]): WrittenRows {
  return jsonBetween(head, rows, pageTail(facets));
}

/** A single record. */
export function singleRecord(rows: ServedRows): WrittenRows {
  return jsonBetween(NOTHING, rows, NOTHING);
}

function jsonBetween(head: Uint8Array, rows: ServedRows, tail: Uint8Array): WrittenRows {
  const stitching = (stored: RecordBlocks): Stitching | undefined =>
    stitchedRows(rows, { stored, head, tail, isLines: false });
  return { head, tail, measuring: () => jsonRows(rows), stitching, type: 'application/json' };
}

/** Rows as lines of JSON, or as CSV with a header row (A62, A63). */
export function exported(format: ExportFormat, { keys }: CollectionIndex, rows: ServedRows): WrittenRows {
  if (format === 'ndjson') {
    const around = { head: NOTHING, tail: NOTHING };
    const stitching = (stored: RecordBlocks): Stitching | undefined =>
      stitchedRows(rows, { stored, ...around, isLines: true });
    return { ...around, measuring: () => ndjsonRows(rows), stitching, type: 'application/x-ndjson' };
  }
  const columns = csvColumns(keys, rows.keys);
  return {
    head: csvHeader(columns),
    tail: NOTHING,
    measuring: () => csvRows(rows, columns),
    stitching: () => undefined,
    type: 'text/csv; charset=utf-8',
  };
}

/**
 * The answer with these rows: at once where one slice of measuring suffices, else after a slice for each turn of the event
 * loop, so that other requests are answered between them. A client that leaves ends it. Compressed bodies are sent where they
 * are the smaller ones; a body that fits a packet goes as it is, unless the client refuses that (A101).
 */
export function rowsAnswer(
  answers: Answers,
  written: WrittenRows,
  { coding, stored, live }: Compressing,
  remarks: Remarks,
  disconnection: Disconnection,
): Answer | Promise<Answer> {
  const gone = answers.busy;
  const plain = (): Answer | Promise<Answer> =>
    measured(written.measuring(), disconnection, gone, (rows) =>
      answers.found(whole(written, rows), remarks, written.type),
    );
  if (coding === 'identity') return plain();
  const stitching = stored && written.stitching(stored);
  if (stitching) {
    const answer = (body: GzipBody): Answer | Promise<Answer> =>
      pays(coding, body.bytes, body.plainBytes) ? answers.found(body, remarks, written.type, 'stored') : plain();
    return measured(stitching, disconnection, gone, answer);
  }
  return measured(written.measuring(), disconnection, gone, (rows) => {
    const body = whole(written, rows);
    const bytes = pays(coding, 0, body.bytes) ? live.compressed(body) : undefined;
    if (!bytes || !pays(coding, bytes.length, body.bytes)) return answers.found(body, remarks, written.type);
    return answers.found(wholeBody(bytes), remarks, written.type, 'live');
  });
}

function pays(coding: Coding, compressedBytes: number, plainBytes: number): boolean {
  return coding === 'gzipOnly' || (plainBytes > SMALL_BYTES_MAX && compressedBytes < plainBytes);
}

/** The answer that a measured body gives. Nobody reads the one to a client that is gone. */
function measured<B>(
  measuring: () => B | undefined,
  disconnection: Disconnection,
  gone: Answer,
  answer: (body: B) => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  const body = measuring();
  return body ? answer(body) : measuredInTurns(measuring, disconnection, gone, answer);
}

async function measuredInTurns<B>(
  measuring: () => B | undefined,
  disconnection: Disconnection,
  gone: Answer,
  answer: (body: B) => Answer | Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    await setImmediate();
    if (disconnection.isGone()) return gone;
    const body = measuring();
    if (body) return answer(body);
  }
}

function whole({ head, tail }: WrittenRows, rows: Body): Body {
  return head.length + tail.length === 0 ? rows : pageBody(head, rows, tail);
}
