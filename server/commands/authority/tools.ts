// `authority check`, `authority inspect` and `authority issue`.
import { type Command, Option } from 'commander';
import {
  ASCII_TYPES,
  type CertificateKind,
  issueCertificate,
  type Issuer,
  NAME_TYPE_LIST,
  nameDer,
  toPem,
  proxyNameDer,
  randomSerialNumber,
  type TypedValue,
} from '../../authority/issuance.ts';
import { epochMs, epochSeconds } from '../../observe/clock.ts';
import { example, type Outputs, valueOption } from '../parts.ts';
import { integerBetween } from '../../settings/values.ts';
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { OperationError, reasonOf } from '../../../data/operationError.ts';
import { type AuthorityData, loadOrThrow } from '../../authority/configuration/load.ts';
import { listExpiries, firstExpiries } from '../../authority/configuration/expiries.ts';
import { NO_PRIVATE_KEY, parsePrivateKey } from '../../authority/configuration/identity.ts';
import { inspect } from '../../authority/inspect.ts';
import { trustedHostStrings } from '../../authority/authority.ts';
import { type Certificate, parseCertificate } from '../../authority/x509/certificate.ts';
import { readCertificateFile } from '../../authority/x509/search.ts';
import { parseAttributes, nameText } from '../../authority/x509/name.ts';
import { timeText } from '../../authority/x509/der.ts';
import { bytesOf } from '../question.ts';
import { countText } from '../../observe/quantities.ts';
import { tableText } from '../terminal.ts';

const KINDS: readonly CertificateKind[] = [
  'ca',
  'user',
  'signer',
  'proxy',
  'limited-proxy',
  'legacy-proxy',
  'legacy-limited-proxy',
];
/** A hundred years. Larger values are typing errors. */
const HOURS = integerBetween(1, 876_600);
const PATH_LENGTH = integerBetween(0, 255);

export function addConfigurationCommands(group: Command, outputs: Outputs): void {
  addCheck(group, outputs);
  addInspect(group, outputs);
  addIssue(group, outputs);
}

function addCheck(group: Command, { stdout }: Outputs): void {
  group
    .command('check')
    .description('Check a configuration and its files; list all errors with file and line.')
    .argument('<config>', 'TOML file of an attribute authority')
    .addHelpText('after', example('authority check authority.toml'))
    .action((config: string) => {
      stdout.write(`${checkText(config, epochMs() / 1000)}\n`);
    });
}

function addInspect(group: Command, { stdout }: Outputs): void {
  group
    .command('inspect')
    .description('Print what is in an attribute certificate, or in the certificates and CRLs of a file.')
    .argument('<file>', 'attribute certificate (XML), or certificates and CRLs (PEM, or one in DER)')
    .addHelpText('after', example('authority inspect attribute-certificate.xml'))
    .action((file: string) => {
      stdout.write(`${inspectText(file)}\n`);
    });
}

function addIssue(group: Command, { stdout }: Outputs): void {
  group
    .command('issue')
    .description('Issue a certificate for testing, with a new key.')
    .addOption(new Option('--kind <kind>', 'kind of certificate').choices(KINDS).makeOptionMandatory())
    .option('--name <name>', 'subject, /TYPE=value/TYPE=value; a proxy gets it from its issuer')
    .option('--issuer <file>', 'PEM file; its first certificate is the issuer (default for a CA: itself)')
    .option('--issuer-key <file>', 'PEM file of the private key of the issuer')
    .addOption(new Option('--key-type <type>', 'kind of the new key').choices(['rsa', 'ec']).default('rsa'))
    .addOption(valueOption('--hours', 'validity in hours, at most until the issuer expires', HOURS).default(24))
    .addOption(
      valueOption('--path-length', 'number that may follow a CA or RFC 3820 proxy (default: any)', PATH_LENGTH),
    )
    .requiredOption('-o, --output <prefix>', 'write <prefix>.pem and <prefix>.key')
    .addHelpText(
      'after',
      example('authority issue --kind user --name /O=Site/CN=Name --issuer ca.pem --issuer-key ca.key -o user'),
    )
    .action((flags: IssueFlags) => {
      stdout.write(`${issueFiles(flags, epochSeconds())}\n`);
    });
}

