// The tree of an attribute certificate: what it has no use for is refused, not interpreted. Knows no names of elements;
// read.ts judges those.
import type { XmlElement } from '../../../data/xml/element.ts';
import { readXml, type XmlLimits, type XmlProblem } from '../../../data/xml/reader.ts';
import { Misshapen, misshapen } from './shape.ts';

/** The root of a document, or why it is none, as the end of a sentence that begins with `it`. */
export type TreeReading =
  { readonly kind: 'read'; readonly root: XmlElement } | { readonly kind: 'unreadable'; readonly reason: string };

/** The longest document that is read: longer ones are refused by their length. */
export const DOCUMENT_BYTES_MAX = 262_144;
const LIMITS: XmlLimits = { depth: 32, elements: 20_000, attributes: 64, instructions: 0 };

/** In our words: those of the parser repeat parts of the document. */
const REASONS: Readonly<Record<XmlProblem, (line: number) => string>> = {
  illFormed: (line) => `is not well-formed XML (line ${line})`,
  documentType: () => 'has a DOCTYPE',
  processingInstruction: () => 'has a processing instruction',
  tooDeep: () => `is nested deeper than ${LIMITS.depth} elements`,
  tooManyElements: () => `has more than ${LIMITS.elements} elements`,
  tooManyAttributes: () => 'has an element with two attributes',
  tooLong: () => 'has a name or namespace of more than 1,024 characters, or an attribute of more than 8,192',
};

/**
 * Reads a document. Refused: more than the limits, anything ill-formed, XML 1.1, a DOCTYPE (nothing in it is
 * interpreted), processing instructions, elements with two attributes or two namespace declarations, prefixed
 * attributes. Cost: linear in its length.
 */
export function readTree(text: string): TreeReading {
  try {
    return { kind: 'read', root: rootOf(text) };
  } catch (error) {
    if (error instanceof Misshapen) return { kind: 'unreadable', reason: error.message };
    throw error;
  }
}

function rootOf(text: string): XmlElement {
  if (text.length > DOCUMENT_BYTES_MAX || Buffer.byteLength(text) > DOCUMENT_BYTES_MAX)
    misshapen(`is longer than ${DOCUMENT_BYTES_MAX} bytes`);
  if (!text.isWellFormed()) misshapen('has characters that are not Unicode');
  const reading = readXml(text, LIMITS, { declared: judgeVersion, started: judge });
  return reading.kind === 'read' ? reading.root : misshapen(REASONS[reading.problem](reading.line));
}

function judgeVersion(version: string | undefined): void {
  if (version !== '1.0') misshapen('is not XML 1.0');
}

function judge({ declarations, attributes }: XmlElement): void {
  if (declarations.length > 1) misshapen('declares two namespaces on one element');
  if (attributes.length > 1) misshapen('has an element with two attributes');
  if (attributes[0] && attributes[0].uri !== '') misshapen('has an attribute with a prefix');
}
