// A defect: a page is copied out of shared memory in JavaScript before it is sent.
import type { Body, Representation } from '../../../engine/engine.ts';
import { rebodied } from './rebodied.ts';

export * from '../../../engine/engine.ts';
export { noneReady as readyBody } from './rebodied.ts';

let copied = new Uint8Array(0);

/** The body, copied into a buffer of the thread. */
export function measuringOf(representation: Representation): () => Body | undefined {
  return rebodied(representation, (body, read) => {
    if (copied.length < body.bytes) copied = new Uint8Array(body.bytes);
    read(copied);
    return { bytes: body.bytes, pieceAt: (offset) => copied.subarray(offset, body.bytes) };
  });
}
