// What makes a certificate a proxy, and what a proxy must be (RFC 3820, section 3; the older kinds of the Globus
// Toolkit). Judges one step, from a proxy to its issuer; validate.ts climbs them. Signatures are checked there.
import { type Certificate, isCa, mayBeUsedFor } from './certificate.ts';
import type { Name } from './name.ts';
import { COMMON_NAME, EXTENSION, PROXY_POLICY } from './oids.ts';
import { certificateProblem, type PathRules, PROCESSED_IN_PROXIES, proxyAlgorithmProblem } from './pathRules.ts';

/**
 * What a certificate is: no proxy, or one by RFC 3820 or by its name alone, with all rights of its owner or with fewer.
 */
export type ProxyMark =
  | { readonly kind: 'none' }
  | { readonly kind: 'rfc3820' | 'legacy'; readonly rights: 'full' | 'limited' }
  | { readonly kind: 'refused'; readonly problem: string };

/** Which proxies are accepted. A limited legacy proxy needs both marks (A77). */
export interface ProxyKinds {
  readonly full: boolean;
  readonly limited: boolean;
  readonly legacy: boolean;
}

const LEGACY_NAMES: ReadonlyMap<string, 'full' | 'limited'> = new Map([
  ['proxy', 'full'],
  ['limited proxy', 'limited'],
]);

/** Tells proxies from other certificates. Problems are ends of a sentence about the certificate. */
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

/** Why a proxy is not accepted, whoever issued it, as the end of a sentence about it; undefined where it is. */
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

/**
 * Why a certificate may not have issued a proxy, as the end of a sentence about the issuer; undefined where it may.
 * `below` is how many proxies there are below it.
 */
export function proxyIssuerProblem(issuer: Certificate, below: number): string | undefined {
  if (isCa(issuer)) return 'is that of a CA, which cannot issue proxies';
  if (!mayBeUsedFor(issuer, 'digitalSignature')) return 'may not issue proxies by its key usage';
  const pathLength = issuer.extensions.proxyInfo?.pathLength;
  if (pathLength !== undefined && below > pathLength) {
    return `allows ${pathLength} proxies below it, and there are ${below}`;
  }
  return undefined;
}
