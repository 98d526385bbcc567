// The parts of a response with records, before any byte of it is written: rows in one format, with a head and a tail
// (RFC 9110, 3.2). The server decides about compression.
import type { RecordBlocks } from '../column/blocks.ts';
import type { CollectionIndex } from '../index/table.ts';
import { type Body, type PageFacet, pageHead, type PageLinks, pageTail } from './envelope.ts';
import { csvHeader, exportColumns } from './csv.ts';
import type { Measuring } from './gather.ts';
import { indented } from './indent.ts';
import { csvRows, jsonRows, ndjsonRows, pageBody, readyRows, type ServedRows } from './rows.ts';
import { stitchedRows, type Stitching } from './stitch.ts';

export interface Representation {
  readonly rows: ServedRows;
  readonly format: 'json' | 'ndjson' | 'csv' | 'parquet';
  /** The bytes before the rows. */
  readonly head: Uint8Array;
  /** The bytes after the rows. */
  readonly tail: Uint8Array;
  /** The columns of CSV before joined ones. */
  readonly columns: readonly string[];
  /** The collection of a Parquet file. */
  readonly collection?: CollectionIndex;
  /** Whether the JSON is indented for people. */
  readonly isIndented: boolean;
}

/** The parts of a page's envelope, in addition to its records. */
interface Envelope {
  readonly count: number;
  readonly links: PageLinks;
  readonly facets: readonly PageFacet[];
}

const NOTHING = new Uint8Array(0);
const NO_COLUMNS: readonly string[] = [];

/** The page of a list: rows in their envelope, whose tail contains the facets. Cost: the text of head and tail. */
export function pageRepresentation(
  rows: ServedRows,
  { count, links, facets }: Envelope,
  isIndented: boolean,
): Representation {
  const head = pageHead(count, links);
  return { rows, format: 'json', head, tail: pageTail(facets), columns: NO_COLUMNS, isIndented };
}

export function recordRepresentation(rows: ServedRows, isIndented: boolean): Representation {
  return { rows, format: 'json', head: NOTHING, tail: NOTHING, columns: NO_COLUMNS, isIndented };
}

/** Rows of the collection as lines of JSON, as CSV with a header row, or as a Parquet file (A62, A63, A141). */
export function exportRepresentation(
  format: Exclude<Representation['format'], 'json'>,
  collection: CollectionIndex,
  rows: ServedRows,
  hasBom: boolean,
): Representation {
  const lines = { rows, format, head: NOTHING, tail: NOTHING, columns: NO_COLUMNS, isIndented: false };
  if (format === 'ndjson') return lines;
  if (format === 'parquet') return { ...lines, collection };
  const joined = rows.joins?.columns ?? [];
  const columns = exportColumns(collection, rows.keys, joined);
  return { ...lines, head: csvHeader([...columns, ...joined.map(({ name }) => name)], hasBom), columns };
}

/** The body, if its rows need no measuring; otherwise undefined. Cost: a step per chunk, no copy. */
export function readyBody(representation: Representation): Body | undefined {
  const { format, isIndented } = representation;
  const rows = format === 'json' && !isIndented ? readyRows(representation.rows) : undefined;
  return rows && bodyAround(representation, rows);
}

/**
 * Measures the body slice by slice. It holds no resources before the first call. Parquet files have a separate entry
 * point (engine/parquet.ts). Cost: see rows.ts.
 */
export function measuringOf(representation: Representation): Measuring {
  let measuring: Measuring | undefined;
  const compact: Measuring = () => {
    measuring ??= rowsMeasuring(representation);
    const rows = measuring();
    return rows && bodyAround(representation, rows);
  };
  return representation.isIndented ? indented(compact) : compact;
}

/**
 * Measures the compressed body made of stored blocks, as `measuringOf`. Returns undefined if there are no blocks for
 * it.
 */
export function stitchingOf(
  { rows, format, head, tail, isIndented }: Representation,
  stored: RecordBlocks,
): Stitching | undefined {
  return format === 'csv' || format === 'parquet' || isIndented
    ? undefined
    : stitchedRows(rows, { stored, head, tail, isLines: format === 'ndjson' });
}

function rowsMeasuring({ rows, format, columns }: Representation): Measuring {
  switch (format) {
    case 'json':
      return jsonRows(rows);
    case 'ndjson':
      return ndjsonRows(rows);
    case 'csv':
      return csvRows(rows, columns);
    case 'parquet':
      throw new Error('a Parquet file is measured by engine/parquet.ts');
  }
}

function bodyAround({ head, tail }: Representation, rows: Body): Body {
  return head.length + tail.length === 0 || rows.isTooLarge ? rows : pageBody(head, rows, tail);
}
