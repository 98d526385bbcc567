// From rows to an answer: measured in turns where that takes long, compressed where the client takes that and it pays.
// Knows neither routes nor queries, and of a representation only how to measure it.
import { setImmediate } from 'node:timers/promises';
import {
  type Body,
  measuringOf,
  readyBody,
  type RecordBlocks,
  type Representation,
  stitchingOf,
  wholeBody,
} from '../../engine/engine.ts';
import type { Answers, MediaType, Remarks } from './answers.ts';
import type { Coding } from './negotiate.ts';
import type { Answer, Disconnection } from '../http/exchange.ts';
import type { LiveGzip } from './liveGzip.ts';

/**
 * How an answer goes out, with its `remarks`. Rows may be compressed: by `stored` blocks of the collection where there
 * are any, else `live`. `keep` is given an answer that could be given again, with the bytes that its body holds beside
 * views of the snapshot.
 */
export interface Delivery {
  readonly answers: Answers;
  readonly remarks: Remarks;
  readonly coding: Coding;
  readonly stored: RecordBlocks | undefined;
  readonly live: LiveGzip;
  readonly disconnection: Disconnection;
  readonly keep?: (answer: Answer, ownBytes: number) => void;
}

const TYPES: Readonly<Record<Representation['format'], MediaType>> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
};

/** A body of so many bytes fits a packet with its head: compressing it saves nobody anything. */
const SMALL_BYTES_MAX = 1024;

/**
 * The answer with these rows: at once where one slice of measuring suffices, else after a slice for each turn of the
 * event loop, so that other requests are answered between them. A client that leaves ends it. Compressed bodies are
 * sent where they are the smaller ones; a body that fits a packet goes as it is, unless the client refuses that (A101).
 */
export function rowsAnswer(rows: Representation, delivery: Delivery): Answer | Promise<Answer> {
  const { coding, stored, answers, remarks, keep } = delivery;
  if (coding === 'identity') return plainAnswer(rows, delivery);
  const stitching = stored && stitchingOf(rows, stored);
  if (!stitching) return liveAnswer(rows, delivery);
  return measured(stitching, delivery, (body) => {
    const isPaying = pays(body.bytes, body.plainBytes);
    if (!isPaying && coding === 'gzip') return plainAnswer(rows, delivery);
    const answer = answers.found(body, remarks, TYPES[rows.format], isPaying ? 'stored' : 'storedOnly');
    if (keep && body.ownBytes !== undefined) keep(answer, body.ownBytes);
    return answer;
  });
}

function plainAnswer(rows: Representation, delivery: Delivery): Answer | Promise<Answer> {
  const { answers, remarks, keep } = delivery;
  const type = TYPES[rows.format];
  // A head lies in a slab, which must not live as long as an answer that is kept.
  const ready = readyBody(keep ? { ...rows, head: rows.head.slice() } : rows);
  if (ready) {
    const answer = answers.found(ready, remarks, type);
    keep?.(answer, rows.head.length + rows.tail.length);
    return answer;
  }
  return measured(measuringOf(rows), delivery, (body) => answers.found(body, remarks, type));
}

function liveAnswer(rows: Representation, delivery: Delivery): Answer | Promise<Answer> {
  const { answers, remarks, coding, live } = delivery;
  const type = TYPES[rows.format];
  return measured(measuringOf(rows), delivery, (body) => {
    const bytes = coding === 'gzipOnly' || pays(0, body.bytes) ? live.compressed(body) : undefined;
    const answer = (compressed: Uint8Array | undefined): Answer => {
      const isPaying = compressed !== undefined && pays(compressed.length, body.bytes);
      if (!compressed || (!isPaying && coding === 'gzip')) return answers.found(body, remarks, type);
      return answers.found(wholeBody(compressed), remarks, type, isPaying ? 'live' : 'liveOnly');
    };
    return bytes instanceof Promise ? bytes.then(answer) : answer(bytes);
  });
}

function pays(compressedBytes: number, plainBytes: number): boolean {
  return plainBytes > SMALL_BYTES_MAX && compressedBytes < plainBytes;
}

/** The answer that a measured body gives. Nobody reads the one to a client that is gone. */
function measured<B extends Body>(
  measuring: () => B | undefined,
  delivery: Delivery,
  answer: (body: B) => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  const body = measuring();
  return body ? answer(body) : measuredInTurns(measuring, delivery, answer);
}

async function measuredInTurns<B extends Body>(
  measuring: () => B | undefined,
  { disconnection, answers }: Delivery,
  answer: (body: B) => Answer | Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    await setImmediate();
    if (disconnection.isGone()) return answers.busy;
    const body = measuring();
    if (body) return answer(body);
  }
}
