// Decodes lines of one collection into a batch: checks them against the declaration, finds the values of every column
// and own URLs, and keeps the served bytes. Of a line with an error, only the error is kept.
import { isUtf8 } from 'node:buffer';
import { collectionNamed } from '../../engine/schema/catalogue.ts';
import { type Layout, layoutOf } from '../../engine/schema/layout.ts';
import { type Batch, BatchDraft, type DecodedTexts, linkEnd, LINK_SUFFIX, linkPrefix, type Spill } from './batch.ts';
import { hasBytesAt } from '../../engine/bits/bytes.ts';
import { smallInteger } from '../../engine/column/dictionary.ts';
import { PLACEHOLDER } from '../../engine/column/records.ts';
import { SPEC_LINK_END } from '../../engine/column/served.ts';
import { OutlineNumbers } from './outlines.ts';
import { DEPTH_MAX, KEY_BYTES_MAX, NullFault, jsonPointer, quoteText, ScanFault, Scanner } from './scanner.ts';
import { NO_SHAPE, SCALAR_KIND, type Shape, type ShapeNode, ShapeTree, expectedKind } from './shape.ts';

/** Complete lines of one file: `bytes` ends after a line, and its first line has the number `firstLine`. */
export interface Lines {
  readonly bytes: Uint8Array;
  readonly firstLine: number;
  readonly fileBytesRead: number;
}

/** The minimum size of a run, so that decoding it is worth sending it to a thread. */
export const RUN_BYTES = 2 << 20;

/** Lines of a collection, whose records go to `spill`, if set. Without lines, an order requests the decoded texts. */
export interface DecodeOrder {
  readonly collection: string;
  readonly lines?: Lines;
  readonly spill?: Spill | undefined;
}

/** The reply to an order with lines, or to one without. */
type DecodeReply = { readonly batch: Batch } | { readonly texts: readonly DecodedTexts[] };

/** Returns a function that decodes in the calling thread. A collection's decoder is made with its first lines. */
export function newDecoder(options: DecoderOptions): (order: DecodeOrder) => DecodeReply {
  const decoders = new Map<string, Decoder>();
  return ({ collection, lines, spill }) => {
    const known = decoders.get(collection);
    if (!lines) {
      decoders.delete(collection);
      return { texts: known?.finish() ?? [] };
    }
    const decoder = known ?? makeDecoder(collection, options);
    decoders.set(collection, decoder);
    return { batch: decodeLines(decoder, lines, spill) };
  };
}

/**
 * Decodes a run of lines into a batch. Refuses lines that are not UTF-8 and skips blank ones. Throws like
 * `Decoder.take`.
 */
export function decodeLines(decoder: Decoder, lines: Lines, spill?: Spill): Batch {
  const { bytes } = lines;
  const isText = isUtf8(bytes);
  // Searching a Buffer takes a third of the time of searching other arrays.
  const searched = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let number = lines.firstLine;
  for (let start = 0; start < bytes.length; number++) {
    const newline = searched.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline;
    if (!isText && !isUtf8(bytes.subarray(start, end))) decoder.refuse(number, 'the line is no valid UTF-8');
    else if (!isBlank(bytes, start, end)) decoder.line(bytes, start, end, number);
    start = end + 1;
  }
  return decoder.take(spill);
}

/** Only JSON white space is blank. A line of NUL bytes is a record that a crash has destroyed. */
function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}

export function makeDecoder(name: string, options: DecoderOptions = {}): Decoder {
  const collection = collectionNamed(name);
  if (!collection) throw new Error(`no collection ${name} is declared`);
  return new Decoder(layoutOf(collection), options);
}

const PLACEHOLDER_BYTES = new TextEncoder().encode(PLACEHOLDER);
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
// A byte order mark is part of a key: otherwise a declared name after one would count as that name.
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

export interface DecoderOptions {
  /** Accepts null for every declared value except an id, as if its key were missing. */
  readonly takesNulls?: boolean;
  /** If false, no values of columns are collected, for callers that need only the records. */
  readonly keepsTexts?: boolean;
}

