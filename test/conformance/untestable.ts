// Sentences of the specification that no test quotes, and why: they describe the page itself or things outside the
// service, or introduce other sentences. Sentences with "not shown" need no entry. Read by coverage.test.ts.

/** A unit of the specification as coverage.test.ts cuts it, and why no request to a server can test it. */
export interface Untestable {
  readonly quote: string;
  readonly reason: string;
}

/** All such units in the order of the specification. */
export const UNTESTABLE: readonly Untestable[] = [
  {
    quote:
      'This document covers the read-only HTTP/JSON catalogue API: its collections, record shapes, listing, pagination and filtering.',
    reason: 'describes the page',
  },
  { quote: 'A second document covers a separate attribute authority SOAP service.', reason: 'describes the page' },
  { quote: 'Base address: {base_url}.', reason: 'gives a name; every link test uses it' },
  { quote: 'All paths below are relative to it.', reason: 'describes the page' },
  { quote: 'Common conventions:', reason: 'heads a list' },
  { quote: 'One record per ProcedureAcquisition.', reason: 'is about where records come from' },
  { quote: 'It maps 1:1 to an Observation.', reason: 'is about where records come from' },
  {
    quote: 'Links Instruments, Platforms and Observations inside acquisitions, possibly via composite processes.',
    reason: 'says what the links of its table are for',
  },
  { quote: 'Many-to-many with Observations.', reason: 'says what the links of observations are for' },
  { quote: 'Maps 1:1 to an Observation.', reason: 'is about where records come from' },
  { quote: 'A composite process of two or more components.', reason: 'is about where records come from' },
  { quote: 'One or more identifiers map to one Observation.', reason: 'is about where records come from' },
  { quote: 'result_field object:', reason: 'heads a table' },
  { quote: 'Permission object:', reason: 'heads a table' },
  { quote: 'Path spellings:', reason: 'heads a list' },
  { quote: 'The paths in the table are the documented ones.', reason: 'describes the page' },
  { quote: 'Payloads:', reason: 'heads a list' },
  { quote: 'No request body is sent.', reason: 'is about clients' },
  { quote: 'Only its list shape is given.', reason: 'describes the page' },
  {
    quote:
      'The spellings results_field and discoveryKeyword occur in examples, while the record fields are result_field and discoveryKeywords.',
    reason: 'describes examples; the sentence after it is tested',
  },
  { quote: 'acquisitions | none', reason: 'documents no filter' },
  { quote: 'composites | none', reason: 'documents no filter' },
  { quote: 'ipps | none', reason: 'documents no filter' },
  {
    quote: 'The permissions objects of observations describe data access categories only.',
    reason: 'says what a value means',
  },
  { quote: 'No event, callback or notification is described.', reason: 'describes the page' },
];
