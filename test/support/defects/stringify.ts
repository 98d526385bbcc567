// A defect: records are parsed and written again for every request.
import { type Body, type Representation, wholeBody } from '../../../engine/engine.ts';
import { rebodied } from './rebodied.ts';

export * from '../../../engine/engine.ts';
export { noneReady as readyBody } from './rebodied.ts';

/** The body, parsed and stringified. What is sent are the stored bytes, so that only the cost differs. */
export function measuringOf(representation: Representation): () => Body | undefined {
  return rebodied(representation, (body, read) => {
    const bytes = Buffer.alloc(body.bytes);
    read(bytes);
    const page = JSON.parse(bytes.toString()) as unknown;
    return Buffer.byteLength(JSON.stringify(page)) > 0 ? wholeBody(bytes) : body;
  });
}
