// Certificates and CRLs (RFC 5280, sections 4.1 and 5.1) and their common form: SEQUENCE { tbs, algorithm, signature }.
import { type AlgorithmId, EXTENSION, keyStrength, readAlgorithm, sameAlgorithm, type Strength } from './algorithm.ts';
import { context, DerError, DerReader, readTime, TAG } from './der.ts';
import { createPublicKey, type KeyObject } from 'node:crypto';
import {
  type Extension,
  type Extensions,
  KEY_USAGE,
  NO_EXTENSIONS,
  readExtensionList,
  readExtensions,
  readWhole,
} from './extensions.ts';
import { type Name, nameText, readName, sameName } from './name.ts';

interface SignedBytes {
  readonly bytes: Uint8Array;
  readonly algorithm: AlgorithmId;
  readonly signature: Uint8Array;
}

/**
 * Reads a signed structure that fills the bytes completely. `readFields` reads the signed part to its end, including
 * the inner algorithm. It must equal the outer one (sections 4.1.1.2 and 5.1.1.2); otherwise the signed part and the
 * signature could contradict each other. Throws DerError.
 */
function readSigned<F extends { readonly algorithm: AlgorithmId }>(
  der: Uint8Array,
  readFields: (parts: DerReader) => F,
): Omit<F, 'algorithm'> & { readonly signed: SignedBytes } {
  const outer = new DerReader(der);
  const parts = outer.inside(TAG.sequence);
  outer.finish();
  const toBeSigned = parts.element(TAG.sequence);
  const { algorithm: inner, ...fields } = readFields(parts.over(toBeSigned));
  const algorithm = readAlgorithm(parts);
  const signature = parts.signature();
  parts.finish();
  if (!sameAlgorithm(algorithm, inner)) throw new DerError('two different signature algorithms');
  return { ...fields, signed: { bytes: parts.whole(toBeSigned), algorithm, signature } };
}

/** Times are seconds since 1970; both ends of the validity are included. */
export interface Certificate {
  readonly der: Uint8Array;
  readonly version: 1 | 2 | 3;
  readonly serialNumber: bigint;
  readonly issuer: Name;
  readonly subject: Name;
  readonly notBefore: number;
  readonly notAfter: number;
  /** SubjectPublicKeyInfo in DER. */
  readonly subjectPublicKey: Uint8Array;
  /** Created on first use; undefined if the runtime cannot read the key. */
  readonly publicKey: KeyObject | undefined;
  readonly keyStrength: Strength;
  readonly extensions: Extensions;
  readonly signed: SignedBytes;
}

/** Reads one certificate that fills the bytes completely. Throws DerError. */
export function parseCertificate(der: Uint8Array): Certificate {
  return new ReadCertificate(der, readSigned(der, readFields));
}

/**
 * A class instead of a literal with getters. V8 gives each such literal a separate hidden class, which references
 * everything that the getters see and is only freed by full collections. That cost 11 us per chain.
 */
class ReadCertificate implements Certificate {
  readonly der: Uint8Array;
  readonly version: 1 | 2 | 3;
  readonly serialNumber: bigint;
  readonly issuer: Name;
  readonly subject: Name;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly subjectPublicKey: Uint8Array;
  readonly extensions: Extensions;
  readonly signed: SignedBytes;
  #publicKey: KeyObject | undefined | 'unread' = 'unread';
  #keyStrength: Strength | undefined;

  constructor(der: Uint8Array, fields: Omit<Fields, 'algorithm'> & { readonly signed: SignedBytes }) {
    this.der = der;
    this.version = fields.version;
    this.serialNumber = fields.serialNumber;
    this.issuer = fields.issuer;
    this.subject = fields.subject;
    this.notBefore = fields.notBefore;
    this.notAfter = fields.notAfter;
    this.subjectPublicKey = fields.subjectPublicKey;
    this.extensions = fields.extensions;
    this.signed = fields.signed;
  }

