// The reader of requests: bytes of any encoding in, a call or the name of a fault out. Strict and complete; judges what
// SOAP 1.1 says of envelopes, and leaves XML to messageTree.ts. Pure.
import { attributeOf, childElements, type XmlElement } from '../../../data/xml/element.ts';
import { decodedText } from './decode.ts';
import type { FaultName } from './faults.ts';
import { messageTree } from './messageTree.ts';
import { type Call, NAMESPACES, NEXT_ACTOR, type Operation, OPERATIONS } from './protocol.ts';
import { elementsById, referencedText } from './references.ts';

/**
 * What a request says. `charset` is that of Content-Type, undefined without one. Cost: about 50 us for a short
 * envelope.
 */
export function readEnvelope(bytes: Uint8Array, charset: string | undefined): Call | FaultName {
  const text = decodedText(bytes, charset);
  if (text === undefined) return 'undecodable';
  const root = messageTree(text);
  return typeof root === 'string' ? root : readRoot(root);
}

function isEnvelope({ uri }: XmlElement): boolean {
  return uri === NAMESPACES.envelope;
}

/** Judges version, headers, Body, in the order of SOAP 1.1, 4. Elements beside Header and Body are ignored (A95). */
function readRoot(root: XmlElement): Call | FaultName {
  if (root.local !== 'Envelope') return 'notEnvelope';
  if (!isEnvelope(root)) return 'versionMismatch';
  const parts = childElements(root).filter(isEnvelope);
  const headers = parts.filter(({ local }) => local === 'Header');
  if (headers.flatMap(childElements).some(mustBeUnderstood)) return 'mustUnderstand';
  if (headers.length > 1 || (headers[0] !== undefined && headers[0] !== childElements(root)[0]))
    return 'misplacedHeader';
  const [body, ...more] = parts.filter(({ local }) => local === 'Body');
  if (body === undefined) return 'noBody';
  return more.length > 0 ? 'severalBodies' : readBody(root, body);
}

/** Whether a header entry is for us and must be understood (SOAP 1.1, 4.2; `true` is taken for `1`, A97). */
function mustBeUnderstood(entry: XmlElement): boolean {
  const actor = envelopeAttribute(entry, 'actor') ?? '';
  if (actor !== '' && actor !== NEXT_ACTOR) return false;
  return ['1', 'true'].includes(envelopeAttribute(entry, 'mustUnderstand') ?? '');
}

function envelopeAttribute(entry: XmlElement, name: string): string | undefined {
  return attributeOf(entry, NAMESPACES.envelope, name)?.trim();
}

function readBody(root: XmlElement, body: XmlElement): Call | FaultName {
  const ids = elementsById(root);
  if (ids === undefined) return 'repeatedId';
  const [first, ...more] = operationsOf(body);
  if (first === undefined) return 'noOperation';
  if (more.length > 0) return 'severalOperations';
  const operation = OPERATIONS.find(({ name }) => first.uri === NAMESPACES.service && first.local === name);
  return operation === undefined ? 'unknownOperation' : readParts(operation, first, ids);
}

/** The children of the Body that are no referenced values; where all have ids, all of them (A93). */
function operationsOf(body: XmlElement): readonly XmlElement[] {
  const children = childElements(body);
  const roots = children.filter((child) => !isReferenced(child));
  return roots.length > 0 ? roots : children;
}

function isReferenced(child: XmlElement): boolean {
  const root = attributeOf(child, NAMESPACES.encoding, 'root')?.trim();
  if (root === '1' || root === 'true') return false;
  return root !== undefined || attributeOf(child, '', 'id') !== undefined;
}

function readParts(operation: Operation, called: XmlElement, ids: ReadonlyMap<string, XmlElement>): Call | FaultName {
  const values: string[] = [];
  for (const name of operation.parts) {
    const [part, ...more] = childElements(called).filter((child) => child.local === name && isPart(child));
    if (more.length > 0) return 'repeatedPart';
    const value = part === undefined ? '' : referencedText(part, ids);
    if (typeof value !== 'string') return value.fault;
    values.push(value);
  }
  return { operation, values };
}

function isPart({ uri }: XmlElement): boolean {
  return uri === '' || uri === NAMESPACES.service;
}
