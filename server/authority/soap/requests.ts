// The client's side of the protocol: requests written, answers read. For the command that calls an authority.
// Pure: bytes in, bytes out. Answers of other implementations are read too, references included.
import { attributeOf, childElements, ownText, type XmlElement } from '../../../data/xml/element.ts';
import { decodedText } from './decode.ts';
import { messageTree } from './messageTree.ts';
import { NAMESPACES, type Operation } from './protocol.ts';
import { elementsById, referencedText } from './references.ts';
import { escaped, type Result } from './responses.ts';

/** What came back: the results in the order of the operation, a fault, or what is no answer to it. */
export type ReadAnswer =
  | { readonly kind: 'answered'; readonly results: readonly Result[] }
  | { readonly kind: 'fault'; readonly code: string; readonly text: string }
  | { readonly kind: 'unreadable' };

/** An answer may hold 100,000 hosts, of other implementations with members of their own. */
const ANSWER_ELEMENTS_MAX = 1_000_000;

const UNREADABLE: ReadAnswer = { kind: 'unreadable' };

/** The request of an operation with the values of its parts, in their order. */
export function requestBytes(operation: Operation, values: readonly string[]): Uint8Array {
  const { envelope, encoding, instance, schema, service } = NAMESPACES;
  const parts = operation.parts.map(
    (name, i) => `<${name} xsi:type="xsd:string">${escaped(values[i] ?? '')}</${name}>`,
  );
  return Buffer.from(
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
      `<SOAP-ENV:Envelope xmlns:SOAP-ENV="${envelope}" xmlns:xsi="${instance}" xmlns:xsd="${schema}"><SOAP-ENV:Body>` +
      `<ns1:${operation.name} xmlns:ns1="${service}" SOAP-ENV:encodingStyle="${encoding}">${parts.join('')}</ns1:${operation.name}>` +
      '</SOAP-ENV:Body></SOAP-ENV:Envelope>',
  );
}

/** Reads an answer in UTF-8 or what it says it is in. A result that is missing is '' or an empty list. */
export function readAnswer(operation: Operation, bytes: Uint8Array): ReadAnswer {
  const text = decodedText(bytes, undefined);
  const root = text === undefined ? 'undecodable' : messageTree(text, ANSWER_ELEMENTS_MAX);
  if (typeof root === 'string') return UNREADABLE;
  const ids = elementsById(root);
  const [answer] = childElements(childOf(root, 'Body'));
  if (ids === undefined || answer === undefined) return UNREADABLE;
  if (answer.uri === NAMESPACES.envelope && answer.local === 'Fault') return faultOf(answer);
  if (answer.local !== `${operation.name}Response`) return UNREADABLE;
  const results: Result[] = [];
  for (const [name, type] of operation.results) {
    const result = resultOf(childOf(answer, name), type, ids);
    if (result === undefined) return UNREADABLE;
    results.push(result);
  }
  return { kind: 'answered', results };
}

function childOf(element: XmlElement, name: string): XmlElement | undefined {
  return childElements(element).find(({ local }) => local === name);
}

function faultOf(fault: XmlElement): ReadAnswer {
  const [code, text] = ['faultcode', 'faultstring'].map((name) => ownText(childOf(fault, name)).trim());
  return { kind: 'fault', code: code!, text: text! };
}

function resultOf(
  element: XmlElement | undefined,
  type: 'string' | 'strings',
  ids: ReadonlyMap<string, XmlElement>,
): Result | undefined {
  if (type === 'string') return element === undefined ? '' : textOf(element, ids);
  const href = element && attributeOf(element, '', 'href');
  const list = href === undefined ? element : ids.get(href.slice(1));
  const texts = childElements(list).map((entry) => textOf(entry, ids));
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

function textOf(element: XmlElement, ids: ReadonlyMap<string, XmlElement>): string | undefined {
  const text = referencedText(element, ids);
  return typeof text === 'string' ? text : undefined;
}
