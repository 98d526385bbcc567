// The face of the engine: what serving threads and the pool use of it, and the supervisor through shared.ts. They
// import no other file; data/ builds snapshots with the parts behind it. Only re-exports: every name is documented
// where it is defined.

// The declaration.
export { COLLECTIONS, collectionsOfPath } from './schema/catalogue.ts';
export type { Collection, Version } from './schema/types.ts';

// How own URLs are served.
export { type ServedForm, SPEC_LINK_END } from './column/served.ts';

// The records of a collection as deflate blocks.
export type { RecordBlocks } from './column/blocks.ts';

// A collection opened, and sets of its rows.
export { compacted, ownBuffers, ownedBytes, ownedBytesMax } from './index/footprint.ts';
export { countSelected, type RowSet, selectedRow, type Selection } from './index/rowset.ts';
export { type CollectionIndex, rowOfId } from './index/table.ts';

// A snapshot in shared memory.
export type { LoadedSnapshot } from './snapshot/loaded.ts';
export { openSnapshot } from './snapshot/open.ts';
export { openBlocks } from './snapshot/openBlocks.ts';

// From a raw query to rows: parse -> plan -> execute.
export { type Counters, newCounters } from './query/counters.ts';
export { execute, findRows, type Listed, pageOf, walkedPage } from './query/execute.ts';
export { explain, explained } from './query/explain.ts';
export { filterKey } from './query/filterKey.ts';
export type { IgnoredName } from './query/fields.ts';
export { parseInstant } from './query/instant.ts';
export {
  type ListRequest,
  parseListQuery,
  parseRecordQuery,
  type QueryOptions,
  type RecordRequest,
  regexProblems,
} from './query/parse.ts';
export { hasRegex, plan, type Plan } from './query/plan.ts';
export { hasView, isViewHeavy } from './query/viewCost.ts';

// From rows to the bytes of an answer.
export { type Body, wholeBody } from './page/body.ts';
export { indexBody, type PageFacet, pageHead, pageTail, rootViewBody } from './page/envelope.ts';
export { jsonObject, jsonText } from './page/json.ts';
export { pageLinks, percentEncode, sortedByName } from './page/links.ts';
export { csvColumns, csvHeader } from './page/csv.ts';
export type { Measuring } from './page/gather.ts';
export { csvRows, jsonRows, ndjsonRows, pageBody, readyRows, rowsBody, type ServedRows } from './page/rows.ts';
export { type GzipBody, stitchedRows, type Stitching } from './page/stitch.ts';
