// Turns rows into a response: measured at once or step by step, and compressed if the client accepts that and it is
// smaller. Independent of routes and queries.
import assert from 'node:assert/strict';
import {
  type Body,
  countSelected,
  EXPANDED_BYTES_MAX,
  type GzipBody,
  measuringOf,
  type Problem,
  readyBody,
  type RecordBlocks,
  type Representation,
  stitchingOf,
  tooLarge,
  wholeBody,
} from '../../engine/engine.ts';
import type { readParquet } from '../../engine/parquet.ts';
import { runInTurns, type Slices, type UnfinishedReason } from '../../workers/slices.ts';
import { SharedWork } from '../../workers/waiter.ts';
import type { Answers, Making, MediaType, Remarks } from './answers.ts';
import type { Coding } from './negotiate.ts';
import type { Answer, Disconnection } from '../http/exchange.ts';
import { Memory } from '../http/memory.ts';
import { LIVE_BYTES_MAX, type LiveGzip } from './liveGzip.ts';

/** The length of an export's body as sent, and how it was made. */
interface ExportLength {
  readonly bytes: number;
  readonly making: Making;
}

/**
 * The exports of a serving thread for one snapshot: those being measured, so that concurrent requests share the work,
 * the lengths of measured ones, and the bodies that clients read in ranges. Holds none of their bytes. Keys are those
 * of `exportKey`; the key of a length is preceded by the coding.
 */
export class Exports {
  readonly plain = new SharedWork<Body | UnfinishedReason>();
  readonly stitched = new SharedWork<GzipBody | UnfinishedReason>();
  /** Bodies after a HEAD or a range: without them, each range of a Parquet file would cost the whole file. */
  readonly bodies = new Memory<Body>(BODIES_BYTES_MAX);
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

/** Everything that is needed to send a response with rows. */
export interface Delivery {
  readonly service: RowsService;
  readonly remarks: Remarks;
  readonly coding: Coding;
  /** Compressed blocks of the collection. Without them rows are compressed live. */
  readonly stored: RecordBlocks | undefined;
  readonly isHead: boolean;
  /** Whether requests for the same export are expected to follow, because this one gets a part of it or none. */
  readonly isReadAgain: boolean;
  readonly disconnection: Disconnection;
  /** For exports of lists; equal keys mean equal bodies. */
  readonly exportKey: (() => string) | undefined;
  /** Called with a reusable response, and the bytes that its body holds in addition to views of the snapshot. */
  readonly keep?: (answer: Answer, ownBytes: number) => void;
}

/** Space for the lengths of 4,000 exports with filters of ordinary length. */
const LENGTHS_BYTES_MAX = 1 << 20;
/** Space for the positions of two CSV files of 1,000,000 rows, or of about 50 Parquet files. */
const BODIES_BYTES_MAX = 32 << 20;
/** A length without its key: a slot of the map and an object. A text may take two bytes per character. */
const ENTRY_BYTES = 128;
const CHARACTER_BYTES = 2;

const TYPES: Readonly<Record<Representation['format'], MediaType>> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
};

/** A body of this size fits in one packet with its head, so compressing it saves nothing. */
const SMALL_BYTES_MAX = 1024;

/**
 * This many rows are measured at once, without counting the time: 0.05 ms. A Parquet file takes 1 ms without any row.
 */
const SMALL_ROWS_MAX: Readonly<Record<Representation['format'], number>> = {
  json: 1000,
  ndjson: 1000,
  csv: 16,
  parquet: -1,
};

/**
 * The response with these rows. It is made at once if one slice of measuring suffices and the turn of the event loop
 * has time; otherwise it is measured in turn with other sliced work, or is a 503 if too much of that is in progress. A
 * disconnecting client ends the work. An export is measured once for all concurrent requests, and not for HEAD if its
 * length is known. Compressed bodies are sent if they are smaller. Bodies that fit in a packet and files with
 * compressed pages are sent as they are (A101).
 */
export function rowsAnswer(rows: Representation, delivery: Delivery): Answer | Promise<Answer> {
  const { service, coding, stored, remarks, exportKey, keep } = delivery;
  const { answers, exports } = service;
  const length = delivery.isHead && exportKey ? exports.lengthOf(`${coding} ${exportKey()}`) : undefined;
  if (length) return answers.found(unreadBody(length.bytes), remarks, TYPES[rows.format], length.making);
  if (rows.format === 'parquet') return parquetAnswer(rows, delivery);
  if (coding === 'identity') return plainAnswer(rows, delivery);
  const stitching = stored && stitchingOf(rows, stored);
  if (!stitching) return liveAnswer(rows, delivery);
  return measured({ measuring: stitching, shared: exports.stitched, rows, delivery }, (body) => {
    const isSmaller = isWorthCompressing(body.bytes, body.plainBytes);
    if (!isSmaller && coding === 'gzip') return plainAnswer(rows, delivery);
    const answer = bodyAnswer(body, rows, delivery, isSmaller ? 'stored' : 'storedOnly', body.plainBytes);
    if (keep && body.ownBytes !== undefined) keep(answer, body.ownBytes);
    return answer;
  });
}

/** Imported with the first such request, so that the start does not load it. */
let parquetMeasuring: Awaited<ReturnType<typeof readParquet>> | undefined;

function parquetAnswer(rows: Representation, delivery: Delivery): Answer | Promise<Answer> {
  if (!parquetMeasuring) return firstParquet(rows, delivery);
  const { plain: shared, bodies: cache } = delivery.service.exports;
  return measured({ measuring: parquetMeasuring(rows), shared, cache, rows, delivery }, (body) =>
    bodyAnswer(body, rows, delivery, 'identity', body.bytes),
  );
}

