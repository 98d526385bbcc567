// Reads the extensions that path validation needs (RFC 5280, section 4.2; RFC 3820, section 3.8) as plain values.
// pathRules.ts, nameConstraints.ts and policies.ts check them.
import { context, DerError, DerReader, TAG } from './der.ts';
import { type GeneralName, readGeneralName } from './name.ts';
import { EXTENSION } from './algorithm.ts';

export interface Extension {
  readonly oid: string;
  readonly isCritical: boolean;
  /** The DER inside the octet string. */
  readonly value: Uint8Array;
}

/** Reads a non-empty list of extensions without duplicates, by identifier. */
export function readExtensionList(reader: DerReader): ReadonlyMap<string, Extension> {
  const byOid = new Map<string, Extension>();
  const list = reader.inside(TAG.sequence);
  for (const extension of list.each(readExtension)) {
    if (byOid.has(extension.oid)) throw new DerError('an extension twice');
    byOid.set(extension.oid, extension);
  }
  if (byOid.size === 0) throw new DerError('an empty list of extensions');
  return byOid;
}

function readExtension(reader: DerReader): Extension {
  const parts = reader.inside(TAG.sequence);
  const oid = parts.oid();
  // Old certificates often have an explicit FALSE. DER omits it, because it is the default.
  const isCritical = parts.nextTag === TAG.boolean && parts.boolean();
  const value = parts.octets();
  parts.finish();
  return { oid, isCritical, value };
}

/** Applies `read` to the whole value of an extension; undefined if the extension is missing. */
export function readWhole<T>(extension: Extension | undefined, read: (reader: DerReader) => T): T | undefined {
  if (extension === undefined) return undefined;
  const reader = new DerReader(extension.value);
  const value = read(reader);
  reader.finish();
  return value;
}

/** Bits of keyUsage, numbered as in RFC 5280, section 4.2.1.3. */
export const KEY_USAGE = { digitalSignature: 0, keyCertSign: 5, cRLSign: 6 } as const;

/** basicConstraints (section 4.2.1.9). */
interface BasicConstraints {
  readonly isCa: boolean;
  /** Maximum number of intermediate CAs below; undefined for any number. */
  readonly pathLength: number | undefined;
  readonly isCritical: boolean;
}

/** A subtree (section 4.2.1.10). */
export interface Subtree {
  readonly base: GeneralName;
  /** False if the subtree has a minimum or maximum, which RFC 5280 forbids. */
  readonly isWhole: boolean;
}

export interface NameConstraints {
  readonly permitted: readonly Subtree[];
  readonly excluded: readonly Subtree[];
  readonly isCritical: boolean;
}

/** proxyCertInfo (RFC 3820, section 3.8). */
interface ProxyInfo {
  /** Maximum number of proxies below; undefined for any number. */
  readonly pathLength: number | undefined;
  readonly policyLanguage: string;
  readonly hasPolicy: boolean;
  readonly isCritical: boolean;
}

/** The extensions of one certificate; undefined for missing ones. */
export interface Extensions {
  readonly byOid: ReadonlyMap<string, Extension>;
  /** Bit i is bit i of the extension. */
  readonly keyUsage: number | undefined;
  readonly basicConstraints: BasicConstraints | undefined;
  readonly subjectAltNames: readonly GeneralName[] | undefined;
  readonly nameConstraints: NameConstraints | undefined;
  readonly subjectKeyId: string | undefined;
  readonly authorityKeyId: string | undefined;
  readonly extendedKeyUsages: readonly string[] | undefined;
  /** From the extension certificatePolicies. The next three members have the names of their extensions. */
  readonly policies: readonly string[] | undefined;
  readonly policyMappings: readonly PolicyMapping[] | undefined;
  readonly policyConstraints: PolicyConstraints | undefined;
  readonly inhibitAnyPolicy: number | undefined;
  readonly proxyInfo: ProxyInfo | undefined;
}

export const NO_EXTENSIONS: Extensions = readKnownExtensions(new Map());

export function readExtensions(reader: DerReader): Extensions {
  return readKnownExtensions(readExtensionList(reader));
}

