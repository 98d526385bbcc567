// The declaration: all 34 collections with their fields, links, embedded records, documented filters and versions.
// Decoding, columns, routes, filter validation and documentation derive from this table; it has no behaviour. To add a
// field, add its line here.
import type { Collection, Field, LinkField, LinksField, ScalarField, ScalarType, Version } from './types.ts';

const BOTH: readonly Version[] = ['v2', 'v3'];

function scalar(name: string, type: ScalarType, values?: readonly string[]): ScalarField {
  return { kind: 'scalar', name, type, nullable: false, ...(values ? { values } : {}) };
}
function nullable<F extends ScalarField | LinkField>(field: F): F {
  return { ...field, nullable: true };
}
/** `values` are separated by blanks. */
function text(name: string, values?: string): ScalarField {
  return scalar(name, 'text', values?.split(' '));
}
function integer(name: string): ScalarField {
  return scalar(name, 'integer');
}
function link(name: string, to: string): LinkField {
  return { kind: 'link', name, to, nullable: false };
}
function links(name: string, to: string): LinksField {
  return { kind: 'links', name, to };
}
function record(name: string, fields: readonly Field[], idField = 'ob_id'): Field {
  return { kind: 'record', name, fields, idField };
}
function records(name: string, fields: readonly Field[], idField = 'ob_id'): Field {
  return { kind: 'records', name, fields, idField };
}
function opaque(name: string): Field {
  return { kind: 'opaque', name };
}

const OB_ID = integer('ob_id');

/** spec 2.2: the record a pair or an identifier belongs to. */
const RELATED_TO = record('relatedTo', [
  OB_ID,
  text('uuid'),
  text('short_code', 'acq cmppr coll comp instr mpop ob plat proj result'),
]);

const IPP_FIELDS: readonly Field[] = [
  OB_ID,
  link('platform', 'platforms'),
  link('instrument', 'instruments'),
  RELATED_TO,
];

const ACQUISITION_FIELDS: readonly Field[] = [
  OB_ID,
  opaque('independentInstrument'),
  records('instrumentplatformpair_set', IPP_FIELDS),
];

const COMPUTATION_FIELDS: readonly Field[] = [
  OB_ID,
  text('uuid'),
  text('title'),
  text('abstract'),
  text('keywords'),
  nullable(text('inputDescription')),
  nullable(text('outputDescription')),
  nullable(text('softwareReference')),
  links('identifier_set', 'identifiers'),
];

const RESULT_FIELD = record('result_field', [
  link('ob_id', 'observations'),
  text('dataPath'),
  { kind: 'scalars', name: 'oldDataPath', type: 'text' },
  text('storageLocation', 'internal external'),
  text('storageStatus', 'online offline'),
  integer('volume'),
  integer('numberOfFiles'),
  text('fileFormat'),
]);

const PERMISSIONS = records('permissions', [
  link('ob_id', 'observations'),
  nullable(text('useLimitation')),
  nullable(text('accessConstraints')),
  text('accessCategory', 'public registered restricted'),
  nullable(text('accessRoles')),
  text('label'),
  text('licenceURL'),
  text('licenceClassifications', 'any'),
]);

const OBSERVATION_FIELDS: readonly Field[] = [
  OB_ID,
  text('uuid'),
  text('title'),
  text('abstract'),
  text('keywords'),
  text('publicationState', 'working preview published citable old removed'),
  scalar('dataPublishedTime', 'dateTime'),
  nullable(scalar('doiPublishedTime', 'dateTime')),
  text(
    'updateFrequency',
    'continual daily weekly fortnightly monthly quarterly biannually annually asNeeded irregular notPlanned unknown',
  ),
  text(
    'status',
    'planned required underDevelopment pending tentative withdrawn ongoing completed final superseded obsolete ' +
      'historicalArchive retired deprecated',
  ),
  RESULT_FIELD,
  link('timePeriod', 'times'),
  link('geographicExtent', 'bboxes'),
  scalar('nonGeographicFlag', 'boolean'),
  links('phenomena', 'phenomona'),
  text('dataLineage'),
  nullable(scalar('removedDataTime', 'dateTime')),
  text('removedDataReason'),
  text('language'),
  links('identifier_set', 'identifiers'),
  links('projects', 'projects'),
  links('observationcollection_set', 'observationcollections'),
  links('responsiblepartyinfo_set', 'rpis'),
  nullable(link('procedureAcquisition', 'acquisitions')),
  nullable(link('procedureCompositeProcess', 'composites')),
  nullable(link('procedureComputation', 'computations')),
  PERMISSIONS,
  records('discoveryKeywords', [OB_ID, text('name')]),
];

