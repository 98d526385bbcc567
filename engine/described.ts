// The entry of the engine for code that describes the API: fields with their sentences. Loaded only when such a
// description is requested. Only re-exports: every name is documented at its definition.
export {
  collectionLabel,
  collectionSentence,
  type DescribedField,
  describedFields,
  fieldLabel,
  fieldSentence,
  inSentence,
  kindLabel,
} from './query/describe.ts';
export { COLLECTION_GROUPS } from './schema/browse.ts';
export { describeFilter } from './query/filterWords.ts';
export { collectionOfLink, GENERIC_LINKS } from './schema/genericLinks.ts';
export { isSearched } from './schema/search.ts';
export { linkedTo, makeLinkReader } from './query/path.ts';
export { markedParts } from './query/marks.ts';
export type { Lookup, LookupGroup } from './query/lookups.ts';
export { recordShape, type RecordShape } from './query/served.ts';
export { nearestName } from './bits/suggest.ts';
export {
  distantReferences,
  factPaths,
  fieldText,
  type FilterField,
  filterFields,
  groupKeys,
  isPublished,
  labelKeys,
  makeLabelReader,
  makeNumberReader,
  linkedCollection,
  memberTexts,
  type Reference,
  referencesFrom,
  shownColumns,
  shownFacets,
} from './query/shown.ts';
export { hasMoreMembers, type Member, type MemberBudget, recordMembers } from './page/members.ts';
