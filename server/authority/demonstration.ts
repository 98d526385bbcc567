// A demonstration authority, created on this machine at first start: keys, a CA, two trusted hosts, users and their
// requests. Only for trying the service, as the names say. The keys of the CA, the users and the hosts are discarded.
// Writes one directory.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { OperationError } from '../../data/operationError.ts';
import { makeSigner } from './attributeCertificate/write.ts';
import { makeFolder } from '../../data/files.ts';
import { FILE_BYTES_MAX, noMistakes, readBytes } from './configuration/files.ts';
import {
  type CertificateKind,
  issueCertificate,
  type Issuer,
  nameDer,
  toPem,
  proxyNameDer,
  randomSerialNumber,
} from './issuance.ts';
import { parseCertificate } from './x509/certificate.ts';
import { readCertificateFile } from './x509/search.ts';
import { nameText } from './x509/name.ts';

const ORGANISATION = 'Demonstration of catalogue-replica, not for real use';
const SITE = 'Demonstration';
const HOSTS = ['Demonstration Partner', 'Demonstration Archive'] as const;
/** Validity of all certificates. They are renewed if less than a day is left or they are not valid yet. */
const VALID_SECONDS = 90 * 86_400;
const FRESH_SECONDS = 86_400;
/** Backdating, because clocks differ. */
const EARLIER_SECONDS = 3600;

export const DEMONSTRATION_FILES = {
  config: 'authority.toml',
  guide: 'README.txt',
  /** The proxy certificate and the certificate of a user who has roles at this site. */
  user: 'user-proxy.pem',
  /**
   * The proxy certificate and the certificate of a user who has roles only at a trusted host. The next file proves
   * them.
   */
  visitor: 'visitor-proxy.pem',
  visitorCertificate: 'visitor-attribute-certificate.xml',
} as const;

const NAMED_FILES = { key: 'authority.key', certificate: 'authority.pem', ca: 'ca.pem', users: 'users' } as const;

/** In the user's cache folder; undefined for a user without a home. */
export function demonstrationDirectory(): string | undefined {
  const home = findHome();
  if (!isAbsolute(home)) return undefined;
  return join(home, '.cache', 'catalogue-replica', 'demonstration-authority');
}

/** HOME, or the system's entry; empty if both are missing. */
function findHome(): string {
  try {
    return homedir();
  } catch {
    return '';
  }
}

/**
 * Returns `directory` with a demonstration that is valid at `at` (seconds since 1970) and for a day. Creates one if a
 * file is missing or a certificate expires. If `directory` is undefined or not writable, uses a temporary directory
 * that is removed when the process ends. Throws OperationError `file` if that fails too. Cost: 0.5 s to create keys,
 * else negligible.
 */
export function prepareDemonstration(directory: string | undefined, at: number): string {
  if (directory === undefined) return temporaryDemonstration(at);
  if (isGood(directory, at)) return directory;
  try {
    makeFolder(dirname(directory));
    return makeAt(directory, at);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return temporaryDemonstration(at);
  }
}

function temporaryDemonstration(at: number): string {
  try {
    const temporary = mkdtempSync(join(tmpdir(), 'catalogue-replica-demonstration-'));
    process.once('exit', () => rmSync(temporary, { recursive: true, force: true }));
    writeDemonstration(temporary, at);
    return temporary;
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const failure = `cannot write the demonstration of the attribute authority to ${tmpdir()}`;
    throw new OperationError('file', `${failure}: set TMPDIR or HOME to a directory that can be written`, error);
  }
}

