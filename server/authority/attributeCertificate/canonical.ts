// The canonical form of the few XML documents that are accepted,
// small enough to be put down in one function. Pure.
import type { XmlElement } from '../../../data/xml/element.ts';
import { escapedText } from '../../../data/xml/text.ts';

/**
 * The canonical form of an element of which nothing but the apex declares a namespace, and none has two attributes:
 * exclusive and inclusive canonicalisation are then the same (Canonical XML 1.0, section 2.3; Exclusive XML
 * Canonicalization, section 3).
 */
export function canonicalText({ name, declarations, attributes, children }: XmlElement): string {
  const [declaration] = declarations;
  const [attribute] = attributes;
  const prefix = declaration?.prefix ? `:${declaration.prefix}` : '';
  const declared = declaration ? ` xmlns${prefix}="${escapedValue(declaration.uri)}"` : '';
  const attributed = attribute ? ` ${attribute.local}="${escapedValue(attribute.value)}"` : '';
  const inner = children.map((child) => (typeof child === 'string' ? escapedText(child) : canonicalText(child)));
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

function escapedValue(value: string): string {
  return value.replace(/[&<"\t\n\r]/g, (character) => VALUE_ESCAPES.get(character)!);
}
