// The state of one validation: its rules, the available certificates, the remaining budget, and the best reason for a
// refusal so far. A text with one invalid part is refused as a whole (A73).
import { type Certificate, type Crl, type CrlStore, parseCertificate, parseCrl } from './certificate.ts';
import { DerError } from './der.ts';
import { type PrivateKeys, readPem } from './pem.ts';
import { isSignedWith } from './algorithm.ts';
import type { PathRules } from './pathRules.ts';

export interface ChainLimits {
  readonly textBytes: number;
  readonly certificates: number;
}

/** For texts from users: 256 KiB and 8 certificates. */
export const USER_CHAIN_LIMITS: ChainLimits = { textBytes: 256 * 1024, certificates: 8 };

/** For files of operators. Bundles of all grid CAs have about 150 certificates. */
export const FILE_LIMITS: ChainLimits = { textBytes: 4 * 1024 * 1024, certificates: 1024 };

/** Enough for the largest CAs, whose CRLs have a million entries. */
export const CRL_FILE_LIMITS: ChainLimits = { textBytes: 64 * 1024 * 1024, certificates: 1024 };

/** Everything in the file in order, at least one; or one sentence why it is unreadable, without quoting the input. */
type FileReading<T> =
  { readonly kind: 'read'; readonly all: readonly T[] } | { readonly kind: 'unreadable'; readonly reason: string };

/**
 * Refuses a text that is too long or has too many blocks, no CERTIFICATE block, a PRIVATE KEY block, or an invalid
 * certificate.
 */
export function readChain(text: string, limits: ChainLimits = USER_CHAIN_LIMITS): FileReading<Certificate> {
  return readBlocks(text, limits, CERTIFICATES);
}

export function parseSingleCertificate(der: Uint8Array): Certificate | undefined {
  const reading = parseAll([der], CERTIFICATES);
  return reading.kind === 'read' ? reading.all[0] : undefined;
}

/** Reads a file of certificates within FILE_LIMITS: PEM like `readChain`, or one certificate in DER. */
export function readCertificateFile(bytes: Uint8Array, keys: PrivateKeys = 'refused'): FileReading<Certificate> {
  return readFile(bytes, FILE_LIMITS, { ...CERTIFICATES, keys });
}

export function readCrlFile(bytes: Uint8Array, limits: ChainLimits = CRL_FILE_LIMITS): FileReading<Crl> {
  return readFile(bytes, limits, CRLS);
}

interface Kind<T> {
  readonly labels: readonly string[];
  readonly single: string;
  readonly many: string;
  readonly parse: (der: Uint8Array) => T;
  readonly keys?: PrivateKeys;
}

const CERTIFICATES: Kind<Certificate> = {
  labels: ['CERTIFICATE', 'X509 CERTIFICATE'],
  single: 'certificate',
  many: 'certificates',
  parse: parseCertificate,
};
const CRLS: Kind<Crl> = { labels: ['X509 CRL'], single: 'CRL', many: 'CRLs', parse: parseCrl };

/** The tag of a SEQUENCE. A text may start with that digit, but then no byte beyond ASCII follows. */
const DER_START = 0x30;

function readFile<T>(bytes: Uint8Array, limits: ChainLimits, kind: Kind<T>): FileReading<T> {
  // Checked before the conversion to a string, which cannot be as long as a file.
  if (bytes.length > limits.textBytes) return tooLong(limits);
  const isDer = bytes[0] === DER_START && (bytes[1] ?? 0) >= 0x80;
  return isDer ? parseAll([bytes], kind) : readBlocks(Buffer.from(bytes).toString('latin1'), limits, kind);
}

function readBlocks<T>(text: string, limits: ChainLimits, kind: Kind<T>): FileReading<T> {
  if (text.length > limits.textBytes || Buffer.byteLength(text) > limits.textBytes) return tooLong(limits);
  const reading = readPem(text, kind.keys);
  if (reading.kind === 'unreadable') return unreadable(`The text ${reading.problem}.`);
  const { blocks } = reading;
  if (blocks.length === 0) return unreadable(`The text holds no ${kind.single} in PEM form.`);
  if (blocks.length > limits.certificates)
    return unreadable(`The text holds more than ${limits.certificates} ${kind.many}.`);
  if (!blocks.every(({ label }) => kind.labels.includes(label))) {
    return unreadable(`The text holds something that is no ${kind.single}.`);
  }
  return parseAll(
    blocks.map(({ der }) => der),
    kind,
  );
}

function parseAll<T>(ders: readonly Uint8Array[], kind: Kind<T>): FileReading<T> {
  try {
    return { kind: 'read', all: ders.map(kind.parse) };
  } catch (error) {
    if (error instanceof DerError)
      return unreadable(`The text holds a ${kind.single} that cannot be read: it has ${error.message}.`);
    throw error;
  }
}

