// The rules for each step of a path: RFC 5280, section 6.1; proxies (RFC 3820, section 3, and the older kinds of the
// Globus Toolkit); and the strict profile (A70), which certificates of grid CAs often violate.
import { COMMON_NAME, EXTENSION, PROXY_POLICY, SERVER_PURPOSE, signatureStrength, type Strength } from './algorithm.ts';
import { type Certificate, isCa, isSelfIssued, mayBeUsedFor, printSubject } from './certificate.ts';
import { type ComparisonBudget, constraintProblem, namespaceProblem, type Namespaces } from './nameConstraints.ts';
import { policyProblem } from './policies.ts';
import { context, DerError, TAG, timeText } from './der.ts';
import { isWellFormed, type Name } from './name.ts';
import { readWhole } from './extensions.ts';

export interface PathRules {
  /** Seconds since 1970. */
  readonly at: number;
  readonly clockSkewSeconds: number;
  /** Accepts SHA-1, MD5, short keys and DSA. */
  readonly allowWeak: boolean;
  /**
   * `service` is for grid certificates. `strict` adds what RFC 5280 requires of issuing CAs (A70), such as key
   * identifiers, and also accepts the certificate of a CA.
   */
  readonly profile: 'service' | 'strict';
  /** The names that each CA may certify. Undefined if every CA may certify any name. */
  readonly namespaces?: Namespaces | undefined;
}

/** A path from a certificate to a configured CA, both included: at least two certificates. */
export type Path = readonly [Certificate, ...Certificate[], Certificate];

/** The first problem from the top of the path, as a sentence (section 6.1). */
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
    if (problem !== undefined) return `The certificate of ${printSubject(certificate)} ${problem}.`;
  }
  return policyProblem(path, budget);
}

/** Checks for every certificate, including proxies: it is valid now and has no unknown critical extension. */
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

/** Section 6.1.4 o. Key identifiers and access information are missing, because they must not be critical. */
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

/** The same for proxies, which also have proxyCertInfo (RFC 3820, section 3.8). */
const PROCESSED_IN_PROXIES: ReadonlySet<string> = new Set([...PROCESSED, EXTENSION.proxyCertInfo]);

/** Sections 4.2.1.3 and 4.2.1.10: what only CAs may have. */
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

/** The intermediate CAs of a path that are not self-issued (section 6.1.4 l). */
export function intermediates(path: readonly Certificate[]): number {
  return path.slice(1).filter((certificate) => !isSelfIssued(certificate)).length;
}

