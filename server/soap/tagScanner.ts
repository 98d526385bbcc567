// Reads plain markup byte by byte: start tags, end tags, texts; every method is false or undefined where anything is
// unusual. After that the scanner is of no more use. Knows no order of elements.
import { NAMED_CHARACTERS, unescapedText } from '../xml/text.ts';
import { type Binding, NamespaceScope } from './namespaceScope.ts';
import * as plain from './plainMarkup.ts';
import { ascii, CLASSES, isText } from './plainMarkup.ts';

const XMLNS = ascii('xmlns');
const TYPE = ascii('type');
const ENCODING_STYLE = ascii('encodingStyle');
const DECLARATION =
  /^<\?xml version=(["'])1\.0\1(?: encoding=(["'])[Uu][Tt][Ff]-8\2)?(?: standalone=(["'])(?:yes|no)\3)? ?\?>/;
const DECLARATION_BYTES = 80;
const NAMES = Object.keys(NAMED_CHARACTERS).map(ascii);

/** Where the semicolon of the reference at `start` stands; -1 where it is none to one of those characters. */
function referenceEnd(bytes: Uint8Array, start: number): number {
  for (const name of NAMES) {
    const end = start + 1 + name.length;
    if (bytes[end] === plain.SEMICOLON && isText(bytes, start + 1, end, name)) return end;
  }
  return -1;
}