async function firstParquet(rows: Representation, delivery: Delivery): Promise<Answer> {
  const { PARQUET_PARTS, readParquet } = await import('../../engine/parquet.ts');
  await runInTurns([...PARQUET_PARTS, async () => (parquetMeasuring = await readParquet())]);
  return parquetAnswer(rows, delivery);
}

function plainAnswer(rows: Representation, delivery: Delivery): Answer | Promise<Answer> {
  const { service, remarks, keep } = delivery;
  const { answers, exports } = service;
  // A copy: the head is part of a larger slab, which a cached response would keep in memory.
  const ready = readyBody(keep ? { ...rows, head: rows.head.slice() } : rows);
  if (ready) {
    const answer = answers.found(ready, remarks, TYPES[rows.format]);
    keep?.(answer, rows.head.length + rows.tail.length);
    return answer;
  }
  const { plain: shared, bodies: cache } = exports;
  return measured({ measuring: measuringOf(rows), shared, cache, rows, delivery }, (body) =>
    bodyAnswer(body, rows, delivery, 'identity', body.bytes),
  );
}

/** Compresses a body live if the client accepts that and it becomes smaller. */
function liveAnswer(rows: Representation, delivery: Delivery): Answer | Promise<Answer> {
  const { service, remarks, coding, disconnection } = delivery;
  const { answers, live, exports } = service;
  return measured({ measuring: measuringOf(rows), shared: exports.plain, rows, delivery }, (body) => {
    const isTried = coding === 'gzipOnly' || isWorthCompressing(0, body.bytes);
    const bytes = isTried ? live.compressed(body, disconnection) : undefined;
    const answer = (compressed: Uint8Array | undefined): Answer => {
      const isSmaller = compressed !== undefined && isWorthCompressing(compressed.length, body.bytes);
      if (!compressed || (!isSmaller && coding === 'gzip'))
        return bodyAnswer(body, rows, delivery, 'identity', body.bytes);
      return answers.found(wholeBody(compressed), remarks, TYPES[rows.format], isSmaller ? 'live' : 'liveOnly');
    };
    return bytes instanceof Promise ? bytes.then(answer) : answer(bytes);
  });
}

function isWorthCompressing(compressedBytes: number, plainBytes: number): boolean {
  return plainBytes > SMALL_BYTES_MAX && compressedBytes < plainBytes;
}

/** Caches the length of an export that is never compressed or is too long for live compression. */
function bodyAnswer(
  body: Body,
  { format }: Representation,
  { service: { answers, exports }, remarks, coding, exportKey }: Delivery,
  making: Making,
  plainBytes: number,
): Answer {
  if (exportKey && (format === 'parquet' || plainBytes > LIVE_BYTES_MAX))
    exports.keep(`${coding} ${exportKey()}`, { bytes: body.bytes, making });
  return answers.found(body, remarks, TYPES[format], making);
}

/** A body to be measured slice by slice, alone or, for an export, `shared` with concurrent requests. */
interface Measured<B extends Body> {
  readonly measuring: () => B | undefined;
  readonly shared: SharedWork<B | UnfinishedReason>;
  /** Measured bodies, if this one may be kept. */
  readonly cache?: Memory<B>;
  readonly rows: Representation;
  readonly delivery: Delivery;
}

function measured<B extends Body>(
  work: Measured<B>,
  respond: (body: B) => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  const { measuring, rows } = work;
  const { answers } = work.delivery.service;
  const answer = (body: B): Answer | Promise<Answer> =>
    body.isTooLarge ? answers.refused([largeProblem(rows)]) : respond(body);
  if (countSelected(rows.rows.rows) > SMALL_ROWS_MAX[rows.format]) return measuredInTurn(work, answer);
  const body = measuring();
  return body ? answer(body) : measureInSlices(work, undefined, answer);
}

function measuredInTurn<B extends Body>(
  work: Measured<B>,
  respond: (body: B) => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  const { measuring, shared, cache, rows, delivery } = work;
  const { slices } = delivery.service;
  const key = delivery.exportKey?.();
  const cachedBody = key === undefined ? undefined : cache?.find(key);
  if (cachedBody) return respond(cachedBody);
  const answer = (body: B): Answer | Promise<Answer> => {
    if (key !== undefined && delivery.isReadAgain) cache?.keep(key, body, retainedBytes(body, rows, key));
    return respond(body);
  };
  if (!slices.hasTime() || (key !== undefined && shared.has(key))) return measureInSlices(work, key, answer);
  const sinceMs = slices.now();
  const body = measuring();
  slices.spend(sinceMs);
  return body ? answer(body) : measureInSlices(work, key, answer);
}

/** The problem of a response that linked records make too large (A171). */
function largeProblem({ rows: { joins } }: Representation): Problem {
  return { key: joins?.branches.size ? 'expand' : 'fields', messages: [tooLarge(EXPANDED_BYTES_MAX / 2 ** 20)] };
}

/** Bytes that a measured body retains: its positions, and its rows unless they are in the snapshot. */
function retainedBytes(body: Body, { rows: { rows } }: Representation, key: string): number {
  const buffer = rows.kind === 'range' ? undefined : rows.rows.buffer;
  const rowBytes = buffer instanceof ArrayBuffer ? buffer.byteLength : 0;
  return (body.retainedBytes ?? 0) + rowBytes + key.length * CHARACTER_BYTES + ENTRY_BYTES;
}

async function measureInSlices<B extends Body>(
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

/** A body for HEAD, of which only the length is known. Reading it is a bug. */
function unreadBody(bytes: number): Body {
  return { bytes, pieceAt: () => assert.fail('the body of an answer to HEAD is not read') };
}