function tooLong({ textBytes }: ChainLimits): { kind: 'unreadable'; reason: string } {
  return unreadable(`The text is longer than ${textBytes / 1024} KiB.`);
}

function unreadable(reason: string): { kind: 'unreadable'; reason: string } {
  return { kind: 'unreadable', reason };
}

/** The configured CAs, self-signed or not (A74). Created once per configuration. */
export interface TrustStore extends CertificatesByName {
  /** Whether a certificate is one of them, byte for byte. */
  readonly has: (certificate: Certificate) => boolean;
}

/** Certificates by the key of their subject (`Name.key`). */
interface CertificatesByName {
  readonly named: (subjectKey: string) => readonly Certificate[];
}

export function makeTrustStore(anchors: readonly Certificate[]): TrustStore {
  const byName = groupByName(anchors);
  const has = (certificate: Certificate): boolean => isAmong(byName.named(certificate.subject.key), certificate);
  return { has, ...byName };
}

/** Certificates by name, without duplicates. */
export function groupByName(certificates: readonly Certificate[]): CertificatesByName {
  const bySubject = new Map<string, Certificate[]>();
  for (const certificate of certificates) {
    const namesakes = bySubject.get(certificate.subject.key);
    if (namesakes === undefined) bySubject.set(certificate.subject.key, [certificate]);
    else if (!isAmong(namesakes, certificate)) namesakes.push(certificate);
  }
  return { named: (subjectKey) => bySubject.get(subjectKey) ?? [] };
}

/** A linear search suffices, because few certificates share a name. */
function isAmong(certificates: readonly Certificate[], { der }: Certificate): boolean {
  return certificates.some((other) => Buffer.compare(other.der, der) === 0);
}

export interface SearchRules extends PathRules {
  readonly trust: TrustStore;
  /**
   * Undefined skips the check of revocation. Otherwise a CA without a current CRL makes all its certificates invalid.
   */
  readonly crls: CrlStore | undefined;
  /** Maximum number of intermediate CAs of a path, not counting self-issued ones. */
  readonly maxDepth: number;
}

/** How close a refused path came to acceptance. The closest reason helps the user most. */
const NEARNESS = { noIssuer: 0, unsigned: 1, exhausted: 2, judged: 3 } as const;

/**
 * A72: limits of one validation. A signature takes up to 200 us, a step or a comparison at most a few us, so every
 * validation ends within a fraction of a second. Real chains need 10 signatures, 10 steps and 100 comparisons.
 */
export const BUDGET = { signatures: 128, steps: 1024, comparisons: 262_144 } as const;

export class PathSearch {
  readonly rules: SearchRules;
  /** The certificates of the text that are not configured CAs. */
  readonly pool: CertificatesByName;
  /** The remaining budget. */
  readonly budget: { signatures: number; steps: number; comparisons: number } = { ...BUDGET };
  /** Signers of CRLs that are being validated, so that none vouches for itself. */
  readonly signers = new Set<Certificate>();

  #reason = 'There is no certificate.';
  #nearness = -1;
  readonly #signatures = new Map<Certificate, Map<Certificate, boolean>>();

  constructor(rules: SearchRules, pool: CertificatesByName) {
    this.rules = rules;
    this.pool = pool;
  }

  get reason(): string {
    return this.#reason;
  }

  /**
   * Records a reason why the search fails, unless an earlier reason came at least as close to a valid path. Ignores
   * problems with the signer of a CRL. Returns undefined.
   */
  refuse(nearness: keyof typeof NEARNESS, reason: string): undefined {
    if (NEARNESS[nearness] <= this.#nearness || this.signers.size > 0) return;
    this.#nearness = NEARNESS[nearness];
    this.#reason = reason;
  }

  /** Whether steps or signatures have run out, which ends the search. */
  get isSpent(): boolean {
    return this.budget.steps <= 0 || this.budget.signatures <= 0;
  }

  /** Takes one step. Without any left, returns false and records that as the reason. */
  step(): boolean {
    if (this.isSpent) {
      this.refuse('exhausted', 'The certificates offer more paths than are tried.');
      return false;
    }
    this.budget.steps--;
    return true;
  }

  /** Whether `issuer` signed `certificate`. Checks each pair once, within the budget. */
  isSigned(certificate: Certificate, issuer: Certificate): boolean {
    let bySigner = this.#signatures.get(certificate);
    if (bySigner === undefined) this.#signatures.set(certificate, (bySigner = new Map()));
    const before = bySigner.get(issuer);
    if (before !== undefined) return before;
    if (this.isSpent) return false;
    this.budget.signatures--;
    const isSigned = isSignedWith(certificate.signed, issuer.publicKey, issuer.keyStrength);
    bySigner.set(issuer, isSigned);
    return isSigned;
  }
}