/** A scanner of one request, at its beginning. */
export class TagScanner {
  readonly #bytes: Uint8Array;
  readonly #scope: NamespaceScope;
  #at = 0;
  // The name read last, from start over its colon (or -1); it ended where the scanner stood then.
  #nameStart = 0;
  #nameColon = -1;
  // The name of the start tag read last, likewise.
  #tagColon = -1;
  #tagEnd = 0;
  // The prefixes of its attributes `type` and `encodingStyle`; one that ends at 0 is not there.
  #typeStart = 0;
  #typeEnd = 0;
  #styleStart = 0;
  #styleEnd = 0;
  /** Where the name of the start tag read last begins: what its end tag is asked for with. */
  tagStart = 0;
  /** Whether that tag ended with `/>`. */
  isClosed = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#scope = new NamespaceScope(bytes);
  }

  /** An XML declaration that says UTF-8 or nothing of it, or none. */
  declaration(): boolean {
    const bytes = this.#bytes;
    if (bytes[0] !== plain.LESS || bytes[1] !== plain.QUESTION) return true;
    const length = Math.min(bytes.length, DECLARATION_BYTES);
    const match = DECLARATION.exec(Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('latin1'));
    this.#at = match?.[0].length ?? 0;
    return match !== null;
  }

  /**
   * A start tag behind white space: declarations, a prefixed `type` and a prefixed `encodingStyle`, no other
   * attributes.
   */
  startTag(): boolean {
    this.#space();
    if (this.#bytes[this.#at++] !== plain.LESS || !this.#name()) return false;
    this.tagStart = this.#nameStart;
    this.#tagColon = this.#nameColon;
    this.#tagEnd = this.#at;
    if (!this.#attributes()) return false;
    this.isClosed = this.#bytes[this.#at] === plain.SLASH;
    if (this.isClosed) this.#at++;
    return this.#bytes[this.#at++] === plain.GREATER;
  }

  /** The start tag of what comes first in the element begun last; false where that one is closed already. */
  childTag(): boolean {
    return !this.isClosed && this.startTag();
  }

  /** Whether the start tag read last has this name in this namespace. */
  isTag(binding: Binding, name: Uint8Array): boolean {
    const colon = this.#tagColon;
    if (!isText(this.#bytes, colon < 0 ? this.tagStart : colon + 1, this.#tagEnd, name)) return false;
    return this.#scope.bindingOf(this.tagStart, colon < 0 ? this.tagStart : colon) === binding;
  }

  /** Whether an end tag follows behind white space. */
  isEndNext(): boolean {
    this.#space();
    return this.#bytes[this.#at + 1] === plain.SLASH;
  }

  /** The end tag, behind white space, of the element whose name begins at `start`. */
  endTag(start: number): boolean {
    const bytes = this.#bytes;
    this.#space();
    if (bytes[this.#at] !== plain.LESS || bytes[this.#at + 1] !== plain.SLASH) return false;
    let at = this.#at + 2;
    for (let from = start; CLASSES[bytes[from]!]! & plain.NAME_PART || bytes[from] === plain.COLON; from++, at++) {
      if (bytes[at] !== bytes[from]) return false;
    }
    this.#at = at;
    this.#space();
    return bytes[this.#at++] === plain.GREATER;
  }

  /**
   * The text of the element whose start tag was read last, references resolved, and its end; the namespaces go back to
   * `scope`.
   */
  textElement(scope: number): string | undefined {
    const bytes = this.#bytes;
    const start = this.#at;
    let end = start;
    let hasReferences = false;
    if (!this.isClosed) {
      for (; ; end++) {
        while (CLASSES[bytes[end] ?? 0]! & plain.TEXT) end++;
        if (bytes[end] !== plain.AMPERSAND) break;
        end = referenceEnd(bytes, end);
        if (end < 0) return undefined;
        hasReferences = true;
      }
      this.#at = end;
      if (!this.endTag(this.tagStart)) return undefined;
    }
    this.#scope.leave(scope);
    if (end === start) return '';
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
    return hasReferences ? unescapedText(text) : text;
  }

  /** How many namespaces are declared here. */
  scope(): number {
    return this.#scope.length;
  }

  /** Whether nothing follows but white space. */
  isEnd(): boolean {
    this.#space();
    return this.#at === this.#bytes.length;
  }

  #space(): void {
    const bytes = this.#bytes;
    let at = this.#at;
    while (bytes[at] === plain.SPACE || bytes[at] === plain.NEWLINE || bytes[at] === plain.TAB) at++;
    this.#at = at;
  }

  /** A name with at most one colon, with a letter on either side. */
  #name(): boolean {
    this.#nameStart = this.#at;
    this.#nameColon = -1;
    if (!this.#localName()) return false;
    if (this.#bytes[this.#at] !== plain.COLON) return true;
    this.#nameColon = this.#at++;
    return this.#localName();
  }

  #localName(): boolean {
    const bytes = this.#bytes;
    let at = this.#at;
    if (!(CLASSES[bytes[at] ?? 0]! & plain.NAME_START)) return false;
    while (CLASSES[bytes[at] ?? 0]! & plain.NAME_PART) at++;
    this.#at = at;
    return true;
  }

  /** The attributes up to `>` or `/>`: binds namespaces, and sees that the prefixes used are bound. */
  #attributes(): boolean {
    const own = this.#scope.length;
    this.#typeEnd = this.#styleEnd = 0;
    for (;;) {
      const before = this.#at;
      this.#space();
      const byte = this.#bytes[this.#at];
      if (byte === plain.GREATER || byte === plain.SLASH) return this.#arePrefixesBound();
      if (this.#at === before || !this.#name() || !this.#attribute(own)) return false;
    }
  }

  /** One attribute, of which the name was read. */
  #attribute(own: number): boolean {
    const bytes = this.#bytes;
    const start = this.#nameStart;
    const colon = this.#nameColon;
    const end = this.#at;
    const quote = bytes[end + 1];
    if (bytes[end] !== plain.EQUALS || (quote !== plain.QUOTE && quote !== plain.APOSTROPHE)) return false;
    let valueEnd = end + 2;
    while (CLASSES[bytes[valueEnd] ?? 0]! & plain.VALUE && bytes[valueEnd] !== quote) valueEnd++;
    if (bytes[valueEnd] !== quote) return false;
    this.#at = valueEnd + 1;
    if (isText(bytes, start, colon < 0 ? end : colon, XMLNS)) {
      return this.#scope.bind(own, { start: colon < 0 ? end : colon + 1, end }, { start: end + 2, end: valueEnd });
    }
    return colon >= 0 && this.#note(start, colon, end);
  }

  /** Notes the prefix of an attribute that means nothing to us; each such one at most once in a tag. */
  #note(start: number, colon: number, end: number): boolean {
    if (this.#typeEnd === 0 && isText(this.#bytes, colon + 1, end, TYPE)) {
      this.#typeStart = start;
      this.#typeEnd = colon;
      return true;
    }
    if (this.#styleEnd > 0 || !isText(this.#bytes, colon + 1, end, ENCODING_STYLE)) return false;
    this.#styleStart = start;
    this.#styleEnd = colon;
    return true;
  }

  #arePrefixesBound(): boolean {
    const scope = this.#scope;
    return (
      (this.#typeEnd === 0 || scope.bindingOf(this.#typeStart, this.#typeEnd) !== 'unbound') &&
      (this.#styleEnd === 0 || scope.bindingOf(this.#styleStart, this.#styleEnd) !== 'unbound')
    );
  }
}
