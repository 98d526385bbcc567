// Certificates for tests, with fresh keys: CAs, users, proxies, signers of attribute certificates. RSA keys are slow to
// make, so a run shares a few of them.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import {
  type CertificateKind,
  type Issuance,
  issueCertificate,
  nameDer,
  toPem,
  proxyNameDer,
  type TypedValue,
} from '../../server/authority/issuance.ts';
import { type Certificate, parseCertificate } from '../../server/authority/x509/certificate.ts';

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** A certificate with its key; `pem` is the certificate. */
export interface Holder {
  readonly name: Uint8Array;
  readonly key: KeyObject;
  readonly certificate: Certificate;
  readonly pem: string;
}

/**
 * The time at which all these certificates are valid, in seconds since 1970. Tests pass it on and never read a clock.
 */
export const AT = 1_900_000_000;
const DAY = 86_400;

export function rsaPair(bits = 2048): KeyPair {
  return generateKeyPairSync('rsa', { modulusLength: bits });
}

/** A key pair that is quick to make. */
export function ecPair(curve = 'P-256'): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: curve });
}

/** `O=Test` and this CN. */
export function person(commonName: string): readonly TypedValue[] {
  return [
    ['O', 'Test'],
    ['CN', commonName],
  ];
}

let serial = 1000n;

/** A holder, valid from a day before AT to a day after it by default. Without an issuer it is self-signed. */
export function holderOf(
  kind: CertificateKind,
  subject: Uint8Array,
  pair: KeyPair,
  issuer?: Holder,
  validity: Partial<Pick<Issuance, 'notBefore' | 'notAfter' | 'pathLength'>> = {},
): Holder {
  const by = issuer ?? { name: subject, key: pair.privateKey };
  const der = issueCertificate({
    kind,
    subject,
    publicKey: pair.publicKey,
    issuer: { name: by.name, key: by.key },
    serialNumber: serial++,
    notBefore: AT - DAY,
    notAfter: AT + DAY,
    ...validity,
  });
  return { name: subject, key: pair.privateKey, certificate: parseCertificate(der), pem: toPem(der) };
}

/** A self-signed CA. */
export function caOf(commonName: string, pair: KeyPair = ecPair()): Holder {
  return holderOf('ca', nameDer(person(commonName)), pair);
}

/** A proxy of a holder; its `pem` is the whole chain to send. */
export function proxyOf(
  holder: Holder,
  kind: CertificateKind = 'proxy',
  commonName = '12345',
  validity: Parameters<typeof holderOf>[4] = {},
): Holder {
  const proxy = holderOf(kind, proxyNameDer(holder.name, commonName), ecPair(), holder, validity);
  return { ...proxy, pem: proxy.pem + holder.pem };
}
