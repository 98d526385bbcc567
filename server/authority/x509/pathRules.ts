// Path validation (RFC 5280, section 6.1) of one path whose signatures and names are known to chain: validity, basic
// constraints, path lengths, key usage, name constraints, policies, critical extensions, algorithms. The configured CA
// at the end is judged like the others. Pure; paths.ts finds the paths, strictRules.ts asks for more.
import { signatureStrength, type Strength } from './algorithm.ts';
import { type Certificate, isCa, isSelfIssued, mayBeUsedFor, shownSubject } from './certificate.ts';
import { type ComparisonBudget, constraintProblem } from './nameConstraints.ts';
import { EXTENSION, SERVER_PURPOSE } from './oids.ts';
import { type Namespaces, namespaceProblem } from './namespaces.ts';
import { policyProblem } from './policies.ts';
import { strictProblem } from './strictRules.ts';
import { timeText } from './time.ts';

/** What a path is judged by; ChainRules of validate.ts has the meanings. */
export interface PathRules {
  readonly at: number;
  readonly clockSkewSeconds: number;
  readonly allowWeak: boolean;
  readonly profile: 'service' | 'strict';
  readonly namespaces?: Namespaces | undefined;
}

/** A path from a certificate to a configured CA, both included: at least two certificates. */
export type Path = readonly [Certificate, ...Certificate[], Certificate];

/**
 * What is wrong with a path, as a sentence, or undefined. Looks at the configured CA first and at the certificate last,
 * as section 6.1 does, so that the sentence is about the highest certificate that is wrong.
 */
export function pathProblem(path: Path, rules: PathRules, budget: ComparisonBudget): string | undefined {
  for (let i = path.length - 1; i >= 0; i--) {
    const certificate = path[i]!;
    const problem =
      certificateProblem(certificate, rules) ??
      (i === 0 ? endProblem(certificate) : caProblem(path, i)) ??
      algorithmProblem(path, i, rules) ??
      namesProblem(path, i, budget) ??
      spaceProblem(path, i, rules) ??
      (rules.profile === 'strict' ? strictProblem(certificate, { isAnchor: i === path.length - 1 }) : undefined);
    if (problem !== undefined) return `The certificate of ${shownSubject(certificate)} ${problem}.`;
  }
  return policyProblem(path, budget);
}

/** What holds for every certificate, proxies included: it is valid now, and nothing in it is unknown and critical. */
export function certificateProblem(
  certificate: Certificate,
  rules: Pick<PathRules, 'at' | 'clockSkewSeconds'>,
  processed: ReadonlySet<string> = PROCESSED,
): string | undefined {
  const now = Math.floor(rules.at);
  if (now + rules.clockSkewSeconds < certificate.notBefore) {
    return `is not valid before ${timeText(certificate.notBefore)}`;
  }
  if (now - rules.clockSkewSeconds > certificate.notAfter) return `expired on ${timeText(certificate.notAfter)}`;
  for (const { oid, isCritical } of certificate.extensions.byOid.values()) {
    if (isCritical && !processed.has(oid)) return `has a critical extension that cannot be processed (${oid})`;
  }
  return certificate.issuer.rdns.length === 0 ? 'has no issuer' : undefined;
}

/**
 * The extensions that are processed (section 6.1.4 o), those about policies in policies.ts. Key identifiers and access
 * information must not be critical and are not here.
 */
const PROCESSED: ReadonlySet<string> = new Set([
  EXTENSION.keyUsage,
  EXTENSION.subjectAltName,
  EXTENSION.basicConstraints,
  EXTENSION.nameConstraints,
  EXTENSION.certificatePolicies,
  EXTENSION.policyMappings,
  EXTENSION.policyConstraints,
  EXTENSION.inhibitAnyPolicy,
  EXTENSION.extendedKeyUsage,
  EXTENSION.crlDistributionPoints,
]);

/** The same for proxies, which have proxyCertInfo besides (RFC 3820, section 3.8). */
export const PROCESSED_IN_PROXIES: ReadonlySet<string> = new Set([...PROCESSED, EXTENSION.proxyCertInfo]);

/** Section 4.2.1.3 and 4.2.1.10: what only CAs may have. */
function endProblem(certificate: Certificate): string | undefined {
  if (isCa(certificate)) return undefined;
  const { keyUsage, nameConstraints } = certificate.extensions;
  if (keyUsage !== undefined && mayBeUsedFor(certificate, 'keyCertSign')) {
    return 'may sign certificates by its key usage, but is no CA';
  }
  return nameConstraints && 'has name constraints, but is no CA';
}

