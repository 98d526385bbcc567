// Values that stand elsewhere in the request: `href="#id"` of SOAP 1.1, 5.4.1, and texts that are nil. Pure. Only
// references within the request are followed, and only a few steps.
import type { FaultName } from './faults.ts';
import { NAMESPACES } from './protocol.ts';
import type { Element } from './xmlTree.ts';

/** Hrefs followed for one value: one is what clients write. */
const STEPS_MAX = 4;

/** The elements that have an unqualified id, or undefined where two have the same. Cost: a walk over the tree. */
export function elementsById(root: Element): ReadonlyMap<string, Element> | undefined {
  const ids = new Map<string, Element>();
  const walk = (element: Element): boolean => {
    const id = ownAttribute(element, 'id');
    if (id !== undefined && ids.has(id)) return false;
    if (id !== undefined) ids.set(id, element);
    return element.children.every(walk);
  };
  return walk(root) ? ids : undefined;
}

/** The text of a value, behind its references; '' where it is nil. White space is kept. */
export function referencedText(value: Element, ids: ReadonlyMap<string, Element>): string | { fault: FaultName } {
  let element = value;
  for (let steps = 0; ; steps++) {
    const href = ownAttribute(element, 'href');
    if (href === undefined) return textOf(element);
    if (element.children.length > 0 || element.text.trim() !== '') return { fault: 'contentBesideReference' };
    if (!href.startsWith('#')) return { fault: 'foreignReference' };
    const target = ids.get(href.slice(1));
    if (target === undefined) return { fault: 'danglingReference' };
    if (steps === STEPS_MAX) return { fault: 'longReference' };
    element = target;
  }
}

function textOf({ attributes, children, text }: Element): string | { fault: FaultName } {
  if (children.length > 0) return { fault: 'elementsInPart' };
  const nil = attributes.find(({ uri, local }) => uri === NAMESPACES.instance && local === 'nil')?.value.trim();
  return nil === '1' || nil === 'true' ? '' : text;
}

function ownAttribute({ attributes }: Element, name: string): string | undefined {
  return attributes.find(({ uri, local }) => uri === '' && local === name)?.value;
}
