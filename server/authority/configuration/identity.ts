// Reads the certificates and keys of a configuration, and its table `namespaces`: the names that each CA may certify.
import { type Certificate, type CrlStore, mayBeUsedFor, printSubject } from '../x509/certificate.ts';
import {
  nameOrderKey,
  orderKeyFromText,
  nameProblem,
  nameText,
  normaliseNameText,
  listUnknownTypes,
} from '../x509/name.ts';
import type { Namespaces } from '../x509/nameConstraints.ts';
import type { Place, TomlDocument } from '../../settings/toml.ts';
import { ENTRIES_MAX, FILE_BYTES_MAX, type Mistakes, readBytes } from './files.ts';
import { personProblem } from './users.ts';
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '../../../data/operationError.ts';
import { RSA_BITS_STRONG } from '../x509/algorithm.ts';
import { isTextOf, rfc4514Text } from '../attributeCertificate/content.ts';
import { readCertificateFile, readCrlFile, makeTrustStore } from '../x509/search.ts';
import { type PrivateKeys, readPem } from '../x509/pem.ts';
import { findRevokedIn } from '../x509/revocation.ts';
import { type AcceptedChain, type ChainRules, validateChain } from '../x509/validate.ts';
import { firstToExpire } from './expiries.ts';
import type { AuthorityKeys } from './keys.ts';

/** The namespaces, with each CA's name as written in the file. */
interface ReadNamespaces {
  readonly patterns: Namespaces;
  readonly written: ReadonlyMap<string, string>;
}

/** Limit of CAs plus patterns (A107), because the lookup of a user checks each of them. */
const PATTERNS_MAX = 2048;

/**
 * Reads the table: the key is the name of a CA, the value a pattern or an array of patterns. Undefined without the
 * table, which allows all names.
 */
export function readNamespaces(
  table: unknown,
  { placeOf, mistakes }: Pick<TomlDocument, 'placeOf'> & { readonly mistakes: Mistakes },
): ReadNamespaces | undefined {
  if (table === undefined) return undefined;
  const patterns = new Map<string, readonly string[]>();
  const written = new Map<string, string>();
  if (typeof table !== 'object' || table === null || Array.isArray(table)) {
    mistakes.add(placeOf(['namespaces']), 'namespaces: want a table, "/O=Site/CN=CA" = ["/O=Site/*"]');
    return { patterns, written };
  }
  let count = 0;
  for (const [name, value] of Object.entries(table)) {
    const complain = (message: string): void => mistakes.add(placeOf(['namespaces', name]), message);
    const ca = JSON.stringify(name);
    const problem = personProblem(name);
    if (problem !== undefined) complain(`the CA ${ca} ${problem}`);
    const key = orderKeyFromText(name) ?? name;
    if (patterns.has(key)) complain(`the namespaces of ${ca} are there twice`);
    const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
    count += 1 + texts.length;
    if (count > PATTERNS_MAX) {
      complain(`namespaces: more than ${PATTERNS_MAX} CAs and patterns`);
      break;
    }
    patterns.set(
      key,
      texts.map((text) => readPattern(text, (message) => complain(`the namespaces of ${ca}: ${message}`))),
    );
    written.set(key, name);
  }
  return { patterns, written };
}

function readPattern(text: unknown, complain: (message: string) => void): string {
  const pattern = typeof text === 'string' ? normaliseNameText(text) : undefined;
  if (text === '*') return text;
  if (pattern === undefined) complain(`got ${JSON.stringify(text)}, want patterns such as "/O=Site/*"`);
  const [unknown] = pattern === undefined ? [] : listUnknownTypes(String(text));
  if (unknown !== undefined) complain(`${JSON.stringify(text)}: there is no type ${unknown} of names`);
  return pattern ?? '';
}

export function namespaceNotes(
  namespaces: ReadNamespaces | undefined,
  anchors: readonly Certificate[],
): readonly string[] {
  if (namespaces === undefined) return [];
  const keys = new Set(anchors.map(({ subject }) => nameOrderKey(subject)));
  const missing = anchors.filter(({ subject }) => (namespaces.patterns.get(nameOrderKey(subject)) ?? []).length === 0);
  const others = [...namespaces.written].filter(([key]) => !keys.has(key));
  return [
    ...missing.map((anchor) => `the CA ${printSubject(anchor)} has no namespaces: nobody whom it certified gets in`),
    ...others.map(
      ([, name]) => `the namespaces of ${JSON.stringify(name)} are of no configured CA, but of one below them`,
    ),
  ];
}

const EXPIRY_NOTE_SECONDS = 30 * 86_400;

