// Texts and files of certificates and CRLs, within limits: PEM, or for files also DER. A text is refused as a whole
// where any part of it is wrong (A73).
import { type Certificate, parseCertificate } from './certificate.ts';
import { type Crl, parseCrl } from './crl.ts';
import { DerError } from './der.ts';
import { type PrivateKeys, readPem } from './pem.ts';

/** How much a text may hold. */
export interface ChainLimits {
  readonly textBytes: number;
  readonly certificates: number;
}

/** What a user may send: 256 KiB and 8 certificates. */
export const USER_CHAIN_LIMITS: ChainLimits = { textBytes: 256 * 1024, certificates: 8 };

/** What an operator may have in a file: bundles of all grid CAs have about 150. */
export const FILE_LIMITS: ChainLimits = { textBytes: 4 * 1024 * 1024, certificates: 1024 };

/** CRLs of the largest CAs have a million entries; this is room for that. */
export const CRL_FILE_LIMITS: ChainLimits = { textBytes: 64 * 1024 * 1024, certificates: 1024 };

/** What was read, in its order, one at least; or why there is none, as one sentence without any text of the input. */
export type FileReading<T> =
  { readonly kind: 'read'; readonly all: readonly T[] } | { readonly kind: 'unreadable'; readonly reason: string };

/**
 * Reads a PEM text. Refused: too long, too many, no CERTIFICATE block, a PRIVATE KEY block, anything that is no
 * certificate.
 */
export function readChain(text: string, limits: ChainLimits = USER_CHAIN_LIMITS): FileReading<Certificate> {
  return readBlocks(text, limits, CERTIFICATES);
}

/** One certificate in DER; undefined where the bytes are none. */
export function certificateOf(der: Uint8Array): Certificate | undefined {
  const reading = parseAll([der], CERTIFICATES);
  return reading.kind === 'read' ? reading.all[0] : undefined;
}

/** Reads a file of certificates within FILE_LIMITS: PEM like `readChain`, or one certificate in DER. */
export function readCertificateFile(bytes: Uint8Array, keys: PrivateKeys = 'refused'): FileReading<Certificate> {
  return readFile(bytes, FILE_LIMITS, { ...CERTIFICATES, keys });
}

/** Reads a file of CRLs: PEM blocks, or one CRL in DER. */
export function readCrlFile(bytes: Uint8Array, limits: ChainLimits = CRL_FILE_LIMITS): FileReading<Crl> {
  return readFile(bytes, limits, CRLS);
}

/** What the blocks of a text must be. */
interface Kind<T> {
  readonly labels: readonly string[];
  readonly one: string;
  readonly many: string;
  readonly parse: (der: Uint8Array) => T;
  readonly keys?: PrivateKeys;
}

const CERTIFICATES: Kind<Certificate> = {
  labels: ['CERTIFICATE', 'X509 CERTIFICATE'],
  one: 'certificate',
  many: 'certificates',
  parse: parseCertificate,
};
const CRLS: Kind<Crl> = { labels: ['X509 CRL'], one: 'CRL', many: 'CRLs', parse: parseCrl };

/** The tag of a SEQUENCE; a text may start with that digit, but then no byte beyond ASCII follows. */
const DER_START = 0x30;

function readFile<T>(bytes: Uint8Array, limits: ChainLimits, kind: Kind<T>): FileReading<T> {
  // Before a text is made of it: none can be as long as a file.
  if (bytes.length > limits.textBytes) return tooLong(limits);
  const isDer = bytes[0] === DER_START && (bytes[1] ?? 0) >= 0x80;
  return isDer ? parseAll([bytes], kind) : readBlocks(Buffer.from(bytes).toString('latin1'), limits, kind);
}

function readBlocks<T>(text: string, limits: ChainLimits, kind: Kind<T>): FileReading<T> {
  if (text.length > limits.textBytes || Buffer.byteLength(text) > limits.textBytes) return tooLong(limits);
  const reading = readPem(text, kind.keys);
  if (reading.kind === 'unreadable') return unreadable(`The text ${reading.problem}.`);
  const { blocks } = reading;
  if (blocks.length === 0) return unreadable(`The text holds no ${kind.one} in PEM form.`);
  if (blocks.length > limits.certificates)
    return unreadable(`The text holds more than ${limits.certificates} ${kind.many}.`);
  if (!blocks.every(({ label }) => kind.labels.includes(label))) {
    return unreadable(`The text holds something that is no ${kind.one}.`);
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
      return unreadable(`The text holds a ${kind.one} that cannot be read: it has ${error.message}.`);
    throw error;
  }
}

function tooLong({ textBytes }: ChainLimits): { kind: 'unreadable'; reason: string } {
  return unreadable(`The text is longer than ${textBytes / 1024} KiB.`);
}

function unreadable(reason: string): { kind: 'unreadable'; reason: string } {
  return { kind: 'unreadable', reason };
}
