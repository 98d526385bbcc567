// What an answer with records is made of, before a byte of it is written: rows in one format, and what stands around
// them (RFC 9110, 3.2). Knows no client: whether it goes out as it is or compressed is the server's.
import type { RecordBlocks } from '../column/blocks.ts';
import type { TopLevelKeys } from '../column/outline.ts';
import type { Body } from './body.ts';
import { csvColumns, csvHeader } from './csv.ts';
import { pageHead, pageTail, type PageFacet, type PageLinks } from './envelope.ts';
import type { Measuring } from './gather.ts';
import { indented } from './indent.ts';
import { csvRows, jsonRows, ndjsonRows, pageBody, readyRows, type ServedRows } from './rows.ts';
import { stitchedRows, type Stitching } from './stitch.ts';

/**
 * Rows in one format, what stands before and behind them, and the columns of CSV. `isIndented` where people read the
 * JSON.
 */
export interface Representation {
  readonly rows: ServedRows;
  readonly format: 'json' | 'ndjson' | 'csv';
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  readonly columns: readonly string[];
  readonly isIndented?: boolean;
}

/** What the envelope of a page says beside its records. */
interface Envelope {
  readonly count: number;
  readonly links: PageLinks;
  readonly facets: readonly PageFacet[];
}

const NOTHING = new Uint8Array(0);
const NO_COLUMNS: readonly string[] = [];

/** The page of a list: rows in their envelope, whose tail has the facets. Cost: the text of head and tail. */
export function pageRepresentation(
  rows: ServedRows,
  { count, links, facets }: Envelope,
  isIndented: boolean,
): Representation {
  const head = pageHead(count, links);
  const page = { rows, format: 'json', head, tail: pageTail(facets), columns: NO_COLUMNS } as const;
  return isIndented ? { ...page, isIndented } : page;
}

/** A single record as JSON. */
export function recordRepresentation(rows: ServedRows, isIndented: boolean): Representation {
  const record = { rows, format: 'json', head: NOTHING, tail: NOTHING, columns: NO_COLUMNS } as const;
  return isIndented ? { ...record, isIndented } : record;
}

/** Rows as lines of JSON, or as CSV with a header row (A62, A63). `keys` are those of the collection. */
export function exportRepresentation(format: 'ndjson' | 'csv', keys: TopLevelKeys, rows: ServedRows): Representation {
  if (format === 'ndjson') return { rows, format, head: NOTHING, tail: NOTHING, columns: NO_COLUMNS };
  const columns = csvColumns(keys, rows.keys);
  return { rows, format, head: csvHeader(columns), tail: NOTHING, columns };
}

/** The body where its rows need no measuring; undefined for all others. Cost: a step a chunk, no copy. */
export function readyBody(representation: Representation): Body | undefined {
  const { format, isIndented } = representation;
  const rows = format === 'json' && !isIndented ? readyRows(representation.rows) : undefined;
  return rows && bodyAround(representation, rows);
}

/** Measures the body slice by slice, from the first call on: until then it holds nothing. Cost: see rows.ts. */
export function measuringOf(representation: Representation): Measuring {
  let measuring: Measuring | undefined;
  const compact: Measuring = () => {
    measuring ??= rowsMeasuring(representation);
    const rows = measuring();
    return rows && bodyAround(representation, rows);
  };
  return representation.isIndented ? indented(compact) : compact;
}

/** Measures the compressed body from stored blocks, as `measuringOf`; undefined where these do not give it. */
export function stitchingOf(
  { rows, format, head, tail, isIndented }: Representation,
  stored: RecordBlocks,
): Stitching | undefined {
  return format === 'csv' || isIndented
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
  }
}

function bodyAround({ head, tail }: Representation, rows: Body): Body {
  return head.length + tail.length === 0 ? rows : pageBody(head, rows, tail);
}
