// A defect: every page is put together in a buffer of its own.
import { jsonRows as rows, wholeBody, type Measuring, type ServedRows } from '../../../engine/engine.ts';
import { rebodied } from './rebodied.ts';

export * from '../../../engine/engine.ts';
export { noneReady as readyRows } from './rebodied.ts';

/** The rows in a new buffer. */
export function jsonRows(served: ServedRows): Measuring {
  return rebodied(rows(served), (body, read) => {
    const fresh = new Uint8Array(body.bytes);
    read(fresh);
    return wholeBody(fresh);
  });
}