/** Section 6.1.4 h to n. */
function caProblem(path: Path, i: number): string | undefined {
  const certificate = path[i]!;
  const { basicConstraints } = certificate.extensions;
  if (!basicConstraints?.isCa) return 'is not that of a CA, and cannot issue others';
  if (!mayBeUsedFor(certificate, 'keyCertSign')) return 'may not sign certificates by its key usage';
  if (certificate.subject.rdns.length === 0) return 'is that of a CA without a name';
  const below = intermediates(path.slice(0, i));
  const { pathLength } = basicConstraints;
  if (pathLength !== undefined && below > pathLength) {
    return `allows ${pathLength} CAs below it, and there are ${below}`;
  }
  return undefined;
}

/** How many intermediate CAs of a path count: those that are not self-issued (section 6.1.4 l). */
export function intermediates(path: readonly Certificate[]): number {
  return path.slice(1).filter((certificate) => !isSelfIssued(certificate)).length;
}

/** Section 6.1.3 b and c, and 6.1.4 g: this CA's constraints on all below it, but for self-issued CAs. */
function namesProblem(path: Path, i: number, budget: ComparisonBudget): string | undefined {
  for (let k = i + 1; k < path.length; k++) {
    const constraints = path[k]!.extensions.nameConstraints;
    if (constraints === undefined || (i > 0 && isSelfIssued(path[i]!))) continue;
    const problem = constraintProblem(path[i]!, constraints, budget);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** What each CA may speak for, but for its own name, which it has anyway. */
function spaceProblem(path: Path, i: number, { namespaces }: PathRules): string | undefined {
  const issuer = path[i + 1];
  if (namespaces === undefined || issuer === undefined || (i > 0 && isSelfIssued(path[i]!))) return undefined;
  return namespaceProblem(path[i]!, issuer, namespaces);
}

/** The key of each certificate, and the signature of each but the configured CA, whose own is not looked at. */
function algorithmProblem(path: Path, i: number, rules: PathRules): string | undefined {
  const { publicKey, keyStrength, signed } = path[i]!;
  if (i === path.length - 1) return strengthProblem(keyStrength, rules.allowWeak, 'a key');
  // A71: the strict profile takes DSA below the configured CA, but of no server.
  const takesDsa = (key: Certificate['publicKey']): boolean =>
    rules.profile === 'strict' && key?.asymmetricKeyType === 'dsa' && !isOfServer(path[i]!);
  const issuerKey = path[i + 1]!.publicKey;
  return (
    strengthProblem(keyStrength, rules.allowWeak || takesDsa(publicKey), 'a key') ??
    strengthProblem(signatureStrength(signed.algorithm), rules.allowWeak || takesDsa(issuerKey), 'a signature')
  );
}

function isOfServer({ extensions }: Certificate): boolean {
  return extensions.extendedKeyUsages?.includes(SERVER_PURPOSE) ?? false;
}

function strengthProblem(strength: Strength, allowWeak: boolean, what: string): string | undefined {
  if (strength === 'unsupported') return `has ${what} of a kind that is not supported`;
  return strength === 'weak' && !allowWeak ? `has ${what} of a kind that is too weak` : undefined;
}

/**
 * Why nobody can know whether one certificate signed another, as a sentence; undefined where that can be known.
 * `issuer` is who should have.
 */
export function unsupportedProblem(certificate: Certificate, issuer: Certificate): string | undefined {
  const [of, problem] =
    issuer.keyStrength === 'unsupported'
      ? [issuer, strengthProblem('unsupported', false, 'a key')]
      : [certificate, strengthProblem(signatureStrength(certificate.signed.algorithm), true, 'a signature')];
  return problem && `The certificate of ${shownSubject(of)} ${problem}.`;
}

/** Why a configured CA certifies nobody, as the end of a sentence; undefined where it may. */
export function anchorProblem(
  anchor: Certificate,
  rules: Pick<PathRules, 'at' | 'clockSkewSeconds' | 'allowWeak'>,
): string | undefined {
  const problem = certificateProblem(anchor, rules) ?? strengthProblem(anchor.keyStrength, rules.allowWeak, 'a key');
  return problem ?? (mayBeUsedFor(anchor, 'keyCertSign') ? undefined : 'is not for certificates by its key usage');
}

/** The same for a proxy: its key, and the signature on it. */
export function proxyAlgorithmProblem({ keyStrength, signed }: Certificate, rules: PathRules): string | undefined {
  return (
    strengthProblem(keyStrength, rules.allowWeak, 'a key') ??
    strengthProblem(signatureStrength(signed.algorithm), rules.allowWeak, 'a signature')
  );
}
