// Distinguished names, general names (RFC 5280, section 4.2.1.6) and the syntax of host names. Nothing is resolved.
import { asciiText, context, DerError, type DerReader, stringText, TAG } from './der.ts';
import { ATTRIBUTE_ALIASES, ATTRIBUTE_TYPES } from './algorithm.ts';

interface NameAttribute {
  readonly oid: string;
  readonly type: string;
  /** The text. If the value is not a string, `#` and its DER in hexadecimal. */
  readonly value: string;
  readonly isText: boolean;
}

/** A relative distinguished name: usually one attribute. */
interface Rdn {
  readonly attributes: readonly NameAttribute[];
  /** Equal for two RDNs that match. */
  readonly key: string;
}

/** A distinguished name. */
export interface Name {
  readonly der: Uint8Array;
  /** In certificate order. */
  readonly rdns: readonly Rdn[];
  /**
   * Equal exactly for names that match by RFC 5280, section 7.1. Computed on first use, because most names are never
   * compared.
   */
  readonly key: string;
}

/** A72: real names have up to 10 attributes. Thousands are an attack on the comparison of names. */
const ATTRIBUTES_MAX = 64;

/**
 * A72: limit of the characters in a name's values that are not all ASCII. Real values have at most 64 each
 * (`ub-common-name`). Sorting combining marks takes quadratic time: 3 ms for this many, 6 s for as many as fit in a
 * certificate.
 */
const NORMALISED_MAX = 1024;

/** Reads a Name. The attributes of a set keep their order; each set has at least one. */
export function readName(reader: DerReader): Name {
  const element = reader.element(TAG.sequence);
  const rdns = reader.over(element).each(readRdn);
  const attributes = listAttributes({ rdns });
  if (attributes.length > ATTRIBUTES_MAX) throw new DerError(`a name with more than ${ATTRIBUTES_MAX} attributes`);
  const normalised = attributes.filter(({ value, isText }) => isText && !ASCII.test(value));
  if (normalised.reduce((sum, { value }) => sum + value.length, 0) > NORMALISED_MAX)
    throw new DerError(`a name with more than ${NORMALISED_MAX} characters in values beyond ASCII`);
  return new ReadName(reader.whole(element), rdns);
}

class ReadName implements Name {
  readonly der: Uint8Array;
  readonly rdns: readonly Rdn[];
  #key: string | undefined;

  constructor(der: Uint8Array, rdns: readonly Rdn[]) {
    this.der = der;
    this.rdns = rdns;
  }

  get key(): string {
    return (this.#key ??= this.rdns.map(({ key }) => key).join('/'));
  }
}

class ReadRdn implements Rdn {
  readonly attributes: readonly NameAttribute[];
  #key: string | undefined;

  constructor(attributes: readonly NameAttribute[]) {
    this.attributes = attributes;
  }

