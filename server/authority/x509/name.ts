// Distinguished names (RFC 5280, sections 4.1.2.4 and 7.1): how they are read, compared, and written for people. Knows
// nothing of certificates.
import { DerError, type DerReader, TAG } from './der.ts';
import { ATTRIBUTE_ALIASES, ATTRIBUTE_TYPES } from './oids.ts';
import { stringText } from './text.ts';

/**
 * One attribute of a name. `type` is the short name (`CN`), or the dotted OID where there is none. A value that is no
 * string is written as `#` and the hexadecimal digits of its DER, and `isText` is false.
 */
export interface NameAttribute {
  readonly oid: string;
  readonly type: string;
  readonly value: string;
  readonly isText: boolean;
}

/** A relative distinguished name: one attribute, rarely more. `key` is equal for two that match. */
export interface Rdn {
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

/**
 * The name as `/TYPE=value` in certificate order; '' for the empty name. For people: see `nameProblem` before trusting
 * it.
 */
export function nameText(name: Name): string {
  return textOf(attributesOf(name));
}

function textOf(attributes: readonly TypedText[]): string {
  return attributes.map(({ type, value }) => `/${type}=${value}`).join('');
}

function attributesOf({ rdns }: Pick<Name, 'rdns'>): readonly NameAttribute[] {
  return rdns.flatMap(({ attributes }) => attributes);
}

/** Where an attribute starts in the text of a name. */
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

/** Where the attributes of such a text start: `/TYPE=`. */
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
