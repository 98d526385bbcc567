// From rows to an answer: a page, a single record or an export, measured in turns where that takes long, compressed
// where the client takes that and it pays. Knows neither routes nor queries.
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
  readyRows,
  type RecordBlocks,
  type ServedRows,
  type Stitching,
  stitchedRows,
  wholeBody,
} from '../../engine/engine.ts';
import type { Answers, MediaType, Remarks } from './answers.ts';
import type { Coding } from './coding.ts';
import type { Answer, Disconnection } from '../http/exchange.ts';
import type { LiveGzip } from './liveGzip.ts';

/** The formats that give rows without an envelope. */
export type ExportFormat = 'ndjson' | 'csv';

/** Rows in one format, what stands before and behind them, and the columns of CSV. */
export interface WrittenRows {
  readonly rows: ServedRows;
  readonly format: 'json' | ExportFormat;
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly columns: readonly string[];
}

/**
 * How an answer goes out. Rows may be compressed: by blocks of the collection where there are any, else live. `keep` is
 * given an answer that could be given again, with the bytes that its body holds beside views of the snapshot.
 */
export interface Delivery {
  readonly coding: Coding;
  readonly stored: RecordBlocks | undefined;
  readonly live: LiveGzip;
  readonly keep?: (answer: Answer, ownBytes: number) => void;
}

const NOTHING = new Uint8Array(0);
const NO_COLUMNS: readonly string[] = [];

const TYPES: Readonly<Record<WrittenRows['format'], MediaType>> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
};

/** A body of so many bytes fits a packet with its head: compressing it saves nobody anything. */
const SMALL_BYTES_MAX = 1024;

/** Rows between the head of a page's envelope and its tail, which has the facets. */
export function page(head: Uint8Array, rows: ServedRows, facets: readonly PageFacet[]): WrittenRows {
  return { rows, format: 'json', head, tail: pageTail(facets), columns: NO_COLUMNS };
}

/** A single record. */
export function singleRecord(rows: ServedRows): WrittenRows {
  return { rows, format: 'json', head: NOTHING, tail: NOTHING, columns: NO_COLUMNS };
}

/** Rows as lines of JSON, or as CSV with a header row (A62, A63). */
export function exported(format: ExportFormat, { keys }: CollectionIndex, rows: ServedRows): WrittenRows {
  if (format === 'ndjson') return { rows, format, head: NOTHING, tail: NOTHING, columns: NO_COLUMNS };
  const columns = csvColumns(keys, rows.keys);
  return { rows, format, head: csvHeader(columns), tail: NOTHING, columns };
}

/** Starts to measure rows as they are. */
function measuringOf({ rows, format, columns }: WrittenRows): Measuring {
  switch (format) {
    case 'json':
      return jsonRows(rows);
    case 'ndjson':
      return ndjsonRows(rows);
    case 'csv':
      return csvRows(rows, columns);
  }
}

/** Starts to measure their compressed form with what stands around them; undefined where blocks do not give it. */
function stitchingOf({ rows, format, head, tail }: WrittenRows, stored: RecordBlocks): Stitching | undefined {
  return format === 'csv' ? undefined : stitchedRows(rows, { stored, head, tail, isLines: format === 'ndjson' });
}

/**
 * The answer with these rows: at once where one slice of measuring suffices, else after a slice for each turn of the
 * event loop, so that other requests are answered between them. A client that leaves ends it. Compressed bodies are
 * sent where they are the smaller ones; a body that fits a packet goes as it is, unless the client refuses that (A101).
 */
export function rowsAnswer(
  answers: Answers,
  written: WrittenRows,
  delivery: Delivery,
  remarks: Remarks,
  disconnection: Disconnection,
): Answer | Promise<Answer> {
  const { coding, stored, keep } = delivery;
  if (coding === 'identity') return plainAnswer(answers, written, delivery, remarks, disconnection);
  const stitching = stored && stitchingOf(written, stored);
  if (!stitching) return liveAnswer(answers, written, delivery, remarks, disconnection);
  return measured(stitching, disconnection, answers.busy, (body) => {
    if (!pays(coding, body.bytes, body.plainBytes))
      return plainAnswer(answers, written, delivery, remarks, disconnection);
    const answer = answers.found(body, remarks, TYPES[written.format], 'stored');
    if (keep && body.ownBytes !== undefined) keep(answer, body.ownBytes);
    return answer;
  });
}

function plainAnswer(
  answers: Answers,
  written: WrittenRows,
  { keep }: Delivery,
  remarks: Remarks,
  disconnection: Disconnection,
): Answer | Promise<Answer> {
  const type = TYPES[written.format];
  const ready = written.format === 'json' ? readyRows(written.rows) : undefined;
  if (ready) {
    // A head lies in a slab, which must not live as long as an answer that is kept.
    const lasting = keep ? { ...written, head: written.head.slice() } : written;
    const answer = answers.found(whole(lasting, ready), remarks, type);
    keep?.(answer, written.head.length + written.tail.length);
    return answer;
  }
  return measured(measuringOf(written), disconnection, answers.busy, (rows) =>
    answers.found(whole(written, rows), remarks, type),
  );
}

function liveAnswer(
  answers: Answers,
  written: WrittenRows,
  { coding, live }: Delivery,
  remarks: Remarks,
  disconnection: Disconnection,
): Answer | Promise<Answer> {
  const type = TYPES[written.format];
  return measured(measuringOf(written), disconnection, answers.busy, (rows) => {
    const body = whole(written, rows);
    const bytes = pays(coding, 0, body.bytes) ? live.compressed(body) : undefined;
    const answer = (compressed: Uint8Array | undefined): Answer =>
      compressed && pays(coding, compressed.length, body.bytes)
        ? answers.found(wholeBody(compressed), remarks, type, 'live')
        : answers.found(body, remarks, type);
    return bytes instanceof Promise ? bytes.then(answer) : answer(bytes);
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
