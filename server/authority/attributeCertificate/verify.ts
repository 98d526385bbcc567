// Checks whether an attribute certificate was signed by the key of the certificate it carries. Only the parsed content
// counts, so what is verified is what was read. Whether to trust the signer is checked elsewhere.
import { hash, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import { RSA_BITS_STRONG } from '../x509/algorithm.ts';
import type { Certificate } from '../x509/certificate.ts';
import { isTextOf, type SignatureAlgorithm } from './content.ts';
import type { ReadSignature, SignerHints } from './read.ts';

export interface SignatureRules {
  readonly algorithms: readonly SignatureAlgorithm[];
  /** Accepts RSA keys under 2,048 bits. */
  readonly allowWeak: boolean;
}

/**
 * Why a signature is refused, as the end of a sentence that begins with `it`; undefined if it is good. `signer` is the
 * certificate that the signature carries. The document chooses an algorithm within the rules, but it must fit the key's
 * type: an RSA signature is never verified with another key. Cost: one verification and one digest.
 */
export function signatureProblem(
  signature: ReadSignature,
  signer: Certificate,
  rules: SignatureRules,
): string | undefined {
  const { algorithm } = signature;
  if (!rules.algorithms.includes(algorithm.name)) return `is signed with ${algorithm.name}, which is not accepted here`;
  const key = signer.publicKey;
  if (!key) return 'is signed by a certificate with a key of an unknown kind';
  if (signer.keyStrength === 'unsupported') return 'is signed by a key that is not supported';
  const weakness = keyProblem(key, algorithm.keyType, rules.allowWeak);
  if (weakness !== undefined) return weakness;
  if (!isDigestOf(signature)) return 'was changed after it was signed: its digest is another';
  if (!isSigned(signature, key)) return 'has a signature that is not of the certificate it carries';
  return isConsistent(signature.hints, signer) ? undefined : 'names another certificate than the one it carries';
}

function keyProblem(key: KeyObject, keyType: 'rsa' | 'ec', allowWeak: boolean): string | undefined {
  if (key.asymmetricKeyType !== keyType) return 'is signed by an algorithm that is not of its key';
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (keyType === 'ec')
    return namedCurve === 'prime256v1' ? undefined : 'is signed by a key of another curve than P-256';
  const isWeak = modulusLength === undefined || modulusLength < RSA_BITS_STRONG;
  return isWeak && !allowWeak ? `is signed by an RSA key under ${RSA_BITS_STRONG} bits` : undefined;
}

function isSigned({ algorithm, signedInfoText, value }: ReadSignature, key: KeyObject): boolean {
  try {
    return verify(algorithm.digest, Buffer.from(signedInfoText), { key, dsaEncoding: 'ieee-p1363' }, value);
  } catch {
    // OpenSSL throws for keys with nonsensical numbers. Such a key has signed nothing.
    return false;
  }
}

function isDigestOf({ algorithm, signedText, digest }: ReadSignature): boolean {
  const computed = hash(algorithm.digest, signedText, 'buffer');
  return computed.length === digest.length && timingSafeEqual(computed, digest);
}

function isConsistent({ subject, issuer, serialNumber }: SignerHints, signer: Certificate): boolean {
  return (
    (subject === undefined || isTextOf(subject, signer.subject)) &&
    (issuer === undefined || isTextOf(issuer, signer.issuer)) &&
    (serialNumber === undefined || BigInt(serialNumber) === signer.serialNumber)
  );
}
