// What the defects that spoil bodies share: all bodies are measured, a body once it is, and how it is read whole.
import type { Body, Measuring } from '../../../engine/engine.ts';

/** The measuring of a body that `spoil` makes of the real one; `read` writes that one into a target. */
export function rebodied(
  measuring: Measuring,
  spoil: (body: Body, read: (target: Uint8Array) => void) => Body,
): Measuring {
  return () => {
    const body = measuring();
    return body && spoil(body, (target) => readInto(body, target));
  };
}

/** In place of rows that are ready: none are, so that all are measured and a defect comes to see them. */
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
