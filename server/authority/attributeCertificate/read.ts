// Reads an attribute certificate strictly: its content, and its signature with one reference to the whole document and
// one certificate. All elements of the signature must have the one namespace and prefix that Signature declares, so
// that none can be disguised. Verifies nothing.
import {
  type AlgorithmRow,
  type AttributeContent,
  decodeBase64,
  canonicalText,
  expectChildren,
  expectDecimal,
  DIGEST_URIS,
  DOCUMENT_BYTES_MAX,
  onlyElements,
  ENVELOPED_SIGNATURE,
  EXCLUSIVE_C14N,
  INCLUSIVE_C14N,
  isBare,
  isPlain,
  misshapen,
  Misshapen,
  plainText,
  type Provenance,
  readTree,
  parseTimeFields,
  SIGNATURE_ALGORITHMS,
  SIGNATURE_NAMESPACE,
  VERSION,
  wholeText,
} from './content.ts';
import { readAttribute, type XmlElement } from '../../../data/xml/xml.ts';

/** Exactly the elements that contentXml writes, in their order, without attributes. */
function readContent(acInfo: XmlElement): AttributeContent {
  const names = [
    'version',
    'holder',
    'issuer',
    'issuerName',
    'issuerSerialNumber',
    'validity',
    'attributes',
    'provenance',
  ];
  isPlain(acInfo, 'acInfo');
  const [version, holder, issuer, issuerName, issuerSerialNumber, validity, attributes, provenance] = expectChildren(
    acInfo,
    names,
  );
  if (plainText(version!) !== VERSION) misshapen(`is not of version ${VERSION}`);
  isPlain(validity!, 'validity');
  const [notBefore, notAfter] = expectChildren(validity!, ['notBefore', 'notAfter']).map(readTimeElement);
  return {
    holder: plainText(holder!),
    issuer: plainText(issuer!),
    issuerName: plainText(issuerName!),
    issuerSerialNumber: expectDecimal(plainText(issuerSerialNumber!)),
    notBefore: notBefore!,
    notAfter: notAfter!,
    roles: readRoles(attributes!),
    provenance: readProvenance(provenance!),
  };
}

function readRoles(attributes: XmlElement): readonly string[] {
  isPlain(attributes, 'attributes');
  const [roleSet] = expectChildren(attributes, ['roleSet']);
  isPlain(roleSet!, 'roleSet');
  const roles = onlyElements(roleSet!);
  return roles.map((role) => {
    isPlain(role, 'role');
    const name = plainText(expectChildren(role, ['name'])[0]!);
    return name === '' ? misshapen('has a role without a name') : name;
  });
}

function readTimeElement(element: XmlElement): number {
  return (
    parseTimeFields(plainText(element)) ?? misshapen(`has a ${element.local} that is no time (YYYY MM DD HH MM SS)`)
  );
}

function readProvenance(element: XmlElement): Provenance {
  const text = plainText(element);
  return text === 'original' || text === 'mapped' ? text : misshapen('has a provenance that is not known');
}

export interface ReadSignature {
  readonly algorithm: AlgorithmRow;
  /** Canonical, like `signedInfoText`. */
  readonly signedText: string;
  readonly signedInfoText: string;
  readonly digest: Uint8Array;
  readonly value: Uint8Array;
  readonly der: Uint8Array;
  /** Names that repeat those in `der` and are checked against it. */
  readonly hints: SignerHints;
}

/** The description of the certificate in KeyInfo: names as RFC 4514 text, and a decimal serial number. */
export interface SignerHints {
  readonly subject: string | undefined;
  readonly issuer: string | undefined;
  readonly serialNumber: string | undefined;
}

/** Reads the element `Signature`. `signedText` is the canonical rest of the document. Throws Misshapen. */
function readSignature(signature: XmlElement, signedText: string): ReadSignature {
  const [declared] = signature.declarations;
  const isDeclared = declared?.uri === SIGNATURE_NAMESPACE && declared.prefix === signature.prefix;
  if (!isDeclared || signature.attributes.length > 0) misshapen('has a Signature that is no plain XML signature');
  const [signedInfo, value, keyInfo] = expectChildren(signature, ['SignedInfo', 'SignatureValue', 'KeyInfo']);
  const { algorithm, digest } = readSignedInfo(signedInfo!, signature);
  return {
    algorithm,
    digest,
    signedText,
    signedInfoText: canonicalText({ ...signedInfo!, declarations: signature.declarations }),
    value: decodeBase64(assertWithin(signature, value!)),
    ...readKeyInfo(assertWithin(signature, keyInfo!), signature),
  };
}

