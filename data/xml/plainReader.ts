// The quick reader of XML: the plain documents that toolkits and authorities write, and nothing else. Judges nothing:
// for whatever is not plain it answers undefined, and reader.ts reads the text. Both make the same tree of a plain one;
// test/differential/plainReader.long.test.ts and test/property/envelopes.test.ts compare them on hostile ones. Without
// it an authorisation costs 1.14 times as much, one by an attribute certificate 1.4.
import { RESERVED_NAMESPACES, type XmlAttribute, type XmlDeclaration } from './element.ts';
import type { XmlDraft, XmlElement } from './element.ts';
import { isTooLong, type XmlLimits } from './reader.ts';
import { unescapedText } from './text.ts';

/** How large a tree may be; more is for the other reader to refuse. */
export type TreeSize = Pick<XmlLimits, 'depth' | 'elements' | 'attributes'>;

const DECLARATION =
  /^<\?xml version=(["'])1\.0\1(?: encoding=(["'])[Uu][Tt][Ff]-8\2)?(?: standalone=(["'])(?:yes|no)\3)? ?\?>/;
const BLANKS = /[\t\n ]*/y;
/** Prefix and name of a start tag. */
const START = /<(?:([A-Za-z_][\w.-]*):)?([A-Za-z_][\w.-]*)/y;
/** Prefix and name of an attribute, and its value in either quotes: printable ASCII without references. */
const ATTRIBUTE = /[\t\n ]+(?:([A-Za-z_][\w.-]*):)?([A-Za-z_][\w.-]*)=(?:"([ !#-%'-;=-~]*)"|'([ -%(-;=-~]*)')/y;
/** The slash of an empty element, and the text behind a start tag: printable ASCII, tabs, line feeds. */
const START_END = /[\t\n ]*(\/?)>([\t\n -;=?-~]*)/y;
/** The name of an end tag, as written, and the text behind it. */
const END = /<\/([\w.:-]+)[\t\n ]*>([\t\n -;=?-~]*)/y;

/** An `&` that begins no reference to one of the five characters. */
const STRAY = /&(?!(?:lt|gt|amp|quot|apos);)/;
const RESERVED_PREFIX = /^xml/i;
const RESERVED: ReadonlySet<string> = new Set(RESERVED_NAMESPACES);
const NONE: readonly never[] = Object.freeze([]);
const SLASH = 0x2f;

/** More than clients declare in a whole request: every element that declares one copies those in scope. */
const BINDINGS_MAX = 32;

/** Namespaces by prefix; that of '' is the default one. */
type Scope = ReadonlyMap<string, string>;

/** An attribute as written. */
interface Written {
  readonly prefix: string;
  readonly name: string;
  readonly value: string;
}

/**
 * The tree of a document in plain XML: ASCII without `<!`, carriage returns and other controls; references to the five
 * characters, in texts only, and no others; at most a declaration of XML 1.0 that says UTF-8 or nothing of it; prefixes
 * of one's own, bound once an element, and attributes of one name at most once. Undefined for every other text.
 * `started` is told each element, which has no children yet; what it throws ends the reading. Cost: linear, 5 us for a
 * usual envelope, 25 us for an attribute certificate.
 */
export function readPlainTree(
  text: string,
  size: TreeSize,
  started: (element: XmlElement) => void = () => undefined,
): XmlElement | undefined {
  return new PlainReader(text, size, started).root();
}

/** A reader of one text; answers undefined or false where something is not plain, and is of no more use then. */
class PlainReader {
  readonly #text: string;
  readonly #size: TreeSize;
  readonly #started: (element: XmlElement) => void;
  readonly #open: { readonly element: XmlDraft; readonly scope: Scope }[] = [];
  #at = 0;
  #root: XmlElement | undefined;
  #elements = 0;

  constructor(text: string, size: TreeSize, started: (element: XmlElement) => void) {
    this.#text = text;
    this.#size = size;
    this.#started = started;
  }

  root(): XmlElement | undefined {
    this.#at = DECLARATION.exec(this.#text)?.[0].length ?? 0;
    this.#next(BLANKS);
    while (this.#at < this.#text.length) {
      const isEnd = this.#text.charCodeAt(this.#at + 1) === SLASH;
      if (!(isEnd ? this.#endTag() : this.#startTag())) return undefined;
    }
    return this.#open.length === 0 ? this.#root : undefined;
  }

  /** What stands here, behind which it goes on; null where it is something else. */
  #next(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at = pattern.lastIndex;
    return match;
  }

  #endTag(): boolean {
    const match = this.#next(END);
    return match !== null && this.#open.pop()?.element.name === match[1] && this.#takeText(match[2]!);
  }

