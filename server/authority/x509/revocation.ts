// Revocation by CRLs (RFC 5280, section 6.3; A78): every certificate of a path that a CA issued needs a current,
// complete CRL of that CA which does not list it. Without one the status is not known, and the path is refused.
import { isSignedWith, signatureStrength } from './algorithm.ts';
import {
  type Certificate,
  type Crl,
  type CrlStore,
  isCa,
  isCurrent,
  mayBeUsedFor,
  shownSubject,
} from './certificate.ts';
import { certificateProblem, type Path } from './pathRules.ts';
import type { PathSearch, SearchRules } from './search.ts';

/** Finds a valid path for the signer of a CRL: `findPath` of validate.ts, which calls this module. */
export type FindPath = (certificate: Certificate, search: PathSearch) => Path | undefined;

/** Why CRLs refuse a path, as a sentence; undefined where they do not, or where no revocation is checked. */
export function revocationProblem(path: Path, search: PathSearch, findPath: FindPath): string | undefined {
  const { crls } = search.rules;
  if (crls === undefined) return undefined;
  for (let i = path.length - 2; i >= 0; i--) {
    const [certificate, issuer] = [path[i]!, path[i + 1]!];
    let isKnown = false;
    for (const crl of crls.of(certificate.issuer.key)) {
      if (!isUsable(crl, certificate, search.rules)) continue;
      if (!isVouchedFor(crl, { path, issuer }, search, findPath)) continue;
      if (crl.revoked.has(certificate.serialNumber.toString(16))) {
        return `The certificate of ${shownSubject(certificate)} has been revoked.`;
      }
      isKnown = true;
    }
    if (!isKnown) return `There is no current CRL of ${shownSubject(issuer)}.`;
  }
  return undefined;
}

/**
 * The first certificate of a path that CRLs list, signed by the CA itself or a configured one of its name: current
 * ones, or where none is current the last that was, since what was revoked stays so. Of other CRLs nothing is asked.
 */
export function revokedIn(path: readonly Certificate[], crls: CrlStore, rules: SearchRules): Certificate | undefined {
  const { at, clockSkewSeconds, allowWeak } = rules;
  return path.slice(0, -1).find((certificate, i) => {
    const isSigner = (anchor: Certificate): boolean => isCa(anchor) && isStrongEnough(anchor, allowWeak);
    const signers = [path[i + 1]!, ...rules.trust.named(certificate.issuer.key).filter(isSigner)];
    const ours = crls
      .of(certificate.issuer.key)
      .filter((crl) => crl.thisUpdate - clockSkewSeconds <= at)
      .filter((crl) => crlProblem(crl, isCa(certificate) ? 'cas' : 'users', allowWeak) === undefined)
      .filter((crl) => signers.some((signer) => isSignedBy(crl, signer)));
    const current = ours.filter((crl) => isCurrent(crl, at, clockSkewSeconds));
    const last = Math.max(...ours.map(({ thisUpdate }) => thisUpdate));
    const counting = current.length > 0 ? current : ours.filter(({ thisUpdate }) => thisUpdate === last);
    return counting.some(({ revoked }) => revoked.has(certificate.serialNumber.toString(16)));
  });
}

/** Whether a CRL speaks about this certificate and this time. The strict profile wants a number (section 5.2.3). */
function isUsable(crl: Crl, certificate: Certificate, rules: SearchRules): boolean {
  const { at, clockSkewSeconds, allowWeak, profile } = rules;
  return (
    isCurrent(crl, at, clockSkewSeconds) &&
    crlProblem(crl, isCa(certificate) ? 'cas' : 'users', allowWeak) === undefined &&
    (crl.number !== undefined || profile === 'service')
  );
}

/** Why a CRL says nothing of users or of CAs below its issuer, as the end of a sentence; undefined where it does. */
export function crlProblem({ scope, signed }: Crl, of: 'users' | 'cas', allowWeak: boolean): string | undefined {
  if (scope === 'unknown') return 'is no complete one, or has a critical extension that is not known';
  if (scope !== 'all' && scope !== of) return `is of its ${scope} alone`;
  const strength = signatureStrength(signed.algorithm);
  if (strength === 'unsupported') return 'is signed by an algorithm that is not supported';
  return strength === 'weak' && !allowWeak ? 'is signed by an algorithm that is weak (allowWeak is off)' : undefined;
}

/**
 * Whether a CRL counts: the CA itself signed it, or another certificate of the same name did. That is one which the CA
 * or its issuer certified for CRLs, below the same configured CA, or a configured CA, such as one with a new key.
 */
function isVouchedFor(
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
    const found = findPath(signer, search);
    search.signers.delete(signer);
    if (found && found.at(-1) === path.at(-1) && isSignedWithKeyOf(crl, signer)) return true;
  }
  return false;
}

/** Whether what a key signs may count: a weak one where `allowWeak` (A71). */
export function isStrongEnough({ keyStrength }: Certificate, allowWeak: boolean): boolean {
  return keyStrength === 'strong' || (allowWeak && keyStrength === 'weak');
}

/**
 * Which keys signed a CRL and which did not: a list of thousands is hashed once for a key, not for every chain. Only
 * keys that a configured CA stands for come here, so there are few.
 */
const SIGNERS = new WeakMap<Crl, Map<string, boolean>>();

/** Whether a certificate is for CRLs, and its key signed this one. */
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
