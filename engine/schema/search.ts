// The fields that `search` reads, for each collection. A field that a collection does not have is skipped. Source:
// A168.

/** Keys of text fields, by how much a word in them counts. Names in a list are separated by blanks. */
export interface SearchFields {
  readonly title: string;
  readonly keywords: string;
  readonly others: string;
}

const USUAL: SearchFields = {
  title: 'title',
  keywords: 'keywords',
  others: 'abstract name bboxName firstName lastName',
};

const BY_COLLECTION: Readonly<Record<string, Partial<SearchFields>>> = {
  observations: { others: 'abstract phenomena__names__name phenomena__terms__value projects__title' },
  phenomona: { others: 'names__name terms__value' },
};

/** The search fields of a collection. */
export function searchFields(collection: string): SearchFields {
  return { ...USUAL, ...BY_COLLECTION[collection] };
}

/** Whether `search` reads a field of a collection. `key` is its name in filters, such as `names__name`. */
export function isSearched(collection: string, key: string): boolean {
  return Object.values(searchFields(collection)).some((names: string) => names.split(' ').includes(key));
}