/** Throws OperationError `input` with all errors of an invalid configuration, one per line. */
function checkText(config: string, at: number): string {
  const { data, notes, unusableFiles, expirySource } = loadOrThrow(config, at);
  return [
    tableText(configurationRows(data, firstExpiries(listExpiries(expirySource, at)))),
    ...notes.map((note) => `note: ${note}`),
    unusableFiles === 0 ? `${config} is good` : `${config} can be used, without ${unusableFiles} of its files`,
  ].join('\n');
}

function configurationRows(
  data: AuthorityData,
  { certificate = 0, cas = 0, crls }: ReturnType<typeof firstExpiries>,
): readonly (readonly string[])[] {
  const { subject } = parseCertificate(data.certificate);
  return [
    ['site', data.siteName],
    ['issuer', nameText(subject)],
    ['its chain expires', timeText(certificate)],
    ['CAs', countText(data.anchors.length)],
    ['the first CA expires', cas === 0 ? 'there is none' : timeText(cas)],
    ['files of CRLs', data.crls ? countText(data.crls.length) : 'none'],
    ...(crls === undefined ? [] : [['all CAs have one until', crls === 0 ? 'one has none now' : timeText(crls)]]),
    ['users', countText(data.users.size)],
    ['trusted hosts', data.hosts.map(({ name }) => name).join(', ')],
    ['roles that they map to', [...trustedHostStrings(data.hosts).keys()].join(', ')],
  ];
}

/** A table per certificate. Throws OperationError `file`, or `input` for a file of another kind. */
function inspectText(file: string): string {
  const inspection = inspect(bytesOf(file));
  if (inspection.kind === 'unreadable') throw new OperationError('input', `${file}: ${inspection.reason}`);
  return inspection.tables.map((rows) => tableText(rows)).join('\n\n');
}

interface IssueFlags {
  readonly kind: CertificateKind;
  readonly name?: string;
  readonly issuer?: string;
  readonly issuerKey?: string;
  readonly keyType: 'rsa' | 'ec';
  readonly hours: number;
  readonly pathLength?: number;
  readonly output: string;
}

/** The common name marks proxies older than RFC 3820. */
const LEGACY_NAMES: Partial<Record<CertificateKind, string>> = {
  'legacy-proxy': 'proxy',
  'legacy-limited-proxy': 'limited proxy',
};

/** Kinds of certificates that limit how many may follow them. */
const BOUNDED_KINDS: readonly CertificateKind[] = ['ca', 'proxy', 'limited-proxy'];

/**
 * Issues a certificate with a new key and writes both files; a proxy's file also contains the issuer's chain. The
 * certificate expires no later than its issuer. Returns a line for the terminal. Throws OperationError `usage` for
 * missing or inconsistent flags or an existing file, `file` and `input` for the files.
 */
