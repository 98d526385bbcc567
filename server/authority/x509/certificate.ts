// One X.509 certificate (RFC 5280, section 4.1): read once from DER into plain values. Judges nothing about trust;
// validate.ts does.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { type AlgorithmId, keyStrength, readAlgorithm, type Strength } from './algorithm.ts';
import { context, DerError, DerReader, TAG } from './der.ts';
import { type Extensions, KEY_USAGE, NO_EXTENSIONS, readExtensions } from './extensions.ts';
import { type Name, nameText, readName, sameName } from './name.ts';
import { readSigned, type SignedBytes } from './signed.ts';
import { readTime } from './time.ts';

/** A certificate as read. Times are seconds since 1970, both included in the validity. */
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
  /** Made on first use; undefined where the runtime cannot read the key. */
  readonly publicKey: KeyObject | undefined;
  /** That of the public key: found out on first use. */
  readonly keyStrength: Strength;
  readonly extensions: Extensions;
  readonly signed: SignedBytes;
}

/** Reads one certificate, which the bytes must be from the first to the last. Throws DerError. */
export function parseCertificate(der: Uint8Array): Certificate {
  return new ReadCertificate(der, readSigned(der, readFields));
}

/**
 * A class, and no literal with getters: each of those gets a hidden class of its own, which holds all that the getters
 * see, and which only full collections take away. That was 11 us of every chain that was read.
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

/** TBSCertificate (section 4.1). Unique identifiers, which nobody uses, are passed over. */
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
 * Keys of kinds that the runtime does not know are no error here: their certificates may stand unused in a chain. A
 * curve must be a named one (RFC 5480, section 2.1.1): of curves that are spelt out, the runtime trusts the numbers.
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

/** Whether its subject and issuer match (section 6.1: self-issued), which says nothing about its signature. */
export function isSelfIssued({ subject, issuer }: Certificate): boolean {
  return sameName(subject, issuer);
}

/** Whether basicConstraints says that it is a CA (section 4.2.1.9); never of version 1. */
export function isCa({ extensions }: Certificate): boolean {
  return extensions.basicConstraints?.isCa === true;
}

/** Whether keyUsage allows this use; true where there is no keyUsage (section 4.2.1.3). */
export function mayBeUsedFor({ extensions }: Certificate, usage: keyof typeof KEY_USAGE): boolean {
  return extensions.keyUsage === undefined || (extensions.keyUsage & (1 << KEY_USAGE[usage])) !== 0;
}

const SHOWN_CHARACTERS_MAX = 200;

/** The subject for a sentence to people: see `shownName`. */
export function shownSubject({ subject }: Certificate): string {
  return shownName(subject);
}

/** A name for a sentence to people: printable, and cut at 200 characters; an empty one as `''`. */
export function shownName(name: Name): string {
  return shownText(nameText(name)) || "''";
}

/** A text of others for a sentence to people: printable, and cut at 200 characters. */
export function shownText(text: string): string {
  const plain = printable(text);
  return plain.length > SHOWN_CHARACTERS_MAX ? `${plain.slice(0, SHOWN_CHARACTERS_MAX)}...` : plain;
}

/** A text with `?` for whatever does not print or ends a line, so that no certificate writes to a terminal or a log. */
export function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
}
