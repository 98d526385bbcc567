// How the records of each collection are shown to people: the columns of its table, what a record is called, and which
// records two steps away use it. Apart from the declaration so that no serving thread reads it at start; what is not
// said here is derived from the fields (query/shown.ts). To show a column, add its key here.

/**
 * What is said of a collection. `columns` are keys of fields, in order, without the id, which is always the first.
 * `label` are the fields that name a record, joined by blanks. `usedBy` are filters of other collections, whose value
 * is the id of the record.
 */
export interface Presentation {
  readonly columns?: string;
  readonly label?: string;
  readonly usedBy?: readonly (readonly [collection: string, key: string])[];
}

const PAIR = 'instrumentplatformpair_set';

/** By the name of the collection; lists of names have a blank between them. */
export const PRESENTATIONS: Readonly<Record<string, Presentation>> = {
  acquisitions: { columns: PAIR },
  bboxes: { columns: 'bboxName westBoundLongitude southBoundLatitude eastBoundLongitude northBoundLatitude' },
  computations: { columns: 'title keywords softwareReference' },
  discoveryserviceids: { label: 'serviceId' },
  drsdatasets: { label: 'drsId' },
  identifiers: { columns: 'url identifierType relatedTo', label: 'url' },
  imagedetails: { label: 'caption' },
  instruments: {
    columns: 'title instrumentType keywords',
    usedBy: [['observations', `procedureAcquisition__${PAIR}__instrument`]],
  },
  ipps: { columns: 'instrument platform relatedTo' },
  licences: { label: 'licenceURL' },
  migrationproperties: { columns: 'key value modified ob_ref', label: 'key' },
  observationcollections: { columns: 'title publicationState dataPublishedTime' },
  observations: { columns: 'title status publicationState dataPublishedTime updateFrequency' },
  parties: {
    columns: 'lastName firstName partyType',
    label: 'firstName lastName',
    usedBy: [['observations', 'responsiblepartyinfo_set__party']],
  },
  phenomona: { columns: 'names terms' },
  platforms: {
    columns: 'title platformType location',
    usedBy: [['observations', `procedureAcquisition__${PAIR}__platform`]],
  },
  projects: { columns: 'title status publicationState' },
  relatedobservationinfos: { columns: 'relationType subjectObservation objectObservation', label: 'relationType' },
  results: { columns: 'dataPath fileFormat volume numberOfFiles storageStatus', label: 'dataPath' },
  rpis: { columns: 'role party relatedTo priority', label: 'role' },
  times: { columns: 'startTime endTime', label: 'startTime endTime' },
  vocabularyterms: { label: 'resolvedTerm' },
};
