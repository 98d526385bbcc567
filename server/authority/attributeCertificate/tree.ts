// Reads a small XML document into a tree, strictly: what an attribute certificate has no use for is refused, not
// interpreted. Knows no names of elements; read.ts judges those. Built on saxes; fetches nothing and expands no entity
// of a document. What authorities write is plain, and is read ten times as fast by plainTree.ts.
import { SaxesParser, type SaxesTagNS } from 'saxes';
import type { Growing, XmlElement } from './element.ts';
import { readPlainTree } from './plainTree.ts';

/** The root of a document, or why it is none, as the end of a sentence that begins with `it`. */
export type TreeReading =
  { readonly kind: 'read'; readonly root: XmlElement } | { readonly kind: 'unreadable'; readonly reason: string };

/** How much of a document is read. */
const TREE_LIMITS = { bytes: 262_144, depth: 32, elements: 20_000 } as const;

/** Thrown out of a parser's event to stop it; never leaves this file. */
class Refused extends Error {}

/**
 * Reads a document. Refused: more than the limits, anything ill-formed, XML 1.1, a DOCTYPE (nothing in it is
 * interpreted), processing instructions, elements with two attributes or two namespace declarations, prefixed
 * attributes. Cost: linear in its length.
 */
export function readTree(text: string): TreeReading {
  if (text.length > TREE_LIMITS.bytes || Buffer.byteLength(text) > TREE_LIMITS.bytes) {
    return { kind: 'unreadable', reason: `is longer than ${TREE_LIMITS.bytes} bytes` };
  }
  if (!text.isWellFormed()) return { kind: 'unreadable', reason: 'has characters that are not Unicode' };
  try {
    return { kind: 'read', root: readPlainTree(text, TREE_LIMITS) ?? readGeneralTree(text) };
  } catch (error) {
    if (error instanceof Refused) return { kind: 'unreadable', reason: error.message };
    throw error;
  }
}

/** The tree as saxes reads it, for texts that are not plain. */
function readGeneralTree(text: string): XmlElement {
  const parser = new SaxesParser({ xmlns: true, position: false });
  const open: Growing[] = [];
  let root: Growing | undefined;
  let elements = 0;
  const addText = (piece: string): void => {
    const children = open.at(-1)?.children;
    if (!children || piece === '') return;
    if (typeof children.at(-1) === 'string') children[children.length - 1] += piece;
    else children.push(piece);
  };
  // The parser's own words repeat parts of the document.
  parser.on('error', () => refuse(`is not well-formed XML (line ${parser.line})`));
  parser.on('doctype', () => refuse('has a DOCTYPE'));
  parser.on('processinginstruction', () => refuse('has a processing instruction'));
  parser.on('xmldecl', ({ version }) => {
    if (version !== '1.0') refuse('is not XML 1.0');
  });
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('opentag', (tag) => {
    if (++elements > TREE_LIMITS.elements) refuse(`has more than ${TREE_LIMITS.elements} elements`);
    if (open.length >= TREE_LIMITS.depth) refuse(`is nested deeper than ${TREE_LIMITS.depth} elements`);
    const element = elementOf(tag);
    open.at(-1)?.children.push(element);
    open.push(element);
    root ??= element;
  });
  parser.on('closetag', () => void open.pop());
  parser.write(text).close();
  return root ?? refuse('has no element');
}

function refuse(reason: string): never {
  throw new Refused(reason);
}

function elementOf(tag: SaxesTagNS): Growing {
  const all = Object.values(tag.attributes);
  const declarations = all.filter(({ name }) => name === 'xmlns' || name.startsWith('xmlns:'));
  const attributes = all.filter((attribute) => !declarations.includes(attribute));
  if (declarations.length > 1) refuse('declares two namespaces on one element');
  if (attributes.length > 1) refuse('has an element with two attributes');
  if (attributes[0]?.name.includes(':')) refuse('has an attribute with a prefix');
  const [declared, attribute] = [declarations[0], attributes[0]];
  return {
    name: tag.name,
    local: tag.local,
    prefix: tag.prefix,
    namespace: tag.uri,
    declaration: declared && {
      name: declared.name,
      prefix: declared.name === 'xmlns' ? '' : declared.local,
      namespace: declared.value,
    },
    attribute: attribute && { name: attribute.name, value: attribute.value },
    children: [],
  };
}
