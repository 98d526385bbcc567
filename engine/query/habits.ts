// Parameters and lookups of similar services, with the forms that work here. Strict mode, the pages and the client
// guide suggest them. They are looked up only for names without a meaning here. Source: A163.

/** Parameters of other services, and the form that replaces them here. */
export interface ParameterHabit {
  readonly names: readonly string[];
  /** The services that use these names. */
  readonly of: string;
  readonly form: string;
}

/**
 * Lookups of other services, and the lookup that replaces them here. With `isNegated`, the key needs a `!` at its end.
 */
export interface LookupHabit {
  readonly names: readonly string[];
  readonly of: string;
  readonly lookup: string;
  readonly isNegated?: true;
}

export const PARAMETER_HABITS: readonly ParameterHabit[] = [
  {
    names: ['page', 'page_size', 'per_page', 'cursor', 'token', '$skiptoken', 'page[number]', 'page[size]'],
    of: 'Django REST framework, STAC, OData, JSON:API',
    form: 'limit=100&offset=200',
  },
  { names: ['rows', 'size', 'count', 'max', '$top'], of: 'CKAN, Elasticsearch, OData and others', form: 'limit=100' },
  { names: ['start', 'skip', '$skip'], of: 'CKAN, OData', form: 'offset=200' },
  {
    names: ['sort', 'sort_by', 'order', 'order_by', '$orderby'],
    of: 'CKAN, STAC, PostgREST, OData',
    form: 'ordering=-<field>',
  },
  {
    names: ['q', 'query', 'text', '$search'],
    of: 'CKAN, STAC, OData',
    form: 'search=ice',
  },
  {
    names: ['fq', 'filter', 'where', 'and', '$filter'],
    of: 'CKAN, STAC, PostgREST, OData',
    form: '<field>__<lookup>=<value>',
  },
  { names: ['or'], of: 'PostgREST', form: '<field>__in=<value>,<value>' },
  { names: ['fl', 'select', 'columns', '$select'], of: 'CKAN, PostgREST, OData', form: 'fields=<field>,<field>' },
  { names: ['include', 'embed', '$expand'], of: 'JSON:API, PostgREST, OData', form: 'expand=<field>' },
  { names: ['facet', 'facet.field', 'group_by', '$apply'], of: 'CKAN, OData and others', form: 'facets=<field>' },
  { names: ['since', 'start_date'], of: 'several', form: 'datetime=2020-01-31/..' },
  { names: ['until', 'end_date'], of: 'several', form: 'datetime=../2020-01-31' },
  { names: ['intersects', 'geometry'], of: 'STAC and others', form: 'bbox=-10,50,2,60' },
  { names: ['f', 'output', 'outputFormat', '$format'], of: 'OGC API, OData', form: 'format=csv' },
];

export const LOOKUP_HABITS: readonly LookupHabit[] = [
  { names: ['eq', 'equals', 'is'], of: 'PostgREST, OData', lookup: 'exact' },
  { names: ['ne', 'neq', 'not', 'exclude'], of: 'PostgREST, OData, Django', lookup: 'exact', isNegated: true },
  { names: ['any', 'one_of', 'oneof'], of: 'PostgREST and others', lookup: 'in' },
  { names: ['nin', 'notin', 'not_in'], of: 'Mongo', lookup: 'in', isNegated: true },
  { names: ['ge', 'min', 'from', 'since', 'after'], of: 'OData, django-filter', lookup: 'gte' },
  { names: ['le', 'max', 'to', 'until', 'before'], of: 'OData, django-filter', lookup: 'lte' },
  { names: ['between'], of: 'CQL2 of STAC and OGC API', lookup: 'range' },
  { names: ['null', 'is_null', 'empty'], of: 'several', lookup: 'isnull' },
  { names: ['notnull', 'not_null', 'isnotnull', 'exists'], of: 'several', lookup: 'isnull', isNegated: true },
  { names: ['like'], of: 'PostgREST, STAC', lookup: 'contains' },
  { names: ['ilike', 'search', 'fts'], of: 'PostgREST, Django', lookup: 'icontains' },
  { names: ['starts_with', 'beginswith', 'prefix'], of: 'several', lookup: 'startswith' },
  { names: ['ends_with', 'suffix'], of: 'several', lookup: 'endswith' },
  { names: ['match', 'regexp'], of: 'PostgREST', lookup: 'regex' },
  { names: ['imatch'], of: 'PostgREST', lookup: 'iregex' },
];

const FORMS: ReadonlyMap<string, string> = new Map(
  PARAMETER_HABITS.flatMap(({ names, form }) => names.map((name) => [plainName(name), form] as const)),
);
const LOOKUPS_BY_NAME: ReadonlyMap<string, LookupHabit> = new Map(
  LOOKUP_HABITS.flatMap((habit) => habit.names.map((name) => [name, habit] as const)),
);

/** The form that replaces a parameter of other services; undefined for any other name. */
export function formOfHabit(name: string): string | undefined {
  return FORMS.get(plainName(name));
}

/** The same for `page_size`, `pageSize`, `page-size` and `page_size[]`. */
function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]|\[\]$/g, '');
}

export function lookupOfHabit(name: string): LookupHabit | undefined {
  return LOOKUPS_BY_NAME.get(name);
}
