// The fast reader of attribute certificates: the plain XML that authorities write, and nothing else. Judges nothing:
// for whatever is not plain it answers undefined, and tree.ts reads the text with saxes. Both make the same tree of a
// plain text; test/differential/plainTree.test.ts compares them on hostile ones.
import type { Growing, XmlElement } from './element.ts';

/** How many elements a tree may have, and how deep they may be nested; more is for the other reader to refuse. */
export interface TreeSize {
  readonly depth: number;
  readonly elements: number;
}

/** Printable ASCII, tabs and line feeds: of these only markup means anything in XML. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;

/**
 * One tag and the text behind it. Groups: name of a start tag, its default namespace, the name and value of its
 * attribute, the slash of an empty element; or the name of an end tag; the text.
 */
const TAG =
  /<(?:([A-Za-z]\w*)(?: xmlns="([^"<&\s]+)")?(?: ([A-Za-z]\w*)="([^"<&\t\n]*)")?(\/?)|\/([A-Za-z]\w*))>([^<>]*)/y;

const REFERENCE = /&(lt|gt|amp|quot|apos);/g;
const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** Namespaces that no document may declare as its default (Namespaces in XML, section 3). */
const RESERVED: ReadonlySet<string> = new Set([
  'http://www.w3.org/XML/1998/namespace',
  'http://www.w3.org/2000/xmlns/',
]);

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
  readonly #open: Growing[] = [];
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
        attribute === undefined ? undefined : { name: attribute, value: value! },
      );
      if (element === undefined) return false;
      this.#open.at(-1)?.children.push(element);
      this.#root ??= element;
      if (slash === '') this.#open.push(element);
    }
    return this.#takeText(behind!);
  }

  #started(name: string, namespace: string | undefined, attribute: XmlElement['attribute']): Growing | undefined {
    const isSecond = this.#root !== undefined && this.#open.length === 0;
    const isTooMany = ++this.#elements > this.#size.elements || this.#open.length >= this.#size.depth;
    const isRefused = attribute?.name === 'xmlns' || (namespace !== undefined && RESERVED.has(namespace));
    if (isSecond || isTooMany || isRefused) return undefined;
    return {
      name,
      local: name,
      prefix: '',
      namespace: namespace ?? this.#open.at(-1)?.namespace ?? '',
      declaration: namespace === undefined ? undefined : { name: 'xmlns', prefix: '', namespace },
      attribute,
      children: [],
    };
  }

  #takeText(written: string): boolean {
    if (written === '') return true;
    const text = written.replace(REFERENCE, (_, name: string) => CHARACTERS.get(name)!);
    if (written.includes('&') && written.replace(REFERENCE, '').includes('&')) return false;
    const children = this.#open.at(-1)?.children;
    if (children === undefined) return isBlank(written);
    children.push(text);
    return true;
  }
}

function isBlank(text: string): boolean {
  return /^[\t\n ]*$/.test(text);
}
