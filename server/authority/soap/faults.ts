// All faults as a table: code, text, and whether the Body is the cause. The texts are fixed: none contains any part of
// a request, stack or file.

export interface Fault {
  readonly code: 'Client' | 'Server' | 'VersionMismatch' | 'MustUnderstand';
  readonly text: string;
  /** The Body is the cause, so the fault has an empty `detail` (SOAP 1.1, 4.4). */
  readonly isOfBody: boolean;
}

const client = (text: string): Fault => ({ code: 'Client', text, isOfBody: false });
const body = (text: string): Fault => ({ code: 'Client', text, isOfBody: true });

export const FAULTS = {
  undecodable: client(
    'The bytes of the request are not text in its encoding: send UTF-8, or UTF-16 with a byte order mark.',
  ),
  illFormed: client('The request is not well-formed XML with namespaces.'),
  documentType: client('The request has a document type declaration, which SOAP does not allow.'),
  processingInstruction: client('The request has a processing instruction, which SOAP does not allow.'),
  tooDeep: client('The elements of the request are nested more than 32 deep.'),
  tooManyElements: client('The request has more than 20,000 elements.'),
  tooManyAttributes: client('An element of the request has more than 64 attributes.'),
  tooLong: client('A name or namespace in the request has more than 1,024 characters, or an attribute 8,192.'),
  notEnvelope: client('The root element of the request is not Envelope.'),
  versionMismatch: {
    code: 'VersionMismatch',
    text: 'The Envelope is not in the namespace of SOAP 1.1, http://schemas.xmlsoap.org/soap/envelope/.',
    isOfBody: false,
  },
  mustUnderstand: {
    code: 'MustUnderstand',
    text: 'The request has a header entry that must be understood; this service understands none.',
    isOfBody: false,
  },
  misplacedHeader: client('The Header is not the one first element of the Envelope.'),
  noBody: body('The Envelope has no Body.'),
  severalBodies: body('The Envelope has more than one Body.'),
  noOperation: body('The Body is empty: it should hold reqAuthorisation or getTrustedHostInfo.'),
  severalOperations: body('The Body holds more than one operation.'),
  unknownOperation: body(
    'The Body holds an unknown operation: the service has reqAuthorisation and getTrustedHostInfo in urn:attAuthority.',
  ),
  repeatedPart: body('A part of the operation stands in it twice.'),
  elementsInPart: body('A part of the operation holds elements; it should hold text.'),
  contentBesideReference: body('An element with an href has content of its own.'),
  foreignReference: body('An href points outside of the request; only references to its own ids are followed.'),
  danglingReference: body('An href points to an id that the request does not have.'),
  longReference: body('The hrefs of a part go in a circle, or over more than 4 elements.'),
  repeatedId: body('Two elements of the request have the same id.'),
  busy: {
    code: 'Server',
    text: 'The service receives too many requests at the moment; please try again.',
    isOfBody: false,
  },
  away: {
    code: 'Server',
    text: 'The attribute authority starts again at the moment; please try again.',
    isOfBody: false,
  },
  bug: {
    code: 'Server',
    text: 'The service met an error of its own; the request was not carried out.',
    isOfBody: false,
  },
} satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof FAULTS;