/** Limit of CA certificates in all files (A107). Grids have about a hundred. */
const ANCHORS_MAX = 4096;

/**
 * Reads the CA certificates of files, which the configuration names at `placeOf(i)`. Unreadable files are added to
 * `unusable`.
 */
export function readAnchors(
  paths: readonly string[],
  placeOf: (i: number) => Place,
  mistakes: Mistakes,
  unusable: Mistakes,
): readonly Certificate[] {
  const anchors: Certificate[] = [];
  for (const [i, path] of paths.entries()) {
    anchors.push(...readCertificates(path, placeOf(i), unusable, 'refused'));
    if (anchors.length <= ANCHORS_MAX && i < ANCHORS_MAX) continue;
    mistakes.add(placeOf(i), `ca: more than ${ANCHORS_MAX} certificates, or files of them`);
    break;
  }
  return anchors;
}

function readCertificates(
  path: string,
  place: Place,
  mistakes: Mistakes,
  privateKeys: PrivateKeys,
): readonly Certificate[] {
  if (path === '') return [];
  const bytes = readBytes(path, FILE_BYTES_MAX.certificates, place, mistakes);
  if (bytes === undefined) return [];
  const reading = readCertificateFile(bytes, privateKeys);
  if (reading.kind === 'read') return reading.all;
  mistakes.add({ file: path }, reading.reason);
  return [];
}

interface IdentityContext {
  readonly at: number;
  readonly namespaces: Namespaces | undefined;
  readonly anchors: readonly Certificate[];
  readonly placeOf: (key: 'key' | 'certificate') => Place;
  readonly mistakes: Mistakes;
}

/**
 * Reads and checks key and certificate; undefined after an error. `notAfter` is the earliest end of validity of the
 * certificate and its path, in seconds since 1970.
 */
export function readIdentity(keys: AuthorityKeys, { at, namespaces, anchors, placeOf, mistakes }: IdentityContext) {
  const key = readKey(keys.key, placeOf('key'), mistakes);
  const certificates = readCertificates(keys.certificate, placeOf('certificate'), mistakes, 'passed over');
  const [certificate] = certificates;
  if (!key || !certificate) return undefined;
  const complain = (message: string): void => mistakes.add({ file: keys.certificate }, message);
  if (!isPublicKeyOf(certificate, key)) complain(`is not the certificate of the key in ${keys.key}`);
  const problem = nameProblem(certificate.subject);
  if (problem !== undefined) complain(`its subject cannot be used: ${problem}`);
  const effect = 'other sites refuse what is signed with it';
  if (!mayBeUsedFor(certificate, 'digitalSignature')) complain(`is not for signatures by its key usage: ${effect}`);
  if (!/^\d{1,100}$/.test(String(certificate.serialNumber)))
    complain(`has a serial number below 0, or of more than 100 digits: ${effect}`);
  for (const name of [certificate.subject, certificate.issuer])
    if (!isTextOf(rfc4514Text(name), name))
      complain(`has a name that is too long, or strange, to be written in what is issued (RFC 4514): ${effect}`);
  // Without CAs there is already an error, and no path to check.
  const rules = {
    trust: makeTrustStore(anchors),
    at,
    clockSkewSeconds: keys.clockSkewSeconds,
    allowWeak: keys.allowWeak,
    proxies: { full: false, limited: false, legacy: false },
    crls: undefined,
    maxDepth: 8,
    profile: 'service' as const,
    namespaces,
  };
  const verdict = anchors.length === 0 ? undefined : validateChain(certificates, rules);
  if (verdict?.accepted === false) complain(verdict.reason);
  const notAfter = verdict?.accepted === true ? lastEnd(certificates, rules, verdict) : certificate.notAfter;
  const days = Math.ceil((notAfter - at) / 86_400);
  const name = nameText(certificate.subject);
  const subject = firstToExpire(certificate, notAfter);
  const notes = notAfter - at < EXPIRY_NOTE_SECONDS ? [`${subject} ${name} expires within ${days} days`] : [];
  if (isReadableByOthers(keys.key)) notes.push(`others than its owner can read the key ${keys.key}`);
  const revoked = (crls: CrlStore): Certificate | undefined => findRevoked(certificates, rules, crls);
  return { key, certificate, notAfter, revoked, notes };
}

/** The latest end of any valid path. A renewed CA certificate may succeed the present one. */
function lastEnd(certificates: readonly Certificate[], rules: ChainRules, first: AcceptedChain): number {
  for (let { expiresAt } = first; ;) {
    const next = validateChain(certificates, { ...rules, at: expiresAt + rules.clockSkewSeconds + 1 });
    if (!next.accepted || next.expiresAt <= expiresAt) return expiresAt;
    ({ expiresAt } = next);
  }
}

