// A human-readable sentence for each collection and field: from the specification, or from the name if the
// specification shows nothing. Separate from the declaration so that no serving thread reads it at start. A test
// requires a sentence for each collection and field, and none for others. To describe one, add its line here.

export const COLLECTION_SENTENCES: Readonly<Record<string, string>> = {
  acquisitions: 'How data were acquired: one record for each acquisition procedure, which maps 1:1 to an observation.',
  bboxes: 'Boxes on the globe, the areas that data cover.',
  composites: 'Processes of two or more components, which their records hold.',
  computations: 'How data were computed; each computation maps 1:1 to an observation.',
  constraints: 'Limits on the use of data and on access to them.',
  discoveryserviceids: 'The ids of records in discovery services.',
  dqconformanceresults: 'Whether observations conform to specifications of quality.',
  drsdatasets: 'Datasets of climate models, by their ids in the data reference syntax.',
  identifiers: 'Identifiers of records, such as DOIs; one or more map to one observation.',
  imagedetails: 'Images that illustrate records, with their captions.',
  inspirethemes: 'Themes of the INSPIRE directive.',
  instruments: 'Instruments that measure.',
  iods: 'Descriptions of what goes into computations and comes out of them.',
  ipps: 'Pairs of an instrument and a platform, which link both to observations inside acquisitions.',
  licenceclassifications: 'The uses that licences are meant for.',
  licences: 'Licences under which data may be used.',
  migrationproperties: 'Properties of records, kept from an older catalogue.',
  mpos: 'Operations of mobile platforms, such as flights and cruises.',
  notes: 'Remarks on records.',
  observationcollections: 'Observations that belong together.',
  observations: 'Datasets, with links to the entities around them.',
  onlineresources: 'Addresses of what is told elsewhere of records.',
  parties: 'People and organisations.',
  phenomona: 'What was observed; many-to-many with observations.',
  platforms: 'What carries instruments: aircraft, ships, stations, satellites.',
  projects: 'Projects in which data are gathered.',
  referenceables: 'What records of any kind can refer to, by id and UUID.',
  relatedobservationinfos: 'How one observation relates to another one.',
  results: 'The data of observations: where and how they are stored.',
  rpis: 'Who is responsible for which record, in which role.',
  times: 'Periods of time that data cover.',
  topiccategories: 'Topic categories of ISO 19115.',
  verticalextents: 'Heights, depths or pressures that data cover.',
  vocabularyterms: 'Terms of controlled vocabularies.',
};

/**
 * Sentences by names of fields, joined by `__`. The longest key that is an end of a field's path, which starts with its
 * collection, applies: `ob_id` to all, `relatedTo__ob_id` within each relatedTo, `results__dataPath` to one collection.
 */
