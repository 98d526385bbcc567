// Reads XML strictly into a small tree (saxes), and escapes text for writing. Entities of a document type are never
// expanded.
import { SaxesParser, type SaxesTagNS } from 'saxes';

/** An attribute that is not a namespace declaration. `uri` is '' if it has no prefix. */
interface XmlAttribute {
  readonly uri: string;
  readonly local: string;
  readonly value: string;
}

/** A namespace declaration, with its value as written. The prefix of the default namespace is ''. */
interface XmlDeclaration {
  readonly prefix: string;
  readonly uri: string;
}

/**
 * An element. `name` is as written, with its prefix; `uri` is '' if it is in no namespace. `children` are elements and
 * texts in order. Adjacent texts are merged, also across comments and CDATA.
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

/** An element during parsing. */
type XmlDraft = XmlElement & { readonly children: (XmlElement | string)[] };

/** Namespaces that a document must not bind to another prefix (Namespaces in XML, section 3). */
const RESERVED_NAMESPACES = ['http://www.w3.org/XML/1998/namespace', 'http://www.w3.org/2000/xmlns/'] as const;

/** The value of an attribute; undefined if it is missing. */
export function readAttribute({ attributes }: XmlElement, uri: string, local: string): string | undefined {
  return attributes.find((attribute) => attribute.uri === uri && attribute.local === local)?.value;
}

/** The child elements in order; empty for undefined. */
export function childElements(element: XmlElement | undefined): readonly XmlElement[] {
  return element?.children.filter((child) => typeof child !== 'string') ?? [];
}

/** The texts directly in an element, joined; '' for undefined. */
export function textContent(element: XmlElement | undefined): string {
  return element?.children.filter((child) => typeof child === 'string').join('') ?? '';
}

/** Characters that canonical XML escapes in texts (Canonical XML 1.0, section 2.3). */
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };

/** Escapes a text between tags, also for canonical XML. */
export function escapeText(text: string): string {
  return text.replace(/[&<>\r]/g, (character) => ESCAPES[character]!);
}

/**
 * Limits of a document: nesting levels, elements, attributes of one element including its namespace declarations, and
 * processing instructions.
 */
export interface XmlLimits {
  readonly depth: number;
  readonly elements: number;
  readonly attributes: number;
  readonly instructions: number;
}

export type XmlProblem =
  | 'illFormed'
  | 'documentType'
  | 'processingInstruction'
  | 'tooDeep'
  | 'tooManyElements'
  | 'tooManyAttributes'
  | 'tooLong';

/** The root of a document, or its first error with the line. `words` may contain parts of the document. */
type XmlReading =
  | { readonly kind: 'read'; readonly root: XmlElement }
  | { readonly kind: 'refused'; readonly problem: XmlProblem; readonly line: number; readonly words: string };

/** Observes the parsing. An exception of a method stops it, and `readXml` throws that exception. */
interface XmlWatcher {
  declared?(version: string | undefined): void;
  /** Called for a start tag, with the line where it ends. The element has no children yet. */
  started?(element: XmlElement, line: number): void;
  ended?(element: XmlElement, line: number): void;
}

/** Limits of names and namespace names, and of other values of attributes. */
const NAME_CHARACTERS_MAX = 1024;
const VALUE_CHARACTERS_MAX = 8192;

/**
 * Whether the name of an element or attribute, or its value, exceeds the limits. The parser compares both with all
 * others of an element, and strings of more than 16,383 characters collide in every set of V8.
 */
function isTooLong(nameCharacters: number, value = '', isDeclaration = false): boolean {
  const most = isDeclaration ? NAME_CHARACTERS_MAX : VALUE_CHARACTERS_MAX;
  return nameCharacters > NAME_CHARACTERS_MAX || value.length > most;
}

const DECLARATIONS = RESERVED_NAMESPACES[1];
/**
 * Characters that a name may contain but not begin with. The parser accepts them after a prefix (XML Namespaces, 4).
 */
const NO_START = /^(?:[-.0-9\u00b7\u203f\u2040]|[\u0300-\u036f])/;

/** Thrown in an event to stop the parser, which would otherwise continue after an error. Never leaves this file. */
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
    const element = makeElement(tag);
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

function makeElement({ name, prefix, local, uri, attributes }: SaxesTagNS): XmlDraft {
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