/** An unreadable changed file counts as good here: loading the configuration reports it. */
function isGood(directory: string, at: number): boolean {
  const names = Object.values({ ...DEMONSTRATION_FILES, ...NAMED_FILES });
  if (!names.every((name) => existsSync(join(directory, name)))) return false;
  return [NAMED_FILES.certificate, NAMED_FILES.ca].every((name) => {
    const file = join(directory, name);
    const bytes = readBytes(file, FILE_BYTES_MAX.certificates, { file }, noMistakes());
    const reading = bytes && readCertificateFile(bytes, 'passed over');
    const certificate = reading?.kind === 'read' ? reading.all[0] : undefined;
    return certificate === undefined || (certificate.notBefore <= at && certificate.notAfter >= at + FRESH_SECONDS);
  });
}

/** Writes to another directory and renames it. If another process was faster, its result is used. */
function makeAt(directory: string, at: number): string {
  const aside = mkdtempSync(`${directory}-`);
  try {
    writeDemonstration(aside, at);
    if (isGood(directory, at)) return directory;
    rmSync(directory, { recursive: true, force: true });
    renameSync(aside, directory);
  } catch (error) {
    if (!isGood(directory, at)) throw error;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  return directory;
}

interface Holder {
  readonly certificate: Buffer;
  readonly key: KeyObject;
}

/** Writes a demonstration into an existing directory. Discards the CA's key. */
export function writeDemonstration(directory: string, at: number): void {
  const authority = makeRoot('Demonstration CA', at);
  const issue = (kind: CertificateKind, commonName: string, pair: KeyPair): Holder =>
    issueTo(authority, { kind, commonName, pair, at });
  const site = issue('signer', `Attribute Authority of ${SITE}`, rsaPair());
  const partner = issue('signer', `Attribute Authority of ${HOSTS[0]}`, rsaPair());
  const archive = issue('signer', `Attribute Authority of ${HOSTS[1]}`, ecPair());
  const user = issue('user', 'Sample User', rsaPair());
  const visitor = issue('user', 'Sample Visitor', rsaPair());
  const write = (name: string, text: string, mode = 0o644): void =>
    writeFileSync(join(directory, name), text, { mode });
  write(NAMED_FILES.key, site.key.export({ type: 'pkcs8', format: 'pem' }) as string, 0o600);
  write(NAMED_FILES.certificate, toPem(site.certificate));
  write(NAMED_FILES.ca, toPem(authority.certificate));
  write(NAMED_FILES.users, `# Users of the demonstration, one a line.\n"${readSubject(user)}" staff, data-reader\n`);
  write(DEMONSTRATION_FILES.config, configText(readSubject(partner), readSubject(archive)));
  write(DEMONSTRATION_FILES.guide, GUIDE);
  write(DEMONSTRATION_FILES.user, proxyText(user, at));
  write(DEMONSTRATION_FILES.visitor, proxyText(visitor, at));
  write(DEMONSTRATION_FILES.visitorCertificate, visitorCertificate(partner, readSubject(visitor), at));
}

interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** RSA for keys that sign, as in the grids that used this protocol. */
function rsaPair(): KeyPair {
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** Fast to create, for keys that sign nothing. */
function ecPair(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function makeRoot(commonName: string, at: number): Holder & Issuer {
  const { publicKey, privateKey: key } = rsaPair();
  const name = nameDer([
    ['O', ORGANISATION],
    ['CN', commonName],
  ]);
  const validity = validityAt(at);
  const certificate = issueCertificate({
    kind: 'ca',
    subject: name,
    publicKey,
    issuer: { name, key },
    serialNumber: randomSerialNumber(),
    ...validity,
  });
  return { certificate, key, name };
}

function validityAt(at: number): { readonly notBefore: number; readonly notAfter: number } {
  return { notBefore: at - EARLIER_SECONDS, notAfter: at + VALID_SECONDS };
}

interface Wanted {
  readonly kind: CertificateKind;
  readonly commonName: string;
  readonly pair: KeyPair;
  readonly at: number;
}

function issueTo(issuer: Issuer, { kind, commonName, pair, at }: Wanted): Holder {
  const subject = nameDer([
    ['O', ORGANISATION],
    ['CN', commonName],
  ]);
  const serialNumber = randomSerialNumber();
  const { publicKey, privateKey: key } = pair;
  return { certificate: issueCertificate({ kind, subject, publicKey, issuer, serialNumber, ...validityAt(at) }), key };
}

/** A user's request: a proxy with full rights, then the user's certificate. */
function proxyText({ certificate, key }: Holder, at: number): string {
  const { subject } = parseCertificate(certificate);
  const serialNumber = randomSerialNumber();
  const proxy = issueCertificate({
    kind: 'proxy',
    subject: proxyNameDer(subject.der, String(serialNumber)),
    publicKey: ecPair().publicKey,
    issuer: { name: subject.der, key },
    serialNumber,
    ...validityAt(at),
  });
  return toPem(proxy) + toPem(certificate);
}

function readSubject({ certificate }: Holder): string {
  return nameText(parseCertificate(certificate).subject);
}

function visitorCertificate(partner: Holder, holder: string, at: number): string {
  const sign = makeSigner({ key: partner.key, certificate: parseCertificate(partner.certificate) });
  const { notBefore, notAfter } = validityAt(at);
  return sign({
    holder,
    issuer: readSubject(partner),
    issuerName: HOSTS[0],
    notBefore,
    notAfter,
    roles: ['researcher', 'guest'],
    provenance: 'original',
  });
}

const GUIDE = `A demonstration of the attribute authority, created by catalogue-replica on this machine. Its keys protect nothing.

An attribute certificate states who a user is and which roles they have at a site. Users present it, with their proxy,
to the services of that site. A service checks the signature, the validity and the holder, and grants access to users
with the required role. It needs no list of users and never contacts the authority. Examples in this directory,
with the server on http://localhost:8080:

A grant: Sample User is registered here (file "users") and gets their roles, staff and data-reader.

  catalogue-replica authority call http://localhost:8080 reqAuthorisation --cert ${DEMONSTRATION_FILES.user}

A denial: Sample Visitor is not registered here and gets no certificate, so no service would grant access.

  catalogue-replica authority call http://localhost:8080 reqAuthorisation --cert ${DEMONSTRATION_FILES.visitor}

A mapping: the site ${HOSTS[0]} states in an attribute certificate that Sample Visitor is a researcher and
a guest there. This site trusts it, and a researcher there is a data-reader here (file "${DEMONSTRATION_FILES.config}").

  catalogue-replica authority call http://localhost:8080 reqAuthorisation --cert ${DEMONSTRATION_FILES.visitor} --att-cert ${DEMONSTRATION_FILES.visitorCertificate}

Users without the required role can list the sites that could vouch for it, and get a certificate from one of them:

  catalogue-replica authority call http://localhost:8080 getTrustedHostInfo --role data-reader

You may change these files; the next start reports errors in them. If one is missing, or once the certificates expire
after 90 days, all files are created again and your changes are lost: keep them elsewhere.
`;

function configText(partner: string, archive: string): string {
  return `# A demonstration, created by catalogue-replica on this machine. Its keys protect nothing: never use them for anything else.
name = "${SITE}"
key = "${NAMED_FILES.key}"
certificate = "${NAMED_FILES.certificate}"
ca = "${NAMED_FILES.ca}"
usersFile = "${NAMED_FILES.users}"

[[trustedHost]]
name = "${HOSTS[0]}"
uri = "https://partner.example.org/attAuthority.wsdl"
signer = ${JSON.stringify(partner)}
roles = [
  { remote = "researcher", local = "data-reader" },
  { remote = "employee", local = "staff" },
]

[[trustedHost]]
name = "${HOSTS[1]}"
uri = "https://archive.example.org/attAuthority.wsdl"
signer = ${JSON.stringify(archive)}
roles = [
  { remote = "archivist", local = "staff" },
  { remote = "archivist", local = "data-reader" },
  { remote = "reader", local = "data-reader" },
]
`;
}
