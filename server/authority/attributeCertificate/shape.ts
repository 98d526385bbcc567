// The shape of elements: which children they have, and nothing beside them. What is misshapen is thrown, and caught by
// read.ts. Knows no names.
import { childElements, ownText, type XmlElement } from '../../../data/xml/element.ts';

/** Thrown where the structure is not the one wanted; its message is the end of a sentence. Never leaves read.ts. */
export class Misshapen extends Error {}

/** Throws Misshapen. */
export function misshapen(reason: string): never {
  throw new Misshapen(reason);
}

/** The child elements; between them only white space may stand. */
export function elementsOf(element: XmlElement): readonly XmlElement[] {
  const elements = childElements(element);
  const hasText = elements.length < element.children.length && /[^ \t\r\n]/.test(ownText(element));
  return hasText ? misshapen(`has text in ${element.local}`) : elements;
}

/** Exactly these child elements in this order; their namespaces are judged by who takes them. */
export function childrenOf(element: XmlElement, names: readonly string[]): readonly XmlElement[] {
  const elements = elementsOf(element);
  if (elements.length !== names.length || elements.some(({ local }, i) => local !== names[i])) {
    misshapen(`has a ${element.local} that does not hold exactly ${names.join(', ')}`);
  }
  return elements;
}

/** An element of the signed part: no namespace, no attribute, and this name. */
export function isPlain(element: XmlElement, name: string): void {
  if (element.name !== name || element.uri !== '' || !isBare(element)) {
    misshapen(`has no plain ${name} where it should`);
  }
}

/** Whether an element declares no namespace and has no attribute. */
export function isBare({ declarations, attributes }: XmlElement): boolean {
  return declarations.length === 0 && attributes.length === 0;
}

/** The text of an element of the signed part. */
export function plainText(element: XmlElement): string {
  isPlain(element, element.local);
  return wholeText(element);
}

/** The whole text of an element that holds nothing else: the tree has joined it across comments. */
export function wholeText({ local, children }: XmlElement): string {
  if (children.length === 0) return '';
  const [text] = children;
  return children.length === 1 && typeof text === 'string' ? text : misshapen(`has elements in ${local}`);
}

/** Base64 in its one canonical spelling, but for white space. */
export function base64In(element: XmlElement): Uint8Array {
  const text = wholeText(element).replace(/[ \t\r\n]+/g, '');
  const bytes = Buffer.from(text, 'base64');
  return text !== '' && bytes.toString('base64') === text ? bytes : misshapen(`has no base64 in ${element.local}`);
}

/** Serial numbers of certificates have at most 20 bytes; nobody needs more than twice that. */
export function decimalOf(text: string): string {
  return /^\d{1,100}$/.test(text) ? text : misshapen('has a serial number that is not decimal');
}
