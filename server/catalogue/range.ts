// Range requests for exports (RFC 9110, 14): one range of a body whose length is known (A162).
import type { Body } from '../../engine/engine.ts';
import type { Answer, Request } from '../http/exchange.ts';
import type { Answers } from './answers.ts';

/** The first and the last byte as requested; without `first`, the last `last` bytes. */
export interface Range {
  readonly first: number | undefined;
  readonly last: number;
}

const ONE_RANGE = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i;

/**
 * The range of a GET, or undefined if the response is the whole body: without Range, for several or malformed ranges,
 * other units, and if If-Range names another tag. `tag` is that of the body without a coding. Cost: a look-up.
 */
export function rangeIn(request: Request, tag: string): Range | undefined {
  const text = request.method === 'GET' ? request.header('range') : undefined;
  const match = text === undefined ? null : ONE_RANGE.exec(text);
  if (!match) return undefined;
  const [, first, last = '', suffix] = match;
  const range =
    first === undefined
      ? { first: undefined, last: Number(suffix) }
      : { first: Number(first), last: last === '' ? Infinity : Number(last) };
  if (range.first !== undefined && range.last < range.first) return undefined;
  const condition = request.header('if-range');
  return condition === undefined || condition === `"${tag}"` ? range : undefined;
}

/** The 206 with this range of a 200, or the 416 if the body has no byte in it. Cost: none. */
export function partOf(whole: Answer, { first, last }: Range, answers: Answers): Answer {
  const { bytes } = whole.body;
  const start = first ?? Math.max(0, bytes - last);
  const end = first === undefined ? bytes : Math.min(bytes, last + 1);
  if (start >= end) return answers.unsatisfiable(bytes);
  const { exportedRows: _rows, ...rest } = whole;
  const headers: Answer['headers'] = [...whole.headers, ['Content-Range', `bytes ${start}-${end - 1}/${bytes}`]];
  return { ...rest, status: 206, headers, body: new PartBody(whole.body, start, end) };
}

/** The bytes `start` to `end` of a body. */
class PartBody implements Body {
  readonly bytes: number;
  readonly isSlow: boolean;
  readonly #whole: Body;
  readonly #start: number;

  constructor(whole: Body, start: number, end: number) {
    this.bytes = end - start;
    this.isSlow = whole.isSlow === true;
    this.#whole = whole;
    this.#start = start;
  }

  pieceAt(offset: number): Uint8Array {
    const piece = this.#whole.pieceAt(this.#start + offset);
    const remaining = this.bytes - offset;
    return piece.length > remaining ? piece.subarray(0, remaining) : piece;
  }
}
