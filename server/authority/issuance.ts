// Issues X.509 certificates for tests and demonstrations: CAs, end entities and proxies. Never use it for real
// certificates. Serial numbers are random, so that restarts and replicas need no shared state.
import { createHash, createPublicKey, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import { EXTENSION, PROXY_POLICY } from './x509/algorithm.ts';

/** Encodes a value with its tag and length. Lengths up to 2^32 - 1. */
export function encodeTagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), encodeLength(content.length), content]);
}

function encodeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = bigEndian(BigInt(length));
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

/** Big-endian bytes of a non-negative number without leading zeros; 0 is one byte. */
function bigEndian(value: bigint): Buffer {
  const digits = value.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
}

export function sequence(...members: readonly Uint8Array[]): Buffer {
  return encodeTagged(0x30, ...members);
}

/** SET of members in the given order. */
export function set(...members: readonly Uint8Array[]): Buffer {
  return encodeTagged(0x31, ...members);
}

function integer(value: bigint): Buffer {
  const bytes = bigEndian(value);
  return encodeTagged(0x02, bytes[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

const TRUE: Uint8Array = Buffer.from([0x01, 0x01, 0xff]);

function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return encodeTagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(arc: number): readonly number[] {
  const bytes = [arc % 128];
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128));
  return bytes;
}

/** OCTET STRING. */
export function octetString(...contents: readonly Uint8Array[]): Buffer {
  return encodeTagged(0x04, ...contents);
}

/** BIT STRING of whole bytes, or without the last `unused` bits. */
export function bitString(bytes: Uint8Array, unused = 0): Buffer {
  return encodeTagged(0x03, Buffer.from([unused]), bytes);
}

/** The string types in names: UTF8String, PrintableString, IA5String. */
const STRING_TAGS = { utf8: 0x0c, printable: 0x13, ia5: 0x16 } as const;

function text(type: keyof typeof STRING_TAGS, value: string): Buffer {
  return encodeTagged(STRING_TAGS[type], Buffer.from(value));
}

/** A time in a certificate (RFC 5280, section 4.1.2.5): UTCTime up to 2049, GeneralizedTime from 2050 on. */
export function time(seconds: number): Buffer {
  const digits = new Date(seconds * 1000).toISOString().slice(0, 19).replace(/\D/g, '');
  const isShort = digits >= '1950' && digits < '2050';
  return encodeTagged(isShort ? 0x17 : 0x18, Buffer.from(`${isShort ? digits.slice(2) : digits}Z`));
}

export function explicit(number: number, ...contents: readonly Uint8Array[]): Buffer {
  return encodeTagged(0xa0 | number, ...contents);
}

/** With 96 bits, 200 certificates a second for ten years produce a duplicate with a probability of 1 in 40 million. */
const BYTES = 12;

/** A positive number of at most 96 random bits (A83). Cost: a few us. */
export function randomSerialNumber(): bigint {
  return BigInt(`0x${randomBytes(BYTES).toString('hex')}`) || 1n;
}

/**
 * The purpose of a certificate. The last four are proxies: RFC 3820 with full or limited rights, and the same by name
 * alone.
 */
export type CertificateKind =
  'ca' | 'user' | 'signer' | 'proxy' | 'limited-proxy' | 'legacy-proxy' | 'legacy-limited-proxy';

export type TypedValue = readonly [type: string, value: string];

export interface Issuer {
  /** The subject in DER. */
  readonly name: Uint8Array;
  readonly key: KeyObject;
  /** Set if the issuer's certificate was not issued here. */
  readonly keyId?: Uint8Array | undefined;
}

export interface Issuance {
  readonly kind: CertificateKind;
  readonly subject: Uint8Array;
  readonly publicKey: KeyObject;
  readonly issuer: Issuer;
  readonly serialNumber: bigint;
  /** Seconds since 1970, like `notAfter`. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Maximum number of CAs or proxies below; undefined for any number. */
  readonly pathLength?: number;
}

/** The types of name attributes: their OIDs and the string types of their values. */
const NAME_TYPES: ReadonlyMap<string, readonly [oid: string, string: 'utf8' | 'printable' | 'ia5']> = new Map([
  ['C', ['2.5.4.6', 'printable']],
  ['ST', ['2.5.4.8', 'utf8']],
  ['L', ['2.5.4.7', 'utf8']],
  ['O', ['2.5.4.10', 'utf8']],
  ['OU', ['2.5.4.11', 'utf8']],
  ['CN', ['2.5.4.3', 'utf8']],
  ['DC', ['0.9.2342.19200300.100.1.25', 'ia5']],
  ['UID', ['0.9.2342.19200300.100.1.1', 'utf8']],
  ['emailAddress', ['1.2.840.113549.1.9.1', 'ia5']],
]);

export const NAME_TYPE_LIST: readonly string[] = [...NAME_TYPES.keys()];

/** Types with ASCII values (RFC 5280, appendix A). */
export const ASCII_TYPES: readonly string[] = NAME_TYPE_LIST.filter((type) => NAME_TYPES.get(type)![1] !== 'utf8');

const SIGNATURE = { sha256WithRsa: '1.2.840.113549.1.1.11', ecdsaWithSha256: '1.2.840.10045.4.3.2' } as const;

/** Makes one RDN per attribute. Throws an Error for a type that is not in NAME_TYPE_LIST. */
export function nameDer(attributes: readonly TypedValue[]): Buffer {
  return sequence(...attributes.map(rdn));
}

function rdn([type, value]: TypedValue): Buffer {
  const row = NAME_TYPES.get(type);
  if (!row) throw new Error(`a name cannot have the type ${type}; known are ${NAME_TYPE_LIST.join(', ')}`);
  return set(sequence(objectIdentifier(row[0]), text(row[1], value)));
}

/** The name of a proxy: its issuer's name and one more CN (RFC 3820, section 3.4). */
export function proxyNameDer(issuerName: Uint8Array, commonName: string): Buffer {
  const header = headerLength(issuerName);
  return sequence(issuerName.subarray(header), rdn(['CN', commonName]));
}

function headerLength(der: Uint8Array): number {
  const first = der[1] ?? 0;
  return first < 0x80 ? 2 : 2 + (first & 0x7f);
}

/** Issues a certificate and returns its DER. Cost: one signature with the issuer's key. */
export function issueCertificate(issuance: Issuance): Buffer {
  const { issuer, publicKey } = issuance;
  const algorithm = sequence(
    ...(issuer.key.asymmetricKeyType === 'ec'
      ? [objectIdentifier(SIGNATURE.ecdsaWithSha256)]
      : [objectIdentifier(SIGNATURE.sha256WithRsa), Buffer.from([0x05, 0x00])]),
  );
  const signed = sequence(
    explicit(0, integer(2n)),
    integer(issuance.serialNumber),
    algorithm,
    issuer.name,
    sequence(time(issuance.notBefore), time(issuance.notAfter)),
    issuance.subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...encodeExtensions(issuance))),
  );
  return sequence(signed, algorithm, bitString(sign('sha256', signed, issuer.key)));
}