function float(name: string): ScalarField {
  return scalar(name, 'float');
}
function dateTime(name: string): ScalarField {
  return scalar(name, 'dateTime');
}
function texts(...names: readonly string[]): readonly ScalarField[] {
  return names.map((name) => text(name));
}

const SHORT_CODE = text('short_code');
const TITLED: readonly Field[] = [text('uuid'), SHORT_CODE, text('title'), text('abstract')];

/** `shown`: the fields that public documents show, in addition to the id. */
function open(name: string, title: string, shown: readonly Field[] = []): Collection {
  return {
    name,
    documentedPath: name,
    title,
    versions: BOTH,
    idField: 'ob_id',
    open: true,
    fields: [OB_ID, ...shown],
    filters: [],
    source: 'spec 2.1',
  };
}

function declared(
  name: string,
  title: string,
  rest: Pick<Collection, 'fields' | 'source'> & Partial<Collection>,
): Collection {
  return {
    name,
    documentedPath: name,
    title,
    versions: BOTH,
    idField: 'ob_id',
    open: false,
    filters: [],
    ...rest,
  };
}

/** All 34 collections in the order of the root view (spec 2.1). */
export const COLLECTIONS: readonly Collection[] = [
  declared('acquisitions', 'Acquisitions', {
    fields: ACQUISITION_FIELDS,
    source: 'spec 2.3',
  }),
  open('bboxes', 'Bboxes', [
    nullable(text('bboxName')),
    ...['eastBoundLongitude', 'westBoundLongitude', 'southBoundLatitude', 'northBoundLatitude'].map(float),
  ]),
  declared('composites', 'Composites', {
    fields: [
      OB_ID,
      records('computationComponent', COMPUTATION_FIELDS),
      records('acquisitionComponent', ACQUISITION_FIELDS),
      links('identifier_set', 'identifiers'),
      opaque('responsiblepartyinfo_set'),
    ],
    documentedPath: 'ProcedureComputations',
    source: 'spec 2.7',
  }),
  declared('computations', 'Computations', {
    fields: COMPUTATION_FIELDS,
    documentedPath: 'ProcedureComputations',
    filters: ['uuid', 'title', 'keywords', 'abstract'],
    source: 'spec 2.6',
  }),
  open('constraints', 'Constraints'),
  open('discoveryserviceids', 'Discovery Service Ids'),
  open('dqconformanceresults', 'Dq Conformance Results'),
  open('drsdatasets', 'Drs Datasets'),
  declared('identifiers', 'Identifiers', {
    fields: [
      OB_ID,
      RELATED_TO,
      text('url'),
      text('identifierType', 'doi archive_abbreviation legacy2_url legacy3_url'),
      text('shortUrl'),
    ],
    documentedPath: 'identifier',
    filters: ['url', 'identifierType'],
    source: 'spec 2.8',
  }),
  open('imagedetails', 'Image Details'),
  open('inspirethemes', 'Inspire Themes'),
  open('instruments', 'Instruments', [...TITLED, text('keywords'), text('instrumentType')]),
  open('iods', 'Iods'),
  declared('ipps', 'Ipps', {
    fields: IPP_FIELDS,
    source: 'spec 2.4',
  }),
  open('licenceclassifications', 'Licence Classifications'),
  open('licences', 'Licences', [text('licenceURL'), links('licenceClassifications', 'licenceclassifications')]),
  declared('migrationproperties', 'Migration Properties', {
    fields: [integer('id'), text('key'), text('value'), scalar('modified', 'date'), integer('ob_ref')],
    versions: ['v3'],
    idField: 'id',
    source: 'spec 2.10',
  }),
  open('mpos', 'Mpos'),
  open('notes', 'Notes'),
  open('observationcollections', 'Observation Collections', [
    ...TITLED,
    ...texts('keywords', 'publicationState'),
    nullable(dateTime('dataPublishedTime')),
    nullable(dateTime('doiPublishedTime')),
    links('member', 'observations'),
  ]),
  declared('observations', 'Observations', {
    fields: OBSERVATION_FIELDS,
    filters: [
      'title',
      'uuid',
      'keywords',
      'status',
      'result_field',
      'discoveryKeywords',
      'updateFrequency',
      'nonGeographicFlag',
      'publicationState',
      'permissions',
    ],
    source: 'spec 2.9',
  }),
  open('onlineresources', 'Online Resources'),
  open('parties', 'Parties', texts('firstName', 'lastName', 'partyType')),
  declared('phenomona', 'Phenomena', {
    fields: [
      OB_ID,
      records('names', [OB_ID, text('name')]),
      records('terms', [
        OB_ID,
        text('label', 'standard_name var_id long_name units names alt_names'),
        text('value'),
        text('vocabulary', ' cf_standard_names'),
      ]),
    ],
    documentedPath: 'phenomena',
    filters: ['names', 'terms'],
    source: 'spec 2.5',
  }),
  open('platforms', 'Platforms', [
    ...TITLED,
    text('keywords'),
    text(
      'platformType',
      'aircraft balloon computer land_station mooring moving_platform satellite ship stationary_platform ' +
        'station_group uas',
    ),
    nullable(link('location', 'bboxes')),
  ]),
  open('projects', 'Projects', [...TITLED, ...texts('publicationState', 'keywords', 'status')]),
  open('referenceables', 'Referenceables', texts('uuid', 'short_code')),
  open('relatedobservationinfos', 'Related Observation Infos', [
    text(
      'relationType',
      'IsSupplementTo IsSupplementedBy Continues IsNewVersionOf IsVariantFormOf IsIdenticalTo HasMetadata ' +
        'IsDerivedFrom IsPartOf',
    ),
    link('subjectObservation', 'observations'),
    link('objectObservation', 'observations'),
  ]),
  open('results', 'Results', [
    ...texts('uuid', 'short_code', 'curationCategory', 'dataPath'),
    integer('numberOfFiles'),
    integer('volume'),
    nullable(text('fileFormat')),
    ...texts('storageStatus', 'storageLocation'),
    { kind: 'scalars', name: 'oldDataPath', type: 'text' },
  ]),
  open('rpis', 'Rpis', [
    integer('priority'),
    text(
      'role',
      'author co_investigator curator custodian data_owner distributor funder metadata_owner operator ' +
        'principal_investigator point_of_contact publisher',
    ),
    link('party', 'parties'),
    RELATED_TO,
  ]),
  open('times', 'Times', [dateTime('startTime'), nullable(dateTime('endTime'))]),
  open('topiccategories', 'Topic Categories'),
  open('verticalextents', 'Vertical Extents', [
    nullable(float('highestLevelBound')),
    nullable(float('lowestLevelBound')),
    text('units'),
  ]),
  open('vocabularyterms', 'Vocabulary Terms', texts('vocabService', 'uri', 'resolvedTerm')),
];

