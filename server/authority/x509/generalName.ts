// General names (RFC 5280, section 4.2.1.6): the forms that alternative names and name constraints have.
// Reads only; nameConstraints.ts compares. A form that is not compared here keeps just its number.
import { context, type DerReader } from './der.ts';
import { type Name, nameText, readName } from './name.ts';
import { asciiText } from './text.ts';

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

/** Reads one general name. */
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
