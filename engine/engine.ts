// The entry of the engine for serving threads and the pool; the supervisor uses shared.ts. They import no other file of
// the engine. data/ imports single modules of the engine to build snapshots. Only re-exports: every name is documented
// at its definition.

// The declaration.
export { COLLECTIONS, collectionsOfPath } from './schema/catalogue.ts';
export type { Collection, Field, Version } from './schema/types.ts';

// The form of served own URLs.
export { PLACEHOLDER } from './column/records.ts';
export { type ServedForm, SPEC_LINK_END } from './column/served.ts';

// The records of a collection as deflate blocks.
export type { RecordBlocks } from './column/blocks.ts';

// An open collection, and sets of its rows.
export { compacted, ownBuffers, ownedBytes, ownedBytesMax } from './index/footprint.ts';
export { countRows, countSelected, type RowSet, selectedRow } from './index/rowset.ts';
export { type CollectionIndex, rowOfId } from './index/table.ts';

// A snapshot in shared memory.
export { GENERATION_DIGITS, type LoadedSnapshot } from './snapshot/loaded.ts';
export { openBlocks, openSnapshot } from './snapshot/open.ts';

// The steps of a list from text to page, and their parts.
export { answerList, type Asker, type Here, type List, listHere, pageOf, servedRows } from './list.ts';
export {
  type Ask,
  decodedBytes,
  decodeForm,
  type ExportFormat,
  exportKey,
  filterKey,
  type IgnoredName,
  type QueryOptions,
  viewKey,
} from './query/ask.ts';
export { type Counters, Meter, newCounters, type Purpose } from './find/counters.ts';
export { execute, findRows, hasView, type Hits, hitsOf, nearPage } from './find/execute.ts';
export { explain, explained, purposeName } from './find/explain.ts';
export { parseInstant } from './query/decimal.ts';
export { countParts, PARAMETERS_MAX } from './query/limits.ts';
export { percentEncode, sortedByName } from './query/links.ts';
export { EXPORT_FORMATS, EXPORT_TYPES, exportOf, limitWithout, type View } from './query/readers.ts';
export { nearestName } from './bits/suggest.ts';
export { LOOKUPS } from './query/lookups.ts';
export { namesOnPages, parameterNames, PARAMETERS } from './query/parameters.ts';
export { hintsFor, parseRecordQuery, regexProblems } from './query/parse.ts';
export type { Plan } from './find/plan.ts';
export { type Problem, tooLarge } from './query/problems.ts';

// From rows to the bytes of a response.
export { type Body, indexBody, rootViewBody, wholeBody } from './page/envelope.ts';
export { indented, indentedAtOnce } from './page/indent.ts';
export {
  exportRepresentation,
  measuringOf,
  readyBody,
  recordRepresentation,
  type Representation,
  stitchingOf,
} from './page/representation.ts';
export { EXPANDED_BYTES_MAX } from './page/linked.ts';
export type { ServedRows } from './page/rows.ts';
export type { GzipBody } from './page/stitch.ts';
export { isObject, jsonObject, jsonText, parseJson } from './bits/json.ts';
