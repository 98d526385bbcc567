// Certificates by the name of their subject: the configured CAs, and what a chain holds besides.
// Lookup only. Made once per configuration for CAs, once per validation for the rest.
import type { Certificate } from './certificate.ts';

/** The configured CAs, self-signed or not (A74). Made once per configuration. */
export interface TrustStore extends CertificatesByName {
  readonly anchors: readonly Certificate[];
  /** Whether a certificate is one of them, byte for byte. */
  readonly has: (certificate: Certificate) => boolean;
}

/** Certificates to look up by the key of their subject (`Name.key`). */
export interface CertificatesByName {
  readonly named: (subjectKey: string) => readonly Certificate[];
}

/** The configured CAs as a store. */
export function trustStoreOf(anchors: readonly Certificate[]): TrustStore {
  const bytes = new Set(anchors.map(bytesKey));
  return { anchors, has: (certificate) => bytes.has(bytesKey(certificate)), ...certificatesByName(anchors) };
}

/** Certificates by name, each once however often it is there. */
export function certificatesByName(certificates: readonly Certificate[]): CertificatesByName {
  const distinct = new Map(certificates.map((certificate) => [bytesKey(certificate), certificate]));
  const bySubject = Map.groupBy(distinct.values(), ({ subject }) => subject.key);
  return { named: (subjectKey) => bySubject.get(subjectKey) ?? [] };
}

function bytesKey({ der }: Certificate): string {
  return Buffer.from(der).toString('latin1');
}
