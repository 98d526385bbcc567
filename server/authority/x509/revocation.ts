// Revocation by CRLs (RFC 5280, section 6.3; A78). Every certificate of a path that a CA issued needs a current,
// complete CRL of that CA that does not list it. Without such a CRL the status is unknown and the path is refused.
import { isSignedWith, signatureStrength } from './algorithm.ts';
import {
  type Certificate,
  type Crl,
  type CrlStore,
  isCa,
  isCurrent,
  mayBeUsedFor,
  printSubject,
} from './certificate.ts';
import { certificateProblem, type Path } from './pathRules.ts';
import type { PathSearch, SearchRules } from './search.ts';

/**
 * `findPath` of validate.ts, passed as a parameter because validate.ts imports this module. It validates the signer of
 * a CRL.
 */
export type FindPath = (certificate: Certificate, search: PathSearch) => Path | undefined;

/** Why CRLs refuse a path, as a sentence; undefined if they do not or revocation is not checked. */
export function revocationProblem(path: Path, search: PathSearch, findPath: FindPath): string | undefined {
  const { crls } = search.rules;
  if (crls === undefined) return undefined;
  for (let i = path.length - 2; i >= 0; i--) {
    const [certificate, issuer] = [path[i]!, path[i + 1]!];
    let isKnown = false;
    for (const crl of crls.listByIssuer(certificate.issuer.key)) {
      if (!isUsable(crl, certificate, search.rules)) continue;
      if (!hasTrustedSigner(crl, { path, issuer }, search, findPath)) continue;
      if (crl.revoked.has(certificate.serialNumber.toString(16))) {
        return `The certificate of ${printSubject(certificate)} has been revoked.`;
      }
      isKnown = true;
    }
    if (!isKnown) return `There is no current CRL of ${printSubject(issuer)}.`;
  }
  return undefined;
}

/**
 * The first certificate of a path that a CRL lists. The CRL must be signed by the CA itself or a configured CA of its
 * name. Without a current CRL the last one counts, because a revocation is final.
 */
export function findRevokedIn(
  path: readonly Certificate[],
  crls: CrlStore,
  rules: SearchRules,
): Certificate | undefined {
  const { at, clockSkewSeconds, allowWeak } = rules;
  return path.slice(0, -1).find((certificate, i) => {
    const isSigner = (anchor: Certificate): boolean => isCa(anchor) && isStrongEnough(anchor, allowWeak);
    const signers = [path[i + 1]!, ...rules.trust.named(certificate.issuer.key).filter(isSigner)];
    const issued = crls
      .listByIssuer(certificate.issuer.key)
      .filter((crl) => crl.thisUpdate - clockSkewSeconds <= at)
      .filter((crl) => crlProblem(crl, isCa(certificate) ? 'cas' : 'users', allowWeak) === undefined)
      .filter((crl) => signers.some((signer) => isSignedBy(crl, signer)));
    const current = issued.filter((crl) => isCurrent(crl, at, clockSkewSeconds));
    const last = Math.max(...issued.map(({ thisUpdate }) => thisUpdate));
    const counting = current.length > 0 ? current : issued.filter(({ thisUpdate }) => thisUpdate === last);
    return counting.some(({ revoked }) => revoked.has(certificate.serialNumber.toString(16)));
  });
}

/** Whether a CRL covers this certificate at this time. The strict profile requires a CRL number (section 5.2.3). */
function isUsable(crl: Crl, certificate: Certificate, rules: SearchRules): boolean {
  const { at, clockSkewSeconds, allowWeak, profile } = rules;
  return (
    isCurrent(crl, at, clockSkewSeconds) &&
    crlProblem(crl, isCa(certificate) ? 'cas' : 'users', allowWeak) === undefined &&
    (crl.number !== undefined || profile === 'service')
  );
}

/** Why a CRL does not cover the users or CAs of its issuer, as the end of a sentence; undefined if it does. */
export function crlProblem({ scope, signed }: Crl, subjects: 'users' | 'cas', allowWeak: boolean): string | undefined {
  if (scope === 'unknown') return 'is no complete one, or has a critical extension that is not known';
  if (scope !== 'all' && scope !== subjects) return `is of its ${scope} alone`;
  const strength = signatureStrength(signed.algorithm);
  if (strength === 'unsupported') return 'is signed by an algorithm that is not supported';
  return strength === 'weak' && !allowWeak ? 'is signed by an algorithm that is weak (allowWeak is off)' : undefined;
}

/**
 * Whether a CRL has a valid signer: the CA itself, or another certificate with its name. The other one is either a
 * configured CA, such as one with a new key, or certified for CRLs by the CA or its issuer, below the same configured
 * CA.
 */
function hasTrustedSigner(
  crl: Crl,
  { path, issuer }: { readonly path: Path; readonly issuer: Certificate },
  search: PathSearch,
  findPath: FindPath,
): boolean {
  const { trust } = search.rules;
  const isValid = (anchor: Certificate): boolean =>
    certificateProblem(anchor, search.rules) === undefined && isStrongEnough(anchor, search.rules.allowWeak);
  const signers = [issuer, ...trust.named(crl.issuer.key).filter((anchor) => isCa(anchor) && isValid(anchor))];
  if (signers.some((signer) => isSignedBy(crl, signer))) return true;
  for (const signer of search.pool.named(crl.issuer.key)) {
    if (signer === issuer || signer.extensions.keyUsage === undefined) continue;
    if (!mayBeUsedFor(signer, 'cRLSign') || search.signers.has(signer)) continue;
    if (![issuer.subject.key, issuer.issuer.key].includes(signer.issuer.key)) continue;
    search.signers.add(signer);
    const signerPath = findPath(signer, search);
    search.signers.delete(signer);
    if (signerPath && signerPath.at(-1) === path.at(-1) && isSignedWithKeyOf(crl, signer)) return true;
  }
  return false;
}

/** Whether signatures of this key count. Weak keys do with `allowWeak` (A71). */
export function isStrongEnough({ keyStrength }: Certificate, allowWeak: boolean): boolean {
  return keyStrength === 'strong' || (allowWeak && keyStrength === 'weak');
}

/**
 * Which keys signed a CRL and which did not. A CRL with thousands of entries is hashed once per key, not once per
 * chain. Only keys below a configured CA occur here, so there are few.
 */
const SIGNERS = new WeakMap<Crl, Map<string, boolean>>();

/** Whether a certificate may sign CRLs and its key signed this one. */
export function isSignedBy(crl: Crl, signer: Certificate): boolean {
  return mayBeUsedFor(signer, 'cRLSign') && isSignedWithKeyOf(crl, signer);
}

function isSignedWithKeyOf(crl: Crl, signer: Certificate): boolean {
  const key = Buffer.from(signer.subjectPublicKey).toString('latin1');
  let keys = SIGNERS.get(crl);
  if (keys === undefined) SIGNERS.set(crl, (keys = new Map()));
  const earlier = keys.get(key);
  if (earlier !== undefined) return earlier;
  const isRight = isSignedWith(crl.signed, signer.publicKey, signer.keyStrength);
  keys.set(key, isRight);
  return isRight;
}
