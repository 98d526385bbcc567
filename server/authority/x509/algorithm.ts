// Object identifiers, keys and signature algorithms. An extension whose identifier is missing here is unknown: if it is
// critical, its certificate is refused.
import { constants, type KeyObject, verify } from 'node:crypto';
import { context, DerError, DerReader, TAG } from './der.ts';

/** Extensions of certificates and CRLs. The section is that of RFC 5280 unless another source is named. */
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

/** Extended key usage `serverAuth` (RFC 5280, section 4.2.1.12). */
export const SERVER_PURPOSE = '1.3.6.1.5.5.7.3.1';

/** Policy languages of proxies (RFC 3820, section 3.8.2), and that of limited proxies (Globus Toolkit). */
export const PROXY_POLICY = {
  inheritAll: '1.3.6.1.5.5.7.21.1',
  independent: '1.3.6.1.5.5.7.21.2',
  limited: '1.3.6.1.4.1.3536.1.1.1.9',
} as const;

/** `emailAddress` in names (PKCS #9). Name constraints on mail addresses apply to it. */
export const EMAIL_ADDRESS = '1.2.840.113549.1.9.1';

/** `commonName` in names (RFC 5280, appendix A.1). */
export const COMMON_NAME = '2.5.4.3';

/** Attribute types by OID, spelled as `openssl x509 -nameopt compat` and the Globus Toolkit print them. */
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

/** Other spellings of these types in configurations, in lower case. */
export const ATTRIBUTE_ALIASES: ReadonlyMap<string, string> = new Map([
  ['e', 'emailAddress'],
  ['email', 'emailAddress'],
  ['userid', 'UID'],
  ['s', 'ST'],
]);

export interface AlgorithmId {
  readonly oid: string;
  readonly parameters: Uint8Array;
}

/** Reads an AlgorithmIdentifier (RFC 5280, section 4.1.1.2). */
export function readAlgorithm(reader: DerReader): AlgorithmId {
  const parts = reader.inside(TAG.sequence);
  const oid = parts.oid();
  const parameters = parts.isAtEnd ? new Uint8Array() : parts.whole(parts.any());
  parts.finish();
  return { oid, parameters };
}

/** Whether two identifiers are equal, including the bytes of their parameters. */
export function sameAlgorithm(a: AlgorithmId, b: AlgorithmId): boolean {
  return a.oid === b.oid && Buffer.compare(a.parameters, b.parameters) === 0;
}

type Family = 'rsa' | 'rsa-pss' | 'ec' | 'dsa' | 'ed25519' | 'ed448';

interface Method {
  readonly family: Family;
  /** Null if the algorithm includes its hash. */
  readonly hash: string | null;
  readonly saltBytes?: number;
}

const RSA = '1.2.840.113549.1.1.';
const PSS = `${RSA}10`;

const METHODS: ReadonlyMap<string, Method> = new Map([
  [`${RSA}4`, { family: 'rsa', hash: 'md5' }],
  [`${RSA}5`, { family: 'rsa', hash: 'sha1' }],
  [`${RSA}14`, { family: 'rsa', hash: 'sha224' }],
  [`${RSA}11`, { family: 'rsa', hash: 'sha256' }],
  [`${RSA}12`, { family: 'rsa', hash: 'sha384' }],
  [`${RSA}13`, { family: 'rsa', hash: 'sha512' }],
  ['1.2.840.10045.4.1', { family: 'ec', hash: 'sha1' }],
  ['1.2.840.10045.4.3.1', { family: 'ec', hash: 'sha224' }],
  ['1.2.840.10045.4.3.2', { family: 'ec', hash: 'sha256' }],
  ['1.2.840.10045.4.3.3', { family: 'ec', hash: 'sha384' }],
  ['1.2.840.10045.4.3.4', { family: 'ec', hash: 'sha512' }],
  ['1.2.840.10040.4.3', { family: 'dsa', hash: 'sha1' }],
  ['2.16.840.1.101.3.4.3.1', { family: 'dsa', hash: 'sha224' }],
  ['2.16.840.1.101.3.4.3.2', { family: 'dsa', hash: 'sha256' }],
  ['1.3.101.112', { family: 'ed25519', hash: null }],
  ['1.3.101.113', { family: 'ed448', hash: null }],
]);

