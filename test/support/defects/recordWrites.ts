// A defect: a page is written record by record instead of in one piece.
import { jsonRows as rows, type Measuring, type ServedRows } from '../../../engine/engine.ts';
import { rebodied } from './rebodied.ts';

export * from '../../../engine/engine.ts';
export { noneReady as readyRows } from './rebodied.ts';

/** About the bytes of a record. */
const RECORD_BYTES = 3500;

/** The rows in pieces of about a record. */
export function jsonRows(served: ServedRows): Measuring {
  return rebodied(rows(served), (body) => ({
    bytes: body.bytes,
    pieceAt: (offset) => body.pieceAt(offset).subarray(0, RECORD_BYTES),
  }));
}
