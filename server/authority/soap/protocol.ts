// The two operations of the service and the names of SOAP 1.1. WSDL, readers, writer and client derive from this data.
// Names that are missing here are not understood.

/** The namespaces of SOAP 1.1 (sections 3 and 5), XML Schema and this service (spec 4). */
export const NAMESPACES = {
  envelope: 'http://schemas.xmlsoap.org/soap/envelope/',
  encoding: 'http://schemas.xmlsoap.org/soap/encoding/',
  instance: 'http://www.w3.org/2001/XMLSchema-instance',
  schema: 'http://www.w3.org/2001/XMLSchema',
  service: 'urn:attAuthority',
} as const;

/** The actor that stands for any recipient of the message (SOAP 1.1, 4.2.2). */
export const NEXT_ACTOR = 'http://schemas.xmlsoap.org/soap/actor/next';

/** The path of the service after the base URL (spec, Service address). */
export const SERVICE_PATH = '/attAuthority.wsdl';

/** An operation (spec 2, 4): its parts are strings, its results strings or arrays of strings. */
export interface Operation {
  readonly name: string;
  readonly parts: readonly string[];
  readonly results: readonly (readonly [name: string, type: 'string' | 'strings'])[];
}

export const REQ_AUTHORISATION: Operation = {
  name: 'reqAuthorisation',
  parts: ['usrProxyCert', 'usrAttCert'],
  results: [
    ['attCert', 'string'],
    ['statCode', 'string'],
    ['errMsg', 'string'],
  ],
};

export const GET_TRUSTED_HOST_INFO: Operation = {
  name: 'getTrustedHostInfo',
  parts: ['usrRole'],
  results: [
    ['trustedHostInfo', 'strings'],
    ['errMsg', 'string'],
  ],
};

/** Both, in the order of the specification. */
export const OPERATIONS: readonly Operation[] = [REQ_AUTHORISATION, GET_TRUSTED_HOST_INFO];

export interface Call {
  readonly operation: Operation;
  /** In the order of the operation's parts; '' if absent or nil. */
  readonly values: readonly string[];
}