  get key(): string {
    return (this.#key ??= this.attributes.map(matchKey).sort().join('+'));
  }
}

function readRdn(reader: DerReader): Rdn {
  const attributes = reader.inside(TAG.set).each(readAttribute);
  if (attributes.length === 0) throw new DerError('an empty RDN');
  return new ReadRdn(attributes);
}

function readAttribute(reader: DerReader): NameAttribute {
  const pair = reader.inside(TAG.sequence);
  const oid = pair.oid();
  const element = pair.any();
  pair.finish();
  const text = stringText(element.tag, pair.content(element));
  const value = text ?? `#${Buffer.from(pair.whole(element)).toString('hex')}`;
  return { oid, type: ATTRIBUTE_TYPES.get(oid) ?? oid, value, isText: text !== undefined };
}

/**
 * RFC 5280, section 7.1, with the preparation of RFC 4518: compatibility forms, case, runs of blanks and the string
 * type make no difference. The length keeps the key unambiguous for any value.
 */
function matchKey({ oid, value, isText }: NameAttribute): string {
  const prepared = isText ? collapseBlanks(compatible(value).toLowerCase()) : value;
  return `${oid}${isText ? '=' : '#'}${prepared.length}:${prepared}`;
}

const ASCII = /^[\0-\x7f]*$/;

/** NFKC leaves ASCII unchanged. */
function compatible(text: string): string {
  return ASCII.test(text) ? text : text.normalize('NFKC');
}

function collapseBlanks(text: string): string {
  return /^\s|\s$|\s\s|[^\S ]/.test(text) ? text.replace(/\s+/g, ' ').trim() : text;
}

/** Whether two names match (RFC 5280, section 7.1), regardless of case, runs of blanks and string types. */
export function sameName(a: Name, b: Name): boolean {
  return a.key === b.key;
}

/** `/TYPE=value` in certificate order; '' for the empty name. Ambiguous unless `nameProblem` returns undefined. */
export function nameText(name: Name): string {
  return joinAttributes(listAttributes(name));
}

function joinAttributes(attributes: readonly TypedText[]): string {
  return attributes.map(({ type, value }) => `/${type}=${value}`).join('');
}

function listAttributes({ rdns }: Pick<Name, 'rdns'>): readonly NameAttribute[] {
  return rdns.flatMap(({ attributes }) => attributes);
}

const TYPE_START = /\/[A-Za-z0-9.]+=/;
/** Control characters and line separators. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Why the text of a name is ambiguous, as the end of a sentence; undefined if it is not. */
export function nameProblem(name: Name): string | undefined {
  for (const { value, isText } of listAttributes(name)) {
    if (!isText) return 'has a value that is no text';
    if (TYPE_START.test(value)) return 'has a value with a slash, a type and an equals sign in it';
    if (CONTROL.test(value)) return 'has a value with a control character';
  }
  return undefined;
}

/** Equal for two names with exactly the same `type=value` pairs, in any order. */
export function nameSetKey(name: Name): string {
  return setKey(listAttributes(name));
}

/**
 * The `nameSetKey` of a name written as `/TYPE=value/TYPE=value`; undefined for other texts. Types may have any case or
 * another usual spelling (`Email`, `USERID`); values are compared as they are.
 */
export function setKeyFromText(text: string): string | undefined {
  const attributes = parseAttributes(text);
  return attributes && setKey(attributes);
}

/** Normalises such a text to the spelling of `nameText`; undefined for other texts. */
export function normaliseNameText(text: string): string | undefined {
  const attributes = parseAttributes(text);
  return attributes && joinAttributes(attributes);
}

/** The attributes in such a text, with normalised types; undefined for other texts. */
export function parseAttributes(text: string): readonly TypedText[] | undefined {
  const starts = typeStarts(text);
  if (starts[0]?.index !== 0 || CONTROL.test(text)) return undefined;
  return starts.map((start, i) => ({
    type: findTypeName(typeAt(start)),
    value: text.slice(start.index + start[0].length, starts[i + 1]?.index),
  }));
}

/** The types in a text `/TYPE=value` that are neither known nor an OID. */
export function listUnknownTypes(text: string): readonly string[] {
  const types = typeStarts(text).map(typeAt);
  return types.filter((type) => !TYPES_BY_SPELLING.has(type.toLowerCase()) && !OID.test(type));
}

function typeStarts(text: string): readonly RegExpExecArray[] {
  return [...text.matchAll(new RegExp(TYPE_START, 'g'))];
}

function typeAt([start]: RegExpExecArray): string {
  return start.slice(1, -1);
}

const OID = /^\d+(?:\.\d+)+$/;
const TYPES_BY_SPELLING: ReadonlyMap<string, string> = new Map([
  ...[...ATTRIBUTE_TYPES.values()].map((type) => [type.toLowerCase(), type] as const),
  ...[...ATTRIBUTE_TYPES].map(([oid, type]) => [oid, type] as const),
  ...ATTRIBUTE_ALIASES,
]);

/** The short name of a type in any case or spelling, or the text itself if it has none. */
export function findTypeName(text: string): string {
  return TYPES_BY_SPELLING.get(text.toLowerCase()) ?? text;
}

/** Like `nameSetKey`, but in certificate order: a CA could otherwise reorder a name into another's. */
export function nameOrderKey(name: Name): string {
  return orderKey(listAttributes(name));
}

/** Like `setKeyFromText`, for comparison with `nameOrderKey`. */
export function orderKeyFromText(text: string): string | undefined {
  const attributes = parseAttributes(text);
  return attributes && orderKey(attributes);
}

function setKey(attributes: readonly TypedText[]): string {
  return attributes.map(attributeKey).sort().join('/');
}

function orderKey(attributes: readonly TypedText[]): string {
  return attributes.map(attributeKey).join('/');
}

type TypedText = Pick<NameAttribute, 'type' | 'value'>;

function attributeKey({ type, value }: TypedText): string {
  return `${type}=${value.length}:${value}`;
}

/** A general name. `other` has the number of its form: 0 otherName, 3 x400Address, 5 ediPartyName, 8 registeredID. */
export type GeneralName =
  | { readonly form: 'email' | 'dns' | 'uri'; readonly text: string }
  | { readonly form: 'ip'; readonly bytes: Uint8Array }
  | { readonly form: 'directory'; readonly name: Name }
  | { readonly form: 'other'; readonly number: number };

const TEXT_FORMS: ReadonlyMap<number, 'email' | 'dns' | 'uri'> = new Map([
  [context(1, 'primitive'), 'email'],
  [context(2, 'primitive'), 'dns'],
  [context(6, 'primitive'), 'uri'],
]);
const DIRECTORY = context(4, 'constructed');
const IP = context(7, 'primitive');

export function readGeneralName(reader: DerReader): GeneralName {
  const element = reader.any();
  const form = TEXT_FORMS.get(element.tag);
  if (form !== undefined) return { form, text: asciiText(reader.content(element)) };
  if (element.tag === IP) return { form: 'ip', bytes: reader.content(element) };
  if (element.tag !== DIRECTORY) return { form: 'other', number: element.tag & 0x1f };
  const inner = reader.over(element);
  const name = readName(inner);
  inner.finish();
  return { form: 'directory', name };
}

/** Human-readable: `dns www.example.org`, `ip 192.0.2.1`, `directory /O=Grid`. */
export function generalNameText(name: GeneralName): string {
  switch (name.form) {
    case 'ip':
      return `ip ${addressText(name.bytes)}`;
    case 'directory':
      return `directory ${nameText(name.name)}`;
    case 'other':
      return `form ${name.number}`;
    default:
      return `${name.form} ${name.text}`;
  }
}

/** IPv4 in decimal, a network as address and mask; anything else in hexadecimal. */
function addressText(bytes: Uint8Array): string {
  if (bytes.length === 8) return `${addressText(bytes.subarray(0, 4))}/${addressText(bytes.subarray(4))}`;
  return bytes.length === 4 ? bytes.join('.') : Buffer.from(bytes).toString('hex');
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const HOST_CHARACTERS_MAX = 253;
const NUMBER = /^\d+$/;

/** Whether a text is a host name of letters, digits and hyphens (RFC 1123, section 2.1), not an IPv4 address. */
export function isHostName(text: string): boolean {
  if (text.length > HOST_CHARACTERS_MAX) return false;
  const labels = text.split('.');
  return labels.every((label) => LABEL.test(label)) && !NUMBER.test(labels.at(-1)!);
}

/** Whether a text is a host name, possibly with `*` as its first label. */
function isHostPattern(text: string): boolean {
  return isHostName(text.startsWith('*.') ? text.slice(2) : text);
}

export function mailParts(text: string): { readonly local: string; readonly host: string } | undefined {
  const at = text.lastIndexOf('@');
  const [local, host] = [text.slice(0, at), text.slice(at + 1)];
  if (at <= 0 || !/^[\x21-\x7e]+$/.test(local) || local.includes('@') || !isHostName(host)) return undefined;
  return { local, host };
}

const URI_HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#:@]+)(?::\d*)?(?:[/?#]|$)/i;

/** The host of a URI; undefined if it is not a host name, which RFC 5280, section 4.2.1.10, then rejects. */
export function uriHost(text: string): string | undefined {
  const host = URI_HOST.exec(text)?.[1];
  return host !== undefined && isHostName(host) ? host : undefined;
}

/** Whether a name has the syntax of its form. A URI only needs a scheme; forms without a syntax always pass. */
export function isWellFormed(name: GeneralName): boolean {
  switch (name.form) {
    case 'dns':
      return isHostPattern(name.text);
    case 'email':
      return mailParts(name.text) !== undefined;
    case 'uri':
      return /^[a-z][a-z0-9+.-]*:./i.test(name.text);
    case 'ip':
      return name.bytes.length === 4 || name.bytes.length === 16;
    default:
      return true;
  }
}
