// `authority verify-cert`: validates a certificate against trusted CAs (RFC 5280; RFC 3820 for proxies).
import { type Command, Option } from 'commander';
import { epochMs } from '../../observe/clock.ts';
import { example, type Outputs, valueOption } from '../parts.ts';
import { INSTANT, integerBetween } from '../../settings/values.ts';
import { statIfExists } from '../../../data/files.ts';
import { OperationError } from '../../../data/operationError.ts';
import { type Certificate, type Crl, makeCrlStore, printSubject } from '../../authority/x509/certificate.ts';
import { readCrlFiles } from '../../authority/configuration/identity.ts';
import { mistakeText, noMistakes } from '../../authority/configuration/files.ts';
import { readCertificateFile, readCrlFile, makeTrustStore } from '../../authority/x509/search.ts';
import { timeText } from '../../authority/x509/der.ts';
import { type AcceptedChain, validateChain, type Verdict } from '../../authority/x509/validate.ts';
import { bytesOf } from '../question.ts';
import { tableText } from '../terminal.ts';

type VerifyFlags = Omit<VerifyRequest, 'chain' | 'at'> & { readonly time?: number };

/** Far more than any real chain has. */
const DEPTH_MAX = 255;
const DEPTH_INITIAL = 16;

export function addVerifyCert(group: Command, { stdout }: Outputs): void {
  group
    .command('verify-cert')
    .description('Validate a certificate against trusted CAs (RFC 5280; RFC 3820 for proxies).')
    .argument('<chain>', 'PEM file: the certificate, then intermediates in any order; keys are skipped')
    .addOption(
      new Option('--trust <file>', 'PEM file of trusted CAs (repeatable)')
        .argParser((path: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), path])
        .makeOptionMandatory(),
    )
    .addOption(valueOption('--time', 'time of the validation (default: now)', INSTANT))
    .addOption(
      valueOption('--max-depth', 'maximum of intermediate CAs', integerBetween(0, DEPTH_MAX)).default(DEPTH_INITIAL),
    )
    .option('--crls <path>', 'file or directory of CRLs; each CA needs one (default: no check of revocation)')
    .option('--allow-proxies', 'accept proxies with full rights')
    .option('--allow-limited-proxies', 'accept limited proxies')
    .option('--allow-legacy-proxies', 'accept legacy proxies; limited ones need both flags')
    .option('--timing', 'print the CPU time of the validation')
    .addHelpText('after', HINT)
    .addHelpText('after', example('authority verify-cert --trust cas.pem --allow-proxies chain.pem'))
    .action((chain: string, { time, ...flags }: VerifyFlags) => {
      const at = time ?? epochMs() / 1000;
      verifyCert({ chain, at, ...flags }, (line) => void stdout.write(`${line}\n`));
    });
}

const HINT = `
Exit codes: 0 if the certificate is accepted, 1 with the reason if it is refused, 2 for wrong usage.
With any of the --allow flags, the rules are those of the service for its users. Without them the strict profile applies,
which also checks what RFC 5280 requires of issuing CAs, such as key identifiers.`;

/** The files are paths; `crls` may be a directory. */
interface VerifyRequest {
  readonly chain: string;
  readonly trust: readonly string[];
  readonly crls?: string;
  /** Seconds since 1970. */
  readonly at: number;
  readonly maxDepth: number;
  readonly allowProxies?: boolean;
  readonly allowLimitedProxies?: boolean;
  readonly allowLegacyProxies?: boolean;
  readonly timing?: boolean;
}

/** Throws OperationError `refused` with the reason. */
function verifyCert(request: VerifyRequest, print: (line: string) => void): void {
  const { crls } = request;
  const files = {
    trust: request.trust.map((path) => [path, bytesOf(path)] as const),
    chain: bytesOf(request.chain),
    crls: crls === undefined || statIfExists(crls)?.isDirectory() ? undefined : bytesOf(crls),
  };
  const before = process.cpuUsage();
  const verdict = verdictOf(files, request);
  const { user, system } = process.cpuUsage(before);
  if (request.timing) print(`validation: ${((user + system) / 1000).toFixed(1)} ms of CPU`);
  if (!verdict.accepted) throw new OperationError('refused', `refused: ${verdict.reason}`);
  print(`accepted\n${tableText(rowsOf(verdict))}`);
}

interface Files {
  readonly trust: readonly (readonly [path: string, bytes: Uint8Array])[];
  readonly chain: Uint8Array;
  readonly crls: Uint8Array | undefined;
}

/** Validates the contents of the files. An unreadable file is a refusal that names it. */
function verdictOf(files: Files, request: VerifyRequest): Verdict {
  const trusted: Certificate[] = [];
  for (const [path, bytes] of files.trust) {
    const trust = readCertificateFile(bytes);
    if (trust.kind === 'unreadable') return refused(path, trust.reason);
    trusted.push(...trust.all);
  }
  const chain = readCertificateFile(files.chain, 'passed over');
  if (chain.kind === 'unreadable') return refused(request.chain, chain.reason);
  const crls = request.crls === undefined ? [] : crlsOf(request.crls, files.crls);
  if (typeof crls === 'string') return { accepted: false, reason: crls };
  const {
    allowProxies: full = false,
    allowLimitedProxies: limited = false,
    allowLegacyProxies: legacy = false,
  } = request;
  return validateChain(chain.all, {
    trust: makeTrustStore(trusted),
    crls: request.crls === undefined ? undefined : makeCrlStore(crls),
    at: request.at,
    maxDepth: request.maxDepth,
    proxies: { full, limited, legacy },
    profile: full || limited || legacy ? 'service' : 'strict',
    clockSkewSeconds: 0,
    allowWeak: false,
  });
}

/** The CRLs of a file, given as bytes, or of a directory, read like the setting `crls`; or the error. */
function crlsOf(path: string, bytes: Uint8Array | undefined): readonly Crl[] | string {
  if (bytes) {
    const reading = readCrlFile(bytes);
    return reading.kind === 'read' ? reading.all : `${path}: ${reading.reason}`;
  }
  const mistakes = noMistakes();
  const crls = readCrlFiles(path, { file: path }, mistakes, mistakes).flatMap((file) => file.crls);
  return mistakes.all.length > 0 ? mistakes.all.map(mistakeText).join('\n') : crls;
}

function refused(file: string, reason: string): Verdict {
  return { accepted: false, reason: `${file}: ${reason}` };
}

function rowsOf({ endEntity, path, expiresAt, proxy, isLegacy }: AcceptedChain): readonly (readonly string[])[] {
  const rights = proxy === 'full' ? 'all rights' : 'limited';
  const intermediates = path.slice(path.indexOf(endEntity) + 1, -1);
  return [
    ['subject', printSubject(endEntity)],
    ['proxy', proxy === 'none' ? 'none' : isLegacy ? `legacy, ${rights}` : rights],
    ['issued by', intermediates.map(printSubject).join(', below ')],
    ['trusted', printSubject(path.at(-1)!)],
    ['expires', timeText(expiresAt)],
  ].filter(([, value]) => value !== '');
}