export function issueFiles(flags: IssueFlags, at: number): string {
  const { kind } = flags;
  const isProxy = kind.endsWith('proxy');
  if (isProxy === (flags.name !== undefined)) {
    throw new OperationError(
      'usage',
      isProxy ? 'a proxy gets its name from its issuer: remove --name' : '--name is missing',
    );
  }
  if (
    (flags.issuer === undefined) !== (flags.issuerKey === undefined) ||
    (flags.issuer === undefined && kind !== 'ca')
  ) {
    throw new OperationError('usage', 'want --issuer and --issuer-key; only a CA may issue itself, without both');
  }
  if (flags.pathLength !== undefined && !BOUNDED_KINDS.includes(kind))
    throw new OperationError('usage', `--path-length is for the kinds ${BOUNDED_KINDS.join(', ')}`);
  refuseExisting(`${flags.output}.key`);
  refuseExisting(`${flags.output}.pem`);
  const { publicKey, privateKey } =
    flags.keyType === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const issuer = issuerOf(flags, at);
  const serialNumber = randomSerialNumber();
  const subject = isProxy
    ? proxyNameDer(issuer!.by.name, LEGACY_NAMES[kind] ?? String(serialNumber))
    : nameDer(attributesOf(flags.name ?? ''));
  const der = issueCertificate({
    kind,
    subject,
    publicKey,
    issuer: issuer?.by ?? { name: subject, key: privateKey },
    serialNumber,
    notBefore: at,
    // A certificate is useless after its issuer has expired.
    notAfter: Math.min(at + flags.hours * 3600, issuer?.chain[0]!.notAfter ?? Infinity),
    ...(flags.pathLength === undefined ? {} : { pathLength: flags.pathLength }),
  });
  const chain = isProxy ? issuer!.chain : [];
  const name = issuedName(der, isProxy ? '--issuer' : '--name');
  write(`${flags.output}.key`, privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, 0o600);
  write(`${flags.output}.pem`, [der, ...chain.map((certificate) => certificate.der)].map(toPem).join(''), 0o644);
  return `${flags.output}.pem: ${name}; its key is in ${flags.output}.key`;
}

/** Parses the certificate before a file is written: this program issues nothing that it cannot read. */
function issuedName(der: Uint8Array, flag: string): string {
  try {
    return nameText(parseCertificate(der).subject);
  } catch (cause) {
    throw new OperationError(
      'usage',
      `${flag}: such a certificate would be unreadable (${(cause as Error).message})`,
      cause,
    );
  }
}

interface IssuerFiles {
  readonly by: Issuer;
  readonly chain: readonly Certificate[];
}

function issuerOf({ issuer, issuerKey }: IssueFlags, at: number): IssuerFiles | undefined {
  if (issuer === undefined || issuerKey === undefined) return undefined;
  const reading = readCertificateFile(bytesOf(issuer), 'passed over');
  if (reading.kind === 'unreadable') throw new OperationError('input', `${issuer}: ${reading.reason}`);
  const { subject, extensions, publicKey, notAfter } = reading.all[0]!;
  if (notAfter <= at) throw new OperationError('input', `${issuer}: its first certificate has expired`);
  const key = keyOf(issuerKey);
  if (!publicKey?.equals(createPublicKey(key))) {
    throw new OperationError('input', `${issuer}: its first certificate is not that of the key in ${issuerKey}`);
  }
  const keyId = extensions.subjectKeyId === undefined ? undefined : Buffer.from(extensions.subjectKeyId, 'hex');
  return { by: { name: subject.der, key, keyId }, chain: reading.all };
}

function keyOf(file: string): KeyObject {
  const key = parsePrivateKey(bytesOf(file));
  if (key === undefined) throw new OperationError('input', `${file} ${NO_PRIVATE_KEY}`);
  if (['rsa', 'ec'].includes(key.asymmetricKeyType ?? '')) return key;
  throw new OperationError('input', `${file} holds a key that nothing is signed with here: want an RSA or EC key`);
}

function attributesOf(name: string): readonly TypedValue[] {
  const attributes = parseAttributes(name)?.map(({ type, value }): TypedValue => [type, value]);
  if (!attributes?.every(([type]) => NAME_TYPE_LIST.includes(type)))
    throw new OperationError('usage', `--name: want /TYPE=value/TYPE=value, of the types ${NAME_TYPE_LIST.join(', ')}`);
  const strange = attributes.find(([type, value]) => ASCII_TYPES.includes(type) && /[^ -~]/.test(value));
  if (!strange) return attributes;
  throw new OperationError('usage', `--name: a value of ${strange[0]} may only have printable ASCII characters`);
}

/** Checked for both files before either is written, so that no key is left without its certificate. */
function refuseExisting(file: string): void {
  if (existsSync(file)) throw new OperationError('usage', `${file} is there already, and is not written over`);
}

function write(file: string, text: string, mode: number): void {
  try {
    writeFileSync(file, text, { mode, flag: 'wx' });
  } catch (cause) {
    throw new OperationError('file', `${file} cannot be written (${reasonOf(cause)})`, cause);
  }
}
