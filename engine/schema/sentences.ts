// Labels and a human-readable sentence for each collection and field: from the specification, or from the name if the
// specification shows nothing. Separate from the declaration so that no serving thread reads it at start. A test
// requires a row for each collection and documented field, and none for others. To describe one, add its row here.

/** Its label for many records, its label for one record, its sentence. */
export const COLLECTION_WORDS: Readonly<Record<string, readonly [many: string, one: string, sentence: string]>> = {
  acquisitions: [
    'Acquisitions',
    'Acquisition',
    'How data were acquired: one record for each acquisition procedure, which maps 1:1 to an observation.',
  ],
  bboxes: ['Areas', 'Area', 'Boxes on the globe, the areas that data cover.'],
  composites: [
    'Composite processes',
    'Composite process',
    'Processes of two or more components, which their records hold.',
  ],
  computations: ['Computations', 'Computation', 'How data were computed; each computation maps 1:1 to an observation.'],
  constraints: ['Constraints', 'Constraint', 'Limits on the use of data and on access to them.'],
  discoveryserviceids: ['Discovery service ids', 'Discovery service id', 'The ids of records in discovery services.'],
  dqconformanceresults: [
    'Quality conformance results',
    'Quality conformance result',
    'Whether observations conform to specifications of quality.',
  ],
  drsdatasets: [
    'Climate model datasets',
    'Climate model dataset',
    'Datasets of climate models, by their ids in the data reference syntax.',
  ],
  identifiers: [
    'Identifiers',
    'Identifier',
    'Identifiers of records, such as DOIs; one or more map to one observation.',
  ],
  imagedetails: ['Images', 'Image', 'Images that illustrate records, with their captions.'],
  inspirethemes: ['INSPIRE themes', 'INSPIRE theme', 'Themes of the INSPIRE directive.'],
  instruments: ['Instruments', 'Instrument', 'Instruments that measure.'],
  iods: [
    'Input and output descriptions',
    'Input or output description',
    'Descriptions of what goes into computations and comes out of them.',
  ],
  ipps: [
    'Instruments on platforms',
    'Instrument on a platform',
    'Pairs of an instrument and a platform, which link both to observations inside acquisitions.',
  ],
  licenceclassifications: [
    'Licence classifications',
    'Licence classification',
    'The uses that licences are meant for.',
  ],
  licences: ['Licences', 'Licence', 'Licences under which data may be used.'],
  migrationproperties: ['Legacy properties', 'Legacy property', 'Properties of records, kept from an older catalogue.'],
  mpos: ['Flights and cruises', 'Flight or cruise', 'Operations of mobile platforms, such as flights and cruises.'],
  notes: ['Notes', 'Note', 'Remarks on records.'],
  observationcollections: ['Observation collections', 'Observation collection', 'Observations that belong together.'],
  observations: ['Observations', 'Observation', 'Datasets, with links to the entities around them.'],
  onlineresources: ['Online resources', 'Online resource', 'Addresses of what is told elsewhere of records.'],
  parties: ['People and organisations', 'Person or organisation', 'People and organisations.'],
  phenomona: ['Phenomena', 'Phenomenon', 'What was observed; many-to-many with observations.'],
  platforms: ['Platforms', 'Platform', 'What carries instruments: aircraft, ships, stations, satellites.'],
  projects: ['Projects', 'Project', 'Projects in which data are gathered.'],
  referenceables: ['Referenced records', 'Referenced record', 'What records of any kind can refer to, by id and UUID.'],
  relatedobservationinfos: [
    'Relations of observations',
    'Relation of observations',
    'How one observation relates to another one.',
  ],
  results: ['Stored data', 'Stored data', 'The data of observations: where and how they are stored.'],
  rpis: ['Responsible parties', 'Responsible party', 'Who is responsible for which record, in which role.'],
  times: ['Periods', 'Period', 'Periods of time that data cover.'],
  topiccategories: ['Topic categories', 'Topic category', 'Topic categories of ISO 19115.'],
  verticalextents: ['Vertical extents', 'Vertical extent', 'Heights, depths or pressures that data cover.'],
  vocabularyterms: ['Vocabulary terms', 'Vocabulary term', 'Terms of controlled vocabularies.'],
};

/**
 * Label and sentence by names of fields, joined by `__`. The longest key that is an end of a field's path, which starts
 * with its collection, applies: `ob_id` to all, `relatedTo__ob_id` within each relatedTo, `identifiers__url` to one
 * collection. Labels apply to undocumented fields of the same name too.
 */
