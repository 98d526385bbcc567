// Describes certificates, chains and CRLs as human-readable tables. Checks only which certificate of a file signed
// which. All output is printable.
import { hash } from 'node:crypto';
import { algorithmText, EXTENSION, isSignedWith } from './algorithm.ts';
import { type Certificate, type Crl, replaceUnprintable } from './certificate.ts';
import { parseSingleCertificate, type ChainLimits, CRL_FILE_LIMITS, readCrlFile } from './search.ts';
import type { Subtree } from './extensions.ts';
import { type GeneralName, generalNameText, type Name, nameProblem, nameText, sameName } from './name.ts';
import { type PemBlock, readPem } from './pem.ts';
import { proxyMark } from './pathRules.ts';
import { timeText } from './der.ts';

export type Description = readonly (readonly [name: string, value: string])[];

/** A table per certificate and CRL, or one sentence why the file is unreadable. */
export type FileDescription =
  | { readonly kind: 'read'; readonly tables: readonly Description[] }
  | { readonly kind: 'unreadable'; readonly reason: string };

/**
 * Describes a file: PEM with certificates and CRLs in any order, or one certificate or CRL in DER. Skips private keys.
 */
export function describeFile(bytes: Uint8Array, limits: ChainLimits = CRL_FILE_LIMITS): FileDescription {
  if (bytes.length > limits.textBytes) return unreadable(`The file is longer than ${limits.textBytes / 1024} KiB.`);
  const isDer = bytes[0] === 0x30 && (bytes[1] ?? 0) >= 0x80;
  const reading = isDer ? derBlock(bytes) : readPem(Buffer.from(bytes).toString('latin1'), 'passed over');
  if (reading.kind === 'unreadable') return unreadable(`The file ${reading.problem}.`);
  const { blocks } = reading;
  if (blocks.length === 0) return unreadable('The file holds no certificate and no CRL.');
  if (blocks.length > limits.certificates) return unreadable(`The file holds more than ${limits.certificates} blocks.`);
  return describeBlocks(blocks);
}

function derBlock(der: Uint8Array): { readonly kind: 'read'; readonly blocks: readonly PemBlock[] } {
  const label = parseSingleCertificate(der) === undefined ? 'X509 CRL' : 'CERTIFICATE';
  return { kind: 'read', blocks: [{ label, der }] };
}

/** Limit of signature checks per file, at 20 to 200 us each. */
const VERIFICATIONS_MAX = 4096;

interface Signers {
  /** The possible signers, at the index of their block; undefined for other blocks. */
  readonly certificates: readonly (Certificate | undefined)[];
  /** The remaining signature checks. */
  verifications: number;
}

function describeBlocks(blocks: readonly PemBlock[]): FileDescription {
  const certificates = blocks.map(({ label, der }) =>
    label.endsWith('CERTIFICATE') ? parseSingleCertificate(der) : undefined,
  );
  const all = { certificates, verifications: VERIFICATIONS_MAX };
  const tables: Description[] = [];
  for (const [i, { label, der }] of blocks.entries()) {
    const certificate = certificates[i];
    const crl = label === 'X509 CRL' ? parseCrlFile(der) : undefined;
    if (certificate) tables.push(describeCertificate(certificate, all));
    else if (crl) tables.push(describeCrl(crl, all));
    else return unreadable(`Block ${i + 1} of the file is neither a certificate nor a CRL that can be read.`);
  }
  return { kind: 'read', tables };
}

function parseCrlFile(der: Uint8Array): Crl | undefined {
  const reading = readCrlFile(der);
  return reading.kind === 'read' ? reading.all[0] : undefined;
}

function unreadable(reason: string): FileDescription {
  return { kind: 'unreadable', reason };
}

