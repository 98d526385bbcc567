// What certificates and CRLs have in common: SEQUENCE { tbs, algorithm, signature } (RFC 5280, sections 4.1 and 5.1).
// Knows nothing of what is signed.
import { type AlgorithmId, readAlgorithm, sameAlgorithm } from './algorithm.ts';
import { DerError, DerReader, TAG } from './der.ts';

/** Bytes and the signature on them, of a certificate or a CRL. */
export interface SignedBytes {
  readonly bytes: Uint8Array;
  readonly algorithm: AlgorithmId;
  readonly signature: Uint8Array;
}

/**
 * Reads something signed, which the bytes must be from the first to the last. `readFields` reads the signed part to its
 * end, its own algorithm among it: that must be the outer one (sections 4.1.1.2 and 5.1.1.2), or the signed part and
 * the signature could tell two stories. Throws DerError.
 */
export function readSigned<F extends { readonly algorithm: AlgorithmId }>(
  der: Uint8Array,
  readFields: (parts: DerReader) => F,
): Omit<F, 'algorithm'> & { readonly signed: SignedBytes } {
  const outer = new DerReader(der);
  const parts = outer.inside(TAG.sequence);
  outer.finish();
  const toBeSigned = parts.element(TAG.sequence);
  const { algorithm: inner, ...fields } = readFields(parts.over(toBeSigned));
  const algorithm = readAlgorithm(parts);
  const signature = parts.signature();
  parts.finish();
  if (!sameAlgorithm(algorithm, inner)) throw new DerError('two different signature algorithms');
  return { ...fields, signed: { bytes: parts.whole(toBeSigned), algorithm, signature } };
}