export const FIELD_WORDS: Readonly<Record<string, readonly [label: string, sentence: string]>> = {
  // Fields of many records.
  ob_id: ['Id', 'Id of the record.'],
  uuid: ['UUID', 'Identifier of the record in every catalogue that holds it: 32 hexadecimal digits.'],
  short_code: ['Kind', 'Kind of the record, such as ob for an observation.'],
  title: ['Title', 'Title of the record.'],
  abstract: ['Abstract', 'What the record describes, as free text that may have line breaks.'],
  keywords: ['Keywords', 'Keywords, separated by commas; may be empty.'],
  publicationState: ['Publication state', 'How far the record has come on its way to publication.'],
  dataPublishedTime: ['Data published', 'When its data were published.'],
  doiPublishedTime: ['DOI published', 'When its DOI was published, if it has one.'],
  identifier_set: ['Identifiers', 'The identifiers of the record, such as DOIs.'],
  responsiblepartyinfo_set: ['Responsible parties', 'Who is responsible for the record, each in a role.'],
  relatedTo: [
    'Belongs to',
    'The record that this one belongs to. Filters lead on to its fields, such as relatedTo__title.',
  ],
  relatedTo__ob_id: ['Id', 'Id of the record that this one belongs to.'],
  relatedTo__uuid: ['UUID', 'UUID of the record that this one belongs to.'],
  relatedTo__short_code: ['Kind', 'Kind of the record that this one belongs to, such as ob for an observation.'],

  // Acquisitions, and their pairs of instrument and platform.
  independentInstrument: [
    'Instruments without a platform',
    'Instruments that belong to no platform; empty in every record seen.',
  ],
  instrumentplatformpair_set: [
    'Instruments on platforms',
    'The pairs of an instrument and the platform that carried it.',
  ],
  instrumentplatformpair_set__ob_id: ['Id', 'Id of the pair.'],
  instrument: ['Instrument', 'The instrument that measured.'],
  platform: ['Platform', 'The platform that carried the instrument.'],

  bboxName: ['Name', 'Name of the box, if it has one.'],
  eastBoundLongitude: ['East', 'Eastern edge, in degrees.'],
  westBoundLongitude: ['West', 'Western edge, in degrees.'],
  southBoundLatitude: ['South', 'Southern edge, in degrees.'],
  northBoundLatitude: ['North', 'Northern edge, in degrees.'],

  // Computations, and the composites of them and of acquisitions.
  computationComponent: ['Computations', 'The computations that are part of the process.'],
  computationComponent__ob_id: ['Id', 'Id of the computation.'],
  acquisitionComponent: ['Acquisitions', 'The acquisitions that are part of the process.'],
  acquisitionComponent__ob_id: ['Id', 'Id of the acquisition.'],
  inputDescription: ['Input', 'What the computation started from.'],
  outputDescription: ['Output', 'What the computation gave.'],
  softwareReference: ['Software', 'The software that computed, or where it is described.'],
  composites__responsiblepartyinfo_set: [
    'Responsible parties',
    'Who is responsible for the process; empty in every record seen.',
  ],

  identifiers__url: ['Identifier', 'The identifier itself: a URL, or a short abbreviation, depending on its type.'],
  identifierType: ['Type', 'What kind of identifier it is.'],
  shortUrl: ['Short URL', 'A short URL; empty where there is none.'],

  instrumentType: ['Type', 'What kind of instrument it is.'],
  platformType: ['Type', 'What kind of platform it is.'],
  location: ['Location', 'Where the platform stands, if it stays in one place.'],

  licenceURL: ['Licence', 'Where the licence can be read.'],
  licenceClassifications: ['Licence classifications', 'For which uses the licence is meant.'],

  id: ['Id', 'Id of the property.'],
  migrationproperties__key: ['Name', 'Name of the property, with dots, such as observation.content.citation.'],
  migrationproperties__value: ['Value', 'Text of the property: prose, HTML, a date with time, or Empty content.'],
  modified: ['Changed', 'Day on which the property was last changed.'],
  ob_ref: ['Record', 'Id of the record that the property belongs to. The key decides its collection.'],

  observationcollections__member: ['Observations', 'The observations of the collection.'],

  // Observations, the parts of their results and permissions.
  observations__title: ['Title', 'Title of the dataset.'],
  observations__abstract: ['Abstract', 'What the dataset holds, as free text that may have line breaks.'],
  updateFrequency: ['Update frequency', 'How often data are added or replaced.'],
  status: ['Status', 'How far the work on it has come.'],
  result_field: ['Data', 'The data themselves: where and how they are stored.'],
  result_field__ob_id: ['Observation', 'The observation whose data these are.'],
  dataPath: ['Path', 'Path under which the data are stored.'],
  oldDataPath: ['Earlier paths', 'Paths under which the data were stored before.'],
  storageLocation: ['Storage location', 'Whether the data are stored in the archive itself.'],
  storageStatus: ['Storage status', 'Whether the data can be read at once.'],
  volume: ['Size in bytes', 'Size of the data in bytes.'],
  numberOfFiles: ['Number of files', 'How many files the data are.'],
  fileFormat: ['File format', 'Format of the files.'],
  timePeriod: ['Period', 'The time that the data cover.'],
  geographicExtent: ['Area', 'The area that the data cover.'],
  nonGeographicFlag: ['Without a place', 'Whether the data belong to no place on Earth.'],
  phenomena: ['Phenomena', 'What was observed.'],
  dataLineage: ['Lineage', 'How the data came about and reached the archive.'],
  removedDataTime: ['Data removed', 'When the data were removed, if they were.'],
  removedDataReason: ['Reason for removal', 'Why the data were removed; empty where they were not.'],
  language: ['Language', 'Language of the dataset.'],
  projects: ['Projects', 'The projects in which the data were gathered.'],
  observationcollection_set: ['Observation collections', 'The collections that the observation is a member of.'],
  procedureAcquisition: ['Acquisition', 'How the data were acquired, where by instruments.'],
  procedureCompositeProcess: ['Composite process', 'How the data were made, where by a process of several components.'],
  procedureComputation: ['Computation', 'How the data were computed, where by one computation.'],
  permissions: ['Permissions', 'Who may use the data, and under which licence.'],
  permissions__ob_id: ['Observation', 'The observation whose data the permission is for.'],
  useLimitation: ['Limits of use', 'What limits the use of the data.'],
  accessConstraints: ['Limits of access', 'What limits access to the data.'],
  accessCategory: ['Access', 'Who has access: everybody, registered users, or some of them.'],
  accessRoles: ['Roles with access', 'The roles that give access, where it is restricted.'],
  permissions__label: ['Summary', 'The permission in a few words.'],
  discoveryKeywords: ['Discovery keywords', 'Keywords under which portals find the dataset.'],
  discoveryKeywords__ob_id: ['Id', 'Id of the keyword.'],
  discoveryKeywords__name: ['Keyword', 'The keyword.'],

  firstName: ['First name', 'First name; empty for organisations.'],
  lastName: ['Last name', 'Last name, or the name of the organisation.'],
  partyType: ['Type', 'Whether the party is a person or an organisation.'],

  names: ['Names', 'Names of the phenomenon; may be empty.'],
  names__ob_id: ['Id', 'Id of the name.'],
  names__name: ['Name', 'A name of the phenomenon.'],
  terms: ['Terms', 'Terms that describe the phenomenon, in no fixed order.'],
  terms__ob_id: ['Id', 'Id of the term; phenomena with the same term share it.'],
  terms__label: ['Kind', 'What the term says, such as units or standard_name.'],
  terms__value: ['Value', 'The term; may be empty.'],
  vocabulary: ['Vocabulary', 'The vocabulary that the term is from; empty where it is from none.'],

  projects__status: ['Status', 'How far the project has come.'],

  relationType: ['Relation', 'How the first observation relates to the second one.'],
  subjectObservation: ['First observation', 'The observation that relates to another one.'],
  objectObservation: ['Second observation', 'The observation that it relates to.'],

  curationCategory: ['Curation', 'How carefully the data are kept.'],

  priority: ['Priority', 'Place of the party in lists of its role; the smallest comes first.'],
  role: ['Role', 'What the party does for the record, such as author.'],
  party: ['Person or organisation', 'The person or organisation.'],

  startTime: ['Start', 'When the period begins.'],
  endTime: ['End', 'When the period ends; null where it goes on.'],

  highestLevelBound: ['Top', 'Upper end.'],
  lowestLevelBound: ['Bottom', 'Lower end.'],
  units: ['Unit', 'The unit of both ends.'],

  vocabService: ['Vocabulary', 'The vocabulary that the term is from.'],
  uri: ['Address', 'Address of the term in its vocabulary.'],
  resolvedTerm: ['Term', 'The term that the address stands for.'],
};
