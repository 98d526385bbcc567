// What the strict profile asks for (A70) besides path validation: the MUSTs of RFC 5280, section 4, to those who issue.
// None of them keeps an attacker out, and certificates of grid CAs lack some, so the service does without.
import { type Certificate, isCa, isSelfIssued, mayBeUsedFor } from './certificate.ts';
import { context, DerError, TAG } from './der.ts';
import { valueOf } from './extension.ts';
import { isWellFormed } from './hostName.ts';
import { EXTENSION } from './oids.ts';

/** Serial numbers have 20 bytes at most (section 4.1.2.2), one bit of which is the sign. */
const SERIAL_END = 2n ** 159n;

/**
 * What is wrong with a certificate by the strict profile, as the end of a sentence about it; undefined when nothing is.
 */
export function strictProblem(
  certificate: Certificate,
  { isAnchor }: { readonly isAnchor: boolean },
): string | undefined {
  return [...RULES, ...(isAnchor ? ANCHOR_RULES : BELOW_RULES)].find(([isBroken]) => isBroken(certificate))?.[1];
}

type StrictRule = readonly [isBroken: (certificate: Certificate) => boolean, problem: string];

function isCritical({ extensions }: Certificate, oid: string): boolean | undefined {
  return extensions.byOid.get(oid)?.isCritical;
}

const RULES: readonly StrictRule[] = [
  // 4.1.2.1
  [({ version }) => version !== 3, 'is not of version 3'],
  // 4.1.2.2: zero is refused, negative numbers must be handled gracefully
  [
    ({ serialNumber }) => serialNumber === 0n || serialNumber >= SERIAL_END,
    'has a serial number of 0 or too many bytes',
  ],
  // 4.2.1.2
  [
    (certificate) => certificate.extensions.subjectKeyId === undefined && isCa(certificate),
    'has no subject key identifier',
  ],
  // 4.2.1.6
  [
    (certificate) =>
      certificate.subject.rdns.length === 0 && isCritical(certificate, EXTENSION.subjectAltName) !== true,
    'has neither a subject nor critical alternative names',
  ],
  [
    ({ extensions }) => extensions.subjectAltNames?.every(isWellFormed) === false,
    'has an alternative name that is no host, address or the like',
  ],
  // 4.2.1.3 and 4.2.1.9: a CA may sign certificates, or CRLs at least
  [
    (certificate) =>
      isCa(certificate) && !mayBeUsedFor(certificate, 'keyCertSign') && !mayBeUsedFor(certificate, 'cRLSign'),
    'is that of a CA, which its key usage lets sign neither certificates nor CRLs',
  ],
  // 4.2.1.10
  [
    (certificate) => isCritical(certificate, EXTENSION.nameConstraints) === false,
    'has name constraints that are not critical',
  ],
  // 4.2.1.11
  [
    (certificate) => isCritical(certificate, EXTENSION.policyConstraints) === false,
    'has policy constraints that are not critical',
  ],
  // 4.2.2.1
  [(certificate) => !hasReadableAccess(certificate), 'has access information that cannot be read'],
  // RFC 8017, section 3.1, in the common reading that keys have whole bytes
  [
    ({ publicKey }) => (publicKey?.asymmetricKeyDetails?.modulusLength ?? 0) % 8 !== 0,
    'has a key whose length is no whole number of bytes',
  ],
];

const ANCHOR_RULES: readonly StrictRule[] = [
  // 4.2.1.9; of intermediate CAs the published suites accept it
  [
    ({ extensions }) => extensions.basicConstraints?.isCritical === false,
    'has basic constraints that are not critical',
  ],
];

const BELOW_RULES: readonly StrictRule[] = [
  // 4.2.1.1; of a configured CA nobody looks for the issuer
  [
    (certificate) => certificate.extensions.authorityKeyId === undefined && !isSelfIssued(certificate),
    'has no authority key identifier',
  ],
];

function hasReadableAccess({ extensions }: Certificate): boolean {
  try {
    valueOf(extensions.byOid.get(EXTENSION.authorityInfoAccess), (reader) => {
      const descriptions = reader.inside(TAG.sequence).each((list) => {
        const parts = list.inside(TAG.sequence);
        parts.oid();
        const location = parts.any();
        parts.finish();
        return location.tag;
      });
      if (!descriptions.every((tag) => (tag & 0xc0) === (context(0, 'primitive') & 0xc0))) {
        throw new DerError('no general name');
      }
    });
    return true;
  } catch (error) {
    if (error instanceof DerError) return false;
    throw error;
  }
}
