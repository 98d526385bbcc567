// Reads an attribute certificate strictly: its content, and its signature with one reference to the whole document and
// one certificate. All elements of the signature must have the one namespace and prefix that Signature declares, so
// that none can be disguised. Verifies nothing.
import {
  type AlgorithmRow,
  type AttributeContent,
  base64In,
  canonicalText,
  childrenOf,
  decimalOf,
  DIGEST_URIS,
  DOCUMENT_BYTES_MAX,
  elementsOf,
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
  secondsOfFields,
  SIGNATURE_ALGORITHMS,
  SIGNATURE_NAMESPACE,
  VERSION,
  wholeText,
} from './content.ts';
import { readAttribute, type XmlElement } from '../../../data/xml/xml.ts';

/** Exactly the elements that contentXml writes, in their order, without attributes. */
function contentOf(acInfo: XmlElement): AttributeContent {
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
  const [version, holder, issuer, issuerName, issuerSerialNumber, validity, attributes, provenance] = childrenOf(
    acInfo,
    names,
  );
  if (plainText(version!) !== VERSION) misshapen(`is not of version ${VERSION}`);
  isPlain(validity!, 'validity');
  const [notBefore, notAfter] = childrenOf(validity!, ['notBefore', 'notAfter']).map(timeIn);
  return {
    holder: plainText(holder!),
    issuer: plainText(issuer!),
    issuerName: plainText(issuerName!),
    issuerSerialNumber: decimalOf(plainText(issuerSerialNumber!)),
    notBefore: notBefore!,
    notAfter: notAfter!,
    roles: rolesIn(attributes!),
    provenance: provenanceIn(provenance!),
  };
}

function rolesIn(attributes: XmlElement): readonly string[] {
  isPlain(attributes, 'attributes');
  const [roleSet] = childrenOf(attributes, ['roleSet']);
  isPlain(roleSet!, 'roleSet');
  const roles = elementsOf(roleSet!);
  return roles.map((role) => {
    isPlain(role, 'role');
    const name = plainText(childrenOf(role, ['name'])[0]!);
    return name === '' ? misshapen('has a role without a name') : name;
  });
}

function timeIn(element: XmlElement): number {
  return (
    secondsOfFields(plainText(element)) ?? misshapen(`has a ${element.local} that is no time (YYYY MM DD HH MM SS)`)
  );
}

