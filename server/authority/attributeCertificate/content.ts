// What an attribute certificate says, and the one way this authority writes it: canonical by construction. Pure: no
// keys, no signature, no clock.
import { escapedText } from '../../../data/xml/text.ts';

/** Whether the roles are those the user has at the issuer, or were mapped from another site's. */
export type Provenance = 'original' | 'mapped';

/**
 * What an attribute certificate says. Names are `/TYPE=value` texts; the serial number is that of the issuer's own
 * certificate, decimal; times are whole seconds since 1970, both ends included; roles are in order.
 */
export interface AttributeContent {
  readonly holder: string;
  readonly issuer: string;
  readonly issuerName: string;
  readonly issuerSerialNumber: string;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly roles: readonly string[];
  readonly provenance: Provenance;
}

/** The one version there is. */
export const VERSION = '1.0';

/** A point in time as `YYYY MM DD HH MM SS` in UTC; years 0 to 9999. */
export function timeFields(seconds: number): string {
  const iso = new Date(seconds * 1000).toISOString();
  return iso.slice(0, 19).replace(/[-T:]/g, ' ');
}

/** The seconds that such a text stands for, or undefined where it is none: February 30 is not March 2. */
export function secondsOfFields(text: string): number | undefined {
  const match = /^(\d{4}) (\d{2}) (\d{2}) (\d{2}) (\d{2}) (\d{2})$/.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(ms)) return undefined;
  const seconds = ms / 1000;
  return timeFields(seconds) === text ? seconds : undefined;
}

/**
 * The content as XML: the element `acInfo`, canonical by construction (no namespaces, attributes, comments or white
 * space between tags), so that its digest needs no canonicaliser. Cost: linear in its length.
 */
export function contentXml(content: AttributeContent): string {
  const roles = content.roles.map((role) => `<role>${leaf('name', role)}</role>`).join('');
  return [
    '<acInfo>',
    leaf('version', VERSION),
    leaf('holder', content.holder),
    leaf('issuer', content.issuer),
    leaf('issuerName', content.issuerName),
    leaf('issuerSerialNumber', content.issuerSerialNumber),
    `<validity>${leaf('notBefore', timeFields(content.notBefore))}${leaf('notAfter', timeFields(content.notAfter))}</validity>`,
    `<attributes><roleSet>${roles}</roleSet></attributes>`,
    leaf('provenance', content.provenance),
    '</acInfo>',
  ].join('');
}

function leaf(name: string, text: string): string {
  return `<${name}>${escapedText(text)}</${name}>`;
}