export function toPem(der: Uint8Array): string {
  return new X509Certificate(der).toString();
}

/** Bits, most significant first: digitalSignature, nonRepudiation, keyEncipherment; keyCertSign, cRLSign. */
const KEY_USAGE = { ca: [0b0000_0110, 1], other: [0b1110_0000, 5] } as const;

function encodeExtensions({ kind, publicKey, pathLength, issuer }: Issuance): readonly Buffer[] {
  const [usage, unused] = kind === 'ca' ? KEY_USAGE.ca : KEY_USAGE.other;
  const keyUsage = extension(EXTENSION.keyUsage, true, bitString(Buffer.from([usage]), unused));
  if (kind === 'legacy-proxy' || kind === 'legacy-limited-proxy') return [keyUsage];
  if (kind === 'proxy' || kind === 'limited-proxy') return [keyUsage, proxyCertInfo(kind, pathLength)];
  const bounds = pathLength === undefined ? [] : [integer(BigInt(pathLength))];
  const constraints = sequence(...(kind === 'ca' ? [TRUE, ...bounds] : []));
  const issuerKeyId = issuer.keyId ?? hashKey(createPublicKey(issuer.key));
  return [
    extension(EXTENSION.basicConstraints, true, constraints),
    keyUsage,
    extension(EXTENSION.subjectKeyIdentifier, false, octetString(hashKey(publicKey))),
    extension(EXTENSION.authorityKeyIdentifier, false, sequence(encodeTagged(0x80, issuerKeyId))),
  ];
}

/** RFC 5280, section 4.2.1.2, leaves the method to the issuer. */
function hashKey(publicKey: KeyObject): Uint8Array {
  const keyDer = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(keyDer).digest().subarray(0, 20);
}

/** RFC 3820, section 3.8. */
function proxyCertInfo(kind: 'proxy' | 'limited-proxy', pathLength: number | undefined): Buffer {
  const policy = sequence(objectIdentifier(kind === 'proxy' ? PROXY_POLICY.inheritAll : PROXY_POLICY.limited));
  const bounds = pathLength === undefined ? [] : [integer(BigInt(pathLength))];
  return extension(EXTENSION.proxyCertInfo, true, sequence(...bounds, policy));
}

function extension(oid: string, isCritical: boolean, value: Uint8Array): Buffer {
  return sequence(objectIdentifier(oid), ...(isCritical ? [TRUE] : []), encodeTagged(0x04, value));
}
