// What an operator should know of a configuration that is good: what will let nobody in, or is weaker than it might be.
// Pure: judges what was read, at a time; reads no file.
import { type Certificate, isCa, shownSubject } from '../x509/certificate.ts';
import { type Crl, isCurrent } from '../x509/crl.ts';
import type { TrustedHost } from './hosts.ts';
import type { AuthorityKeys } from './keys.ts';

/** What was read, and the time in seconds since 1970; `crls` is undefined where revocation is not checked. */
export interface ReadConfiguration {
  readonly keys: AuthorityKeys;
  readonly anchors: readonly Certificate[];
  readonly crls: readonly Crl[] | undefined;
  readonly userCount: number;
  readonly hosts: readonly TrustedHost[];
  readonly at: number;
}

/** The notes, a sentence each without its full stop. Cost: a look at every CA for every other and for every CRL. */
export function notesOf({ keys, anchors, crls, userCount, hosts, at }: ReadConfiguration): readonly string[] {
  const notes = anchors.flatMap((anchor, i) => anchorNotes(anchor, anchors.slice(0, i), at));
  if (crls === undefined) notes.push('revocation is not checked: the configuration names no crls');
  else notes.push(...anchors.filter(isCa).flatMap((anchor) => crlNotes(anchor, crls, keys, at)));
  if (userCount === 0 && hosts.every(({ mappings }) => mappings.length === 0)) {
    notes.push('nobody can get in: there are no users here, and no role of a trusted host is mapped');
  }
  if (keys.allowWeak) notes.push('weak signatures and keys are accepted: allowWeak is set');
  if (keys.externalSignatures.includes('rsa-sha1')) notes.push("other sites' signatures with SHA-1 are accepted");
  return notes;
}

function anchorNotes(anchor: Certificate, earlier: readonly Certificate[], at: number): readonly string[] {
  const name = shownSubject(anchor);
  if (earlier.some(({ der }) => Buffer.from(der).equals(anchor.der))) return [`the CA ${name} is there twice`];
  if (!isCa(anchor)) return [`the certificate of ${name} is among the CAs and is of none: it certifies nobody`];
  if (anchor.notAfter < at) return [`the CA ${name} has expired: nobody whom it certified gets in`];
  return anchor.notBefore > at ? [`the CA ${name} is not valid yet: nobody whom it certified gets in`] : [];
}

function crlNotes(
  anchor: Certificate,
  crls: readonly Crl[],
  { clockSkewSeconds }: AuthorityKeys,
  at: number,
): readonly string[] {
  if (crls.some((crl) => crl.issuer.key === anchor.subject.key && isCurrent(crl, at, clockSkewSeconds))) return [];
  return [`there is no current CRL of ${shownSubject(anchor)}: nobody whom it certified gets in`];
}
