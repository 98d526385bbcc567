// Defects of bodies, by the name that plant.ts asks for. Every page is measured, and JSON pages then get the defect.
import { type Body, measuringOf as measuring, type Representation, wholeBody } from '../../../engine/engine.ts';

export * from '../../../engine/engine.ts';

/** Replaces the function that returns ready bodies: no body is ready, so all pages are measured. */
export function readyBody(): undefined {
  return undefined;
}

/** Approximate bytes of a record. */
const RECORD_BYTES = 3500;
let reused = new Uint8Array(0);

const DEFECTS: Readonly<Record<string, (body: Body) => Body>> = {
  // Copies a page out of shared memory in JavaScript before it is sent.
  copy: (body) => {
    if (reused.length < body.bytes) reused = new Uint8Array(body.bytes);
    readInto(reused, body);
    return { bytes: body.bytes, pieceAt: (offset) => reused.subarray(offset, body.bytes) };
  },
  // Joins every page in a new buffer.
  freshBuffer: (body) => wholeBody(readInto(new Uint8Array(body.bytes), body)),
  // Writes a page record by record.
  recordWrites: (body) => ({
    bytes: body.bytes,
    pieceAt: (offset) => body.pieceAt(offset).subarray(0, RECORD_BYTES),
  }),
  // Parses and serialises the records for every request, but sends the stored bytes, so that only the cost differs.
  stringify: (body) => {
    const bytes = readInto(Buffer.alloc(body.bytes), body);
    const page = JSON.parse(bytes.toString()) as unknown;
    return Buffer.byteLength(JSON.stringify(page)) > 0 ? wholeBody(bytes) : body;
  },
};
const spoil = DEFECTS[new URL(import.meta.url).searchParams.get('defect')!]!;

/** Measures a body and applies the defect. */
export function measuringOf(representation: Representation): () => Body | undefined {
  const real = measuring(representation);
  if (representation.format !== 'json') return real;
  return () => {
    const body = real();
    return body && spoil(body);
  };
}

function readInto<Target extends Uint8Array>(target: Target, body: Body): Target {
  for (let at = 0; at < body.bytes;) {
    const piece = body.pieceAt(at);
    target.set(piece, at);
    at += piece.length;
  }
  return target;
}