const HASHES: ReadonlyMap<string, string> = new Map([
  ['1.3.14.3.2.26', 'sha1'],
  ['2.16.840.1.101.3.4.2.4', 'sha224'],
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);

const NULL_PARAMETERS = Buffer.of(TAG.null, 0);

/** The method of an identifier; undefined if it is unknown or has forbidden parameters. */
function findMethod(algorithm: AlgorithmId): Method | undefined {
  if (algorithm.oid === PSS) return pssMethod(algorithm.parameters);
  const method = METHODS.get(algorithm.oid);
  const isNull = Buffer.compare(algorithm.parameters, NULL_PARAMETERS) === 0;
  const isAllowed = algorithm.parameters.length === 0 || (isNull && method?.family === 'rsa');
  return isAllowed ? method : undefined;
}

const MGF1 = `${RSA}8`;

/** RSASSA-PSS (RFC 4055, section 3.1). Accepts MGF1 with the same hash, and the common trailer. */
function pssMethod(parameters: Uint8Array): Method | undefined {
  try {
    const outer = new DerReader(parameters);
    const parts = outer.inside(TAG.sequence);
    outer.finish();
    const hash = parts.optionalInside(context(0, 'constructed'));
    const mask = parts.optionalInside(context(1, 'constructed'));
    const saltBytes = parts.optionalInside(context(2, 'constructed'))?.count() ?? 20;
    const trailer = parts.optionalInside(context(3, 'constructed'))?.count() ?? 1;
    parts.finish();
    const hashName = hash === undefined ? 'sha1' : findHash(readAlgorithm(hash));
    const maskHash = mask === undefined ? 'sha1' : readMaskHash(readAlgorithm(mask));
    if (hashName === undefined || hashName !== maskHash || trailer !== 1 || saltBytes > 64) return undefined;
    return { family: 'rsa-pss', hash: hashName, saltBytes };
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

function findHash({ oid, parameters }: AlgorithmId): string | undefined {
  const isPlain = parameters.length === 0 || Buffer.compare(parameters, NULL_PARAMETERS) === 0;
  return isPlain ? HASHES.get(oid) : undefined;
}

function readMaskHash({ oid, parameters }: AlgorithmId): string | undefined {
  return oid === MGF1 ? findHash(readAlgorithm(new DerReader(parameters))) : undefined;
}

/** Weak algorithms and keys are accepted on request, unsupported ones never. */
export type Strength = 'strong' | 'weak' | 'unsupported';

/** A71: SHA-1, MD5 and DSA are weak. */
export function signatureStrength(algorithm: AlgorithmId): Strength {
  const method = findMethod(algorithm);
  if (method === undefined) return 'unsupported';
  return method.hash === 'sha1' || method.hash === 'md5' || method.family === 'dsa' ? 'weak' : 'strong';
}

/** Human-readable: `rsa, sha256`, or the identifier if the algorithm is not supported. */
export function algorithmText(algorithm: AlgorithmId): string {
  const method = findMethod(algorithm);
  if (method === undefined) return algorithm.oid;
  return method.hash === null ? method.family : `${method.family}, ${method.hash}`;
}

const STRONG_CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
const WEAK_CURVES = new Set(['prime192v1', 'secp224r1']);
/** RSA keys with fewer bits are weak (A71). */
export const RSA_BITS_STRONG = 2048;
/** Verifying with a key of 16,384 bits takes 2 ms, and a chain may need a hundred verifications. */
const RSA_BITS_MAX = 8192;
const RSA_BITS_MIN = 512;
const DSA_BITS_MAX = 3072;
/** RFC 4055 sets no bound. Every CA uses 65537 or 3, and the cost of a verification grows with the exponent. */
const RSA_EXPONENT_MAX = 2n ** 32n;

/**
 * A71: RSA below 2,048 bits, curves below 256 bits and DSA are weak. Expensive keys and other kinds are unsupported.
 */
export function keyStrength(key: KeyObject | undefined): Strength {
  const details = key?.asymmetricKeyDetails;
  switch (key?.asymmetricKeyType) {
    case 'rsa':
    case 'rsa-pss': {
      const bits = details?.modulusLength ?? 0;
      const exponent = details?.publicExponent ?? 0n;
      if (bits < RSA_BITS_MIN || bits > RSA_BITS_MAX || exponent < 3n || exponent > RSA_EXPONENT_MAX)
        return 'unsupported';
      return bits < RSA_BITS_STRONG ? 'weak' : 'strong';
    }
    case 'ec':
      if (STRONG_CURVES.has(details?.namedCurve ?? '')) return 'strong';
      return WEAK_CURVES.has(details?.namedCurve ?? '') ? 'weak' : 'unsupported';
    case 'dsa':
      return (details?.modulusLength ?? Infinity) <= DSA_BITS_MAX ? 'weak' : 'unsupported';
    case 'ed25519':
    case 'ed448':
      return 'strong';
    default:
      return 'unsupported';
  }
}

const KEY_TYPES: Readonly<Record<Family, readonly string[]>> = {
  rsa: ['rsa'],
  'rsa-pss': ['rsa', 'rsa-pss'],
  ec: ['ec'],
  dsa: ['dsa'],
  ed25519: ['ed25519'],
  ed448: ['ed448'],
};

/**
 * OpenSSL accepts an RSASSA-PSS signature without its leading zero bytes; RFC 8017, section 8.1.2, does not. For
 * RSASSA-PKCS1-v1_5 OpenSSL checks the length itself (section 8.2.2), and reading the length of a new key costs 5 us.
 */
function isOfKeyLength(key: KeyObject, signature: Uint8Array): boolean {
  return signature.length === Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
}

/**
 * Whether this key signed these bytes. False if key and algorithm do not match or either is unsupported. Pass
 * `strength` if the strength of the key is known. Cost: 20 to 200 us.
 */
export function isSignedWith(
  signed: { readonly bytes: Uint8Array; readonly algorithm: AlgorithmId; readonly signature: Uint8Array },
  key: KeyObject | undefined,
  strength: Strength = keyStrength(key),
): boolean {
  const method = findMethod(signed.algorithm);
  if (method === undefined || key === undefined || strength === 'unsupported') return false;
  if (!KEY_TYPES[method.family].includes(key.asymmetricKeyType ?? '')) return false;
  const padding = method.family === 'rsa-pss' ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  const isRsa = method.family === 'rsa' || method.family === 'rsa-pss';
  if (method.family === 'rsa-pss' && !isOfKeyLength(key, signed.signature)) return false;
  const options = isRsa
    ? { key, padding, ...(method.saltBytes !== undefined && { saltLength: method.saltBytes }) }
    : key;
  try {
    return verify(method.hash, signed.bytes, options, signed.signature);
  } catch {
    // OpenSSL throws for keys with nonsensical numbers. Such a key has signed nothing.
    return false;
  }
}