function readKnownExtensions(byOid: ReadonlyMap<string, Extension>): Extensions {
  const read = <T>(oid: string, reading: (reader: DerReader, extension: Extension) => T): T | undefined => {
    const extension = byOid.get(oid);
    return extension && readWhole(extension, (reader) => reading(reader, extension));
  };
  return {
    byOid,
    keyUsage: read(EXTENSION.keyUsage, readKeyUsage),
    basicConstraints: read(EXTENSION.basicConstraints, readBasicConstraints),
    subjectAltNames: read(EXTENSION.subjectAltName, readGeneralNames),
    nameConstraints: read(EXTENSION.nameConstraints, readNameConstraints),
    subjectKeyId: read(EXTENSION.subjectKeyIdentifier, (reader) => hex(reader.octets())),
    authorityKeyId: read(EXTENSION.authorityKeyIdentifier, readAuthorityKeyId),
    extendedKeyUsages: read(EXTENSION.extendedKeyUsage, readExtendedKeyUsage),
    policies: read(EXTENSION.certificatePolicies, readPolicies),
    policyMappings: read(EXTENSION.policyMappings, readPolicyMappings),
    policyConstraints: read(EXTENSION.policyConstraints, readPolicyConstraints),
    inhibitAnyPolicy: read(EXTENSION.inhibitAnyPolicy, (reader) => reader.count()),
    proxyInfo: read(EXTENSION.proxyCertInfo, readProxyInfo),
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function readKeyUsage(reader: DerReader): number {
  const { bytes } = reader.bits();
  let usage = 0;
  for (let bit = 0; bit < 8 * bytes.length && bit < 16; bit++) {
    if (bytes[bit >> 3]! & (0x80 >> (bit & 7))) usage |= 1 << bit;
  }
  return usage;
}

function readBasicConstraints(reader: DerReader, { isCritical }: Extension): BasicConstraints {
  const parts = reader.inside(TAG.sequence);
  const isCa = parts.nextTag === TAG.boolean && parts.boolean();
  const pathLength = parts.isAtEnd ? undefined : parts.count();
  parts.finish();
  return { isCa, pathLength, isCritical };
}

function readGeneralNames(reader: DerReader): readonly GeneralName[] {
  const names = reader.inside(TAG.sequence).each(readGeneralName);
  if (names.length === 0) throw new DerError('no general name');
  return names;
}

function readNameConstraints(reader: DerReader, { isCritical }: Extension): NameConstraints {
  const parts = reader.inside(TAG.sequence);
  const permitted = parts.optionalInside(context(0, 'constructed'))?.each(readSubtree);
  const excluded = parts.optionalInside(context(1, 'constructed'))?.each(readSubtree);
  parts.finish();
  if (!permitted?.length && !excluded?.length) throw new DerError('no subtree');
  return { permitted: permitted ?? [], excluded: excluded ?? [], isCritical };
}

function readSubtree(reader: DerReader): Subtree {
  const parts = reader.inside(TAG.sequence);
  const base = readGeneralName(parts);
  const minimum = parts.nextTag === context(0, 'primitive') ? parts.count(context(0, 'primitive')) : 0;
  const isWhole = minimum === 0 && parts.isAtEnd;
  if (!parts.isAtEnd) parts.count(context(1, 'primitive'));
  parts.finish();
  return { base, isWhole };
}

/** Reads only the key identifier. Issuer and serial number are only hints for building paths. */
function readAuthorityKeyId(reader: DerReader): string | undefined {
  const parts = reader.inside(TAG.sequence);
  const id = parts.optional(context(0, 'primitive'));
  parts.optional(context(1, 'constructed'));
  parts.optional(context(2, 'primitive'));
  parts.finish();
  return id && hex(parts.content(id));
}

function readExtendedKeyUsage(reader: DerReader): readonly string[] {
  const purposes = reader.inside(TAG.sequence).each((parts) => parts.oid());
  if (purposes.length === 0) throw new DerError('no purpose');
  return purposes;
}

function readProxyInfo(reader: DerReader, { isCritical }: Extension): ProxyInfo {
  const parts = reader.inside(TAG.sequence);
  const pathLength = parts.nextTag === TAG.integer ? parts.count() : undefined;
  const policy = parts.inside(TAG.sequence);
  parts.finish();
  const policyLanguage = policy.oid();
  const hasPolicy = policy.optional(TAG.octetString) !== undefined;
  policy.finish();
  return { pathLength, policyLanguage, hasPolicy, isCritical };
}

/** policyConstraints: how many more certificates may follow before each rule applies; undefined for never. */
interface PolicyConstraints {
  readonly requireExplicitPolicy: number | undefined;
  readonly inhibitPolicyMapping: number | undefined;
}

interface PolicyMapping {
  readonly issuer: string;
  readonly subject: string;
}

/** Reads certificatePolicies without duplicates. Skips the qualifiers, which are human-readable notes. */
function readPolicies(reader: DerReader): readonly string[] {
  const policies = reader.inside(TAG.sequence).each((list) => {
    const parts = list.inside(TAG.sequence);
    const policy = parts.oid();
    parts.optional(TAG.sequence);
    parts.finish();
    return policy;
  });
  if (policies.length === 0) throw new DerError('no certificate policy');
  if (new Set(policies).size < policies.length) throw new DerError('a certificate policy twice');
  return policies;
}

function readPolicyMappings(reader: DerReader): readonly PolicyMapping[] {
  const mappings = reader.inside(TAG.sequence).each((list) => {
    const parts = list.inside(TAG.sequence);
    const mapping = { issuer: parts.oid(), subject: parts.oid() };
    parts.finish();
    return mapping;
  });
  if (mappings.length === 0) throw new DerError('no policy mapping');
  return mappings;
}

/** Reads policyConstraints. At least one of them must be present. */
function readPolicyConstraints(reader: DerReader): PolicyConstraints {
  const parts = reader.inside(TAG.sequence);
  const readCount = (number: number): number | undefined => {
    const tag = context(number, 'primitive');
    return parts.nextTag === tag ? parts.count(tag) : undefined;
  };
  const [requireExplicitPolicy, inhibitPolicyMapping] = [readCount(0), readCount(1)];
  parts.finish();
  if (requireExplicitPolicy === undefined && inhibitPolicyMapping === undefined) {
    throw new DerError('policy constraints that say nothing');
  }
  return { requireExplicitPolicy, inhibitPolicyMapping };
}
