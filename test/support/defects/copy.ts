// A defect: the records of a page are copied out of shared memory in JavaScript before they are sent.
import { jsonRows as rows, type Measuring, type ServedRows } from '../../../engine/engine.ts';
import { rebodied } from './rebodied.ts';

export * from '../../../engine/engine.ts';
export { noneReady as readyRows } from './rebodied.ts';

let copied = new Uint8Array(0);

/** The rows, copied into a buffer of the thread. */
export function jsonRows(served: ServedRows): Measuring {
  return rebodied(rows(served), (body, read) => {
    if (copied.length < body.bytes) copied = new Uint8Array(body.bytes);
    read(copied);
    return { bytes: body.bytes, pieceAt: (offset) => copied.subarray(offset, body.bytes) };
  });
}
