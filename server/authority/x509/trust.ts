// Certificates by the name of their subject: the configured CAs, and what a chain holds besides.
// Lookup only. Made once per configuration for CAs, once per validation for the rest.
import type { Certificate } from './certificate.ts';

/** The configured CAs, self-signed or not (A74). Made once per configuration. */
export interface TrustStore extends CertificatesByName {
  /** Whether a certificate is one of them, byte for byte. */
  readonly has: (certificate: Certificate) => boolean;
}

/** Certificates to look up by the key of their subject (`Name.key`). */
export interface CertificatesByName {
  readonly named: (subjectKey: string) => readonly Certificate[];
}

/** The configured CAs as a store. */
export function trustStoreOf(anchors: readonly Certificate[]): TrustStore {
  const byName = certificatesByName(anchors);
  const has = (certificate: Certificate): boolean => isAmong(byName.named(certificate.subject.key), certificate);
  return { has, ...byName };
}

/** Certificates by name, each once however often it is there. */
export function certificatesByName(certificates: readonly Certificate[]): CertificatesByName {
  const bySubject = new Map<string, Certificate[]>();
  for (const certificate of certificates) {
    const namesakes = bySubject.get(certificate.subject.key);
    if (namesakes === undefined) bySubject.set(certificate.subject.key, [certificate]);
    else if (!isAmong(namesakes, certificate)) namesakes.push(certificate);
  }
  return { named: (subjectKey) => bySubject.get(subjectKey) ?? [] };
}

/** By their bytes; those of one name, of which a text or a configuration has few, are compared one by one. */
function isAmong(certificates: readonly Certificate[], { der }: Certificate): boolean {
  return certificates.some((other) => Buffer.compare(other.der, der) === 0);
}
