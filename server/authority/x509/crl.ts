// Certificate revocation lists (RFC 5280, section 5): read once from DER into plain values. Judges nothing about trust;
// revocation.ts does. Complete lists only: deltas and indirect lists are read and never used.
import { type AlgorithmId, readAlgorithm } from './algorithm.ts';
import { context, DerError, type DerReader, TAG } from './der.ts';
import { type Extension, readExtensionList, valueOf } from './extension.ts';
import { type Name, readName } from './name.ts';
import { EXTENSION } from './oids.ts';
import { readSigned, type SignedBytes } from './signed.ts';
import { readTime } from './time.ts';

/** A CRL as read. Times are seconds since 1970; without `nextUpdate` nobody knows when it is out of date. */
export interface Crl {
  readonly issuer: Name;
  readonly thisUpdate: number;
  readonly nextUpdate: number | undefined;
  /**
   * The serial numbers that are revoked or on hold, in hexadecimal: V8 hashes a bigint by its lowest 64 bits, so that a
   * list of many that differ elsewhere would take hours.
   */
  readonly revoked: ReadonlySet<string>;
  readonly number: bigint | undefined;
  /** Which certificates of its issuer it covers; `unknown` where something critical in it cannot be processed. */
  readonly scope: 'all' | 'users' | 'cas' | 'unknown';
  readonly signed: SignedBytes;
}

/** Reads one CRL, which the bytes must be from the first to the last. Throws DerError. */
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
  const scope = isKnown ? scopeOf(extensions) : 'unknown';
  const number = valueOf(extensions.get(EXTENSION.crlNumber), (reader) => reader.integer());
  return { algorithm, issuer, thisUpdate, nextUpdate, revoked, number, scope };
}

function isTime(tag: number): boolean {
  return tag === TAG.utcTime || tag === TAG.generalizedTime;
}

function hasCritical(extensions: ReadonlyMap<string, Extension>): boolean {
  return [...extensions.values()].some(({ isCritical }) => isCritical);
}

/**
 * issuingDistributionPoint (section 5.2.5) is the one extension that may be critical. A list of changes has to say so
 * critically (section 5.2.4), and is none the less one where it does not.
 */
function scopeOf(extensions: ReadonlyMap<string, Extension>): Crl['scope'] {
  if (extensions.has(EXTENSION.deltaCrlIndicator)) return 'unknown';
  const { [EXTENSION.issuingDistributionPoint]: point, ...others } = Object.fromEntries(extensions);
  if (Object.values(others).some(({ isCritical }) => isCritical)) return 'unknown';
  return valueOf(point, readPoint) ?? 'all';
}

/** The elements that are true or false: for users, for CAs, for other issuers too, for attribute certificates. */
const MARKS: readonly number[] = [1, 2, 4, 5].map((n) => context(n, 'primitive'));

/**
 * Only the two marks for users and CAs are processed; a list for one address, reason or purpose is not a complete one.
 */
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

/** Whether a CRL is neither of the future nor out of date, give or take the skew of clocks. */
export function isCurrent(
  { thisUpdate, nextUpdate = -Infinity }: Pick<Crl, 'thisUpdate' | 'nextUpdate'>,
  at: number,
  clockSkewSeconds: number,
): boolean {
  const now = Math.floor(at);
  return thisUpdate <= now + clockSkewSeconds && nextUpdate >= now - clockSkewSeconds;
}

/** The CRLs of a configuration by their issuers. Made once per load of them. */
export interface CrlStore {
  /** The CRLs of the issuer with this name key (`Name.key`). */
  readonly of: (issuerKey: string) => readonly Crl[];
}

/** CRLs as a store. */
export function crlStoreOf(crls: readonly Crl[]): CrlStore {
  const byIssuer = Map.groupBy(crls, ({ issuer }) => issuer.key);
  return { of: (issuerKey) => byIssuer.get(issuerKey) ?? [] };
}
