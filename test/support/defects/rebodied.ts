// What the defects that spoil bodies share: all bodies are measured, those of JSON are spoilt once they are, and a body
// is read whole. Imports the real engine.
import { type Body, measuringOf, type Representation } from '../../../engine/engine.ts';

/** The measuring of a body that `spoil` makes of the real one where that is JSON; `read` writes it into a target. */
export function rebodied(
  representation: Representation,
  spoil: (body: Body, read: (target: Uint8Array) => void) => Body,
): () => Body | undefined {
  const measuring = measuringOf(representation);
  if (representation.format !== 'json') return measuring;
  return () => {
    const body = measuring();
    return body && spoil(body, (target) => readInto(body, target));
  };
}

/** In place of a body that is ready: none is, so that all are measured and a defect comes to see them. */
export function noneReady(): undefined {
  return undefined;
}

function readInto(body: Body, target: Uint8Array): void {
  for (let at = 0; at < body.bytes;) {
    const piece = body.pieceAt(at);
    target.set(piece, at);
    at += piece.length;
  }
}
