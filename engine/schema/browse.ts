// How the HTML pages present the records of each collection: the columns of its table, its facets, a record's label,
// and the records two steps away that use it. Separate from the declaration so that no serving thread reads it at
// start. query/shown.ts derives what is missing here from the fields. To show a column, add its key here.

/** The presentation of a collection. */
export interface Presentation {
  /** Keys of fields, in order, without the id. */
  readonly columns?: string;
  /** Facets of its list, at most as many as a request may have. By default all fields with known values. */
  readonly facets?: string;
  /** The fields that name a record; their values are joined by blanks. */
  readonly label?: string;
  /** Filters of other collections; their value is the id of the record. */
  readonly usedBy?: readonly (readonly [collection: string, key: string])[];
  /** Paths of fields over embedded records and links, whose values are shown first, by heading. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Links to records that group records of this collection, such as projects. */
  readonly groups?: string;
}

/**
 * The collections in the groups of the start page, which shows the first group at large. Each collection is in one
 * group.
 */
export const COLLECTION_GROUPS: readonly { readonly heading: string; readonly names: readonly string[] }[] = [
  group('Data', 'observations projects observationcollections'),
  group('What was observed', 'phenomona vocabularyterms topiccategories inspirethemes'),
  group('How it was observed', 'instruments platforms ipps mpos acquisitions computations composites iods'),
  group('Where and when', 'bboxes verticalextents times'),
  group('People and terms of use', 'parties rpis licences licenceclassifications constraints'),
  group('Storage and quality', 'results drsdatasets dqconformanceresults'),
  group(
    'Links and notes',
    'identifiers onlineresources relatedobservationinfos referenceables discoveryserviceids imagedetails notes ' +
      'migrationproperties',
  ),
];

function group(heading: string, names: string): (typeof COLLECTION_GROUPS)[number] {
  return { heading, names: names.split(' ') };
}

const PAIR = 'instrumentplatformpair_set';

/** By the name of the collection. Names in a list are separated by blanks. */
export const PRESENTATIONS: Readonly<Record<string, Presentation>> = {
  acquisitions: { columns: PAIR, facts: { How: PAIR } },
  bboxes: { columns: 'bboxName westBoundLongitude southBoundLatitude eastBoundLongitude northBoundLatitude' },
  composites: { facts: { How: `acquisitionComponent__${PAIR} computationComponent` } },
  computations: { columns: 'title keywords softwareReference' },
  discoveryserviceids: { label: 'serviceId' },
  drsdatasets: { label: 'drsId' },
  identifiers: { columns: 'url identifierType relatedTo', label: 'url' },
  imagedetails: { label: 'caption' },
  instruments: {
    columns: 'title instrumentType keywords',
    usedBy: [['observations', `procedureAcquisition__${PAIR}__instrument`]],
  },
  ipps: { columns: 'instrument platform relatedTo', facts: { How: 'instrument platform' } },
  licences: { label: 'licenceURL' },
  migrationproperties: { columns: 'key value modified ob_ref', label: 'key' },
  observationcollections: { columns: 'title publicationState dataPublishedTime' },
  observations: {
    columns: 'title timePeriod geographicExtent phenomena dataPublishedTime',
    facets:
      `timePeriod__startTime__year phenomena projects procedureAcquisition__${PAIR}__instrument ` +
      `procedureAcquisition__${PAIR}__platform publicationState status result_field__storageStatus ` +
      'result_field__fileFormat permissions__accessCategory',
    facts: {
      When: 'timePeriod',
      What: 'phenomena',
      How:
        `procedureAcquisition__${PAIR} procedureCompositeProcess__acquisitionComponent__${PAIR} ` +
        'procedureCompositeProcess__computationComponent procedureComputation',
      Who: 'responsiblepartyinfo_set',
      Where: 'geographicExtent',
    },
    groups: 'projects observationcollection_set',
  },
  parties: {
    columns: 'lastName firstName partyType',
    label: 'firstName lastName',
    usedBy: [['observations', 'responsiblepartyinfo_set__party']],
  },
  phenomona: { columns: 'names terms' },
  platforms: {
    columns: 'title platformType location',
    usedBy: [['observations', `procedureAcquisition__${PAIR}__platform`]],
    facts: { Where: 'location' },
  },
  projects: { columns: 'title status publicationState' },
  relatedobservationinfos: { columns: 'relationType subjectObservation objectObservation', label: 'relationType' },
  results: { columns: 'dataPath fileFormat volume numberOfFiles storageStatus', label: 'dataPath' },
  rpis: { columns: 'role party relatedTo priority', label: 'role', facts: { Who: 'party' } },
  times: { columns: 'startTime endTime', label: 'startTime endTime' },
  vocabularyterms: { label: 'resolvedTerm' },
};
