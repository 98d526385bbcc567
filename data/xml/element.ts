// An element of XML as every reader makes it, and the questions that all who read one ask. Knows no parser and no names
// but those that Namespaces in XML reserves.

/** An attribute; `uri` is '' where it has no prefix. Declarations of namespaces are none. */
export interface XmlAttribute {
  readonly uri: string;
  readonly local: string;
  readonly value: string;
}

/** A declaration of a namespace, its value as written; the default one has the prefix ''. */
export interface XmlDeclaration {
  readonly prefix: string;
  readonly uri: string;
}

/**
 * An element. `name` is as written, with its prefix; `uri` is '' in no namespace. `children` are elements and texts in
 * order; neighbouring texts are one, whatever comments or CDATA stood between them.
 */
export interface XmlElement {
  readonly name: string;
  readonly prefix: string;
  readonly local: string;
  readonly uri: string;
  readonly declarations: readonly XmlDeclaration[];
  readonly attributes: readonly XmlAttribute[];
  readonly children: readonly (XmlElement | string)[];
}

/** An element while it is read. */
export type XmlDraft = XmlElement & { readonly children: (XmlElement | string)[] };

/** Namespaces that no document may bind to a prefix of its own (Namespaces in XML, section 3). */
export const RESERVED_NAMESPACES = ['http://www.w3.org/XML/1998/namespace', 'http://www.w3.org/2000/xmlns/'] as const;

/** The value of an attribute, undefined without it. */
export function attributeOf({ attributes }: XmlElement, uri: string, local: string): string | undefined {
  return attributes.find((attribute) => attribute.uri === uri && attribute.local === local)?.value;
}

/** The child elements, in order; none of no element. */
export function childElements(element: XmlElement | undefined): readonly XmlElement[] {
  return element?.children.filter((child) => typeof child !== 'string') ?? [];
}

/** An element's own characters, joined across its children; '' of no element. */
export function ownText(element: XmlElement | undefined): string {
  return element?.children.filter((child) => typeof child === 'string').join('') ?? '';
}
