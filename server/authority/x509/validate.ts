// Path validation (RFC 5280, section 6.1): searches a path from a certificate to a configured CA and checks each step.
import { type Certificate, isCa, printName, printSubject } from './certificate.ts';
import {
  intermediates,
  type Path,
  pathProblem,
  proxyIssuerProblem,
  type ProxyKinds,
  type ProxyMark,
  proxyMark,
  proxyProblem,
  unsupportedProblem,
} from './pathRules.ts';
import { revocationProblem } from './revocation.ts';
import { groupByName, PathSearch, type SearchRules } from './search.ts';

/** The first valid path to a configured CA. If it is undefined, `search` has the reason. */
export function findPath(certificate: Certificate, search: PathSearch): Path | undefined {
  return extend([certificate], search);
}

function extend(path: readonly [Certificate, ...Certificate[]], search: PathSearch): Path | undefined {
  if (!search.step()) return undefined;
  const last = path.at(-1)!;
  const anchors = search.rules.trust.named(last.issuer.key);
  for (const anchor of sortByLikelihood(anchors, last)) {
    const complete = isIssued(last, anchor, search) && checkPath([...path, anchor], search);
    if (complete) return complete;
  }
  const candidates = search.pool.named(last.issuer.key);
  for (const issuer of sortByLikelihood(candidates, last)) {
    if (search.isSpent) break;
    const isNext = isPossible([...path, issuer], search) && isIssued(last, issuer, search);
    const complete = isNext && extend([...path, issuer], search);
    if (complete) return complete;
  }
  if (anchors.length === 0 && candidates.length === 0) search.refuse('noIssuer', noIssuer(last));
  return undefined;
}

function noIssuer(last: Certificate): string {
  const issuer = printName(last.issuer);
  return `No configured CA, and no other certificate given, is ${issuer}, the issuer of ${printSubject(last)}.`;
}

/** A79: an issuer with the key identifier that the certificate names (section 4.2.1.1) is tried first. */
function sortByLikelihood(issuers: readonly Certificate[], { extensions }: Certificate): readonly Certificate[] {
  const id = extensions.authorityKeyId;
  if (id === undefined || issuers.length < 2) return issuers;
  return issuers.toSorted(
    (a, b) => Number(b.extensions.subjectKeyId === id) - Number(a.extensions.subjectKeyId === id),
  );
}

function isIssued(certificate: Certificate, issuer: Certificate, search: PathSearch): boolean {
  if (search.isSigned(certificate, issuer)) return true;
  if (search.isSpent) return search.step();
  const names = `${printSubject(certificate)} was not signed by ${printSubject(issuer)}`;
  const unsigned = `The certificate of ${names}, whom it names as its issuer.`;
  search.refuse('unsigned', unsupportedProblem(certificate, issuer) ?? unsigned);
  return false;
}

/**
 * A path must not repeat a name with the same key (RFC 4158, section 2.4.2). Its intermediate CAs are limited (A75).
 */
function isPossible(path: readonly Certificate[], search: PathSearch): boolean {
  const last = path.at(-1)!;
  const isRepeated = path
    .slice(0, -1)
    .some((earlier) => earlier.subject.key === last.subject.key && hasSameKey(earlier, last));
  const { maxDepth } = search.rules;
  if (isRepeated) {
    search.refuse('noIssuer', `The path of issuers ends at ${printSubject(last)}, which is no configured CA.`);
    return false;
  }
  if (intermediates(path) <= maxDepth) return true;
  search.refuse('unsigned', `The path to a configured CA has more than ${maxDepth} intermediate CAs.`);
  return false;
}

function hasSameKey(a: Certificate, b: Certificate): boolean {
  return Buffer.compare(a.subjectPublicKey, b.subjectPublicKey) === 0;
}

function checkPath(path: Path, search: PathSearch): Path | undefined {
  const problem = pathProblem(path, search.rules, search.budget) ?? revocationProblem(path, search, findPath);
  return problem === undefined ? path : search.refuse('judged', problem);
}

export interface ChainRules extends SearchRules {
  readonly proxies: ProxyKinds;
}

/** The result of an accepted chain. */
export interface AcceptedChain {
  readonly accepted: true;
  /** The end entity's certificate. Its subject is the user, never the proxy. */
  readonly endEntity: Certificate;
  /** The earliest end of validity on the whole path, including the configured CA; seconds since 1970. */
  readonly expiresAt: number;
  /** `limited` if any proxy of the chain is limited. */
  readonly proxy: 'none' | 'full' | 'limited';
  /** Whether the chain contains a legacy proxy. */
  readonly isLegacy: boolean;
  /** From the presented certificate to the configured CA, both included. */
  readonly path: readonly Certificate[];
}