function provenanceIn(element: XmlElement): Provenance {
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
function signatureOf(signature: XmlElement, signedText: string): ReadSignature {
  const [declared] = signature.declarations;
  const isDeclared = declared?.uri === SIGNATURE_NAMESPACE && declared.prefix === signature.prefix;
  if (!isDeclared || signature.attributes.length > 0) misshapen('has a Signature that is no plain XML signature');
  const [signedInfo, value, keyInfo] = childrenOf(signature, ['SignedInfo', 'SignatureValue', 'KeyInfo']);
  const { algorithm, digest } = signedInfoOf(signedInfo!, signature);
  return {
    algorithm,
    digest,
    signedText,
    signedInfoText: canonicalText({ ...signedInfo!, declarations: signature.declarations }),
    value: base64In(within(signature, value!)),
    ...keyInfoOf(within(signature, keyInfo!), signature),
  };
}

function signedInfoOf(signedInfo: XmlElement, signature: XmlElement): Pick<ReadSignature, 'algorithm' | 'digest'> {
  within(signature, signedInfo);
  const [c14n, method, reference] = childrenOf(signedInfo, ['CanonicalizationMethod', 'SignatureMethod', 'Reference']);
  oneOf(algorithmIn(c14n!, signature), [EXCLUSIVE_C14N, INCLUSIVE_C14N], 'canonicalisation');
  const uri = algorithmIn(method!, signature);
  const algorithm =
    SIGNATURE_ALGORITHMS.find((row) => row.uri === uri) ?? misshapen('has an unknown signature algorithm');
  if (readAttribute(reference!, '', 'URI') !== '') {
    misshapen('has a signature of something other than the whole document');
  }
  within(signature, { ...reference!, attributes: [] });
  const [transforms, digestMethod, digestValue] = childrenOf(reference!, ['Transforms', 'DigestMethod', 'DigestValue']);
  transformsIn(within(signature, transforms!), signature);
  oneOf(algorithmIn(digestMethod!, signature), [DIGEST_URIS[algorithm.digest]], 'digest');
  return { algorithm, digest: base64In(within(signature, digestValue!)) };
}

/** Enveloped signature, then optionally exclusive canonicalisation. */
function transformsIn(transforms: XmlElement, signature: XmlElement): void {
  const all = elementsOf(transforms).map((transform) => {
    if (transform.local !== 'Transform') misshapen('has something other than transforms among its transforms');
    return algorithmIn(transform, signature);
  });
  if (all[0] !== ENVELOPED_SIGNATURE || all.length > 2 || (all.length === 2 && all[1] !== EXCLUSIVE_C14N)) {
    misshapen('has transforms other than enveloped signature and exclusive canonicalisation');
  }
}

function keyInfoOf(keyInfo: XmlElement, signature: XmlElement): Pick<ReadSignature, 'der' | 'hints'> {
  const x509 = within(signature, childrenOf(keyInfo, ['X509Data'])[0]!);
  const elements = new Map<string, XmlElement>();
  for (const element of elementsOf(x509)) {
    if (elements.has(element.local)) misshapen(`has ${element.local} twice`);
    elements.set(element.local, within(signature, element));
  }
  const [certificate, subject, serial] = ['X509Certificate', 'X509SubjectName', 'X509IssuerSerial'].map((name) => {
    const element = elements.get(name);
    elements.delete(name);
    return element;
  });
  if (!certificate || elements.size > 0) misshapen('has a KeyInfo that is not one certificate with its names');
  const [issuer, number] = serial ? childrenOf(serial, ['X509IssuerName', 'X509SerialNumber']) : [];
  const hints: SignerHints = {
    subject: subject && wholeText(subject),
    issuer: issuer && wholeText(within(signature, issuer)),
    serialNumber: number && decimalOf(wholeText(within(signature, number))),
  };
  return { der: base64In(certificate), hints };
}

function oneOf(uri: string, allowed: readonly string[], what: string): void {
  if (!allowed.includes(uri)) misshapen(`has a ${what} that is not accepted`);
}

/** Asserts an element of the signature: in its namespace, with its prefix, without declarations or attributes. */
function within(signature: XmlElement, element: XmlElement): XmlElement {
  const isWithin = element.uri === SIGNATURE_NAMESPACE && element.prefix === signature.prefix;
  if (!isWithin || !isBare(element)) misshapen(`has a ${element.local} that is not plain`);
  return element;
}

function algorithmIn(element: XmlElement, signature: XmlElement): string {
  const algorithm = readAttribute(element, '', 'Algorithm') ?? misshapen(`has a ${element.local} without an Algorithm`);
  within(signature, { ...element, attributes: [] });
  if (element.children.length > 0 && elementsOf(element).length > 0)
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
    return { kind: 'read', certificate: certificateOf(tree.root) };
  } catch (error) {
    if (error instanceof Misshapen) return { kind: 'unreadable', reason: error.message };
    throw error;
  }
}

const FILE_BYTES_MAX = 4 * DOCUMENT_BYTES_MAX;

/**
 * Removes the byte order mark and blanks at both ends. A file that is too long is cut to a text that is still too long.
 */
export function textOfFile(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.subarray(0, FILE_BYTES_MAX))
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  return bytes.length > FILE_BYTES_MAX ? text : text.trim();
}

function certificateOf(root: XmlElement): ReadCertificate {
  isPlain(root, 'attributeCertificate');
  const [acInfo, signature] = childrenOf(root, ['acInfo', 'Signature']);
  const content = contentOf(acInfo!);
  const withoutSignature = { ...root, children: root.children.filter((child) => child !== signature) };
  return { content, signature: signatureOf(signature!, canonicalText(withoutSignature)) };
}
