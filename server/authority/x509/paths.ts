// Finds paths from a certificate to configured CAs (RFC 4158): candidates by name, the likeliest key first, depth
// first, each signature checked once. Steps and signatures are counted, so that neither loops nor many CAs of one name
// cost more than the budget of search.ts.
import { type Certificate, shownName, shownSubject } from './certificate.ts';
import { intermediates, type Path, pathProblem, unsupportedProblem } from './pathRules.ts';
import { revocationProblem } from './revocation.ts';
import type { PathSearch } from './search.ts';

/**
 * The first valid path from a certificate to a configured CA; undefined where there is none, and `search` knows why.
 */
export function findPath(certificate: Certificate, search: PathSearch): Path | undefined {
  return extend([certificate], search);
}

function extend(path: readonly [Certificate, ...Certificate[]], search: PathSearch): Path | undefined {
  if (!search.step()) return undefined;
  const last = path.at(-1)!;
  const anchors = search.rules.trust.named(last.issuer.key);
  for (const anchor of likeliestFirst(anchors, last)) {
    const complete = isIssued(last, anchor, search) && judged([...path, anchor], search);
    if (complete) return complete;
  }
  const candidates = search.pool.named(last.issuer.key);
  for (const issuer of likeliestFirst(candidates, last)) {
    if (search.isSpent) break;
    const isNext = isPossible([...path, issuer], search) && isIssued(last, issuer, search);
    const complete = isNext && extend([...path, issuer], search);
    if (complete) return complete;
  }
  if (anchors.length === 0 && candidates.length === 0) search.refuse('noIssuer', noIssuer(last));
  return undefined;
}

function noIssuer(last: Certificate): string {
  const issuer = shownName(last.issuer);
  return `No configured CA, and no other certificate given, is ${issuer}, the issuer of ${shownSubject(last)}.`;
}

/** A79: issuers whose key identifier is the one that the certificate names (section 4.2.1.1) are tried first. */
function likeliestFirst(issuers: readonly Certificate[], { extensions }: Certificate): readonly Certificate[] {
  const id = extensions.authorityKeyId;
  if (id === undefined || issuers.length < 2) return issuers;
  return issuers.toSorted(
    (a, b) => Number(b.extensions.subjectKeyId === id) - Number(a.extensions.subjectKeyId === id),
  );
}

function isIssued(certificate: Certificate, issuer: Certificate, search: PathSearch): boolean {
  if (search.isSigned(certificate, issuer)) return true;
  if (search.isSpent) return search.step();
  const names = `${shownSubject(certificate)} was not signed by ${shownSubject(issuer)}`;
  const unsigned = `The certificate of ${names}, whom it names as its issuer.`;
  search.refuse('unsigned', unsupportedProblem(certificate, issuer) ?? unsigned);
  return false;
}

/**
 * Whether a path may go on: no name with the same key twice (RFC 4158, section 2.4.2), not too many intermediate CAs
 * (A75).
 */
function isPossible(path: readonly Certificate[], search: PathSearch): boolean {
  const last = path.at(-1)!;
  const isRepeated = path
    .slice(0, -1)
    .some((earlier) => earlier.subject.key === last.subject.key && hasSameKey(earlier, last));
  const { maxDepth } = search.rules;
  if (isRepeated) {
    search.refuse('noIssuer', `The path of issuers ends at ${shownSubject(last)}, which is no configured CA.`);
    return false;
  }
  if (intermediates(path) <= maxDepth) return true;
  search.refuse('unsigned', `The path to a configured CA has more than ${maxDepth} intermediate CAs.`);
  return false;
}

function hasSameKey(a: Certificate, b: Certificate): boolean {
  return Buffer.compare(a.subjectPublicKey, b.subjectPublicKey) === 0;
}

function judged(path: Path, search: PathSearch): Path | undefined {
  const problem = pathProblem(path, search.rules, search.left) ?? revocationProblem(path, search, findPath);
  return problem === undefined ? path : search.refuse('judged', problem);
}
