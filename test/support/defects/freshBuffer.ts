// A defect: every page is put together in a buffer of its own.
import { type Body, type Representation, wholeBody } from '../../../engine/engine.ts';
import { rebodied } from './rebodied.ts';

export * from '../../../engine/engine.ts';
export { noneReady as readyBody } from './rebodied.ts';

/** The body in a new buffer. */
export function measuringOf(representation: Representation): () => Body | undefined {
  return rebodied(representation, (body, read) => {
    const fresh = new Uint8Array(body.bytes);
    read(fresh);
    return wholeBody(fresh);
  });
}