/** Accepted, or the reason in one human-readable sentence without file names or keys. */
export type Verdict = AcceptedChain | { readonly accepted: false; readonly reason: string };

/**
 * The first certificate is the presented one; the others may have any order. Cost: 0.1 ms per certificate of the path.
 */
export function validateChain(certificates: readonly Certificate[], rules: ChainRules): Verdict {
  const [presented, ...others] = certificates;
  const pool = others.filter((certificate) => !rules.trust.has(certificate));
  const search = new PathSearch(rules, groupByName(pool));
  const verdict = presented && climb({ proxies: [], marks: [], last: presented }, { search, rules });
  return verdict ?? { accepted: false, reason: search.reason };
}

/** The proxies so far, starting with the presented one, and the certificate above them. */
interface Climb {
  readonly proxies: readonly Certificate[];
  readonly marks: readonly RightsMark[];
  readonly last: Certificate;
}

type RightsMark = Extract<ProxyMark, { readonly rights: string }>;

interface Context {
  readonly search: PathSearch;
  readonly rules: ChainRules;
}

/** Climbs from proxy to issuer up to a certificate that is not a proxy, and from there to a configured CA. */
function climb({ proxies, marks, last }: Climb, context: Context): AcceptedChain | undefined {
  const { search, rules } = context;
  if (!search.step()) return undefined;
  const mark = proxyMark(last);
  const problem = mark.kind === 'refused' ? mark.problem : markProblem(last, mark, marks, rules);
  if (problem !== undefined || mark.kind === 'refused') {
    return search.refuse('judged', `The certificate of ${printSubject(last)} ${problem}.`);
  }
  if (mark.kind === 'none') {
    const path = findPath(last, search);
    return path && acceptPath(path, { proxies, marks, last });
  }
  const higher = { proxies: [...proxies, last], marks: [...marks, mark] };
  const issuers = search.pool.named(last.issuer.key);
  if (issuers.length === 0) search.refuse('noIssuer', noProxyIssuer(last, rules));
  for (const issuer of issuers) {
    const verdict = isProxyIssuer(issuer, higher.proxies, search) && climb({ ...higher, last: issuer }, context);
    if (verdict) return verdict;
  }
  return undefined;
}

/** Why a certificate is invalid in its position, whatever its issuer. `marks` belong to the proxies below it. */
function markProblem(
  certificate: Certificate,
  mark: Exclude<ProxyMark, { readonly kind: 'refused' }>,
  marks: readonly RightsMark[],
  rules: ChainRules,
): string | undefined {
  if (mark.kind === 'none') {
    const isService = rules.profile === 'service';
    if (isCa(certificate) && isService) return 'is that of a CA, which is no user';
    return certificate.subject.rdns.length === 0 && isService ? 'names nobody' : undefined;
  }
  if (marks.some(({ kind }) => kind !== mark.kind)) return 'is a proxy of another kind than the one below it';
  return proxyProblem(certificate, mark, rules);
}

function noProxyIssuer(proxy: Certificate, { trust }: ChainRules): string {
  const name = printSubject(proxy);
  if (trust.named(proxy.issuer.key).length > 0) return `The proxy ${name} was issued by a CA, and not by a user.`;
  return `The certificate of ${printName(proxy.issuer)}, the issuer of the proxy ${name}, is missing.`;
}

function isProxyIssuer(issuer: Certificate, proxies: readonly Certificate[], search: PathSearch): boolean {
  const proxy = proxies.at(-1)!;
  if (proxies.includes(issuer)) return false;
  if (!search.isSigned(proxy, issuer)) {
    if (search.isSpent) return search.step();
    const unsigned = `The proxy ${printSubject(proxy)} was not signed by ${printSubject(issuer)}.`;
    search.refuse('unsigned', unsupportedProblem(proxy, issuer) ?? unsigned);
    return false;
  }
  const problem = proxyIssuerProblem(issuer, proxies.length);
  if (problem !== undefined) search.refuse('judged', `The certificate of ${printSubject(issuer)} ${problem}.`);
  return problem === undefined;
}

function acceptPath(path: Path, { proxies, marks, last }: Climb): AcceptedChain {
  const whole = [...proxies, ...path];
  const expiresAt = Math.min(...whole.map(({ notAfter }) => notAfter));
  const isLimited = marks.some(({ rights }) => rights === 'limited');
  return {
    accepted: true,
    endEntity: last,
    expiresAt,
    proxy: marks.length === 0 ? 'none' : isLimited ? 'limited' : 'full',
    isLegacy: marks.some(({ kind }) => kind === 'legacy'),
    path: whole,
  };
}
