// Builds served records by hand, as engine/column/records.ts describes them, for tests of pages and handlers.
// Slow and obvious: texts in, one pass of a regular expression, no share in how import writes them.
import { PLACEHOLDER, type RecordChunk, type Records } from '../../engine/column/records.ts';

/** Every string of a JSON text; with a colon behind it, it is a key. */
const STRING = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/**
 * Records of JSON texts in which `{base_url}` stands for the base address, served under `baseUrl`, `chunkRows` to a chunk.
 * The chunks lie in shared memory, as they do when served.
 */
export function recordsOf(texts: readonly string[], baseUrl: string, chunkRows = Infinity): Records {
  const chunks: RecordChunk[] = [];
  for (let row = 0; row < texts.length; row += chunkRows) {
    chunks.push(chunkOfTexts(texts.slice(row, row + chunkRows), row, baseUrl));
  }
  return { rows: texts.length, chunks, baseUrl, growth: Buffer.byteLength(baseUrl) - PLACEHOLDER.length };
}

/** A record with `baseUrl` in place of `{base_url}` at the start of its string values. */
export function withBaseUrl(text: string, baseUrl: string): string {
  return text.replace(STRING, (value, colon: string | undefined) =>
    !colon && value.startsWith(`"${PLACEHOLDER}`) ? `"${baseUrl}${value.slice(1 + PLACEHOLDER.length)}` : value,
  );
}

function chunkOfTexts(texts: readonly string[], firstRow: number, baseUrl: string): RecordChunk {
  const ends: number[] = [];
  const links: number[] = [];
  const linkEnds: number[] = [];
  let start = 0;
  for (const text of texts) {
    for (const match of text.matchAll(STRING)) {
      if (match[1] || !match[0].startsWith(`"${PLACEHOLDER}`)) continue;
      links.push(start + Buffer.byteLength(text.slice(0, match.index + 1)));
    }
    start += Buffer.byteLength(text) + 1;
    ends.push(start);
    linkEnds.push(links.length);
  }
  const served = Buffer.from(texts.map((text) => `${withBaseUrl(text, baseUrl)},`).join(''));
  const bytes = new Uint8Array(new SharedArrayBuffer(served.length));
  bytes.set(served);
  return {
    firstRow,
    bytes,
    ends: Uint32Array.from(ends),
    links: Uint32Array.from(links),
    linkEnds: Uint32Array.from(linkEnds),
  };
}
