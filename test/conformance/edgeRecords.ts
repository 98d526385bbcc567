// A handmade data set: few records, with values and links at the edges of filters and orders. Plain data; the tests
// state which records match.
import { inject } from 'vitest';
import { dataSetOf } from '../support/dataSets.ts';

const link = (to: string, id: number): string => `{base_url}/api/v3/${to}/${id}/?format=api`;
const links = (to: string, ids: readonly number[]): string[] => ids.map((id) => link(to, id));
const keywords = (ids: readonly number[]): object[] =>
  ids.map((ob_id) => ({ ob_id, name: ['', 'ocean', 'ice'][ob_id] }));
const permission = (id: number, label: string, licenceURL: string): object => ({
  ob_id: link('observations', id),
  label,
  licenceURL,
});
const result = (id: number, volume: number, oldDataPath: readonly string[]): object => ({
  ob_id: link('observations', id),
  dataPath: `/path/${id}`,
  oldDataPath,
  volume,
});

/**
 * Titles, times of publication and relations of the observations. The time of 5 is not a date; project 9 does not
 * exist; 6 and 7 have the reverse order in UTF-16; the two spellings of one instant are 2 and 3.
 */
const OBSERVATIONS: readonly object[] = [
  {
    ob_id: 1,
    title: 'Ångström',
    status: 'completed',
    dataPublishedTime: '1969-12-31T23:59:59.5',
    removedDataTime: null,
    nonGeographicFlag: false,
    result_field: result(1, 5, ['/old/a', '/old/b']),
    timePeriod: link('times', 1),
    projects: links('projects', [1, 9]),
    permissions: [],
    phenomena: [],
    discoveryKeywords: keywords([1, 2]),
    creationDate: '2015-06-30',
  },
  {
    ob_id: 2,
    title: 'ångström',
    status: 'completed',
    dataPublishedTime: '2015-01-02T04:04:05+01:00',
    removedDataTime: '2015-06-30',
    nonGeographicFlag: true,
    result_field: result(2, 12, []),
    timePeriod: link('times', 2),
    projects: links('projects', [2]),
    permissions: [permission(2, 'l0', 'http://a'), permission(2, 'l1', 'http://b')],
    phenomena: [],
    discoveryKeywords: [],
    creationDate: '2016-01-01T10:00:00',
  },
  {
    ob_id: 3,
    title: '',
    status: 'ongoing',
    dataPublishedTime: '2015-01-02T03:04:05Z',
    removedDataTime: null,
    nonGeographicFlag: false,
    result_field: result(1, 7, ['/old/b']),
    timePeriod: link('times', 1),
    projects: [],
    permissions: [permission(2, 'l0', 'http://b')],
    phenomena: links('phenomona', [1]),
    discoveryKeywords: keywords([2]),
  },
  {
    ob_id: 4,
    title: 'a,b',
    status: 'ongoing',
    dataPublishedTime: '2016-02-29',
    removedDataTime: null,
    nonGeographicFlag: true,
    result_field: result(4, 70, []),
    timePeriod: link('times', 1),
    projects: links('projects', [1]),
    permissions: [],
    phenomena: links('phenomona', [2]),
    discoveryKeywords: [],
  },
  {
    ob_id: 5,
    title: 'STRASSE Straße x+y',
    status: 'planned',
    dataPublishedTime: '2016-12-31T23:59:60',
    removedDataTime: null,
    nonGeographicFlag: false,
    result_field: result(5, 700, []),
    projects: links('projects', [1, 2]),
    permissions: [],
    phenomena: links('phenomona', [1, 2]),
    discoveryKeywords: [],
  },
  { ob_id: 6, title: '\uffff', status: 'planned', dataPublishedTime: '9999-12-31', discoveryKeywords: [] },
  { ob_id: 7, title: '😀', status: 'planned', dataPublishedTime: '0001-01-01', discoveryKeywords: [] },
];