/** Sections 6.1.3 b and c, 6.1.4 g: the constraints of every CA above. Self-issued CAs are exempt. */
function namesProblem(path: Path, i: number, budget: ComparisonBudget): string | undefined {
  for (let k = i + 1; k < path.length; k++) {
    const constraints = path[k]!.extensions.nameConstraints;
    if (constraints === undefined || (i > 0 && isSelfIssued(path[i]!))) continue;
    const problem = constraintProblem(path[i]!, constraints, budget);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The namespaces of the issuer. A self-issued CA is exempt: it always has its name. */
function spaceProblem(path: Path, i: number, { namespaces }: PathRules): string | undefined {
  const issuer = path[i + 1];
  if (namespaces === undefined || issuer === undefined || (i > 0 && isSelfIssued(path[i]!))) return undefined;
  return namespaceProblem(path[i]!, issuer, namespaces);
}

/** Checks the key of each certificate, and each signature except that of the configured CA. */
function algorithmProblem(path: Path, i: number, rules: PathRules): string | undefined {
  const { publicKey, keyStrength, signed } = path[i]!;
  if (i === path.length - 1) return strengthProblem(keyStrength, rules.allowWeak, 'a key');
  // A71: the strict profile accepts DSA below the configured CA, except for servers.
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

function strengthProblem(strength: Strength, allowWeak: boolean, subject: string): string | undefined {
  if (strength === 'unsupported') return `has ${subject} of a kind that is not supported`;
  return strength === 'weak' && !allowWeak ? `has ${subject} of a kind that is too weak` : undefined;
}

/** Why a signature of `issuer` cannot be checked, as a sentence; undefined if it can. */
export function unsupportedProblem(certificate: Certificate, issuer: Certificate): string | undefined {
  const [of, problem] =
    issuer.keyStrength === 'unsupported'
      ? [issuer, strengthProblem('unsupported', false, 'a key')]
      : [certificate, strengthProblem(signatureStrength(certificate.signed.algorithm), true, 'a signature')];
  return problem && `The certificate of ${printSubject(of)} ${problem}.`;
}

/** Why a configured CA may not certify, as the end of a sentence; undefined if it may. */
export function anchorProblem(
  anchor: Certificate,
  rules: Pick<PathRules, 'at' | 'clockSkewSeconds' | 'allowWeak'>,
): string | undefined {
  const problem = certificateProblem(anchor, rules) ?? strengthProblem(anchor.keyStrength, rules.allowWeak, 'a key');
  return problem ?? (mayBeUsedFor(anchor, 'keyCertSign') ? undefined : 'is not for certificates by its key usage');
}

/** Why the key of a proxy or the signature on it is not accepted, as the end of a sentence; undefined if both are. */
function proxyAlgorithmProblem({ keyStrength, signed }: Certificate, rules: PathRules): string | undefined {
  return (
    strengthProblem(keyStrength, rules.allowWeak, 'a key') ??
    strengthProblem(signatureStrength(signed.algorithm), rules.allowWeak, 'a signature')
  );
}

/**
 * `rfc3820` proxies have an extension, `legacy` ones only a name. `full` is all rights of the owner, `limited` fewer.
 */
export type ProxyMark =
  | { readonly kind: 'none' }
  | { readonly kind: 'rfc3820' | 'legacy'; readonly rights: 'full' | 'limited' }
  | { readonly kind: 'refused'; readonly problem: string };

/** Which proxies are accepted. A limited legacy proxy needs `limited` and `legacy` (A77). */
export interface ProxyKinds {
  readonly full: boolean;
  readonly limited: boolean;
  readonly legacy: boolean;
}

const LEGACY_NAMES: ReadonlyMap<string, 'full' | 'limited'> = new Map([
  ['proxy', 'full'],
  ['limited proxy', 'limited'],
]);

/** Distinguishes proxies from other certificates. A problem is the end of a sentence about the certificate. */
export function proxyMark(certificate: Certificate): ProxyMark {
  const { byOid, proxyInfo } = certificate.extensions;
  if (byOid.has(EXTENSION.draftProxyCertInfo)) {
    return { kind: 'refused', problem: 'is a proxy of the draft before RFC 3820, which is not accepted' };
  }
  if (proxyInfo === undefined) {
    const rights = extendsName(certificate) ? LEGACY_NAMES.get(lastValue(certificate.subject)) : undefined;
    return rights === undefined ? { kind: 'none' } : { kind: 'legacy', rights };
  }
  switch (proxyInfo.policyLanguage) {
    case PROXY_POLICY.inheritAll:
      if (!proxyInfo.hasPolicy) return { kind: 'rfc3820', rights: 'full' };
      return { kind: 'refused', problem: 'is a proxy that both inherits all rights and states a policy' };
    case PROXY_POLICY.limited:
      return { kind: 'rfc3820', rights: 'limited' };
    case PROXY_POLICY.independent:
      return { kind: 'refused', problem: 'is an independent proxy, which has no rights of its owner' };
    default:
      return { kind: 'refused', problem: 'is a proxy with a policy in a language that is not known' };
  }
}

function lastValue({ rdns }: Name): string {
  return rdns.at(-1)?.attributes[0]?.value ?? '';
}

/** Section 3.4: the subject is the issuer's name and one more RDN, a single common name. */
function extendsName({ subject, issuer }: Certificate): boolean {
  const last = subject.rdns.at(-1)?.attributes;
  return (
    subject.rdns.length === issuer.rdns.length + 1 &&
    issuer.rdns.every(({ key }, i) => key === subject.rdns[i]!.key) &&
    last?.length === 1 &&
    last[0]!.oid === COMMON_NAME
  );
}

/** Why a proxy is not accepted, whatever its issuer, as the end of a sentence; undefined if it is. */
export function proxyProblem(
  proxy: Certificate,
  mark: Extract<ProxyMark, { readonly rights: string }>,
  rules: PathRules & { readonly proxies: ProxyKinds },
): string | undefined {
  const { proxies } = rules;
  const { byOid, proxyInfo } = proxy.extensions;
  if (mark.kind === 'legacy' && !proxies.legacy) return 'is a legacy proxy, which is not accepted';
  if (mark.rights === 'limited' && !proxies.limited) return 'is a limited proxy, which is not accepted';
  if (mark.kind === 'rfc3820' && mark.rights === 'full' && !proxies.full) return 'is a proxy, which is not accepted';
  if (proxyInfo?.isCritical === false) return 'is a proxy whose proxyCertInfo is not critical';
  if (!extendsName(proxy)) return 'is a proxy whose name is not that of its issuer and one more common name';
  if (isCa(proxy)) return 'is a proxy that claims to be a CA';
  if (byOid.has(EXTENSION.subjectAltName) || byOid.has(EXTENSION.issuerAltName)) return 'is a proxy with other names';
  return certificateProblem(proxy, rules, PROCESSED_IN_PROXIES) ?? proxyAlgorithmProblem(proxy, rules);
}

/** Why a certificate may not issue a proxy, as the end of a sentence. `below` counts the proxies below it. */
export function proxyIssuerProblem(issuer: Certificate, below: number): string | undefined {
  if (isCa(issuer)) return 'is that of a CA, which cannot issue proxies';
  if (!mayBeUsedFor(issuer, 'digitalSignature')) return 'may not issue proxies by its key usage';
  const pathLength = issuer.extensions.proxyInfo?.pathLength;
  if (pathLength !== undefined && below > pathLength) {
    return `allows ${pathLength} proxies below it, and there are ${below}`;
  }
  return undefined;
}

/** Serial numbers have at most 20 bytes (section 4.1.2.2), one bit of which is the sign. */
const SERIAL_END = 2n ** 159n;

/** The first violation of the strict profile, as the end of a sentence. */
function strictProblem(certificate: Certificate, { isAnchor }: { readonly isAnchor: boolean }): string | undefined {
  return [...RULES, ...(isAnchor ? ANCHOR_RULES : BELOW_RULES)].find(([isBroken]) => isBroken(certificate))?.[1];
}

type StrictRule = readonly [isBroken: (certificate: Certificate) => boolean, problem: string];

function isCritical({ extensions }: Certificate, oid: string): boolean | undefined {
  return extensions.byOid.get(oid)?.isCritical;
}

const RULES: readonly StrictRule[] = [
  // 4.1.2.1
  [({ version }) => version !== 3, 'is not of version 3'],
  // 4.1.2.2: zero is rejected, negative numbers must be handled gracefully
  [
    ({ serialNumber }) => serialNumber === 0n || serialNumber >= SERIAL_END,
    'has a serial number of 0 or too many bytes',
  ],
  // 4.2.1.2
  [
    (certificate) => certificate.extensions.subjectKeyId === undefined && isCa(certificate),
    'has no subject key identifier',
  ],
  // 4.2.1.6
  [
    (certificate) =>
      certificate.subject.rdns.length === 0 && isCritical(certificate, EXTENSION.subjectAltName) !== true,
    'has neither a subject nor critical alternative names',
  ],
  [
    ({ extensions }) => extensions.subjectAltNames?.every(isWellFormed) === false,
    'has an alternative name that is no host, address or the like',
  ],
  // 4.2.1.3 and 4.2.1.9: a CA may sign certificates or at least CRLs
  [
    (certificate) =>
      isCa(certificate) && !mayBeUsedFor(certificate, 'keyCertSign') && !mayBeUsedFor(certificate, 'cRLSign'),
    'is that of a CA, which its key usage lets sign neither certificates nor CRLs',
  ],
  // 4.2.1.10
  [
    (certificate) => isCritical(certificate, EXTENSION.nameConstraints) === false,
    'has name constraints that are not critical',
  ],
  // 4.2.1.11
  [
    (certificate) => isCritical(certificate, EXTENSION.policyConstraints) === false,
    'has policy constraints that are not critical',
  ],
  // 4.2.2.1
  [(certificate) => !hasReadableAccess(certificate), 'has access information that cannot be read'],
  // RFC 8017, section 3.1, usually read as requiring whole bytes
  [
    ({ publicKey }) => (publicKey?.asymmetricKeyDetails?.modulusLength ?? 0) % 8 !== 0,
    'has a key whose length is no whole number of bytes',
  ],
];

const ANCHOR_RULES: readonly StrictRule[] = [
  // 4.2.1.9; the published test suites accept it for intermediate CAs
  [
    ({ extensions }) => extensions.basicConstraints?.isCritical === false,
    'has basic constraints that are not critical',
  ],
];

const BELOW_RULES: readonly StrictRule[] = [
  // 4.2.1.1; the issuer of a configured CA is not looked up
  [
    (certificate) => certificate.extensions.authorityKeyId === undefined && !isSelfIssued(certificate),
    'has no authority key identifier',
  ],
];

function hasReadableAccess({ extensions }: Certificate): boolean {
  try {
    readWhole(extensions.byOid.get(EXTENSION.authorityInfoAccess), (reader) => {
      const descriptions = reader.inside(TAG.sequence).each((list) => {
        const parts = list.inside(TAG.sequence);
        parts.oid();
        const location = parts.any();
        parts.finish();
        return location.tag;
      });
      if (!descriptions.every((tag) => (tag & 0xc0) === (context(0, 'primitive') & 0xc0))) {
        throw new DerError('no general name');
      }
    });
    return true;
  } catch (error) {
    if (error instanceof DerError) return false;
    throw error;
  }
}