function describeCertificate(certificate: Certificate, others: Signers): Description {
  const { subject, issuer, serialNumber, version, notBefore, notAfter, extensions, signed, der } = certificate;
  const problem = nameProblem(subject);
  return printableRows([
    ['certificate', printOrNobody(subject) + (problem === undefined ? '' : ` (it ${problem})`)],
    ['issuer', printOrNobody(issuer)],
    ['signed by', signerText(signed, issuer, others)],
    ['serial number', `${serialNumber} (${serialNumber.toString(16)} hexadecimal)`],
    ['version', `${version}`],
    ['valid from', timeText(notBefore)],
    ['valid to', timeText(notAfter)],
    ['key', keyText(certificate)],
    ['signature', algorithmText(signed.algorithm)],
    ['CA', caText(certificate)],
    ['proxy', proxyText(certificate)],
    ['key usage', extensions.keyUsage === undefined ? '' : usageText(extensions.keyUsage)],
    ['purposes', extensions.extendedKeyUsages?.join(', ') ?? ''],
    ['other names', extensions.subjectAltNames?.map(generalNameText).join(', ') ?? ''],
    ['may name', subtreesText(extensions.nameConstraints?.permitted)],
    ['may not name', subtreesText(extensions.nameConstraints?.excluded)],
    ['key identifier', extensions.subjectKeyId ?? ''],
    ['of the issuer', extensions.authorityKeyId ?? ''],
    ['critical', criticalText(certificate)],
    ['SHA-256', hash('sha256', der)],
  ]);
}

function describeCrl(crl: Crl, others: Signers): Description {
  const scopes = { all: 'all certificates', users: 'users only', cas: 'CAs only', unknown: 'cannot be processed' };
  return printableRows([
    ['CRL of', printOrNobody(crl.issuer)],
    ['signed by', signerText(crl.signed, crl.issuer, others)],
    ['number', crl.number === undefined ? 'none' : `${crl.number}`],
    ['from', timeText(crl.thisUpdate)],
    ['to', crl.nextUpdate === undefined ? 'not said' : timeText(crl.nextUpdate)],
    ['covers', scopes[crl.scope]],
    ['revoked', `${crl.revoked.size}`],
    ['signature', algorithmText(crl.signed.algorithm)],
  ]);
}

function printableRows(rows: Description): Description {
  return rows.filter(([, value]) => value !== '').map(([name, value]) => [name, replaceUnprintable(value)]);
}

function printOrNobody(name: Name): string {
  return nameText(name) || 'nobody';
}

function signerText(signed: Certificate['signed'], issuer: Name, signers: Signers): string {
  const { certificates: others } = signers;
  const candidates = others
    .filter((certificate) => certificate !== undefined)
    .filter(({ subject }) => sameName(subject, issuer));
  if (candidates.length === 0) return 'a certificate that is not in this file';
  if (candidates.length > signers.verifications)
    return 'not looked for: too many signatures of this file were looked at';
  signers.verifications -= candidates.length;
  const signer = candidates.find(({ publicKey }) => isSignedWith(signed, publicKey));
  if (signer === undefined) return 'nobody in this file, though one has that name';
  return signer.signed === signed ? 'itself' : `number ${others.indexOf(signer) + 1} of this file`;
}

function keyText({ publicKey }: Certificate): string {
  const { modulusLength, namedCurve } = publicKey?.asymmetricKeyDetails ?? {};
  return publicKey === undefined
    ? 'of a kind that is not supported'
    : [publicKey.asymmetricKeyType, modulusLength ?? namedCurve].filter((part) => part !== undefined).join(' ');
}

function caText({ extensions: { basicConstraints } }: Certificate): string {
  if (!basicConstraints?.isCa) return '';
  const { pathLength } = basicConstraints;
  return pathLength === undefined ? 'yes' : `yes, with at most ${pathLength} CAs below it`;
}

function proxyText(certificate: Certificate): string {
  const mark = proxyMark(certificate);
  if (mark.kind === 'none') return '';
  if (mark.kind === 'refused') return `it ${mark.problem}`;
  const rights = mark.rights === 'full' ? 'all rights' : 'limited';
  return mark.kind === 'legacy' ? `legacy, ${rights}` : `RFC 3820, ${rights}`;
}

/** The bits of keyUsage in order (RFC 5280, section 4.2.1.3). */
const USAGES = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
];

function usageText(bits: number): string {
  return USAGES.filter((_, bit) => bits & (1 << bit)).join(', ') || 'nothing';
}

function subtreesText(subtrees: readonly Subtree[] | undefined): string {
  return subtrees?.map(({ base }: { readonly base: GeneralName }) => generalNameText(base)).join(', ') ?? '';
}

const NAMES: ReadonlyMap<string, string> = new Map(Object.entries(EXTENSION).map(([name, oid]) => [oid, name]));

function criticalText({ extensions }: Certificate): string {
  const critical = [...extensions.byOid.values()].filter(({ isCritical }) => isCritical);
  return critical.map(({ oid }) => NAMES.get(oid) ?? oid).join(', ');
}
