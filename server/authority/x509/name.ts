// Distinguished names, general names (RFC 5280, section 4.2.1.6) and the syntax of host names. Nothing is resolved.
import { asciiText, context, DerError, type DerReader, stringText, TAG } from './der.ts';
import { ATTRIBUTE_ALIASES, ATTRIBUTE_TYPES } from './algorithm.ts';

/** A value that is no string is `#` and the hexadecimal digits of its DER. */
interface NameAttribute {
  readonly oid: string;
  readonly type: string;
  readonly value: string;
  readonly isText: boolean;
}

/** A relative distinguished name: one attribute, rarely more. `key` is equal for two that match. */
interface Rdn {
  readonly attributes: readonly NameAttribute[];
  readonly key: string;
}

/**
 * A distinguished name: its RDNs in certificate order.
 * `key` is equal for two names exactly when RFC 5280 section 7.1 makes them match; it is made when it is asked for,
 * since most names of a certificate are compared with none.
 */
export interface Name {
  readonly der: Uint8Array;
  readonly rdns: readonly Rdn[];
  readonly key: string;
}

/** A72: names in use have 10 attributes; thousands are an attack on those who compare them. */
const ATTRIBUTES_MAX = 64;

/**
 * A72: so many characters stand in values of a name that are not all ASCII; those in use have 64 at most each
 * (`ub-common-name`). To put combining marks in order takes the square of their number: 3 ms for as many here, 6 s for
 * as many as a certificate holds.
 */
const NORMALISED_MAX = 1024;

/** Reads a Name. Attributes of a set are kept in their order; each set has one at least. */
export function readName(reader: DerReader): Name {
  const element = reader.element(TAG.sequence);
  const rdns = reader.over(element).each(readRdn);
  const attributes = attributesOf({ rdns });
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
 * RFC 5280, section 7.1, with the preparation of RFC 4518: compatibility forms, case, and runs of blanks do not count,
 * nor does the string type. The length makes the key unambiguous whatever the value holds.
 */
function matchKey({ oid, value, isText }: NameAttribute): string {
  const prepared = isText ? withoutRuns(compatible(value).toLowerCase()) : value;
  return `${oid}${isText ? '=' : '#'}${prepared.length}:${prepared}`;
}

const ASCII = /^[\0-\x7f]*$/;

/** ASCII is its own compatibility form. */
function compatible(text: string): string {
  return ASCII.test(text) ? text : text.normalize('NFKC');
}

function withoutRuns(text: string): string {
  return /^\s|\s$|\s\s|[^\S ]/.test(text) ? text.replace(/\s+/g, ' ').trim() : text;
}

/** Whether two names match (RFC 5280, section 7.1): case and runs of blanks aside, whatever string types they use. */
export function sameName(a: Name, b: Name): boolean {
  return a.key === b.key;
}

/** `/TYPE=value` in certificate order; '' for the empty name. It is ambiguous unless `nameProblem` is undefined. */
export function nameText(name: Name): string {
  return textOf(attributesOf(name));
}

function textOf(attributes: readonly TypedText[]): string {
  return attributes.map(({ type, value }) => `/${type}=${value}`).join('');
}

function attributesOf({ rdns }: Pick<Name, 'rdns'>): readonly NameAttribute[] {
  return rdns.flatMap(({ attributes }) => attributes);
}

const TYPE_START = /\/[A-Za-z0-9.]+=/;
/** Control characters, and those that break lines. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Why a name cannot be told by its text, as the end of a sentence; undefined when it can. */
export function nameProblem(name: Name): string | undefined {
  for (const { value, isText } of attributesOf(name)) {
    if (!isText) return 'has a value that is no text';
    if (TYPE_START.test(value)) return 'has a value with a slash, a type and an equals sign in it';
    if (CONTROL.test(value)) return 'has a value with a control character';
  }
  return undefined;
}

/** A key that is equal for two names with exactly the same `type=value`, each as often, in whatever order. */
export function nameSetKey(name: Name): string {
  return setKey(attributesOf(name));
}

/**
 * The key of a name written as `/TYPE=value/TYPE=value`, to compare with `nameSetKey`; undefined where the text is no
 * such name. Types may be in any case, or in one of their other usual spellings (`Email`, `USERID`); values are taken
 * as they are.
 */
export function nameSetKeyOfText(text: string): string | undefined {
  const attributes = attributesOfText(text);
  return attributes && setKey(attributes);
}

/** Such a text as `nameText` has it; undefined of a text that is no name. */
export function nameTextOfText(text: string): string | undefined {
  const attributes = attributesOfText(text);
  return attributes && textOf(attributes);
}

/** The attributes in such a text, their types spelt as names have them; undefined of a text that is no name. */
export function attributesOfText(text: string): readonly TypedText[] | undefined {
  const starts = typeStarts(text);
  if (starts[0]?.index !== 0 || CONTROL.test(text)) return undefined;
  return starts.map((start, i) => ({
    type: typeOfText(typeAt(start)),
    value: text.slice(start.index + start[0].length, starts[i + 1]?.index),
  }));
}

/** The types in a text of the form `/TYPE=value` that no name can have: neither known nor an OID. */
export function unknownTypesOf(text: string): readonly string[] {
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

/** The type that a text spells: its short name where it has one, in whatever case, else the text. */
export function typeOfText(text: string): string {
  return TYPES_BY_SPELLING.get(text.toLowerCase()) ?? text;
}

/** As `nameSetKey`, in the order of the certificate: no CA may shuffle a name into another's. */
export function nameOrderKey(name: Name): string {
  return orderKey(attributesOf(name));
}

/** As `nameSetKeyOfText`, to compare with `nameOrderKey`. */
export function nameOrderKeyOfText(text: string): string | undefined {
  const attributes = attributesOfText(text);
  return attributes && orderKey(attributes);
}

function setKey(attributes: readonly TypedText[]): string {
  return attributes.map(partOf).sort().join('/');
}

function orderKey(attributes: readonly TypedText[]): string {
  return attributes.map(partOf).join('/');
}

type TypedText = Pick<NameAttribute, 'type' | 'value'>;

function partOf({ type, value }: TypedText): string {
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

/** A general name for people: `dns www.example.org`, `ip 192.0.2.1`, `directory /O=Grid`. */
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

/** Addresses, and networks as address and mask, of IPv4 in decimal numbers, all else in hexadecimal digits. */
function addressText(bytes: Uint8Array): string {
  if (bytes.length === 8) return `${addressText(bytes.subarray(0, 4))}/${addressText(bytes.subarray(4))}`;
  return bytes.length === 4 ? bytes.join('.') : Buffer.from(bytes).toString('hex');
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const HOST_CHARACTERS_MAX = 253;
const NUMBER = /^\d+$/;

/** Whether a text is a host name of letters, digits and hyphens (RFC 1123, section 2.1), and no IPv4 address. */
export function isHostName(text: string): boolean {
  if (text.length > HOST_CHARACTERS_MAX) return false;
  const labels = text.split('.');
  return labels.every((label) => LABEL.test(label)) && !NUMBER.test(labels.at(-1)!);
}

/** Whether a text is a host name, or one with `*` as its whole first label. */
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

/** The host of a URI; undefined where it has none that is a host name (RFC 5280, section 4.2.1.10 then refuses it). */
export function uriHost(text: string): string | undefined {
  const host = URI_HOST.exec(text)?.[1];
  return host !== undefined && isHostName(host) ? host : undefined;
}

/** Whether a name has the syntax of its form; forms without one are right. URIs only need a scheme. */
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
