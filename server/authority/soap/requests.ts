// Reads requests: bytes in any supported encoding become a call or the name of a fault. Checks the rules of SOAP 1.1
// for envelopes, and follows references within the request (`href="#id"`, SOAP 1.1, 5.4.1) for a few steps. Also writes
// requests and reads responses, for the client.
import {
  readAttribute,
  childElements,
  textContent,
  readXml,
  type XmlElement,
  type XmlLimits,
  type XmlProblem,
} from '../../../data/xml/xml.ts';
import type { FaultName } from './faults.ts';
import { type Call, NAMESPACES, NEXT_ACTOR, type Operation, OPERATIONS } from './protocol.ts';
import { escapeXml, type Result } from './answers.ts';

/** Encodings by lower-case name. Plain UTF-16 is missing: it needs a byte order mark, which decides first. */
type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin1';

const ENCODINGS: ReadonlyMap<string, Encoding> = new Map([
  ['utf-8', 'utf-8'],
  ['utf8', 'utf-8'],
  ['us-ascii', 'utf-8'],
  ['utf-16le', 'utf-16le'],
  ['utf-16be', 'utf-16be'],
  ['iso-8859-1', 'latin1'],
]);

/** Longer than any XML declaration of real clients. */
const DECLARATION_BYTES = 200;
const DECLARED = /^<\?xml\s+version\s*=\s*(?:"[^"]*"|'[^']*')\s+encoding\s*=\s*["']([A-Za-z0-9._-]+)["']/;

/**
 * Decodes a request; undefined if the bytes are invalid in their encoding. The byte order mark decides the encoding,
 * then `charset` (of Content-Type), then the XML declaration, else UTF-8 (A91). The mark is removed.
 */
