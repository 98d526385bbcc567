// From rows to an answer: measured at once or step by step, compressed where the client takes that and it pays.
// Knows neither routes nor queries, and of a representation only how to measure it.
import assert from 'node:assert/strict';
import {
  type Body,
  countSelected,
  type GzipBody,
  measuringOf,
  readyBody,
  type RecordBlocks,
  type Representation,
  stitchingOf,
  wholeBody,
} from '../../engine/engine.ts';
import type { readParquet } from '../../engine/parquet.ts';
import { inTurns, type Slices, type UnfinishedReason } from '../../workers/slices.ts';
import { SharedWork } from '../../workers/waiter.ts';
import type { Answers, Making, MediaType, Remarks } from './answers.ts';
import type { Coding } from './negotiate.ts';
import type { Answer, Disconnection } from '../http/exchange.ts';
import { Memory } from '../http/memory.ts';
import { LIVE_BYTES_MAX, type LiveGzip } from './liveGzip.ts';

/** How long the body of an export is as it goes out, and how it was made. */
interface ExportLength {
  readonly bytes: number;
  readonly made: Making;
}

/**
 * What a serving thread knows of whole exports of its snapshot: which are being measured, so that all who want one wait
 * for the same work, and how long those are that were. Holds no bytes of them. Keys are those of `exportKey`, before a
 * length's stands the coding of the answer.
 */
export class Exports {
  readonly plain = new SharedWork<Body | UnfinishedReason>();
  readonly stitched = new SharedWork<GzipBody | UnfinishedReason>();
  readonly #lengths = new Memory<ExportLength>(LENGTHS_BYTES_MAX);

  lengthOf(key: string): ExportLength | undefined {
    return this.#lengths.find(key);
  }

  keep(key: string, length: ExportLength): void {
    this.#lengths.keep(key, length, key.length * CHARACTER_BYTES + ENTRY_BYTES);
  }
}

export interface RowsService {
  readonly answers: Answers;
  readonly live: LiveGzip;
  readonly slices: Slices;
  readonly exports: Exports;
}

/**
 * How an answer goes out, with its `remarks`. Rows may be compressed: by `stored` blocks of the collection where there
 * are any, else live. `keep` is given an answer that could be given again, with the bytes that its body holds beside
 * views of the snapshot. `exportKey` is there for exports of lists; equal keys mean equal bodies.
 */
export interface Delivery {
  readonly service: RowsService;
  readonly remarks: Remarks;
  readonly coding: Coding;
  readonly stored: RecordBlocks | undefined;
  readonly isHead: boolean;
  readonly disconnection: Disconnection;
  readonly exportKey: (() => string) | undefined;
  readonly keep?: (answer: Answer, ownBytes: number) => void;
}

/** Room for the lengths of 4,000 exports with filters of ordinary length. */
const LENGTHS_BYTES_MAX = 1 << 20;
/** What a length takes beside its key: a map's slot and an object; a text may take two bytes a character. */
const ENTRY_BYTES = 128;
const CHARACTER_BYTES = 2;

const TYPES: Readonly<Record<Representation['format'], MediaType>> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
};

/** A body of so many bytes fits a packet with its head: compressing it saves nobody anything. */
const SMALL_BYTES_MAX = 1024;

/** So many rows are measured at once and not counted: 0.05 ms. A Parquet file takes 1 ms without any row. */
const SMALL_ROWS_MAX: Readonly<Record<Representation['format'], number>> = {
  json: 1000,
  ndjson: 1000,
  csv: 16,
  parquet: -1,
};

/**
 * The answer with these rows: at once where one slice of measuring suffices and the turn of the event loop has time for
 * it, else when it was measured in turn with other sliced work, or 503 where too much of that is under way. A client
 * that leaves ends it. An export is measured once for all who ask for it meanwhile, and never for a HEAD of one whose
 * length is known, or of a Parquet file: to measure it is to make it. Compressed bodies are sent where they are the
 * smaller ones; a body that fits a packet, or whose pages are compressed, goes as it is (A101).
 */
export function rowsAnswer(rows: Representation, delivery: Delivery): Answer | Promise<Answer> {
  const { service, coding, stored, remarks, exportKey, keep } = delivery;
  const { answers, exports } = service;
  const known = delivery.isHead && exportKey ? exports.lengthOf(`${coding} ${exportKey()}`) : undefined;
  if (known) return answers.found(unreadBody(known.bytes), remarks, TYPES[rows.format], known.made);
  if (rows.format === 'parquet') return parquetAnswer(rows, delivery);
  if (coding === 'identity') return plainAnswer(rows, delivery);
  const stitching = stored && stitchingOf(rows, stored);
  if (!stitching) return liveAnswer(rows, delivery);
  return measured({ measuring: stitching, shared: exports.stitched, rows, delivery }, (body) => {
    const isPaying = pays(body.bytes, body.plainBytes);
    if (!isPaying && coding === 'gzip') return plainAnswer(rows, delivery);
    const answer = found(body, rows, delivery, isPaying ? 'stored' : 'storedOnly', body.plainBytes);
    if (keep && body.ownBytes !== undefined) keep(answer, body.ownBytes);
    return answer;
  });
}