/** The certificate that CRLs list on the only valid path, or on the last one tried. */
function findRevoked(certificates: readonly Certificate[], rules: ChainRules, crls: CrlStore): Certificate | undefined {
  let listed: Certificate | undefined;
  for (let remaining = certificates; ;) {
    const verdict = validateChain(remaining, rules);
    if (!verdict.accepted) return listed;
    const match = findRevokedIn(verdict.path, crls, rules);
    if (match === undefined || match === certificates[0]) return match;
    const others = remaining.filter((certificate) => certificate !== match);
    // The certificate is a configured CA, so no other path avoids it.
    if (others.length === remaining.length) return match;
    [listed, remaining] = [match, others];
  }
}

function readKey(path: string, place: Place, mistakes: Mistakes): KeyObject | undefined {
  if (path === '') return undefined;
  const bytes = readBytes(path, FILE_BYTES_MAX.key, place, mistakes);
  if (!bytes) return undefined;
  const key = parsePrivateKey(bytes);
  const problem = key === undefined ? NO_PRIVATE_KEY : keyProblem(key);
  if (problem === undefined) return key;
  mistakes.add({ file: path }, problem);
  return undefined;
}

/** The error for a file without a usable key. The runtime's message is not used: it may quote the file. */
export const NO_PRIVATE_KEY = 'holds no private key in PEM without a passphrase';

export function parsePrivateKey(bytes: Buffer): KeyObject | undefined {
  try {
    return createPrivateKey(bytes);
  } catch {
    return undefined;
  }
}

function keyProblem({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | undefined {
  const { modulusLength = 0, namedCurve } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === 'rsa')
    return modulusLength >= RSA_BITS_STRONG ? undefined : `has fewer than ${RSA_BITS_STRONG} bits`;
  if (asymmetricKeyType === 'ec') return namedCurve === 'prime256v1' ? undefined : 'is of another curve than P-256';
  return 'is neither an RSA key nor of the curve P-256';
}

function isPublicKeyOf({ publicKey }: Certificate, key: KeyObject): boolean {
  return publicKey?.equals(createPublicKey(key)) ?? false;
}

function isReadableByOthers(path: string): boolean {
  if (process.platform === 'win32') return false;
  // The file may be missing while it is being replaced; the next load checks it again.
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
}

/** CRLs are recognised by file name, because grid directories also contain other files (A82). */
const CRL_NAME = /\.(?:crl|pem|der|r\d+)$/i;

/** Limit of all CRL files together (A107). */
const CRL_BYTES_MAX = 128 << 20;
const TOO_MANY_CRLS = `is too long: all files of CRLs together have more than ${CRL_BYTES_MAX} bytes`;

/**
 * Files that are not CRLs are added to `unusable`, except those with certificates only, which grid directories contain.
 */
export function readCrlFiles(directory: string, place: Place, mistakes: Mistakes, unusable: Mistakes) {
  let names: readonly string[];
  try {
    const entries = readdirSync(directory);
    if (entries.length > ENTRIES_MAX) mistakes.add(place, `${directory} has more than ${ENTRIES_MAX} files`);
    names = entries.length > ENTRIES_MAX ? [] : entries.filter((name) => CRL_NAME.test(name));
  } catch (cause) {
    mistakes.add(place, `${directory} cannot be read as a directory (${reasonOf(cause)})`);
    return [];
  }
  let bytesLeft = CRL_BYTES_MAX;
  return names.toSorted().flatMap((name) => {
    const path = join(directory, name);
    const bytes =
      bytesLeft < FILE_BYTES_MAX.crls
        ? readBytes(path, bytesLeft, place, unusable, TOO_MANY_CRLS)
        : readBytes(path, FILE_BYTES_MAX.crls, place, unusable);
    bytesLeft -= bytes?.length ?? 0;
    if (!bytes) return [];
    const reading = readCrlFile(bytes);
    if (reading.kind === 'read') return { bytes, crls: reading.all };
    if (!holdsCertificatesAlone(bytes)) unusable.add({ file: path }, reading.reason);
    return [];
  });
}

function holdsCertificatesAlone(bytes: Uint8Array): boolean {
  const reading = readPem(Buffer.from(bytes).toString('latin1'));
  const blocks = reading.kind === 'read' ? reading.blocks : [];
  return blocks.length > 0 && blocks.every(({ label }) => /^(?:X509 |TRUSTED )?CERTIFICATE$/.test(label));
}
