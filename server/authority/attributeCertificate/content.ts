// The content of an attribute certificate, the canonical form in which the authority writes it, and the names of XML
// signatures. Also compares names as text (RFC 4514). Uses no key, signature or clock.
import {
  childElements,
  escapeText,
  textContent,
  readXml,
  type XmlElement,
  type XmlLimits,
  type XmlProblem,
} from '../../../data/xml/xml.ts';
import { DerError, DerReader, stringText } from '../x509/der.ts';
import { type Name, findTypeName } from '../x509/name.ts';

/** The structure is wrong; the message is the end of a sentence. Never leaves read.ts. */
export class Misshapen extends Error {}

export function misshapen(reason: string): never {
  throw new Misshapen(reason);
}

/** The child elements. Only white space is allowed between them. */
export function onlyElements(element: XmlElement): readonly XmlElement[] {
  const elements = childElements(element);
  const hasText = elements.length < element.children.length && /[^ \t\r\n]/.test(textContent(element));
  return hasText ? misshapen(`has text in ${element.local}`) : elements;
}

/** Returns the children, which must be exactly these elements in this order. The caller checks their namespaces. */
export function expectChildren(element: XmlElement, names: readonly string[]): readonly XmlElement[] {
  const elements = onlyElements(element);
  if (elements.length !== names.length || elements.some(({ local }, i) => local !== names[i])) {
    misshapen(`has a ${element.local} that does not hold exactly ${names.join(', ')}`);
  }
  return elements;
}

/** Asserts an element of the signed part: this name, no namespace and no attributes. */
export function isPlain(element: XmlElement, name: string): void {
  if (element.name !== name || element.uri !== '' || !isBare(element)) {
    misshapen(`has no plain ${name} where it should`);
  }
}

export function isBare({ declarations, attributes }: XmlElement): boolean {
  return declarations.length === 0 && attributes.length === 0;
}

export function plainText(element: XmlElement): string {
  isPlain(element, element.local);
  return wholeText(element);
}

/** The text of an element without child elements. The tree has joined text across comments. */
export function wholeText({ local, children }: XmlElement): string {
  if (children.length === 0) return '';
  const [text] = children;
  return children.length === 1 && typeof text === 'string' ? text : misshapen(`has elements in ${local}`);
}

/** Decodes base64 in its canonical spelling; white space is ignored. */
export function decodeBase64(element: XmlElement): Uint8Array {
  const text = wholeText(element).replace(/[ \t\r\n]+/g, '');
  const bytes = Buffer.from(text, 'base64');
  return text !== '' && bytes.toString('base64') === text ? bytes : misshapen(`has no base64 in ${element.local}`);
}

/** Serial numbers of certificates have at most 20 bytes; 100 digits are about twice that. */
export function expectDecimal(text: string): string {
  return /^\d{1,100}$/.test(text) ? text : misshapen('has a serial number that is not decimal');
}

/** The root of a document, or the problem as the end of a sentence that begins with `it`. */
type TreeReading =
  { readonly kind: 'read'; readonly root: XmlElement } | { readonly kind: 'unreadable'; readonly reason: string };

/** Longer documents are refused before they are read. */
export const DOCUMENT_BYTES_MAX = 262_144;
const LIMITS: XmlLimits = { depth: 32, elements: 20_000, attributes: 64, instructions: 0 };

/** Separate texts, because the parser's messages quote the document. */
const REASONS: Readonly<Record<XmlProblem, (line: number) => string>> = {
  illFormed: (line) => `is not well-formed XML (line ${line})`,
  documentType: () => 'has a DOCTYPE',
  processingInstruction: () => 'has a processing instruction',
  tooDeep: () => `is nested deeper than ${LIMITS.depth} elements`,
  tooManyElements: () => `has more than ${LIMITS.elements} elements`,
  tooManyAttributes: () => 'has an element with two attributes',
  tooLong: () => 'has a name or namespace of more than 1,024 characters, or an attribute of more than 8,192',
};

/**
 * Reads a document within the limits. Refuses ill-formed documents, XML 1.1, a DOCTYPE (never interpreted), processing
 * instructions, elements with two attributes or two namespace declarations, and prefixed attributes. Cost: linear in
 * the length.
 */
export function readTree(text: string): TreeReading {
  try {
    return { kind: 'read', root: parseRoot(text) };
  } catch (error) {
    if (error instanceof Misshapen) return { kind: 'unreadable', reason: error.message };
    throw error;
  }
}