function readSignedInfo(signedInfo: XmlElement, signature: XmlElement): Pick<ReadSignature, 'algorithm' | 'digest'> {
  assertWithin(signature, signedInfo);
  const [c14n, method, reference] = expectChildren(signedInfo, [
    'CanonicalizationMethod',
    'SignatureMethod',
    'Reference',
  ]);
  assertOneOf(readAlgorithmUri(c14n!, signature), [EXCLUSIVE_C14N, INCLUSIVE_C14N], 'canonicalisation');
  const uri = readAlgorithmUri(method!, signature);
  const algorithm =
    SIGNATURE_ALGORITHMS.find((row) => row.uri === uri) ?? misshapen('has an unknown signature algorithm');
  if (readAttribute(reference!, '', 'URI') !== '') {
    misshapen('has a signature of something other than the whole document');
  }
  assertWithin(signature, { ...reference!, attributes: [] });
  const [transforms, digestMethod, digestValue] = expectChildren(reference!, [
    'Transforms',
    'DigestMethod',
    'DigestValue',
  ]);
  checkTransforms(assertWithin(signature, transforms!), signature);
  assertOneOf(readAlgorithmUri(digestMethod!, signature), [DIGEST_URIS[algorithm.digest]], 'digest');
  return { algorithm, digest: decodeBase64(assertWithin(signature, digestValue!)) };
}

/** Enveloped signature, then optionally exclusive canonicalisation. */
function checkTransforms(transforms: XmlElement, signature: XmlElement): void {
  const all = onlyElements(transforms).map((transform) => {
    if (transform.local !== 'Transform') misshapen('has something other than transforms among its transforms');
    return readAlgorithmUri(transform, signature);
  });
  if (all[0] !== ENVELOPED_SIGNATURE || all.length > 2 || (all.length === 2 && all[1] !== EXCLUSIVE_C14N)) {
    misshapen('has transforms other than enveloped signature and exclusive canonicalisation');
  }
}

function readKeyInfo(keyInfo: XmlElement, signature: XmlElement): Pick<ReadSignature, 'der' | 'hints'> {
  const x509 = assertWithin(signature, expectChildren(keyInfo, ['X509Data'])[0]!);
  const elements = new Map<string, XmlElement>();
  for (const element of onlyElements(x509)) {
    if (elements.has(element.local)) misshapen(`has ${element.local} twice`);
    elements.set(element.local, assertWithin(signature, element));
  }
  const [certificate, subject, serial] = ['X509Certificate', 'X509SubjectName', 'X509IssuerSerial'].map((name) => {
    const element = elements.get(name);
    elements.delete(name);
    return element;
  });
  if (!certificate || elements.size > 0) misshapen('has a KeyInfo that is not one certificate with its names');
  const [issuer, number] = serial ? expectChildren(serial, ['X509IssuerName', 'X509SerialNumber']) : [];
  const hints: SignerHints = {
    subject: subject && wholeText(subject),
    issuer: issuer && wholeText(assertWithin(signature, issuer)),
    serialNumber: number && expectDecimal(wholeText(assertWithin(signature, number))),
  };
  return { der: decodeBase64(certificate), hints };
}

function assertOneOf(uri: string, allowed: readonly string[], subject: string): void {
  if (!allowed.includes(uri)) misshapen(`has a ${subject} that is not accepted`);
}

/** Asserts an element of the signature: in its namespace, with its prefix, without declarations or attributes. */
function assertWithin(signature: XmlElement, element: XmlElement): XmlElement {
  const isWithin = element.uri === SIGNATURE_NAMESPACE && element.prefix === signature.prefix;
  if (!isWithin || !isBare(element)) misshapen(`has a ${element.local} that is not plain`);
  return element;
}

function readAlgorithmUri(element: XmlElement, signature: XmlElement): string {
  const algorithm = readAttribute(element, '', 'Algorithm') ?? misshapen(`has a ${element.local} without an Algorithm`);
  assertWithin(signature, { ...element, attributes: [] });
  if (element.children.length > 0 && onlyElements(element).length > 0)
    misshapen(`has a ${element.local} with parameters`);
  return algorithm;
}

export interface ReadCertificate {
  readonly content: AttributeContent;
  readonly signature: ReadSignature;
}

/** A certificate, or the problem as the end of a sentence that begins with `it`. */
export type CertificateReading =
  | { readonly kind: 'read'; readonly certificate: ReadCertificate }
  | { readonly kind: 'unreadable'; readonly reason: string };

/**
 * Reads an attribute certificate of version 1.0: the root `attributeCertificate` with exactly `acInfo` and `Signature`.
 * `acInfo` has exactly the elements of contentXml. `Signature` has one Reference to the whole document, the two
 * transforms and one X509Certificate. White space between elements and comments are ignored (A81). Cost: linear in the
 * length.
 */
export function readCertificate(text: string): CertificateReading {
  const tree = readTree(text);
  if (tree.kind === 'unreadable') return tree;
  try {
    return { kind: 'read', certificate: readSignedTree(tree.root) };
  } catch (error) {
    if (error instanceof Misshapen) return { kind: 'unreadable', reason: error.message };
    throw error;
  }
}

const FILE_BYTES_MAX = 4 * DOCUMENT_BYTES_MAX;

/**
 * Removes the byte order mark and blanks at both ends. A file that is too long is cut to a text that is still too long.
 */
export function decodeFileText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.subarray(0, FILE_BYTES_MAX))
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  return bytes.length > FILE_BYTES_MAX ? text : text.trim();
}

function readSignedTree(root: XmlElement): ReadCertificate {
  isPlain(root, 'attributeCertificate');
  const [acInfo, signature] = expectChildren(root, ['acInfo', 'Signature']);
  const content = readContent(acInfo!);
  const withoutSignature = { ...root, children: root.children.filter((child) => child !== signature) };
  return { content, signature: readSignature(signature!, canonicalText(withoutSignature)) };
}
