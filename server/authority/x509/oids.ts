// The object identifiers that this module knows, by what they mean, and the short names of attribute types.
// Plain data. Extensions that are not here are unknown: critical ones refuse their certificate.

/** Extensions of certificates and CRLs, by name; the section is that of RFC 5280 unless it says otherwise. */
export const EXTENSION = {
  subjectDirectoryAttributes: '2.5.29.9', // 4.2.1.8
  subjectKeyIdentifier: '2.5.29.14', // 4.2.1.2
  keyUsage: '2.5.29.15', // 4.2.1.3
  subjectAltName: '2.5.29.17', // 4.2.1.6
  issuerAltName: '2.5.29.18', // 4.2.1.7
  basicConstraints: '2.5.29.19', // 4.2.1.9
  crlNumber: '2.5.29.20', // 5.2.3
  reasonCode: '2.5.29.21', // 5.3.1
  deltaCrlIndicator: '2.5.29.27', // 5.2.4
  issuingDistributionPoint: '2.5.29.28', // 5.2.5
  nameConstraints: '2.5.29.30', // 4.2.1.10
  crlDistributionPoints: '2.5.29.31', // 4.2.1.13
  certificatePolicies: '2.5.29.32', // 4.2.1.4
  policyMappings: '2.5.29.33', // 4.2.1.5
  authorityKeyIdentifier: '2.5.29.35', // 4.2.1.1
  policyConstraints: '2.5.29.36', // 4.2.1.11
  extendedKeyUsage: '2.5.29.37', // 4.2.1.12
  inhibitAnyPolicy: '2.5.29.54', // 4.2.1.14
  authorityInfoAccess: '1.3.6.1.5.5.7.1.1', // 4.2.2.1
  proxyCertInfo: '1.3.6.1.5.5.7.1.14', // RFC 3820, section 3.8
  draftProxyCertInfo: '1.3.6.1.4.1.3536.1.222', // Globus Toolkit 3, before the RFC
} as const;

/** The purpose of certificates of servers, `serverAuth` (RFC 5280, section 4.2.1.12). */
export const SERVER_PURPOSE = '1.3.6.1.5.5.7.3.1';

/** Policy languages of proxies (RFC 3820, section 3.8.2), and that of limited ones (Globus Toolkit). */
export const PROXY_POLICY = {
  inheritAll: '1.3.6.1.5.5.7.21.1',
  independent: '1.3.6.1.5.5.7.21.2',
  limited: '1.3.6.1.4.1.3536.1.1.1.9',
} as const;

/** `emailAddress` of names (PKCS #9); name constraints on mail addresses apply to it. */
export const EMAIL_ADDRESS = '1.2.840.113549.1.9.1';

/** `commonName` of names (RFC 5280, appendix A.1). */
export const COMMON_NAME = '2.5.4.3';

/** Attribute types by OID, in the spelling that `openssl x509 -nameopt compat` and the Globus Toolkit print. */
export const ATTRIBUTE_TYPES: ReadonlyMap<string, string> = new Map([
  [COMMON_NAME, 'CN'],
  ['2.5.4.4', 'SN'],
  ['2.5.4.5', 'serialNumber'],
  ['2.5.4.6', 'C'],
  ['2.5.4.7', 'L'],
  ['2.5.4.8', 'ST'],
  ['2.5.4.9', 'street'],
  ['2.5.4.10', 'O'],
  ['2.5.4.11', 'OU'],
  ['2.5.4.12', 'title'],
  ['2.5.4.13', 'description'],
  ['2.5.4.15', 'businessCategory'],
  ['2.5.4.17', 'postalCode'],
  ['2.5.4.41', 'name'],
  ['2.5.4.42', 'GN'],
  ['2.5.4.43', 'initials'],
  ['2.5.4.44', 'generationQualifier'],
  ['2.5.4.46', 'dnQualifier'],
  ['2.5.4.65', 'pseudonym'],
  ['2.5.4.97', 'organizationIdentifier'],
  ['0.9.2342.19200300.100.1.1', 'UID'],
  ['0.9.2342.19200300.100.1.25', 'DC'],
  [EMAIL_ADDRESS, 'emailAddress'],
  ['1.2.840.113549.1.9.2', 'unstructuredName'],
]);

/** Other spellings that configurations use for those types, in lower case. */
export const ATTRIBUTE_ALIASES: ReadonlyMap<string, string> = new Map([
  ['e', 'emailAddress'],
  ['email', 'emailAddress'],
  ['userid', 'UID'],
  ['s', 'ST'],
]);