export const FIELD_SENTENCES: Readonly<Record<string, string>> = {
  // Fields of many records.
  ob_id: 'Id of the record.',
  uuid: 'Identifier of the record in every catalogue that holds it: 32 hexadecimal digits.',
  short_code: 'Kind of the record, such as ob for an observation.',
  title: 'Title of the record.',
  abstract: 'What the record describes, as free text that may have line breaks.',
  keywords: 'Keywords, separated by commas; may be empty.',
  publicationState: 'How far the record has come on its way to publication.',
  dataPublishedTime: 'When its data were published.',
  doiPublishedTime: 'When its DOI was published, if it has one.',
  identifier_set: 'The identifiers of the record, such as DOIs.',
  responsiblepartyinfo_set: 'Who is responsible for the record, each in a role.',
  relatedTo: 'The record that this one belongs to. Filters lead on to its fields, such as relatedTo__title.',
  relatedTo__ob_id: 'Id of the record that this one belongs to.',
  relatedTo__uuid: 'UUID of the record that this one belongs to.',
  relatedTo__short_code: 'Kind of the record that this one belongs to, such as ob for an observation.',

  // Acquisitions, and their pairs of instrument and platform.
  independentInstrument: 'Instruments that belong to no platform; empty in every record seen.',
  instrumentplatformpair_set: 'The pairs of an instrument and the platform that carried it.',
  instrumentplatformpair_set__ob_id: 'Id of the pair.',
  instrument: 'The instrument that measured.',
  platform: 'The platform that carried the instrument.',

  bboxName: 'Name of the box, if it has one.',
  eastBoundLongitude: 'Eastern edge, in degrees.',
  westBoundLongitude: 'Western edge, in degrees.',
  southBoundLatitude: 'Southern edge, in degrees.',
  northBoundLatitude: 'Northern edge, in degrees.',

  // Computations, and the composites of them and of acquisitions.
  computationComponent: 'The computations that are part of the process.',
  computationComponent__ob_id: 'Id of the computation.',
  acquisitionComponent: 'The acquisitions that are part of the process.',
  acquisitionComponent__ob_id: 'Id of the acquisition.',
  inputDescription: 'What the computation started from.',
  outputDescription: 'What the computation gave.',
  softwareReference: 'The software that computed, or where it is described.',
  composites__responsiblepartyinfo_set: 'Who is responsible for the process; empty in every record seen.',

  url: 'The identifier itself: a URL, or a short abbreviation, depending on its type.',
  identifierType: 'What kind of identifier it is.',
  shortUrl: 'A short URL; empty where there is none.',

  instrumentType: 'What kind of instrument it is.',
  platformType: 'What kind of platform it is.',
  location: 'Where the platform stands, if it stays in one place.',

  licenceURL: 'Where the licence can be read.',
  licenceClassifications: 'For which uses the licence is meant.',

  id: 'Id of the property.',
  key: 'Name of the property, with dots, such as observation.content.citation.',
  migrationproperties__value: 'Text of the property: prose, HTML, a date with time, or Empty content.',
  modified: 'Day on which the property was last changed.',
  ob_ref: 'Id of the record that the property belongs to. The key decides its collection.',

  member: 'The observations of the collection.',

  // Observations, the parts of their results and permissions.
  observations__title: 'Title of the dataset.',
  observations__abstract: 'What the dataset holds, as free text that may have line breaks.',
  updateFrequency: 'How often data are added or replaced.',
  status: 'How far the work on it has come.',
  result_field: 'The data themselves: where and how they are stored.',
  result_field__ob_id: 'The observation whose data these are.',
  dataPath: 'Path under which the data are stored.',
  oldDataPath: 'Paths under which the data were stored before.',
  storageLocation: 'Whether the data are stored in the archive itself.',
  storageStatus: 'Whether the data can be read at once.',
  volume: 'Size of the data in bytes.',
  numberOfFiles: 'How many files the data are.',
  fileFormat: 'Format of the files.',
  timePeriod: 'The time that the data cover.',
  geographicExtent: 'The area that the data cover.',
  nonGeographicFlag: 'Whether the data belong to no place on Earth.',
  phenomena: 'What was observed.',
  dataLineage: 'How the data came about and reached the archive.',
  removedDataTime: 'When the data were removed, if they were.',
  removedDataReason: 'Why the data were removed; empty where they were not.',
  language: 'Language of the dataset.',
  projects: 'The projects in which the data were gathered.',
  observationcollection_set: 'The collections that the observation is a member of.',
  procedureAcquisition: 'How the data were acquired, where by instruments.',
  procedureCompositeProcess: 'How the data were made, where by a process of several components.',
  procedureComputation: 'How the data were computed, where by one computation.',
  permissions: 'Who may use the data, and under which licence.',
  permissions__ob_id: 'The observation whose data the permission is for.',
  useLimitation: 'What limits the use of the data.',
  accessConstraints: 'What limits access to the data.',
  accessCategory: 'Who has access: everybody, registered users, or some of them.',
  accessRoles: 'The roles that give access, where it is restricted.',
  permissions__label: 'The permission in a few words.',
  discoveryKeywords: 'Keywords under which portals find the dataset.',
  discoveryKeywords__ob_id: 'Id of the keyword.',
  discoveryKeywords__name: 'The keyword.',

  firstName: 'First name; empty for organisations.',
  lastName: 'Last name, or the name of the organisation.',
  partyType: 'Whether the party is a person or an organisation.',

  names: 'Names of the phenomenon; may be empty.',
  names__ob_id: 'Id of the name.',
  names__name: 'A name of the phenomenon.',
  terms: 'Terms that describe the phenomenon, in no fixed order.',
  terms__ob_id: 'Id of the term; phenomena with the same term share it.',
  terms__label: 'What the term says, such as units or standard_name.',
  terms__value: 'The term; may be empty.',
  vocabulary: 'The vocabulary that the term is from; empty where it is from none.',

  projects__status: 'How far the project has come.',

  relationType: 'How the first observation relates to the second one.',
  subjectObservation: 'The observation that relates to another one.',
  objectObservation: 'The observation that it relates to.',

  curationCategory: 'How carefully the data are kept.',

  priority: 'Place of the party in lists of its role; the smallest comes first.',
  role: 'What the party does for the record, such as author.',
  party: 'The person or organisation.',

  startTime: 'When the period begins.',
  endTime: 'When the period ends; null where it goes on.',

  highestLevelBound: 'Upper end.',
  lowestLevelBound: 'Lower end.',
  units: 'The unit of both ends.',

  vocabService: 'The vocabulary that the term is from.',
  uri: 'Address of the term in its vocabulary.',
  resolvedTerm: 'The term that the address stands for.',
};
