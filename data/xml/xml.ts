// Reads XML strictly into a small tree (saxes), and escapes text for writing. No entity of a document type is expanded.
import { SaxesParser, type SaxesTagNS } from 'saxes';

/** An attribute; `uri` is '' where it has no prefix. Declarations of namespaces are none. */
interface XmlAttribute {
  readonly uri: string;
  readonly local: string;
  readonly value: string;
}

/** A declaration of a namespace, its value as written; the default one has the prefix ''. */
interface XmlDeclaration {
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
type XmlDraft = XmlElement & { readonly children: (XmlElement | string)[] };

/** Namespaces that no document may bind to a prefix of its own (Namespaces in XML, section 3). */
const RESERVED_NAMESPACES = ['http://www.w3.org/XML/1998/namespace', 'http://www.w3.org/2000/xmlns/'] as const;

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

/** Characters that canonical XML escapes in texts (Canonical XML 1.0, section 2.3). */
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };

/** A text as it stands between tags, in canonical XML too. */
export function escapedText(text: string): string {
  return text.replace(/[&<>\r]/g, (character) => ESCAPES[character]!);
}

/**
 * How much of a document is read: levels of elements, elements, attributes of one with its declarations of namespaces,
 * processing instructions.
 */
export interface XmlLimits {
  readonly depth: number;
  readonly elements: number;
  readonly attributes: number;
  readonly instructions: number;
}

/** What may be wrong with a document. */
export type XmlProblem =
  | 'illFormed'
  | 'documentType'
  | 'processingInstruction'
  | 'tooDeep'
  | 'tooManyElements'
  | 'tooManyAttributes'
  | 'tooLong';

/** The root of a document, or the first thing that is wrong with it, on which line. `words` may repeat parts of it. */
type XmlReading =
  | { readonly kind: 'read'; readonly root: XmlElement }
  | { readonly kind: 'refused'; readonly problem: XmlProblem; readonly line: number; readonly words: string };

/** Who watches a document being read; what is thrown ends the reading and is thrown by it. */
interface XmlWatcher {
  /** The XML declaration, if any. */
  declared?(version: string | undefined): void;
  /** A start tag, on the line where it ends; the element has no children yet. */
  started?(element: XmlElement, line: number): void;
  /** The end of an element. */
  ended?(element: XmlElement, line: number): void;
}

/** The longest names and namespace names, and other values of attributes. */
const NAME_CHARACTERS_MAX = 1024;
const VALUE_CHARACTERS_MAX = 8192;

/**
 * Whether the name of an element or attribute is longer than is read, or its value. The parser compares both with
 * all others of an element, and strings of more than 16,383 characters collide in every set of V8.
 */
function isTooLong(nameCharacters: number, value = '', isDeclaration = false): boolean {
  const most = isDeclaration ? NAME_CHARACTERS_MAX : VALUE_CHARACTERS_MAX;
  return nameCharacters > NAME_CHARACTERS_MAX || value.length > most;
}

const DECLARATIONS = RESERVED_NAMESPACES[1];
/** What a name may hold and not begin with; the parser lets it begin the part behind a prefix (XML Namespaces, 4). */
const NO_START = /^(?:[-.0-9\u00b7\u203f\u2040]|[\u0300-\u036f])/;

/** Thrown out of an event to stop the parser, which would go on behind an error; never leaves this file. */
class Refused extends Error {
  readonly problem: XmlProblem;

  constructor(problem: XmlProblem, words: string) {
    super(words);
    this.problem = problem;
  }
}

/** Reads a document. Cost: about 20 ns a character. */
export function readXml(text: string, limits: XmlLimits, watcher: XmlWatcher = {}): XmlReading {
  const parser = new SaxesParser({ xmlns: true, defaultXMLVersion: '1.0', forceXMLVersion: true });
  const open: XmlDraft[] = [];
  let root: XmlElement | undefined;
  let [elements, attributes, instructions] = [0, 0, 0];
  const addText = (piece: string): void => {
    const children = open.at(-1)?.children;
    if (children === undefined || piece === '') return;
    const last = children.at(-1);
    if (typeof last === 'string') children[children.length - 1] = last + piece;
    else children.push(piece);
  };
  parser.on('error', ({ message }) => refuse('illFormed', message));
  parser.on('doctype', () => refuse('documentType'));
  parser.on('processinginstruction', () => {
    if (++instructions > limits.instructions) refuse('processingInstruction');
  });
  parser.on('xmldecl', ({ version }) => watcher.declared?.(version));
  parser.on('opentagstart', ({ name }) => {
    attributes = 0;
    if (isTooLong(name.length)) refuse('tooLong');
  });
  parser.on('attribute', ({ name, prefix, value }) => {
    if (++attributes > limits.attributes) refuse('tooManyAttributes');
    if (isTooLong(name.length, value, prefix === 'xmlns' || name === 'xmlns')) refuse('tooLong');
  });
  parser.on('opentag', (tag) => {
    if (open.length >= limits.depth) refuse('tooDeep');
    if (++elements > limits.elements) refuse('tooManyElements');
    const element = elementOf(tag);
    watcher.started?.(element, parser.line);
    open.at(-1)?.children.push(element);
    open.push(element);
    root ??= element;
  });
  parser.on('closetag', () => {
    const element = open.pop()!;
    watcher.ended?.(element, parser.line);
  });
  parser.on('text', addText);
  parser.on('cdata', addText);
  try {
    parser.write(text).close();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { kind: 'refused', problem: error.problem, line: parser.line, words: error.message };
  }
  return { kind: 'read', root: root! };
}

function refuse(problem: XmlProblem, words = ''): never {
  throw new Refused(problem, words);
}

function elementOf({ name, prefix, local, uri, attributes }: SaxesTagNS): XmlDraft {
  const all = Object.values(attributes);
  if ([local, ...all.map((attribute) => attribute.local)].some((part) => NO_START.test(part))) {
    refuse('illFormed', `malformed name in ${name}`);
  }
  return {
    name,
    prefix,
    local,
    uri,
    declarations: all
      .filter((attribute) => attribute.uri === DECLARATIONS)
      .map((attribute) => ({ prefix: attribute.prefix === '' ? '' : attribute.local, uri: attribute.value })),
    attributes: all
      .filter((attribute) => attribute.uri !== DECLARATIONS)
      .map((attribute) => ({ uri: attribute.uri, local: attribute.local, value: attribute.value })),
    children: [],
  };
}