/** Decodes lines of one collection. `take` returns a batch and starts the next; `finish` returns the texts. */
class Decoder {
  readonly #scanner = new Scanner();
  readonly #idField: string;
  /** Whether documented fields except the id accept values that do not fit (A150). */
  readonly #isOpen: boolean;
  readonly #takesNulls: boolean;
  readonly #shapes: ShapeTree;
  readonly #draft: BatchDraft;
  readonly #linkPrefixes: readonly Uint8Array[];
  readonly #path: (string | number)[] = [];
  readonly #outlines = new OutlineNumbers();
  /** The top-level keys of the current record. */
  readonly #keys: string[] = [];
  #lastKey = '';
  #recordStart = 0;
  /** The number of objects begun so far. */
  #objects = 0;

  constructor(layout: Layout, { takesNulls = false, keepsTexts = true }: DecoderOptions = {}) {
    this.#idField = layout.collection.idField;
    this.#isOpen = layout.collection.open;
    this.#takesNulls = takesNulls || this.#isOpen;
    this.#shapes = new ShapeTree(layout, takesNulls);
    this.#draft = new BatchDraft(this.#shapes, this.#scanner.output, keepsTexts);
    this.#linkPrefixes = layout.columns.map(({ to }) => linkPrefix(to));
  }

  /** Decodes the line `bytes[start..end)`, which must be valid UTF-8. Never throws because of its content. */
  line(bytes: Uint8Array, start: number, end: number, lineNumber: number): void {
    this.#draft.mark();
    this.#shapes.begin();
    this.#path.length = 0;
    try {
      this.#record(bytes, start, end);
      this.#draft.lines.push(lineNumber);
    } catch (error) {
      if (!(error instanceof ScanFault)) throw error;
      const fault = { line: lineNumber, pointer: jsonPointer(this.#path), message: error.message };
      this.#draft.faults.push(error instanceof NullFault ? { ...fault, isNull: true } : fault);
      this.#shapes.rollback();
      this.#draft.reset();
    }
  }

  refuse(lineNumber: number, message: string): void {
    this.#draft.faults.push({ line: lineNumber, pointer: '', message });
  }

  /** Returns the batch so far, like `BatchDraft.take`, and starts the next one. */
  take(spill?: Spill): Batch {
    return this.#draft.take(this.#outlines.take(), spill);
  }

  /**
   * The different texts of all columns, without a copy. Call it after the last batch; the decoder cannot be used again.
   */
  finish(): readonly DecodedTexts[] {
    return this.#draft.finish();
  }

  #record(bytes: Uint8Array, start: number, end: number): void {
    const scanner = this.#scanner;
    scanner.open(bytes, start, end);
    scanner.skipSpace();
    if (scanner.peek() !== OPEN_BRACE) throw new ScanFault(`expected a record (an object), got ${scanner.kind()}`);
    this.#draft.beginRow(0);
    this.#keys.length = 0;
    this.#recordStart = scanner.position;
    const ids = this.#draft.ids.length;
    this.#object(this.#shapes.root, 0);
    if (this.#draft.ids.length === ids) {
      this.#path.push(this.#idField);
      throw new ScanFault('the id is missing');
    }
    scanner.skipSpace();
    if (scanner.peek() >= 0) scanner.fail('expected the end of the record');
    scanner.flush();
    scanner.output.pushByte(COMMA);
    this.#draft.endRecord(this.#outlines.addOutline(this.#keys));
  }

  /** Reads the members of an object, in any order. `BatchDraft` sets missing ones to null. */
  #object(shape: Shape, depth: number): void {
    const scanner = this.#scanner;
    if (depth > DEPTH_MAX) throw new ScanFault(`nested deeper than ${DEPTH_MAX}`);
    const object = ++this.#objects;
    let others: Set<string> | undefined;
    let next = 0;
    scanner.at++;
    scanner.skipSpace();
    for (let isFirst = true; scanner.peek() !== CLOSE_BRACE; isFirst = false) {
      if (!isFirst) this.#scanner.comma();
      const i = this.#key(shape, next);
      this.#path.push(i >= 0 ? shape.nodes[i]!.name : this.#lastKey);
      if (i >= 0) {
        const node = shape.nodes[i]!;
        if (node.lastObject === object) throw new ScanFault('the key stands twice in its object');
        node.lastObject = object;
        this.#member(shape, node, depth);
        next = i + 1;
      } else {
        others ??= new Set();
        if (others.size === others.add(this.#lastKey).size) throw new ScanFault('the key stands twice in its object');
        this.#skipValue(depth + 1);
      }
      const name = this.#path.pop();
      if (depth === 0) {
        this.#keys.push(name as string);
        this.#draft.members.push(scanner.position - this.#recordStart);
      }
      scanner.skipSpace();
    }
    scanner.at++;
  }

  /**
   * Reads a key and its colon. Returns the index of its known or new node, or -1 if it has none; then `#lastKey` is its
   * text.
   */
  #key(shape: Shape, next: number): number {
    const scanner = this.#scanner;
    if (scanner.peek() !== 0x22) scanner.fail('expected a key');
    const expected = shape.keys[next];
    let i = -1;
    if (expected && hasBytesAt(scanner.bytes, scanner.at + 1, expected)) {
      i = next;
      scanner.at += expected.length + 1;
    } else {
      scanner.string();
      const { text, textStart, textEnd } = scanner;
      if (textEnd - textStart > KEY_BYTES_MAX) throw new ScanFault(`a key has more than ${KEY_BYTES_MAX} bytes`);
      this.#lastKey = DECODER.decode(text.subarray(textStart, textEnd));
      i = shape.byName.get(this.#lastKey) ?? -1;
      if (i < 0 && shape !== NO_SHAPE && this.#shapes.addKey(shape, this.#lastKey)) i = shape.nodes.length - 1;
    }
    scanner.skipSpace();
    scanner.expect(0x3a);
    scanner.skipSpace();
    return i;
  }

  #member(shape: Shape, node: ShapeNode, depth: number): void {
    if (node.isInferred) return this.#readInferred(shape, node, depth);
    if (node.kind === 'column') return this.#value(node.column, depth);
    if (!this.#isPresent(node, depth)) return;
    if (node.kind === 'record') this.#object(node.child!, depth + 1);
    else if (node.kind === 'opaque') this.#skipValue(depth + 1);
    else this.#array(shape, node, depth);
  }

  /** A key that is not declared. The first value that is not null or empty decides its kind. */
  #readInferred(shape: Shape, node: ShapeNode, depth: number): void {
    const token = this.#scanner.kind();
    if (token === 'null' || node.kind === 'mixed') return this.#skipValue(depth + 1, node);
    if (token === 'an array') return this.#readInferredArray(shape, node, depth);
    const kind = token === 'an object' ? 'record' : 'column';
    if (node.kind === 'unknown') this.#shapes.settle(node, kind, shape.table);
    if (node.kind !== kind) return this.#skipMixed(shape, node, depth);
    if (kind === 'record') this.#object(node.child!, depth + 1);
    else this.#readInferredValue(node.column);
  }

  #readInferredArray(shape: Shape, node: ShapeNode, depth: number): void {
    if (node.kind === 'unknown') this.#shapes.settle(node, 'empty', shape.table);
    const element = node.kind === 'empty' ? this.#scanner.elementKind() : undefined;
    if (element) this.#shapes.settle(node, element === 'an object' ? 'table' : 'elements', shape.table);
    if (node.kind !== 'table' && node.kind !== 'elements') {
      return node.kind === 'empty' ? this.#skipValue(depth + 1) : this.#skipMixed(shape, node, depth);
    }
    this.#array(shape, node, depth);
  }

  #readInferredElement(shape: Shape, node: ShapeNode, depth: number): void {
    const token = this.#scanner.kind();
    if (node.kind === 'table' && token === 'an object') return this.#object(node.child!, depth + 2);
    if (node.kind === 'elements' && token === 'null') return this.#skipValue(depth + 2);
    if (node.kind !== 'elements' || token === 'an object' || token === 'an array')
      return this.#skipMixed(shape, node, depth + 1);
    this.#readInferredValue(node.column);
  }

