// Well-formed XML with namespaces as a tree of elements, within limits, by the saxes parser. Nothing is fetched and no
// entity but the five of XML is known: a document type declaration ends the reading. Knows no SOAP.
import { SaxesParser, type SaxesTagNS } from 'saxes';
import type { FaultName } from './faults.ts';

/** An attribute; `uri` is '' where it has no prefix. Declarations of namespaces are none. */
export interface Attribute {
  readonly uri: string;
  readonly local: string;
  readonly value: string;
}

/** An element; `text` is its own character data, CDATA included, joined across comments and children. */
export interface Element {
  readonly uri: string;
  readonly local: string;
  readonly attributes: readonly Attribute[];
  readonly children: readonly Element[];
  readonly text: string;
}

/** What the document is not, in the words of the fault table. */
export type XmlFault = Extract<
  FaultName,
  'illFormed' | 'documentType' | 'processingInstruction' | 'tooDeep' | 'tooManyElements' | 'tooManyAttributes'
>;

/** Deeper than any client nests: a SOAP message with references needs 5. */
const DEPTH_MAX = 32;
/** A body of 1 MiB could hold 260,000. */
const ELEMENTS_MAX = 20_000;
/** Clients declare up to 10 namespaces on an element (A94). */
const ATTRIBUTES_MAX = 64;
/** The parser goes on behind an error, and each costs microseconds: it is stopped at the end of such a slice. */
const SLICE_LENGTH = 2048;

const DECLARATIONS = 'http://www.w3.org/2000/xmlns/';
/** What a name may hold and not begin with; the parser lets it begin the part behind a prefix (XML Namespaces, 4). */
const NO_START = /^(?:[-.0-9\u00b7\u203f\u2040]|[\u0300-\u036f])/;

/** The root element of a document, or the first thing that is wrong with it. Cost: about 20 ns a character. */
export function parseXml(text: string): Element | XmlFault {
  const draft = new Draft();
  for (let at = 0; at < text.length && draft.fault === undefined; at += SLICE_LENGTH) {
    draft.parser.write(text.slice(at, at + SLICE_LENGTH));
  }
  // Closing a parser that was stopped finds what is not there yet, which is not the first thing wrong any more.
  if (draft.fault === undefined) draft.parser.close();
  return draft.fault ?? draft.root ?? 'illFormed';
}

interface DraftElement extends Element {
  readonly children: DraftElement[];
  text: string;
}

/** The tree while it grows. */
class Draft {
  readonly parser = new SaxesParser({ xmlns: true, position: false, defaultXMLVersion: '1.0', forceXMLVersion: true });
  root: DraftElement | undefined;
  fault: XmlFault | undefined;
  readonly #open: DraftElement[] = [];
  #elements = 0;
  #attributes = 0;

  constructor() {
    const { parser } = this;
    parser.on('error', () => this.#refuse('illFormed'));
    parser.on('doctype', () => this.#refuse('documentType'));
    parser.on('processinginstruction', () => this.#refuse('processingInstruction'));
    parser.on('opentagstart', () => void (this.#attributes = 0));
    parser.on('attribute', () => {
      if (++this.#attributes > ATTRIBUTES_MAX) this.#refuse('tooManyAttributes');
    });
    parser.on('opentag', (tag) => this.#push(tag));
    parser.on('closetag', () => void this.#open.pop());
    parser.on('text', (text) => this.#add(text));
    parser.on('cdata', (text) => this.#add(text));
  }

  #refuse(fault: XmlFault): void {
    this.fault ??= fault;
  }

  #push({ uri, local, attributes }: SaxesTagNS): void {
    const all = Object.values(attributes);
    if (NO_START.test(local) || all.some((attribute) => NO_START.test(attribute.local))) this.#refuse('illFormed');
    const own = all.filter((attribute) => attribute.uri !== DECLARATIONS);
    const element: DraftElement = { uri, local, attributes: own, children: [], text: '' };
    const parent = this.#open.at(-1);
    if (parent) parent.children.push(element);
    else this.root ??= element;
    if (this.#open.push(element) > DEPTH_MAX) this.#refuse('tooDeep');
    if (++this.#elements > ELEMENTS_MAX) this.#refuse('tooManyElements');
  }

  #add(text: string): void {
    const element = this.#open.at(-1);
    if (element) element.text += text;
  }
}
