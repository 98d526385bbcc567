// Certificates that stood in accepted paths, by the digest of all their bytes: the same user and CA come again below a
// new proxy. Keeps nothing that depends on a clock, a CRL or a rule: every validation judges those anew. One per thread
// and configuration. Without it an authorisation with a new proxy costs 1.12 times as much, and one of a new user 0.94.
import { digestOf } from '../digest.ts';
import { type Certificate, parseCertificate } from './certificate.ts';

/** Whether a signature was found good before. Part of the rules of a validation; see ChainRules. */
export interface KnownSignatures {
  /** Whether the key of this issuer is known to have made the signature on this certificate. `false` says nothing. */
  isSigned(certificate: Certificate, issuer: Certificate): boolean;
}

interface Entry {
  readonly digest: string;
  readonly certificate: Certificate;
  /** The certificate above it in the accepted path. */
  readonly issuer: Certificate;
}

/**
 * A bounded cache of certificates with their keys and the signature on each. Two texts get the same certificate for the
 * same bytes (SHA-256) and for no others; a signature is known for a pair of such certificates, whatever names they
 * have.
 */
export class KnownCertificates implements KnownSignatures {
  readonly #entries = new Map<string, Entry>();
  readonly #byCertificate = new WeakMap<Certificate, Entry>();
  readonly #bytesMax: number;
  #bytes = 0;

  /**
   * Keeps certificates of `bytesMax` bytes of DER in all; the ones unused for longest make room. A kept byte takes some
   * 12.
   */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes of DER that are kept now. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The certificate of these bytes: the one that is kept, or read anew. Throws DerError. Cost: one digest, or 15 us.
   */
  read(der: Uint8Array): Certificate {
    const digest = digestOf(der);
    const entry = this.#entries.get(digest);
    if (entry === undefined) return parseCertificate(der);
    this.#entries.delete(digest);
    this.#entries.set(digest, entry);
    return entry.certificate;
  }

  /**
   * Keeps the certificates of an accepted path, each of which the next one signed. Not the last one, which is
   * configured; and proxies, which are new every day, should not be given.
   */
  keep(path: readonly Certificate[]): void {
    for (const [i, certificate] of path.slice(0, -1).entries()) {
      const issuer = path[i + 1]!;
      if (this.#byCertificate.get(certificate)?.issuer === issuer) continue;
      this.#put({ digest: digestOf(certificate.der), certificate, issuer });
    }
  }

  isSigned(certificate: Certificate, issuer: Certificate): boolean {
    return this.#byCertificate.get(certificate)?.issuer === issuer;
  }

  #put(entry: Entry): void {
    this.#drop(entry.digest);
    this.#entries.set(entry.digest, entry);
    this.#byCertificate.set(entry.certificate, entry);
    this.#bytes += entry.certificate.der.length;
    for (const digest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#drop(digest);
    }
  }

  #drop(digest: string): void {
    const entry = this.#entries.get(digest);
    if (entry === undefined) return;
    this.#entries.delete(digest);
    this.#byCertificate.delete(entry.certificate);
    this.#bytes -= entry.certificate.der.length;
  }
}
