// An element of a small XML document, as both readers make it.
// Types only.

/** An element. `name` is as written, with its prefix; `attributes` are without the declaration of a namespace. */
export interface XmlElement {
  readonly name: string;
  readonly local: string;
  readonly prefix: string;
  readonly namespace: string;
  /** The one namespace declaration of this element, as it stands: `xmlns` or `xmlns:ds`; undefined without one. */
  readonly declaration: { readonly name: string; readonly prefix: string; readonly namespace: string } | undefined;
  /** At most one: nothing in an attribute certificate has two. */
  readonly attribute: { readonly name: string; readonly value: string } | undefined;
  /** Child elements and texts in order; neighbouring texts are one, whatever comments or CDATA stood between them. */
  readonly children: readonly (XmlElement | string)[];
}

/** An element while it is read. */
export type Growing = XmlElement & { readonly children: (XmlElement | string)[] };
