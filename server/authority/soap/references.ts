// Values that stand elsewhere in the request: `href="#id"` of SOAP 1.1, 5.4.1, and texts that are nil. Pure. Only
// references within the request are followed, and only a few steps.
import { attributeOf, childElements, ownText, type XmlElement } from '../../../data/xml/element.ts';
import type { FaultName } from './faults.ts';
import { NAMESPACES } from './protocol.ts';

/** Hrefs followed for one value: one is what clients write. */
const STEPS_MAX = 4;

/** The elements that have an unqualified id, or undefined where two have the same. Cost: a walk over the tree. */
export function elementsById(root: XmlElement): ReadonlyMap<string, XmlElement> | undefined {
  const ids = new Map<string, XmlElement>();
  const walk = (element: XmlElement): boolean => {
    const id = attributeOf(element, '', 'id');
    if (id !== undefined && ids.has(id)) return false;
    if (id !== undefined) ids.set(id, element);
    return childElements(element).every(walk);
  };
  return walk(root) ? ids : undefined;
}

/** The text of a value, behind its references; '' where it is nil. White space is kept. */
export function referencedText(value: XmlElement, ids: ReadonlyMap<string, XmlElement>): string | { fault: FaultName } {
  let element = value;
  for (let steps = 0; ; steps++) {
    const href = attributeOf(element, '', 'href');
    if (href === undefined) return leafText(element);
    if (childElements(element).length > 0 || ownText(element).trim() !== '') return { fault: 'contentBesideReference' };
    if (!href.startsWith('#')) return { fault: 'foreignReference' };
    const target = ids.get(href.slice(1));
    if (target === undefined) return { fault: 'danglingReference' };
    if (steps === STEPS_MAX) return { fault: 'longReference' };
    element = target;
  }
}

function leafText(element: XmlElement): string | { fault: FaultName } {
  if (childElements(element).length > 0) return { fault: 'elementsInPart' };
  const nil = attributeOf(element, NAMESPACES.instance, 'nil')?.trim();
  return nil === '1' || nil === 'true' ? '' : ownText(element);
}