/** Once a file was asked for: a start does not read it. */
let parquetMeasuring: Awaited<ReturnType<typeof readParquet>> | undefined;

function parquetAnswer(rows: Representation, delivery: Delivery): Answer | Promise<Answer> {
  const { service, remarks, isHead } = delivery;
  const { answers, exports } = service;
  if (isHead) return { ...answers.found(unreadBody(0), remarks, TYPES.parquet), isUnmeasured: true };
  if (!parquetMeasuring) return firstParquet(rows, delivery);
  return measured({ measuring: parquetMeasuring(rows), shared: exports.plain, rows, delivery }, (body) =>
    found(body, rows, delivery, 'identity', body.bytes),
  );
}

async function firstParquet(rows: Representation, delivery: Delivery): Promise<Answer> {
  const { PARQUET_PARTS, readParquet } = await import('../../engine/parquet.ts');
  await inTurns([...PARQUET_PARTS, async () => (parquetMeasuring = await readParquet())]);
  return parquetAnswer(rows, delivery);
}

function plainAnswer(rows: Representation, delivery: Delivery): Answer | Promise<Answer> {
  const { service, remarks, keep } = delivery;
  const { answers, exports } = service;
  // A head lies in a slab, which must not live as long as an answer that is kept.
  const ready = readyBody(keep ? { ...rows, head: rows.head.slice() } : rows);
  if (ready) {
    const answer = answers.found(ready, remarks, TYPES[rows.format]);
    keep?.(answer, rows.head.length + rows.tail.length);
    return answer;
  }
  return measured({ measuring: measuringOf(rows), shared: exports.plain, rows, delivery }, (body) =>
    found(body, rows, delivery, 'identity', body.bytes),
  );
}

function liveAnswer(rows: Representation, delivery: Delivery): Answer | Promise<Answer> {
  const { service, remarks, coding, disconnection } = delivery;
  const { answers, live, exports } = service;
  return measured({ measuring: measuringOf(rows), shared: exports.plain, rows, delivery }, (body) => {
    const bytes = coding === 'gzipOnly' || pays(0, body.bytes) ? live.compressed(body, disconnection) : undefined;
    const answer = (compressed: Uint8Array | undefined): Answer => {
      const isPaying = compressed !== undefined && pays(compressed.length, body.bytes);
      if (!compressed || (!isPaying && coding === 'gzip')) return found(body, rows, delivery, 'identity', body.bytes);
      return answers.found(wholeBody(compressed), remarks, TYPES[rows.format], isPaying ? 'live' : 'liveOnly');
    };
    return bytes instanceof Promise ? bytes.then(answer) : answer(bytes);
  });
}

function pays(compressedBytes: number, plainBytes: number): boolean {
  return plainBytes > SMALL_BYTES_MAX && compressedBytes < plainBytes;
}

/** Remembers the length of an export that is never compressed, or too long to be compressed live. */
function found(
  body: Body,
  { format }: Representation,
  { service: { answers, exports }, remarks, coding, exportKey }: Delivery,
  made: Making,
  plainBytes: number,
): Answer {
  if (exportKey && (format === 'parquet' || plainBytes > LIVE_BYTES_MAX))
    exports.keep(`${coding} ${exportKey()}`, { bytes: body.bytes, made });
  return answers.found(body, remarks, TYPES[format], made);
}

/** A body to be measured slice by slice, alone or, of an export, `shared` with whoever wants the same. */
interface Measured<B extends Body> {
  readonly measuring: () => B | undefined;
  readonly shared: SharedWork<B | UnfinishedReason>;
  readonly rows: Representation;
  readonly delivery: Delivery;
}

function measured<B extends Body>(
  work: Measured<B>,
  answer: (body: B) => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  const { measuring, rows } = work;
  if (countSelected(rows.rows.rows) > SMALL_ROWS_MAX[rows.format]) return measuredInTurn(work, answer);
  const body = measuring();
  return body ? answer(body) : measuredLater(work, undefined, answer);
}

function measuredInTurn<B extends Body>(
  work: Measured<B>,
  answer: (body: B) => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  const { measuring, shared, delivery } = work;
  const { slices } = delivery.service;
  const { exportKey } = delivery;
  const key = exportKey?.();
  if (!slices.hasTime() || (key !== undefined && shared.has(key))) return measuredLater(work, key, answer);
  const sinceMs = slices.now();
  const body = measuring();
  slices.spend(sinceMs);
  return body ? answer(body) : measuredLater(work, key, answer);
}

async function measuredLater<B extends Body>(
  {
    measuring,
    shared,
    delivery: {
      service: { slices, answers },
      disconnection,
    },
  }: Measured<B>,
  key: string | undefined,
  answer: (body: B) => Answer | Promise<Answer>,
): Promise<Answer> {
  const run = (waiter: Disconnection): Promise<B | UnfinishedReason> => slices.run('exports', measuring, waiter);
  const body = await (key === undefined ? run(disconnection) : shared.wait(key, disconnection, run));
  return typeof body === 'string' || disconnection.isGone() ? answers.busy : answer(body);
}

/** A body for HEAD: nothing of it but its length is known, and reading it is our bug. */
function unreadBody(bytes: number): Body {
  return { bytes, pieceAt: () => assert.fail('the body of an answer to HEAD is not read') };
}
