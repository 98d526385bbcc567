// The namespaces that are declared where the fast reader of requests stands, as positions in the request. Knows the two
// namespaces that matter; declarations that are anything but usual are refused.
import { RESERVED_NAMESPACES } from '../xml/element.ts';
import { ascii, isText, SPACE } from './plainMarkup.ts';
import { NAMESPACES } from './protocol.ts';

/** What a prefix is bound to: `none` is an element's without prefix and default namespace, `unbound` that of nobody. */
export type Binding = 'none' | 'envelope' | 'service' | 'other' | 'unbound';

/** A run of bytes. `end` is exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const ENVELOPE_URI = ascii(NAMESPACES.envelope);
const SERVICE_URI = ascii(NAMESPACES.service);
const RESERVED_URIS = RESERVED_NAMESPACES.map(ascii);
const [X, M] = ascii('xm');
const LOWER_CASE = 0x20;
/** More than clients declare in a whole request. */
const BINDINGS_MAX = 32;

/** The declarations in scope, innermost last. Cost: a comparison of bytes for each. */
export class NamespaceScope {
  readonly #bytes: Uint8Array;
  readonly #prefixes: ByteRange[] = [];
  readonly #bindings: Binding[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** How many declarations there are: where a tag's own begin, and what `leave` goes back to. */
  get length(): number {
    return this.#bindings.length;
  }

  /** Forgets all declarations but so many. */
  leave(length: number): void {
    this.#prefixes.length = this.#bindings.length = length;
  }

  /** Binds a prefix, the default namespace where it is empty; false where that is unusual. `own` is the tag's first. */
  bind(own: number, prefix: ByteRange, { start, end }: ByteRange): boolean {
    const bytes = this.#bytes;
    // An empty name takes a declaration back; blanks around one mean different things to different parsers.
    if (start === end || bytes[start] === SPACE || bytes[end - 1] === SPACE) return false;
    if (this.#bindings.length === BINDINGS_MAX || this.#isReserved(prefix)) return false;
    if (RESERVED_URIS.some((reserved) => isText(bytes, start, end, reserved))) return false;
    for (let i = own; i < this.#prefixes.length; i++) if (this.#isPrefix(i, prefix.start, prefix.end)) return false;
    this.#prefixes.push(prefix);
    this.#bindings.push(this.#bindingTo(start, end));
    return true;
  }

  /** What the prefix from `start` to before `end` is bound to. */
  bindingOf(start: number, end: number): Binding {
    for (let i = this.#bindings.length - 1; i >= 0; i--) if (this.#isPrefix(i, start, end)) return this.#bindings[i]!;
    return start === end ? 'none' : 'unbound';
  }

  #bindingTo(start: number, end: number): Binding {
    if (isText(this.#bytes, start, end, ENVELOPE_URI)) return 'envelope';
    return isText(this.#bytes, start, end, SERVICE_URI) ? 'service' : 'other';
  }

  /** Prefixes that begin like `xml`, in any case, are not everyone's. */
  #isReserved({ start, end }: ByteRange): boolean {
    const bytes = this.#bytes;
    return end - start >= 3 && (bytes[start]! | LOWER_CASE) === X && (bytes[start + 1]! | LOWER_CASE) === M;
  }

  #isPrefix(i: number, start: number, end: number): boolean {
    const bytes = this.#bytes;
    const prefix = this.#prefixes[i]!;
    if (prefix.end - prefix.start !== end - start) return false;
    for (let at = start; at < end; at++) if (bytes[prefix.start + at - start] !== bytes[at]) return false;
    return true;
  }
}
