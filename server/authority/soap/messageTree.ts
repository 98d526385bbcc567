// The tree of a SOAP message, request or answer, within the limits of messages. Knows no element; what SOAP forbids of
// XML is refused here (SOAP 1.1, 3).
import type { XmlElement } from '../../../data/xml/element.ts';
import { readXml, type XmlLimits, type XmlProblem } from '../../../data/xml/reader.ts';

const LIMITS: XmlLimits = {
  // Deeper than any client nests: a SOAP message with references needs 5.
  depth: 32,
  // A body of 1 MiB could hold 260,000.
  elements: 20_000,
  // Clients declare up to 10 namespaces on an element (A94).
  attributes: 64,
  // A90.
  instructions: 0,
};

/**
 * The root element of a message, or the first thing that is wrong with it; an answer may have more elements than a
 * request. Cost: about 20 ns a character.
 */
export function messageTree(text: string, elements = LIMITS.elements): XmlElement | XmlProblem {
  const reading = readXml(text, { ...LIMITS, elements });
  return reading.kind === 'read' ? reading.root : reading.problem;
}
