// What `authority verify-cert` does: reads the files, validates, prints the verdict. The only files read are those
// named. Knows no flags; verifyCertCommand.ts does.
import { OperationError } from '../../../data/operationError.ts';
import { shownSubject } from '../../authority/x509/certificate.ts';
import { readCertificateFile, readCrlFile } from '../../authority/x509/chain.ts';
import { crlStoreOf } from '../../authority/x509/crl.ts';
import { timeText } from '../../authority/x509/time.ts';
import { trustStoreOf } from '../../authority/x509/trust.ts';
import { type AcceptedChain, validateChain, type Verdict } from '../../authority/x509/validate.ts';
import { bytesOf } from '../fileBytes.ts';
import { tableText } from '../terminal.ts';

/** What is to be judged and how. `at` is in seconds since 1970, the files are paths. */
export interface VerifyRequest {
  readonly chain: string;
  readonly trust: string;
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
  const files = {
    trust: bytesOf(request.trust),
    chain: bytesOf(request.chain),
    crls: request.crls === undefined ? undefined : bytesOf(request.crls),
  };
  const before = process.cpuUsage();
  const verdict = verdictOf(files, request);
  const { user, system } = process.cpuUsage(before);
  if (request.timing) print(`validation: ${((user + system) / 1000).toFixed(1)} ms of CPU`);
  if (!verdict.accepted) throw new OperationError('refused', `refused: ${verdict.reason}`);
  print(`accepted\n${tableText(rowsOf(verdict))}`);
}

interface Files {
  readonly trust: Uint8Array;
  readonly chain: Uint8Array;
  readonly crls: Uint8Array | undefined;
}

/** From the bytes of the files to the verdict. A file that cannot be read refuses; the reason then names it. */
function verdictOf(files: Files, request: VerifyRequest): Verdict {
  const trust = readCertificateFile(files.trust);
  if (trust.kind === 'unreadable') return refused(request.trust, trust.reason);
  const chain = readCertificateFile(files.chain);
  if (chain.kind === 'unreadable') return refused(request.chain, chain.reason);
  const crls = files.crls && readCrlFile(files.crls);
  if (crls?.kind === 'unreadable') return refused(request.crls ?? '', crls.reason);
  const {
    allowProxies: full = false,
    allowLimitedProxies: limited = false,
    allowLegacyProxies: legacy = false,
  } = request;
  return validateChain(chain.certificates, {
    trust: trustStoreOf(trust.certificates),
    crls: crls && crlStoreOf(crls.all),
    at: request.at,
    maxDepth: request.maxDepth,
    proxies: { full, limited, legacy },
    profile: full || limited || legacy ? 'service' : 'strict',
    clockSkewSeconds: 0,
    allowWeak: false,
  });
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