  get publicKey(): KeyObject | undefined {
    if (this.#publicKey === 'unread') this.#publicKey = readPublicKey(this.subjectPublicKey);
    return this.#publicKey;
  }

  get keyStrength(): Strength {
    return (this.#keyStrength ??= keyStrength(this.publicKey));
  }
}

type Fields = Omit<Certificate, 'der' | 'publicKey' | 'keyStrength' | 'signed'> & { readonly algorithm: AlgorithmId };

/** TBSCertificate (section 4.1). Skips the unique identifiers, which are not used in practice. */
function readFields(parts: DerReader): Fields {
  const version = readVersion(parts);
  const serialNumber = parts.integer();
  const algorithm = readAlgorithm(parts);
  const issuer = readName(parts);
  const validity = parts.inside(TAG.sequence);
  const notBefore = readTime(validity);
  const notAfter = readTime(validity);
  validity.finish();
  const subject = readName(parts);
  const subjectPublicKey = parts.whole(parts.element(TAG.sequence));
  if (version > 1) {
    parts.optional(context(1, 'primitive'));
    parts.optional(context(2, 'primitive'));
  }
  const list = version === 3 ? parts.optionalInside(context(3, 'constructed')) : undefined;
  const extensions = list === undefined ? NO_EXTENSIONS : readExtensions(list);
  list?.finish();
  parts.finish();
  return {
    version,
    serialNumber,
    algorithm,
    issuer,
    subject,
    notBefore,
    notAfter,
    subjectPublicKey,
    extensions,
  };
}

function readVersion(parts: DerReader): 1 | 2 | 3 {
  const wrapped = parts.optionalInside(context(0, 'constructed'));
  if (wrapped === undefined) return 1;
  const version = wrapped.count();
  wrapped.finish();
  if (version > 2) throw new DerError('a version that is not known');
  return (version + 1) as 1 | 2 | 3;
}

const EC_KEY = '1.2.840.10045.2.1';

/**
 * A key of an unknown kind is no error: its certificate may be an unused part of a chain. A curve must be a named one
 * (RFC 5480, section 2.1.1), because the runtime trusts the numbers of explicit curves.
 */
function readPublicKey(subjectPublicKey: Uint8Array): KeyObject | undefined {
  try {
    const { oid, parameters } = readAlgorithm(new DerReader(subjectPublicKey).inside(TAG.sequence));
    if (oid === EC_KEY && parameters[0] !== TAG.oid) return undefined;
    return createPublicKey({ key: Buffer.from(subjectPublicKey), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

/** Whether subject and issuer match (self-issued, section 6.1). This does not check the signature. */
export function isSelfIssued({ subject, issuer }: Certificate): boolean {
  return sameName(subject, issuer);
}

/** Whether basicConstraints marks a CA (section 4.2.1.9). False for version 1. */
export function isCa({ extensions }: Certificate): boolean {
  return extensions.basicConstraints?.isCa === true;
}

/** Whether keyUsage allows this use; true without keyUsage (section 4.2.1.3). */
export function mayBeUsedFor({ extensions }: Certificate, usage: keyof typeof KEY_USAGE): boolean {
  return extensions.keyUsage === undefined || (extensions.keyUsage & (1 << KEY_USAGE[usage])) !== 0;
}

const SHOWN_CHARACTERS_MAX = 200;

/** The subject for error messages, see `printName`. */
export function printSubject({ subject }: Certificate): string {
  return printName(subject);
}

/** A name for error messages: printable, cut at 200 characters, `''` if empty. */
export function printName(name: Name): string {
  return printText(nameText(name)) || "''";
}

/** A foreign text for error messages: printable, cut at 200 characters. */
export function printText(text: string): string {
  const plain = replaceUnprintable(text);
  return plain.length > SHOWN_CHARACTERS_MAX ? `${plain.slice(0, SHOWN_CHARACTERS_MAX)}...` : plain;
}

/**
 * Replaces unprintable characters and line ends by `?`, so that no certificate controls a terminal or forges log lines.
 */
export function replaceUnprintable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
}

/** A CRL. Times are seconds since 1970. */
export interface Crl {
  readonly issuer: Name;
  readonly thisUpdate: number;
  /** If undefined, it is unknown when the CRL is out of date. */
  readonly nextUpdate: number | undefined;
  /**
   * The serial numbers that are revoked or on hold, in hexadecimal. V8 hashes a bigint by its lowest 64 bits: a list
   * whose numbers differ only in higher bits would take hours.
   */
  readonly revoked: ReadonlySet<string>;
  readonly number: bigint | undefined;
  /**
   * Which certificates of its issuer the CRL covers; `unknown` if it has a critical extension that cannot be processed.
   */
  readonly scope: 'all' | 'users' | 'cas' | 'unknown';
  readonly signed: SignedBytes;
}

/** Reads one CRL that fills the bytes completely. Throws DerError. */
export function parseCrl(der: Uint8Array): Crl {
  return readSigned(der, readCrlFields);
}

/** TBSCertList (section 5.1). */
function readCrlFields(parts: DerReader): Omit<Crl, 'signed'> & { readonly algorithm: AlgorithmId } {
  if (parts.nextTag === TAG.integer && parts.count() !== 1) throw new DerError('a version that is not known');
  const algorithm = readAlgorithm(parts);
  const issuer = readName(parts);
  const thisUpdate = readTime(parts);
  const nextUpdate = isTime(parts.nextTag) ? readTime(parts) : undefined;
  const revoked = new Set<string>();
  let isKnown = true;
  const entries = parts.optionalInside(TAG.sequence);
  while (entries && !entries.isAtEnd) {
    const entry = entries.inside(TAG.sequence);
    revoked.add(entry.integer().toString(16));
    if (!isTime(entry.any().tag)) throw new DerError('no time');
    const isPlain = entry.isAtEnd || !hasCritical(readExtensionList(entry));
    isKnown &&= isPlain;
    entry.finish();
  }
  const list = parts.optionalInside(context(0, 'constructed'));
  const extensions: ReadonlyMap<string, Extension> = list ? readExtensionList(list) : new Map();
  list?.finish();
  parts.finish();
  const scope = isKnown ? readScope(extensions) : 'unknown';
  const number = readWhole(extensions.get(EXTENSION.crlNumber), (reader) => reader.integer());
  return { algorithm, issuer, thisUpdate, nextUpdate, revoked, number, scope };
}

function isTime(tag: number): boolean {
  return tag === TAG.utcTime || tag === TAG.generalizedTime;
}

function hasCritical(extensions: ReadonlyMap<string, Extension>): boolean {
  return [...extensions.values()].some(({ isCritical }) => isCritical);
}

/**
 * Only issuingDistributionPoint (section 5.2.5) may be critical. A delta CRL must be marked by a critical extension
 * (section 5.2.4) but is also recognised if that is not critical.
 */
function readScope(extensions: ReadonlyMap<string, Extension>): Crl['scope'] {
  if (extensions.has(EXTENSION.deltaCrlIndicator)) return 'unknown';
  const { [EXTENSION.issuingDistributionPoint]: point, ...others } = Object.fromEntries(extensions);
  if (Object.values(others).some(({ isCritical }) => isCritical)) return 'unknown';
  return readWhole(point, readPoint) ?? 'all';
}

/** The boolean elements: only users, only CAs, indirect CRL, only attribute certificates. */
const MARKS: readonly number[] = [1, 2, 4, 5].map((n) => context(n, 'primitive'));

/** A CRL for one address, reason or purpose is incomplete. */
function readPoint(reader: DerReader): Crl['scope'] {
  const parts = reader.inside(TAG.sequence);
  const tags = parts.each((rest) => {
    const element = rest.any();
    const content = rest.content(element);
    const isFalse = MARKS.includes(element.tag) && content.length === 1 && content[0] === 0;
    return isFalse ? undefined : element.tag;
  });
  const marks = tags.filter((tag) => tag !== undefined);
  if (marks.length === 0) return 'all';
  if (marks.length > 1) return 'unknown';
  if (marks[0] === context(1, 'primitive')) return 'users';
  return marks[0] === context(2, 'primitive') ? 'cas' : 'unknown';
}

/** Whether `at` is between thisUpdate and nextUpdate, with the clock skew as tolerance. */
export function isCurrent(
  { thisUpdate, nextUpdate = -Infinity }: Pick<Crl, 'thisUpdate' | 'nextUpdate'>,
  at: number,
  clockSkewSeconds: number,
): boolean {
  const now = Math.floor(at);
  return thisUpdate <= now + clockSkewSeconds && nextUpdate >= now - clockSkewSeconds;
}

/** The CRLs of a configuration by issuer. Created once per load. */
export interface CrlStore {
  readonly listByIssuer: (issuerKey: string) => readonly Crl[];
}

export function makeCrlStore(crls: readonly Crl[]): CrlStore {
  const byIssuer = Map.groupBy(crls, ({ issuer }) => issuer.key);
  return { listByIssuer: (issuerKey) => byIssuer.get(issuerKey) ?? [] };
}