function decodeText(bytes: Uint8Array, charset: string | undefined): string | undefined {
  const encoding = findMarkedEncoding(bytes) ?? findNamedEncoding(bytes, charset);
  if (encoding === undefined) return undefined;
  if (encoding === 'latin1') return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function findMarkedEncoding(bytes: Uint8Array): Encoding | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

function findNamedEncoding(bytes: Uint8Array, charset: string | undefined): Encoding | undefined {
  const name = charset ?? findDeclaredEncoding(bytes) ?? 'utf-8';
  return ENCODINGS.get(name.toLowerCase());
}

function findDeclaredEncoding(bytes: Uint8Array): string | undefined {
  const length = Math.min(bytes.length, DECLARATION_BYTES);
  return DECLARED.exec(Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('latin1'))?.[1];
}

/** Limit of hrefs followed for one value. Real clients use one. */
const STEPS_MAX = 4;

/** The elements with an unqualified id; undefined if two have the same. Cost: a walk over the tree. */
function elementsById(root: XmlElement): ReadonlyMap<string, XmlElement> | undefined {
  const ids = new Map<string, XmlElement>();
  const walk = (element: XmlElement): boolean => {
    const id = readAttribute(element, '', 'id');
    if (id !== undefined && ids.has(id)) return false;
    if (id !== undefined) ids.set(id, element);
    return childElements(element).every(walk);
  };
  return walk(root) ? ids : undefined;
}

/** The text of a value after following its references; '' if it is nil. White space is kept. */
function readReferencedText(value: XmlElement, ids: ReadonlyMap<string, XmlElement>): string | { fault: FaultName } {
  let element = value;
  for (let steps = 0; ; steps++) {
    const href = readAttribute(element, '', 'href');
    if (href === undefined) return leafText(element);
    if (childElements(element).length > 0 || textContent(element).trim() !== '')
      return { fault: 'contentBesideReference' };
    if (!href.startsWith('#')) return { fault: 'foreignReference' };
    const target = ids.get(href.slice(1));
    if (target === undefined) return { fault: 'danglingReference' };
    if (steps === STEPS_MAX) return { fault: 'longReference' };
    element = target;
  }
}

function leafText(element: XmlElement): string | { fault: FaultName } {
  if (childElements(element).length > 0) return { fault: 'elementsInPart' };
  const nil = readAttribute(element, NAMESPACES.instance, 'nil')?.trim();
  return nil === '1' || nil === 'true' ? '' : textContent(element);
}

const LIMITS: XmlLimits = {
  // A SOAP message with references has 5 levels.
  depth: 32,
  // A body of 1 MiB could contain 260,000 elements.
  elements: 20_000,
  // Clients declare up to 10 namespaces on an element (A94).
  attributes: 64,
  // A90.
  instructions: 0,
};

/** The root element of a message, or the problem. Cost: about 20 ns per character. */
export function messageTree(text: string, elements = LIMITS.elements): XmlElement | XmlProblem {
  const reading = readXml(text, { ...LIMITS, elements });
  return reading.kind === 'read' ? reading.root : reading.problem;
}

/** `charset` is that of Content-Type. Cost: about 50 us for a short envelope. */
export function readEnvelope(bytes: Uint8Array, charset: string | undefined): Call | FaultName {
  const text = decodeText(bytes, charset);
  if (text === undefined) return 'undecodable';
  const root = messageTree(text);
  return typeof root === 'string' ? root : readRoot(root);
}

function isEnvelope({ uri }: XmlElement): boolean {
  return uri === NAMESPACES.envelope;
}

/** Checks version, headers and Body in the order of SOAP 1.1, 4. Other children of the Envelope are ignored (A95). */
function readRoot(root: XmlElement): Call | FaultName {
  if (root.local !== 'Envelope') return 'notEnvelope';
  if (!isEnvelope(root)) return 'versionMismatch';
  const parts = childElements(root).filter(isEnvelope);
  const headers = parts.filter(({ local }) => local === 'Header');
  if (headers.flatMap(childElements).some(mustBeUnderstood)) return 'mustUnderstand';
  if (headers.length > 1 || (headers[0] !== undefined && headers[0] !== childElements(root)[0]))
    return 'misplacedHeader';
  const [body, ...others] = parts.filter(({ local }) => local === 'Body');
  if (body === undefined) return 'noBody';
  return others.length > 0 ? 'severalBodies' : readBody(root, body);
}

/**
 * Whether a header entry is addressed to this service and must be understood (SOAP 1.1, 4.2; `true` means `1`, A97).
 */
function mustBeUnderstood(entry: XmlElement): boolean {
  const actor = envelopeAttribute(entry, 'actor') ?? '';
  if (actor !== '' && actor !== NEXT_ACTOR) return false;
  return ['1', 'true'].includes(envelopeAttribute(entry, 'mustUnderstand') ?? '');
}

function envelopeAttribute(entry: XmlElement, name: string): string | undefined {
  return readAttribute(entry, NAMESPACES.envelope, name)?.trim();
}

function readBody(root: XmlElement, body: XmlElement): Call | FaultName {
  const ids = elementsById(root);
  if (ids === undefined) return 'repeatedId';
  const [first, ...others] = findOperations(body);
  if (first === undefined) return 'noOperation';
  if (others.length > 0) return 'severalOperations';
  const operation = OPERATIONS.find(({ name }) => first.uri === NAMESPACES.service && first.local === name);
  return operation === undefined ? 'unknownOperation' : readParts(operation, first, ids);
}

/** The children of the Body that are not referenced values. If all of them have ids, returns all (A93). */
function findOperations(body: XmlElement): readonly XmlElement[] {
  const children = childElements(body);
  const roots = children.filter((child) => !isReferenced(child));
  return roots.length > 0 ? roots : children;
}

function isReferenced(child: XmlElement): boolean {
  const root = readAttribute(child, NAMESPACES.encoding, 'root')?.trim();
  if (root === '1' || root === 'true') return false;
  return root !== undefined || readAttribute(child, '', 'id') !== undefined;
}

function readParts(operation: Operation, call: XmlElement, ids: ReadonlyMap<string, XmlElement>): Call | FaultName {
  const values: string[] = [];
  for (const name of operation.parts) {
    const [part, ...others] = childElements(call).filter((child) => child.local === name && isPart(child));
    if (others.length > 0) return 'repeatedPart';
    const value = part === undefined ? '' : readReferencedText(part, ids);
    if (typeof value !== 'string') return value.fault;
    values.push(value);
  }
  return { operation, values };
}

function isPart({ uri }: XmlElement): boolean {
  return uri === '' || uri === NAMESPACES.service;
}

/** The outcome of a request: the results in the operation's order, a fault, or an unreadable response. */
type ReadAnswer =
  | { readonly kind: 'answered'; readonly results: readonly Result[] }
  | { readonly kind: 'fault'; readonly code: string; readonly text: string }
  | { readonly kind: 'unreadable' };

/** A response may list 100,000 hosts, and other implementations may add members to each. */
const ANSWER_ELEMENTS_MAX = 1_000_000;

const UNREADABLE: ReadAnswer = { kind: 'unreadable' };

export function requestBytes(operation: Operation, values: readonly string[]): Uint8Array {
  const { envelope, encoding, instance, schema, service } = NAMESPACES;
  const parts = operation.parts.map(
    (name, i) => `<${name} xsi:type="xsd:string">${escapeXml(values[i] ?? '')}</${name}>`,
  );
  return Buffer.from(
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
      `<SOAP-ENV:Envelope xmlns:SOAP-ENV="${envelope}" xmlns:xsi="${instance}" xmlns:xsd="${schema}"><SOAP-ENV:Body>` +
      `<ns1:${operation.name} xmlns:ns1="${service}" SOAP-ENV:encodingStyle="${encoding}">${parts.join('')}</ns1:${operation.name}>` +
      '</SOAP-ENV:Body></SOAP-ENV:Envelope>',
  );
}

/** Reads a response in UTF-8 or the encoding that it declares. A missing result is '' or an empty list. */
export function readAnswer(operation: Operation, bytes: Uint8Array): ReadAnswer {
  const text = decodeText(bytes, undefined);
  const root = text === undefined ? 'undecodable' : messageTree(text, ANSWER_ELEMENTS_MAX);
  if (typeof root === 'string') return UNREADABLE;
  const ids = elementsById(root);
  const [answer] = childElements(findChild(root, 'Body'));
  if (ids === undefined || answer === undefined) return UNREADABLE;
  if (answer.uri === NAMESPACES.envelope && answer.local === 'Fault') return readFault(answer);
  if (answer.local !== `${operation.name}Response`) return UNREADABLE;
  const results: Result[] = [];
  for (const [name, type] of operation.results) {
    const result = readResult(findChild(answer, name), type, ids);
    if (result === undefined) return UNREADABLE;
    results.push(result);
  }
  return { kind: 'answered', results };
}

function findChild(element: XmlElement, name: string): XmlElement | undefined {
  return childElements(element).find(({ local }) => local === name);
}

function readFault(fault: XmlElement): ReadAnswer {
  const [code, text] = ['faultcode', 'faultstring'].map((name) => textContent(findChild(fault, name)).trim());
  return { kind: 'fault', code: code!, text: text! };
}

function readResult(
  element: XmlElement | undefined,
  type: 'string' | 'strings',
  ids: ReadonlyMap<string, XmlElement>,
): Result | undefined {
  if (type === 'string') return element === undefined ? '' : readElementText(element, ids);
  const href = element && readAttribute(element, '', 'href');
  const list = href === undefined ? element : ids.get(href.slice(1));
  const texts = childElements(list).map((entry) => readElementText(entry, ids));
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

function readElementText(element: XmlElement, ids: ReadonlyMap<string, XmlElement>): string | undefined {
  const text = readReferencedText(element, ids);
  return typeof text === 'string' ? text : undefined;
}