const BY_NAME: ReadonlyMap<string, Collection> = new Map(
  COLLECTIONS.map((collection) => [collection.name, collection]),
);

/** The declared collection of a root view name, or undefined. Cost: one map lookup. Source: spec 2.1. */
export function collectionNamed(name: string): Collection | undefined {
  return BY_NAME.get(name);
}

/**
 * The collections that a path segment can mean, for lists and records alike, best match first; empty if it is unknown.
 * `ProcedureComputations` means computations, then composites (spec 4.1; assumption A3). Cost: one map look-up.
 */
export function collectionsOfPath(segment: string, version: Version): readonly Collection[] {
  return BY_PATH[version].get(segment) ?? [];
}

function pathsOf(version: Version): ReadonlyMap<string, readonly Collection[]> {
  const paths = new Map<string, Collection[]>();
  const add = (segment: string, collection: Collection): void => {
    const known = paths.get(segment);
    if (!known) paths.set(segment, [collection]);
    else if (collection.name === 'computations') known.unshift(collection);
    else known.push(collection);
  };
  for (const collection of COLLECTIONS) {
    if (!collection.versions.includes(version)) continue;
    add(collection.name, collection);
    if (collection.documentedPath !== collection.name) add(collection.documentedPath, collection);
  }
  return paths;
}

const BY_PATH: Readonly<Record<Version, ReadonlyMap<string, readonly Collection[]>>> = {
  v2: pathsOf('v2'),
  v3: pathsOf('v3'),
};
