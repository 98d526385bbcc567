// Distinguished names as RFC 4514 texts, the form that XML signatures hold them in: last RDN first, with escapes.
// Written for the signer's own certificate; read only to see whether a hint agrees with the certificate beside it.
import { DerError, DerReader } from '../x509/der.ts';
import { type Name, typeOfText } from '../x509/name.ts';
import { stringText } from '../x509/text.ts';

/** `CN=Some One,O=Site` for a name: RDNs in reverse order, special characters escaped (RFC 4514, section 2.4). */
export function rfc4514Text(name: Name): string {
  return name.rdns
    .toReversed()
    .map(({ attributes }) => attributes.map(({ type, value }) => `${type}=${escaped(value)}`).join('+'))
    .join(',');
}

function escaped(value: string): string {
  return value.replace(/[,+"\\<>;]/g, '\\$&').replace(/^[ #]|(?<=.) $/g, '\\$&');
}

/**
 * Whether a text names the same attributes as a name, in whatever order: other writers turn RDNs round, put blanks
 * behind commas, quote or escape at will, and write the DER of values whose types they do not know. Types are compared
 * without case, by OID or one of their usual spellings.
 */
export function isTextOf(text: string, name: Name): boolean {
  const wanted = name.rdns.flatMap(({ attributes }) => attributes);
  const attributes = attributesOf(text);
  if (attributes?.length !== wanted.length) return false;
  return attributes.every(({ type, value }) => {
    const at = wanted.findIndex((one) => one.type === type && one.value === value);
    if (at >= 0) wanted.splice(at, 1);
    return at >= 0;
  });
}

/** Longer texts are no names; it bounds the work. */
const TEXT_LENGTH_MAX = 1024;
const PART = /(?:\\[^]|"(?:\\[^]|[^\\"])*"|[^\\",+;])+/g;
const QUOTED = /^"((?:\\[^]|[^\\"])*)"$/;
const DER = /^#(?:[0-9A-Fa-f]{2})+$/;
const TYPED = /^\s*(?:OID\.)?([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)+)\s*=([^]*)$/;

function attributesOf(text: string): readonly { readonly type: string; readonly value: string }[] | undefined {
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  const parts = (text.match(PART) ?? []).map((part) => TYPED.exec(part));
  return parts.every((part) => part !== null)
    ? parts.map((part) => ({ type: typeOfText(part[1]!), value: valueOf(withoutBlanks(part[2]!)) }))
    : undefined;
}

/** The value that a text writes: quoted, as the DER of a string, or with escapes. Other DER stays as it is. */
function valueOf(written: string): string {
  if (DER.test(written)) return stringIn(Buffer.from(written.slice(1), 'hex')) ?? written.toLowerCase();
  return unescaped(QUOTED.exec(written)?.[1] ?? written);
}

function stringIn(der: Uint8Array): string | undefined {
  try {
    const reader = new DerReader(der);
    const element = reader.any();
    reader.finish();
    return stringText(element.tag, reader.content(element));
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

/** Without the blanks at both ends, but for an escaped one. */
function withoutBlanks(value: string): string {
  return value.trimStart().replace(/(?<!\\)\s+$/, '');
}

/** Hexadecimal pairs are bytes of UTF-8, all else stands for itself. */
function unescaped(value: string): string {
  return value.replace(/(?:\\[0-9A-Fa-f]{2})+|\\([^])/g, (escape: string, character: string | undefined) =>
    character === undefined ? Buffer.from(escape.replaceAll('\\', ''), 'hex').toString() : character,
  );
}
