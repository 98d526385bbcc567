// Reads bodies of rows, and makes their expected content by rewriting records as strings. Slow and obvious; it knows
// nothing of positions.
import assert from 'node:assert/strict';
import type { ServedForm } from '../../engine/column/served.ts';
import type { Selection } from '../../engine/index/rowset.ts';
import type { Body } from '../../engine/page/envelope.ts';
import { withBaseUrl } from './records.ts';

/** Reads a whole body piece by piece. */
export function bytesOf(body: Body): Buffer {
  const pieces: Buffer[] = [];
  for (let offset = 0; offset < body.bytes; offset += pieces.at(-1)!.length)
    pieces.push(Buffer.from(body.pieceAt(offset)));
  return Buffer.concat(pieces);
}

export function textOf(body: Body): string {
  return bytesOf(body).toString();
}

/** Rewrites a record's own URLs as strings. */
export function servedRecord(text: string, form: ServedForm): string {
  const mark = '\u0001';
  const own = new RegExp(`"${mark}([^"\\\\]*)`, 'g');
  return withBaseUrl(text, mark).replace(own, (_, path: string) => {
    const link = path.replace(/^(\/api\/v3\/[^/]+\/\d+)\/\?format=api$/, `$1${form.linkEnd}`);
    return `"${form.baseUrl}${link.replace(/^\/api\/v3\//, `/api/${form.version}/`)}`;
  });
}

export function rowsOf(selection: Selection): number[] {
  if (selection.kind !== 'range') return [...selection.rows];
  return Array.from({ length: selection.end - selection.start }, (_, i) => selection.start + i);
}

/** Expects a body to be this text, from its start and from each of these offsets, with another body read in between. */
export function expectBody(body: Body, text: string, jumps: readonly number[], other: Body): void {
  assert.equal(textOf(body), text);
  const bytes = Buffer.from(text);
  assert.equal(body.bytes, bytes.length);
  for (const jump of bytes.length === 0 ? [] : jumps) {
    const offset = jump % bytes.length;
    other.pieceAt(0);
    const piece = Buffer.from(body.pieceAt(offset));
    assert(piece.length > 0);
    assert(piece.equals(bytes.subarray(offset, offset + piece.length)));
  }
}