function parseRoot(text: string): XmlElement {
  if (text.length > DOCUMENT_BYTES_MAX || Buffer.byteLength(text) > DOCUMENT_BYTES_MAX)
    misshapen(`is longer than ${DOCUMENT_BYTES_MAX} bytes`);
  if (!text.isWellFormed()) misshapen('has characters that are not Unicode');
  const reading = readXml(text, LIMITS, { declared: assertVersion, started: assertPlainNames });
  return reading.kind === 'read' ? reading.root : misshapen(REASONS[reading.problem](reading.line));
}

function assertVersion(version: string | undefined): void {
  if (version !== '1.0') misshapen('is not XML 1.0');
}

function assertPlainNames({ declarations, attributes }: XmlElement): void {
  if (declarations.length > 1) misshapen('declares two namespaces on one element');
  if (attributes.length > 1) misshapen('has an element with two attributes');
  if (attributes[0] && attributes[0].uri !== '') misshapen('has an attribute with a prefix');
}

/**
 * The canonical form of an element in which only the apex declares a namespace and no element has two attributes. For
 * these, exclusive and inclusive canonicalisation are the same (Canonical XML 1.0, section 2.3; Exclusive XML
 * Canonicalization, section 3).
 */
export function canonicalText({ name, declarations, attributes, children }: XmlElement): string {
  const [declaration] = declarations;
  const [attribute] = attributes;
  const prefix = declaration?.prefix ? `:${declaration.prefix}` : '';
  const declared = declaration ? ` xmlns${prefix}="${escapeValue(declaration.uri)}"` : '';
  const attributed = attribute ? ` ${attribute.local}="${escapeValue(attribute.value)}"` : '';
  const inner = children.map((child) => (typeof child === 'string' ? escapeText(child) : canonicalText(child)));
  return `<${name}${declared}${attributed}>${inner.join('')}</${name}>`;
}

const VALUE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['"', '&quot;'],
  ['\t', '&#x9;'],
  ['\n', '&#xA;'],
  ['\r', '&#xD;'],
]);

function escapeValue(value: string): string {
  return value.replace(/[&<"\t\n\r]/g, (character) => VALUE_ESCAPES.get(character)!);
}

/** Whether the roles are the user's roles at the issuer, or were mapped from another site's. */
export type Provenance = 'original' | 'mapped';

/** Names are `/TYPE=value` texts. Times are seconds since 1970, both ends included. */
export interface AttributeContent {
  readonly holder: string;
  readonly issuer: string;
  readonly issuerName: string;
  /** Serial number of the issuer's certificate. */
  readonly issuerSerialNumber: string;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly roles: readonly string[];
  readonly provenance: Provenance;
}

export const VERSION = '1.0';

/** A time as `YYYY MM DD HH MM SS` in UTC; years 0 to 9999. */
export function timeFields(seconds: number): string {
  const iso = new Date(seconds * 1000).toISOString();
  return iso.slice(0, 19).replace(/[-T:]/g, ' ');
}

/** The seconds since 1970 of such a text. Undefined if it is invalid: February 30 does not become March 2. */
export function parseTimeFields(text: string): number | undefined {
  const match = /^(\d{4}) (\d{2}) (\d{2}) (\d{2}) (\d{2}) (\d{2})$/.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(ms)) return undefined;
  const seconds = ms / 1000;
  return timeFields(seconds) === text ? seconds : undefined;
}

/** The element `acInfo`, canonical by construction, so that its digest needs no canonicalisation. */
export function contentXml(content: AttributeContent): string {
  const roles = content.roles.map((role) => `<role>${leaf('name', role)}</role>`).join('');
  return [
    '<acInfo>',
    leaf('version', VERSION),
    leaf('holder', content.holder),
    leaf('issuer', content.issuer),
    leaf('issuerName', content.issuerName),
    leaf('issuerSerialNumber', content.issuerSerialNumber),
    `<validity>${leaf('notBefore', timeFields(content.notBefore))}${leaf('notAfter', timeFields(content.notAfter))}</validity>`,
    `<attributes><roleSet>${roles}</roleSet></attributes>`,
    leaf('provenance', content.provenance),
    '</acInfo>',
  ].join('');
}

function leaf(name: string, text: string): string {
  return `<${name}>${escapeText(text)}</${name}>`;
}

/** A name as `CN=Some One,O=Site`: RDNs in reverse order, special characters escaped (RFC 4514, section 2.4). */
export function rfc4514Text(name: Name): string {
  return name.rdns
    .toReversed()
    .map(({ attributes }) => attributes.map(({ type, value }) => `${type}=${escapeCharacters(value)}`).join('+'))
    .join(',');
}

function escapeCharacters(value: string): string {
  return value.replace(/[,+"\\<>;]/g, '\\$&').replace(/^[ #]|(?<=.) $/g, '\\$&');
}

/**
 * Whether a text has the same attributes as a name, in any order. Other writers reverse RDNs, add blanks after commas,
 * quote or escape differently, and write unknown types as DER. Types are compared without case, by OID or a usual
 * spelling.
 */
export function isTextOf(text: string, name: Name): boolean {
  const remaining = name.rdns.flatMap(({ attributes }) => attributes);
  const attributes = parseAttributes(text);
  if (attributes?.length !== remaining.length) return false;
  return attributes.every(({ type, value }) => {
    const at = remaining.findIndex((attribute) => attribute.type === type && attribute.value === value);
    if (at >= 0) remaining.splice(at, 1);
    return at >= 0;
  });
}

const TEXT_LENGTH_MAX = 1024;
const PART = /(?:\\[^]|"(?:\\[^]|[^\\"])*"|[^\\",+;])+/g;
const QUOTED = /^"((?:\\[^]|[^\\"])*)"$/;
const DER = /^#(?:[0-9A-Fa-f]{2})+$/;
const TYPED = /^\s*(?:OID\.)?([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)+)\s*=([^]*)$/;