const COLLECTIONS: Readonly<Record<string, readonly object[]>> = {
  observations: OBSERVATIONS,
  times: [
    { ob_id: 1, startTime: '2015-01-01', endTime: null },
    { ob_id: 2, startTime: '2014-06-01T12:00:00', endTime: '2014-07-01' },
  ],
  projects: [
    { ob_id: 1, uuid: 'p1', title: 'one', budget: 1 },
    { ob_id: 2, uuid: 'p2', title: 'two', budget: 2.5 },
  ],
  phenomona: [
    {
      ob_id: 1,
      names: [{ ob_id: 1, name: 'air' }],
      terms: [
        { ob_id: 1, label: 'units', value: 'K', vocabulary: '' },
        { ob_id: 2, label: 'standard_name', value: 'air_temperature', vocabulary: 'cf_standard_names' },
      ],
    },
    {
      ob_id: 2,
      names: [{ ob_id: 2, name: 'sea' }],
      terms: [
        { ob_id: 3, label: 'units', value: 'm', vocabulary: '' },
        { ob_id: 4, label: 'var_id', value: 'K', vocabulary: '' },
      ],
    },
  ],
  rpis: [
    { ob_id: 1, priority: 1, role: 'author', party: link('parties', 1), relatedTo: { ob_id: 5, uuid: 'u5' } },
    { ob_id: 2, priority: 2, role: 'curator', party: link('parties', 2), relatedTo: { ob_id: 6, uuid: 'u6' } },
  ],
  // Two kinds of records with the same id, a dangling link, and no kind of record.
  identifiers: [
    { ob_id: 1, relatedTo: { ob_id: 4, uuid: 'u4', short_code: 'ob' }, url: 'a' },
    { ob_id: 2, relatedTo: { ob_id: 2, uuid: 'p2', short_code: 'proj' }, url: 'b' },
    { ob_id: 3, relatedTo: { ob_id: 2, uuid: 'u2', short_code: 'ob' }, url: 'c' },
    { ob_id: 4, relatedTo: { ob_id: 99, uuid: 'u99', short_code: 'ob' }, url: 'd' },
    { ob_id: 5, relatedTo: { ob_id: 2, uuid: 'u2', short_code: 'other' }, url: 'e' },
  ],
  // An undeclared relatedTo.
  onlineresources: [
    { ob_id: 1, relatedTo: { ob_id: 4, uuid: 'u4', short_code: 'ob' } },
    { ob_id: 2, relatedTo: null },
  ],
  migrationproperties: [
    { id: 1, key: 'observation.status', value: 'x', ob_ref: 4 },
    { id: 2, key: 'project.title', value: 'x', ob_ref: 2 },
    { id: 3, key: 'legacy2.title', value: 'x', ob_ref: 5 },
    { id: 4, key: 'other.title', value: 'x', ob_ref: 5 },
  ],
  // Fields with the names of parameters.
  notes: [
    { ob_id: 1, name: 'sea', search: 'ice', limit: 2, fields: 'name' },
    { ob_id: 2, name: 'ice', search: 'sea', limit: 1, fields: 'text' },
  ],
  parties: [
    { ob_id: 1, firstName: 'Ada', lastName: 'L' },
    { ob_id: 2, firstName: 'Bo', lastName: 'M' },
  ],
  computations: ['{base_url}/api/v3/times/7/', '{base_url}', 'see {base_url}/api/', 'http://', '{base_ur'].map(
    (title, i) => ({ ob_id: i + 1, title }),
  ),
  results: [
    {
      ob_id: 1,
      whole: 1,
      number: 1,
      truth: true,
      text: 'x',
      day: '2015-01-01',
      related: link('projects', 1),
      list: [1, 2],
    },
    { ob_id: 2, whole: 20, number: 2.5, truth: false, text: 1, day: '2015-01-01T05:00:00', related: null, list: [] },
    {
      ob_id: 3,
      whole: null,
      number: null,
      truth: null,
      text: null,
      day: null,
      related: link('projects', 2),
      list: [3],
    },
  ],
};

let directory: string | undefined;

/** A directory with the records, shared by all files in a worker. */
export function edgeRecords(): string {
  directory ??= newDirectory();
  return directory;
}

function newDirectory(): string {
  const files = Object.entries(COLLECTIONS).map(([name, records]) => [
    `${name}.ndjson`,
    records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  ]);
  return dataSetOf(inject('runDirectory'), Object.fromEntries(files) as Record<string, string>);
}
