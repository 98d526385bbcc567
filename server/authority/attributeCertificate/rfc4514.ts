// Distinguished names as RFC 4514 texts, the form that XML signatures hold them in: last RDN first, with escapes.
// Written for the signer's own certificate; read only to see whether a hint agrees with the certificate beside it.
import type { Name } from '../x509/name.ts';

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
 * behind commas, and quote or escape at will. Types are compared without case, by short name or OID.
 */
export function isTextOf(text: string, name: Name): boolean {
  const wanted = name.rdns
    .flatMap(({ attributes }) => attributes)
    .map(({ type, oid, value }) => ({ types: [type.toLowerCase(), oid], value }));
  const attributes = attributesOf(text);
  if (attributes?.length !== wanted.length) return false;
  return attributes.every(({ type, value }) => {
    const at = wanted.findIndex((one) => one.types.includes(type) && one.value === value);
    if (at >= 0) wanted.splice(at, 1);
    return at >= 0;
  });
}

/** Longer texts are no names; it bounds the work. */
const TEXT_LENGTH_MAX = 1024;
const PART = /(?:\\[^]|[^\\,+;])+/g;
const TYPED = /^\s*(?:OID\.)?([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)+)\s*=([^]*)$/;

function attributesOf(text: string): readonly { readonly type: string; readonly value: string }[] | undefined {
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  const parts = (text.match(PART) ?? []).map((part) => TYPED.exec(part));
  return parts.every((part) => part !== null)
    ? parts.map((part) => ({ type: part[1]!.toLowerCase(), value: unescaped(withoutBlanks(part[2]!)) }))
    : undefined;
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