  #startTag(): boolean {
    const start = this.#next(START);
    const isSecond = this.#root !== undefined && this.#open.length === 0;
    const isTooMany = ++this.#elements > this.#size.elements || this.#open.length >= this.#size.depth;
    if (start === null || isTooLong(start[0].length - 1) || isSecond || isTooMany) return false;
    const written = this.#attributes();
    const end = written && this.#next(START_END);
    if (!end) return false;
    const declarations = declarationsOf(written);
    const scope = declarations && scopeWith(declarations, this.#open.at(-1)?.scope);
    const element = scope && elementOf(start, declarations, written, scope);
    if (!element || scope.size > BINDINGS_MAX) return false;
    this.#started(element);
    this.#open.at(-1)?.element.children.push(element);
    this.#root ??= element;
    if (end[1] === '') this.#open.push({ element, scope });
    return this.#takeText(end[2]!);
  }

  #attributes(): readonly Written[] | undefined {
    let match = this.#next(ATTRIBUTE);
    if (match === null) return NONE;
    const written: Written[] = [];
    for (; match !== null; match = this.#next(ATTRIBUTE)) {
      const [, prefix = '', name, inQuotes, inApostrophes] = match;
      if (written.length === this.#size.attributes) return undefined;
      const one: Written = { prefix, name: name!, value: inQuotes ?? inApostrophes! };
      if (isTooLong(prefix.length + 1 + one.name.length, one.value, isDeclaration(one))) return undefined;
      written.push(one);
    }
    return written;
  }

  #takeText(written: string): boolean {
    if (written === '') return true;
    const children = this.#open.at(-1)?.element.children;
    if (children === undefined) return /^[\t\n ]*$/.test(written);
    if (written.includes('&')) {
      if (STRAY.test(written)) return false;
      written = unescapedText(written);
    }
    children.push(written);
    return true;
  }
}

function isDeclaration({ prefix, name }: Written): boolean {
  return prefix === 'xmlns' || (prefix === '' && name === 'xmlns');
}

/** Undefined where one is taken back, not everyone's, bound twice, or has blanks, which parsers read differently. */
function declarationsOf(written: readonly Written[]): readonly XmlDeclaration[] | undefined {
  const found = written.filter(isDeclaration);
  if (found.length === 0) return NONE;
  const declarations = found.map(({ prefix, name, value }) => ({ prefix: prefix === '' ? '' : name, uri: value }));
  const isUnusual = declarations.some(
    ({ prefix, uri }) => uri === '' || uri.includes(' ') || RESERVED.has(uri) || RESERVED_PREFIX.test(prefix),
  );
  return isUnusual || hasRepeats(declarations.map(({ prefix }) => prefix)) ? undefined : declarations;
}

function scopeWith(declarations: readonly XmlDeclaration[], outer: Scope = new Map()): Scope {
  if (declarations.length === 0) return outer;
  return new Map([...outer, ...declarations.map(({ prefix, uri }) => [prefix, uri] as const)]);
}

function elementOf(
  [, prefix = '', local]: RegExpExecArray,
  declarations: readonly XmlDeclaration[],
  written: readonly Written[],
  scope: Scope,
): XmlDraft | undefined {
  const uri = scope.get(prefix) ?? (prefix === '' ? '' : undefined);
  const attributes = declarations.length === written.length ? NONE : attributesOf(written, scope);
  if (uri === undefined || attributes === undefined) return undefined;
  const name = prefix === '' ? local! : `${prefix}:${local}`;
  return { name, prefix, local: local!, uri, declarations, attributes, children: [] };
}

function attributesOf(written: readonly Written[], scope: Scope): readonly XmlAttribute[] | undefined {
  const attributes: XmlAttribute[] = [];
  for (const attribute of written) {
    if (isDeclaration(attribute)) continue;
    const { prefix, name, value } = attribute;
    const uri = prefix === '' ? '' : scope.get(prefix);
    if (uri === undefined) return undefined;
    attributes.push({ uri, local: name, value });
  }
  return hasRepeats(attributes.map(({ local }) => local)) ? undefined : attributes;
}

function hasRepeats(names: readonly string[]): boolean {
  return names.some((name, i) => names.indexOf(name) < i);
}
