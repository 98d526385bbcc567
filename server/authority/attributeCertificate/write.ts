// Signs attribute certificates. The signed texts are canonical by construction, so no canonicalisation is needed. Makes
// no decisions and keeps no key beyond its caller's use.
import { hash, type KeyObject, sign } from 'node:crypto';
import {
  type AlgorithmRow,
  type AttributeContent,
  contentXml,
  DIGEST_URIS,
  ENVELOPED_SIGNATURE,
  EXCLUSIVE_C14N,
  rfc4514Text,
  SIGNATURE_ALGORITHMS,
  SIGNATURE_NAMESPACE,
} from './content.ts';
import { escapeText } from '../../../data/xml/xml.ts';
import type { Certificate } from '../x509/certificate.ts';

export interface SigningIdentity {
  readonly key: KeyObject;
  readonly certificate: Certificate;
}

/** The content without the serial number, which the signer's certificate provides. */
export type UnsignedContent = Omit<AttributeContent, 'issuerSerialNumber'>;

/** Signs one content. Cost: one signature, and two digests of about 1 KB. */
export type Sign = (content: UnsignedContent) => string;

const DIGEST_URI = DIGEST_URIS.sha256;
const BEFORE_DIGEST = `<Reference URI=""><Transforms><Transform Algorithm="${ENVELOPED_SIGNATURE}"></Transform><Transform Algorithm="${EXCLUSIVE_C14N}"></Transform></Transforms><DigestMethod Algorithm="${DIGEST_URI}"></DigestMethod><DigestValue>`;
const BEHIND_DIGEST = '</DigestValue></Reference></SignedInfo>';

/**
 * A signer for one identity. It writes `<attributeCertificate>` with the content and, as last child, an enveloped XML
 * signature (RSA-SHA256, or ECDSA with SHA-256 for an EC key, A86) with the certificate. The result is one line without
 * XML declaration, because clients cut it out of other texts by its root element. Throws an Error for a key that is
 * neither RSA nor EC.
 */
export function makeSigner({ key, certificate }: SigningIdentity): Sign {
  const algorithm = findAlgorithm(key);
  const methods = `<CanonicalizationMethod Algorithm="${EXCLUSIVE_C14N}"></CanonicalizationMethod><SignatureMethod Algorithm="${algorithm.uri}"></SignatureMethod>`;
  const before = `>${methods}${BEFORE_DIGEST}`;
  const keyInfo = keyInfoXml(certificate);
  const issuerSerialNumber = String(certificate.serialNumber);
  return (content) => {
    const info = contentXml({ ...content, issuerSerialNumber });
    const digest = hash('sha256', `<attributeCertificate>${info}</attributeCertificate>`, 'base64');
    const behindTag = `${before}${digest}${BEHIND_DIGEST}`;
    // SignedInfo is the apex of the canonical form and declares the namespace there; in the document its parent does.
    const signed = Buffer.from(`<SignedInfo xmlns="${SIGNATURE_NAMESPACE}"${behindTag}`);
    const signature = sign('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }).toString('base64');
    return `<attributeCertificate>${info}<Signature xmlns="${SIGNATURE_NAMESPACE}"><SignedInfo${behindTag}<SignatureValue>${signature}</SignatureValue>${keyInfo}</Signature></attributeCertificate>`;
  };
}

function findAlgorithm(key: KeyObject): AlgorithmRow {
  const algorithm = SIGNATURE_ALGORITHMS.find(
    ({ keyType, digest }) => keyType === key.asymmetricKeyType && digest === 'sha256',
  );
  if (!algorithm) throw new Error(`no signature algorithm for a key of type ${key.asymmetricKeyType}`);
  return algorithm;
}

function keyInfoXml({ der, subject, issuer, serialNumber }: Certificate): string {
  const names = [subject, issuer].map((name) => escapeText(rfc4514Text(name)));
  return [
    '<KeyInfo><X509Data>',
    `<X509Certificate>${Buffer.from(der).toString('base64')}</X509Certificate>`,
    `<X509SubjectName>${names[0]}</X509SubjectName>`,
    `<X509IssuerSerial><X509IssuerName>${names[1]}</X509IssuerName><X509SerialNumber>${serialNumber}</X509SerialNumber></X509IssuerSerial>`,
    '</X509Data></KeyInfo>',
  ].join('');
}
