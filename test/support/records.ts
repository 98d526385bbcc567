// Builds served records, collections and blocks by hand, without import and snapshot, for tests of pages and handlers
// that compare bytes. Slow and obvious; it shares no code with the import.
import { crc32 } from 'node:zlib';
import { deflateRun } from '../../data/blocks/deflate.ts';
import { DeflateEncoder } from '../../data/blocks/encoder.ts';
import { type BlockRun, joinBlocks, type RecordBlocks } from '../../engine/column/blocks.ts';
import {
  findChunk,
  endOf,
  type Outlines,
  PLACEHOLDER,
  type RecordChunk,
  type Records,
  startOf,
} from '../../engine/column/records.ts';
import { type CollectionIndex } from '../../engine/index/table.ts';
import { kernelBetween } from '../../engine/kernel/kernel.ts';
import { parseJson, writeJson, writeText } from '../differential/json.ts';
import { indexOf, type RecordValue } from './index.ts';

/** Every string of a JSON text. One before a colon is a key. */
const STRING = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/**
 * Records of JSON texts in which `{base_url}` stands for the base address, served under `baseUrl`, `chunkRows` to a
 * chunk. As in a server, the chunks are in WebAssembly memories, with the records at the very end of one.
 */
export function recordsOf(texts: readonly string[], baseUrl: string, chunkRows = Infinity): Records {
  const chunks: RecordChunk[] = [];
  const outlines = outlinesOf(texts);
  for (let row = 0; row < texts.length; row += chunkRows) {
    chunks.push(chunkOfTexts(texts.slice(row, row + chunkRows), row, baseUrl));
  }
  const growth = Buffer.byteLength(baseUrl) - PLACEHOLDER.length;
  return { rows: texts.length, chunks, baseUrl, growth, outlines };
}

/** A record with `baseUrl` in place of `{base_url}` at the start of its string values. */
export function withBaseUrl(text: string, baseUrl: string): string {
  return text.replace(STRING, (value, colon: string | undefined) =>
    !colon && value.startsWith(`"${PLACEHOLDER}`) ? `"${baseUrl}${value.slice(1 + PLACEHOLDER.length)}` : value,
  );
}

/** The members of a record's text. The text must already have the served spelling. */
export function membersOf(text: string): readonly { readonly key: string; readonly text: string }[] {
  const json = parseJson(text);
  if (json.kind !== 'object') throw new Error(`no record: ${text}`);
  return json.members.map(([key, value]) => ({ key, text: `${writeText(key)}:${writeJson(value)}` }));
}

/** One record shape per record. The product has fewer shapes, and reads them in the same way. */
function outlinesOf(texts: readonly string[]): Outlines {
  const keys = [...new Set(texts.flatMap((text) => membersOf(text).map(({ key }) => key)))];
  return { keys, lists: texts.map((text) => membersOf(text).map(({ key }) => keys.indexOf(key))) };
}

const PAGE_BYTES = 65_536;
/** Links may start at any offset of their memory. */
const LINKS_AT = 12;

function memoryFor(bytes: number): WebAssembly.Memory {
  const pages = Math.max(1, Math.ceil(bytes / PAGE_BYTES));
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
}

function chunkOfTexts(texts: readonly string[], firstRow: number, baseUrl: string): RecordChunk {
  const ends: number[] = [];
  const links: number[] = [];
  const linkEnds: number[] = [];
  const members: number[] = [];
  const memberEnds: number[] = [];
  let start = 0;
  for (const text of texts) {
    for (const match of text.matchAll(STRING)) {
      if (match[1] || !match[0].startsWith(`"${PLACEHOLDER}`)) continue;
      links.push(start + Buffer.byteLength(text.slice(0, match.index + 1)));
    }
    start += Buffer.byteLength(text) + 1;
    ends.push(start);
    linkEnds.push(links.length);
    let end = 0;
    for (const member of membersOf(text)) members.push((end += 1 + Buffer.byteLength(member.text)));
    memberEnds.push(members.length);
  }
  const served = Buffer.from(texts.map((text) => `${withBaseUrl(text, baseUrl)},`).join(''));
  const [memory, positions] = [memoryFor(served.length), memoryFor(links.length * 4 + LINKS_AT)];
  const bytes = new Uint8Array(memory.buffer, memory.buffer.byteLength - served.length);
  bytes.set(served);
  const linkWords = new Uint32Array(positions.buffer, LINKS_AT, links.length);
  linkWords.set(links);
  return {
    firstRow,
    bytes,
    ends: Uint32Array.from(ends),
    links: linkWords,
    linkEnds: Uint32Array.from(linkEnds),
    outlines: Uint32Array.from(texts, (_, i) => firstRow + i),
    members: Uint32Array.from(members),
    memberEnds: Uint32Array.from(memberEnds),
    kernel: kernelBetween(memory, positions),
  };
}

/** The records of an opened collection as texts, in id order, without their commas. */
export function recordTexts({ records }: CollectionIndex): string[] {
  return Array.from({ length: records.rows }, (_, row) => {
    const chunk = findChunk(records, row);
    const index = row - chunk.firstRow;
    const part = chunk.bytes.subarray(startOf(chunk, records.growth, index), endOf(chunk, records.growth, index) - 1);
    return Buffer.from(part).toString();
  });
}

const ENCODER = new DeflateEncoder();

/** The blocks of records; `sums` are computed from the bytes themselves. */
export function recordBlocksOf(records: Records): RecordBlocks {
  const chunks = records.chunks.map((chunk, i) => {
    const run = deflateRun(ENCODER, records, { chunk: i, first: 0, end: chunk.ends.length });
    const sums = Uint32Array.from(chunk.ends, (_, n) =>
      crc32(Buffer.from(chunk.bytes.subarray(0, endOf(chunk, records.growth, n)))),
    );
    return {
      independent: shared(run.independent, run.independentEnds),
      chained: shared(run.chained, run.chainedEnds),
      crcs: run.crcs,
      sums,
    };
  });
  return joinBlocks(records, chunks);
}

/** A run in shared memory, as in a server. */
function shared(content: Uint8Array, ends: Uint32Array): BlockRun {
  const pages = Math.max(1, Math.ceil(content.length / 65_536));
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const bytes = new Uint8Array(memory.buffer, memory.buffer.byteLength - content.length);
  bytes.set(content);
  return { bytes, ends, kernel: kernelBetween(memory, memory) };
}

/** Small, so that most pages cross from one chunk to the next. */
const CHUNK_ROWS = 3;

/** A declared collection of JSON texts in ascending id order, in which `{base_url}` stands for the base address. */
export function collectionOf(name: string, texts: readonly string[], baseUrl: string): CollectionIndex {
  const values = texts.map((text) => JSON.parse(text) as RecordValue);
  return { ...indexOf(name, values), records: recordsOf(texts, baseUrl, CHUNK_ROWS) };
}