  #skipMixed(shape: Shape, node: ShapeNode, depth: number): void {
    if (node.kind !== 'mixed') this.#shapes.settle(node, 'mixed', shape.table);
    this.#skipValue(depth + 1, node);
  }

  #readInferredValue(column: number): void {
    const scanner = this.#scanner;
    const kind = scanner.kind();
    if (kind === 'text') {
      this.#shapes.note(column, SCALAR_KIND.text);
      this.#ownUrl();
      return this.#push(column);
    }
    if (kind === 'a boolean') {
      scanner.literal();
      this.#shapes.note(column, SCALAR_KIND.boolean);
    } else this.#shapes.note(column, scanner.number() ? SCALAR_KIND.integer : SCALAR_KIND.float);
    this.#push(column);
  }

  #push(column: number): void {
    const { text, textStart, textEnd } = this.#scanner;
    this.#draft.push(column, text, textStart, textEnd);
  }

  /** Reads an array of rows. No closures here: their context would be allocated for every member of a record. */
  #array(shape: Shape, node: ShapeNode, depth: number): void {
    const scanner = this.#scanner;
    const { table } = node;
    scanner.at++;
    scanner.skipSpace();
    for (let i = 0; scanner.peek() !== CLOSE_BRACKET; i++) {
      if (i > 0) this.#scanner.comma();
      this.#path.push(i);
      this.#draft.beginRow(table);
      this.#element(shape, node, depth);
      this.#path.pop();
      scanner.skipSpace();
    }
    scanner.at++;
    this.#draft.endRows(table);
  }

  #element(shape: Shape, node: ShapeNode, depth: number): void {
    if (node.isInferred) return this.#readInferredElement(shape, node, depth);
    if (node.kind === 'elements') return this.#value(node.column, depth + 1);
    const token = this.#scanner.kind();
    if (token !== 'an object') throw new ScanFault(`expected an object, got ${token}`);
    this.#object(node.child!, depth + 2);
  }

  /**
   * Whether the object or array of a node begins here. Any other accepted value is read. Instead of an object, it
   * becomes a misfit of that object's id; instead of an array, the only element.
   */
  #isPresent({ kind, column, table }: ShapeNode, depth: number): boolean {
    const expected = kind === 'record' ? 'an object' : 'an array';
    const actual = this.#scanner.kind();
    if (actual === expected) return true;
    const isNull = actual === 'null';
    if (isNull) this.#scanner.literal();
    if (isNull ? !this.#takesNulls : !this.#isOpen)
      throw new (isNull ? NullFault : ScanFault)(`expected ${expected}, got ${actual}`);
    if (isNull) return false;
    if (kind !== 'record') this.#draft.beginRow(table);
    this.#misfit(column, depth);
    if (kind !== 'record') this.#draft.endRows(table);
    return false;
  }

  #misfit(column: number, depth: number): void {
    const scanner = this.#scanner;
    const isNested = ['an object', 'an array'].includes(scanner.kind());
    const start = scanner.position;
    this.#skipValue(depth + 1);
    if (isNested) scanner.flush();
    this.#draft.pushMisfit(column, isNested ? scanner.output.view().subarray(start) : scanner.value);
  }

  #value(number: number, depth: number): void {
    const scanner = this.#scanner;
    const column = this.#shapes.columns[number]!;
    const kind = scanner.kind();
    if (kind === 'null') {
      scanner.literal();
      if (!column.isNullable) {
        const Fault = this.#shapes.mayBeAbsent(column) ? NullFault : ScanFault;
        throw new Fault(`expected ${this.#expectedText(number)}, got null`);
      }
      return this.#draft.pushNull(number);
    }
    if (kind !== expectedKind(column)) {
      if (this.#isOpen && !column.isId) return this.#misfit(number, depth);
      throw new ScanFault(`expected ${this.#expectedText(number)}, got ${kind}`);
    }
    if (kind === 'text' && column.type === 'link') return this.#link(number);
    if (kind === 'text') this.#ownUrl();
    else if (kind === 'a boolean') scanner.literal();
    else if (!scanner.number() && column.type === 'integer') {
      if (this.#isOpen && !column.isId) return this.#draft.pushMisfit(number, scanner.value);
      throw new ScanFault('expected an integer');
    }
    if (column.isId) this.#id();
    this.#push(number);
  }

  /** The value that a declared column accepts, for error messages. */
  #expectedText(number: number): string {
    const column = this.#shapes.columns[number]!;
    if (column.type !== 'link') return expectedKind(column);
    return `a link ${DECODER.decode(this.#linkPrefixes[number])}<id>${SPEC_LINK_END}`;
  }

  #id(): void {
    const { text, textStart, textEnd } = this.#scanner;
    const id = smallInteger(text, textStart, textEnd) ?? Number(DECODER.decode(text.subarray(textStart, textEnd)));
    if (!Number.isSafeInteger(id) || id < 0 || Object.is(id, -0))
      throw new ScanFault('expected an id of 0 to 2^53 - 1');
    this.#draft.ids.push(id);
  }

  /**
   * Reads a string that has no quote or escape before `from`. Notes its position if its text starts with the
   * placeholder of the base address.
   */
  #ownUrl(from = this.#scanner.at + 1): boolean {
    const scanner = this.#scanner;
    scanner.string(from);
    const isOwn = hasBytesAt(scanner.text, scanner.textStart, PLACEHOLDER_BYTES);
    if (isOwn) this.#draft.links.push(scanner.stringStart);
    return isOwn;
  }

  /**
   * The value of a link is the id of its target, the last number of its path. The text needs no escaping when it is
   * served.
   */
  #link(number: number): void {
    const scanner = this.#scanner;
    const start = scanner.at + 1;
    const prefix = this.#linkPrefixes[number]!;
    // Most links are written as they are served: compared bytes are not scanned again.
    const end = linkEnd(scanner.bytes, prefix, start);
    const isOwn = this.#ownUrl(Math.max(start, end));
    const { text, textStart, textEnd } = scanner;
    const isLink = (text === scanner.bytes ? end : linkEnd(text, prefix, textStart)) === textEnd;
    if (!isLink) {
      if (this.#isOpen) return this.#draft.pushMisfit(number, scanner.value);
      const actual = quoteText(scanner.value);
      const cure = isOwn ? '' : `; ${PLACEHOLDER} is to stand as it is`;
      throw new ScanFault(`expected ${this.#expectedText(number)}, got ${actual}${cure}`);
    }
    this.#draft.push(number, text, textStart + prefix.length, textEnd - LINK_SUFFIX.length);
  }

  /**
   * Reads any value and keeps only its served form and its own URLs. Below a mixed key, the keys of its objects are
   * counted.
   */
  #skipValue(depth: number, mixed?: ShapeNode): void {
    const scanner = this.#scanner;
    if (depth > DEPTH_MAX) throw new ScanFault(`nested deeper than ${DEPTH_MAX}`);
    const kind = scanner.kind();
    if (kind === 'text') this.#ownUrl();
    else if (kind === 'a number') scanner.number();
    else if (kind === 'an object') this.#skipMembers(depth, CLOSE_BRACE, mixed);
    else if (kind === 'an array') this.#skipMembers(depth, CLOSE_BRACKET, mixed);
    else scanner.literal();
  }

  #skipMembers(depth: number, close: number, mixed: ShapeNode | undefined): void {
    const scanner = this.#scanner;
    scanner.at++;
    scanner.skipSpace();
    const names = new Set<string>();
    for (let i = 0; scanner.peek() !== close; i++) {
      if (i > 0) this.#scanner.comma();
      let below = mixed;
      if (close === CLOSE_BRACE) {
        this.#key(NO_SHAPE, 0);
        this.#path.push(this.#lastKey);
        if (names.size === names.add(this.#lastKey).size) throw new ScanFault('the key stands twice in its object');
        below = mixed && this.#shapes.keyBelow(mixed, this.#lastKey);
      } else this.#path.push(i);
      this.#skipValue(depth + 1, below);
      this.#path.pop();
      scanner.skipSpace();
    }
    scanner.at++;
  }
}
