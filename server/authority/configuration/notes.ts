// What an operator should know of a configuration that is good: what will let nobody in, or is weaker than it might be.
// Pure: judges what was read, at a time; reads no file.
import { hash } from 'node:crypto';
import { type Certificate, isCa, shownSubject } from '../x509/certificate.ts';
import { type Expiry, expiredNote } from './expiries.ts';
import { anchorProblem } from '../x509/pathRules.ts';
import type { TrustedHost } from './hosts.ts';
import type { AuthorityKeys } from './keys.ts';

/** What was read, when it runs out, the CAs whose CRLs are of CAs alone, and the time in seconds since 1970. */
export interface ReadConfiguration {
  readonly keys: AuthorityKeys;
  readonly anchors: readonly Certificate[];
  readonly expiries: readonly Expiry[];
  readonly withoutUsers: readonly string[];
  readonly userCount: number;
  readonly hosts: readonly TrustedHost[];
  readonly at: number;
}

/** The notes, a sentence each without its full stop. Cost: a look at every CA. */
export function notesOf({
  keys,
  anchors,
  expiries,
  withoutUsers,
  userCount,
  hosts,
  at,
}: ReadConfiguration): readonly string[] {
  const earlier = new Set<string>();
  const notes = anchors.flatMap((anchor) => anchorNotes(anchor, earlier, { ...keys, at }));
  if (keys.crls === undefined) notes.push('revocation is not checked: the configuration names no crls');
  notes.push(...expiries.filter(({ what, at: end }) => what === 'crls' && end === 0).map(({ note }) => note));
  for (const ca of withoutUsers)
    notes.push(`the CRL of ${ca} is of its CAs alone: nobody whom it certified itself gets in`);
  if (userCount === 0 && hosts.every(({ mappings }) => mappings.length === 0)) {
    notes.push('nobody can get in: there are no users here, and no role of a trusted host is mapped');
  }
  if (keys.allowWeak) notes.push('weak signatures and keys are accepted: allowWeak is set');
  if (keys.externalSignatures.includes('rsa-sha1')) notes.push("other sites' signatures with SHA-1 are accepted");
  return notes;
}

function anchorNotes(
  anchor: Certificate,
  earlier: Set<string>,
  rules: Parameters<typeof anchorProblem>[1],
): readonly string[] {
  const name = shownSubject(anchor);
  const digest = hash('sha256', anchor.der);
  if (earlier.has(digest)) return [`the CA ${name} is there twice`];
  earlier.add(digest);
  if (!isCa(anchor)) return [`the certificate of ${name} is among the CAs and is of none: it certifies nobody`];
  if (anchor.notAfter < rules.at) return [expiredNote(anchor)];
  const problem = anchor.notBefore > rules.at ? 'is not valid yet' : anchorProblem(anchor, rules);
  return problem === undefined ? [] : [`the CA ${name} ${problem}: nobody whom it certified gets in`];
}
