import { timeFields, VERSION } from './attributeCertificate/content.ts';
import { readCertificate, type ReadCertificate, decodeFileText } from './attributeCertificate/read.ts';
import { signatureProblem } from './attributeCertificate/verify.ts';
import { replaceUnprintable } from './x509/certificate.ts';
import { parseSingleCertificate } from './x509/search.ts';
import { describeFile, type Description, type FileDescription } from './x509/describe.ts';
import { nameSetKey, setKeyFromText, nameText } from './x509/name.ts';

/**
 * Describes a file as human-readable text. A text that begins with a tag is an attribute certificate; everything else
 * goes to describeFile. Checks signatures only against the enclosed certificate, because trust depends on a
 * configuration.
 */
export function inspect(bytes: Uint8Array): FileDescription {
  const text = decodeFileText(bytes);
  return text.startsWith('<') ? inspectAttributes(text) : describeFile(bytes);
}

function inspectAttributes(text: string): FileDescription {
  const reading = readCertificate(text);
  if (reading.kind === 'unreadable')
    return { kind: 'unreadable', reason: `The attribute certificate ${reading.reason}.` };
  return {
    kind: 'read',
    tables: [attributeRows(reading.certificate).map(([name, value]) => [name, replaceUnprintable(value)])],
  };
}

function attributeRows({ content, signature }: ReadCertificate): Description {
  const signer = parseSingleCertificate(signature.der);
  const problem = signer
    ? signatureProblem(signature, signer, { algorithms: [signature.algorithm.name], allowWeak: true })
    : 'has no certificate of its signer';
  // Any certificate can sign a text that names another issuer.
  const isOfIssuer = signer && nameSetKey(signer.subject) === setKeyFromText(content.issuer);
  const verdict = problem === undefined ? (isOfIssuer ? 'good' : 'BAD: it is not of the issuer') : `BAD: it ${problem}`;
  return [
    ['attribute certificate', `version ${VERSION}`],
    ['holder', content.holder],
    ['roles', content.roles.join(', ')],
    ['provenance', content.provenance],
    ['issuer name', content.issuerName],
    ['issuer', content.issuer],
    ['issuer serial', content.issuerSerialNumber],
    ['valid from', `${timeFields(content.notBefore)} UTC`],
    ['valid to', `${timeFields(content.notAfter)} UTC`],
    ['signature', `${signature.algorithm.name}, ${verdict}`],
    ['signer', signer ? nameText(signer.subject) : 'unreadable'],
  ];
}
