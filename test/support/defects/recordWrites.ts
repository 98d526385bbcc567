// A defect: a page is written record by record instead of in one piece.
import type { Body, Representation } from '../../../engine/engine.ts';
import { rebodied } from './rebodied.ts';

export * from '../../../engine/engine.ts';
export { noneReady as readyBody } from './rebodied.ts';

/** About the bytes of a record. */
const RECORD_BYTES = 3500;

/** The body in pieces of about a record. */
export function measuringOf(representation: Representation): () => Body | undefined {
  return rebodied(representation, (body) => ({
    bytes: body.bytes,
    pieceAt: (offset) => body.pieceAt(offset).subarray(0, RECORD_BYTES),
  }));
}
