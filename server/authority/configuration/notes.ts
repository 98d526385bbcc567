// What an operator should know of a configuration that is good: what will let nobody in, or is weaker than it might be.
// Pure: judges what was read, at a time; reads no file.
import { digestOf } from '../digest.ts';
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

/** The notes, a sentence each without its full stop. Cost: a look at every CA and every CRL. */
export function notesOf({ keys, anchors, crls, userCount, hosts, at }: ReadConfiguration): readonly string[] {
  const earlier = new Set<string>();
  const notes = anchors.flatMap((anchor) => anchorNotes(anchor, earlier, at));
  if (crls === undefined) notes.push('revocation is not checked: the configuration names no crls');
  else {
    const current = new Set(
      crls.filter((crl) => isCurrent(crl, at, keys.clockSkewSeconds)).map(({ issuer }) => issuer.key),
    );
    notes.push(...anchors.filter(isCa).flatMap((anchor) => crlNotes(anchor, current)));
  }
  if (userCount === 0 && hosts.every(({ mappings }) => mappings.length === 0)) {
    notes.push('nobody can get in: there are no users here, and no role of a trusted host is mapped');
  }
  if (keys.allowWeak) notes.push('weak signatures and keys are accepted: allowWeak is set');
  if (keys.externalSignatures.includes('rsa-sha1')) notes.push("other sites' signatures with SHA-1 are accepted");
  return notes;
}

function anchorNotes(anchor: Certificate, earlier: Set<string>, at: number): readonly string[] {
  const name = shownSubject(anchor);
  const digest = digestOf(anchor.der);
  if (earlier.has(digest)) return [`the CA ${name} is there twice`];
  earlier.add(digest);
  if (!isCa(anchor)) return [`the certificate of ${name} is among the CAs and is of none: it certifies nobody`];
  if (anchor.notAfter < at) return [`the CA ${name} has expired: nobody whom it certified gets in`];
  return anchor.notBefore > at ? [`the CA ${name} is not valid yet: nobody whom it certified gets in`] : [];
}

/** `current`: the keys of the names of those who have a current CRL. */
function crlNotes(anchor: Certificate, current: ReadonlySet<string>): readonly string[] {
  if (current.has(anchor.subject.key)) return [];
  return [`there is no current CRL of ${shownSubject(anchor)}: nobody whom it certified gets in`];
}