function parseAttributes(text: string): readonly { readonly type: string; readonly value: string }[] | undefined {
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  const parts = (text.match(PART) ?? []).map((part) => TYPED.exec(part));
  return parts.every((part) => part !== null)
    ? parts.map((part) => ({ type: findTypeName(part[1]!), value: decodeValue(trimBlanks(part[2]!)) }))
    : undefined;
}

/** Decodes a value: quoted, with escapes, or the DER of a string. Other DER stays as it is. */
function decodeValue(written: string): string {
  if (DER.test(written)) return decodeString(Buffer.from(written.slice(1), 'hex')) ?? written.toLowerCase();
  return unescape(QUOTED.exec(written)?.[1] ?? written);
}

function decodeString(der: Uint8Array): string | undefined {
  try {
    const reader = new DerReader(der);
    const element = reader.any();
    reader.finish();
    return stringText(element.tag, reader.content(element));
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

/** Removes blanks at both ends, except an escaped one. */
function trimBlanks(value: string): string {
  return value.trimStart().replace(/(?<!\\)\s+$/, '');
}

/** Hexadecimal pairs are bytes of UTF-8; any other escaped character represents itself. */
function unescape(value: string): string {
  return value.replace(/(?:\\[0-9A-Fa-f]{2})+|\\([^])/g, (escape: string, character: string | undefined) =>
    character === undefined ? Buffer.from(escape.replaceAll('\\', ''), 'hex').toString() : character,
  );
}

/** The namespace of XML signatures (XML Signature Syntax and Processing, section 1.3). */
export const SIGNATURE_NAMESPACE = 'http://www.w3.org/2000/09/xmldsig#';
export const ENVELOPED_SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
export const EXCLUSIVE_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';
/** Canonical XML 1.0 without comments. For the accepted form it gives the same bytes as exclusive canonicalisation. */
export const INCLUSIVE_C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';

export type SignatureAlgorithm = 'rsa-sha256' | 'ecdsa-sha256' | 'rsa-sha1';

export interface AlgorithmRow {
  readonly name: SignatureAlgorithm;
  readonly uri: string;
  readonly keyType: 'rsa' | 'ec';
  /** Digest of the signature and of the document. */
  readonly digest: 'sha256' | 'sha1';
}

export const SIGNATURE_ALGORITHMS: readonly AlgorithmRow[] = [
  {
    name: 'rsa-sha256',
    uri: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    keyType: 'rsa',
    digest: 'sha256',
  },
  {
    name: 'ecdsa-sha256',
    uri: 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256',
    keyType: 'ec',
    digest: 'sha256',
  },
  { name: 'rsa-sha1', uri: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1', keyType: 'rsa', digest: 'sha1' },
];

export const DIGEST_URIS: Readonly<Record<AlgorithmRow['digest'], string>> = {
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  sha1: 'http://www.w3.org/2000/09/xmldsig#sha1',
};
