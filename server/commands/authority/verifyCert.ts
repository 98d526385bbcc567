// What `authority verify-cert` does: reads the files, validates, prints the verdict. The only files read are those
// named. Knows no flags; verifyCertCommand.ts does.
import { foundAt } from '../../../data/files.ts';
import { OperationError } from '../../../data/operationError.ts';
import { type Certificate, type Crl, crlStoreOf, shownSubject } from '../../authority/x509/certificate.ts';
import { readCrlFiles } from '../../authority/configuration/identity.ts';
import { mistakeText, noMistakes } from '../../authority/configuration/files.ts';
import { readCertificateFile, readCrlFile, trustStoreOf } from '../../authority/x509/search.ts';
import { timeText } from '../../authority/x509/der.ts';
import { type AcceptedChain, validateChain, type Verdict } from '../../authority/x509/validate.ts';
import { bytesOf } from '../fileBytes.ts';
import { tableText } from '../terminal.ts';

/** What is to be judged and how. `at` is in seconds since 1970; the files are paths, `crls` one of a directory too. */
export interface VerifyRequest {
  readonly chain: string;
  readonly trust: readonly string[];
  readonly crls?: string;
  readonly at: number;
  readonly maxDepth: number;
  readonly allowProxies?: boolean;
  readonly allowLimitedProxies?: boolean;
  readonly allowLegacyProxies?: boolean;
  readonly timing?: boolean;
}

/**
 * Prints that a certificate is accepted, and as what. Throws OperationError `refused` with the reason where it is not.
 */
export function verifyCert(request: VerifyRequest, print: (line: string) => void): void {
  const { crls } = request;
  const files = {
    trust: request.trust.map((path) => [path, bytesOf(path)] as const),
    chain: bytesOf(request.chain),
    crls: crls === undefined || foundAt(crls)?.isDirectory() ? undefined : bytesOf(crls),
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

/** From the bytes of the files to the verdict. A file that cannot be read refuses; the reason then names it. */
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
    trust: trustStoreOf(trusted),
    crls: request.crls === undefined ? undefined : crlStoreOf(crls),
    at: request.at,
    maxDepth: request.maxDepth,
    proxies: { full, limited, legacy },
    profile: full || limited || legacy ? 'service' : 'strict',
    clockSkewSeconds: 0,
    allowWeak: false,
  });
}

/** Those of a file, by its bytes, or of a directory, as the setting `crls` has it; or what is wrong with it. */
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
    ['subject', shownSubject(endEntity)],
    ['proxy', proxy === 'none' ? 'none' : isLegacy ? `legacy, ${rights}` : rights],
    ['issued by', intermediates.map(shownSubject).join(', below ')],
    ['trusted', shownSubject(path.at(-1)!)],
    ['expires', timeText(expiresAt)],
  ].filter(([, value]) => value !== '');
}
