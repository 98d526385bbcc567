// The fast reader of attribute certificates: the plain XML that authorities write, and nothing else. Judges nothing:
// for whatever is not plain it answers undefined, and tree.ts reads the text with saxes. Both make the same tree of a
// plain text; test/differential/plainTree.test.ts compares them on hostile ones.
import { RESERVED_NAMESPACES, type XmlAttribute, type XmlDraft, type XmlElement } from '../../xml/element.ts';
import type { XmlLimits } from '../../xml/reader.ts';
import { unescapedText } from '../../xml/text.ts';

/** How many elements a tree may have, and how deep they may be nested; more is for the other reader to refuse. */
export type TreeSize = Pick<XmlLimits, 'depth' | 'elements'>;

/** Printable ASCII, tabs and line feeds: of these only markup means anything in XML. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;

/**
 * One tag and the text behind it. Groups: name of a start tag, its default namespace, the name and value of its
 * attribute, the slash of an empty element; or the name of an end tag; the text.
 */
const TAG =
  /<(?:([A-Za-z]\w*)(?: xmlns="([^"<&\s]+)")?(?: ([A-Za-z]\w*)="([^"<&\t\n]*)")?(\/?)|\/([A-Za-z]\w*))>([^<>]*)/y;

/** An `&` that begins no reference to one of the five characters. */
const STRAY = /&(?!(?:lt|gt|amp|quot|apos);)/;
const RESERVED: ReadonlySet<string> = new Set(RESERVED_NAMESPACES);
const NONE: readonly never[] = Object.freeze([]);

/**
 * The tree of a document in plain XML: names of ASCII letters, digits and underscores, without prefixes; a default
 * namespace and then one attribute at most, in double quotes; the five named references in text; no declaration,
 * comment, CDATA or carriage return. Undefined for every other text. Cost: linear, some 15 us for an attribute
 * certificate.
 */
export function readPlainTree(text: string, size: TreeSize): XmlElement | undefined {
  const start = text.indexOf('<');
  if (start < 0 || !PLAIN.test(text) || !isBlank(text.slice(0, start))) return undefined;
  const tree = new Tree(size);
  TAG.lastIndex = start;
  while (TAG.lastIndex < text.length) {
    const match = TAG.exec(text);
    if (match === null || !tree.take(match)) return undefined;
  }
  return tree.whole;
}

/** A tree that grows by a tag and the text behind it at a time. */
class Tree {
  readonly #size: TreeSize;
  readonly #open: XmlDraft[] = [];
  #root: XmlElement | undefined;
  #elements = 0;

  constructor(size: TreeSize) {
    this.#size = size;
  }

  /** The tree, once all elements have ended. */
  get whole(): XmlElement | undefined {
    return this.#open.length === 0 ? this.#root : undefined;
  }

  /** False where this is nothing plain, or stands where it must not. */
  take([, name, namespace, attribute, value, slash, ended, behind]: RegExpExecArray): boolean {
    if (name === undefined) {
      if (this.#open.pop()?.name !== ended) return false;
    } else {
      const element = this.#started(
        name,
        namespace,
        attribute === undefined ? undefined : { uri: '', local: attribute, value: value! },
      );
      if (element === undefined) return false;
      this.#open.at(-1)?.children.push(element);
      this.#root ??= element;
      if (slash === '') this.#open.push(element);
    }
    return this.#takeText(behind!);
  }

  #started(name: string, namespace: string | undefined, attribute: XmlAttribute | undefined): XmlDraft | undefined {
    const isSecond = this.#root !== undefined && this.#open.length === 0;
    const isTooMany = ++this.#elements > this.#size.elements || this.#open.length >= this.#size.depth;
    const isRefused = attribute?.local === 'xmlns' || (namespace !== undefined && RESERVED.has(namespace));
    if (isSecond || isTooMany || isRefused) return undefined;
    return {
      name,
      prefix: '',
      local: name,
      uri: namespace ?? this.#open.at(-1)?.uri ?? '',
      declarations: namespace === undefined ? NONE : [{ prefix: '', uri: namespace }],
      attributes: attribute === undefined ? NONE : [attribute],
      children: [],
    };
  }

  #takeText(written: string): boolean {
    if (written === '') return true;
    if (STRAY.test(written)) return false;
    const children = this.#open.at(-1)?.children;
    if (children === undefined) return isBlank(written);
    children.push(unescapedText(written));
    return true;
  }
}

function isBlank(text: string): boolean {
  return /^[\t\n ]*$/.test(text);
}
