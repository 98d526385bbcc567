// What names of sites, roles and users may be in a configuration (authority design: getTrustedHostInfo). Pure: a text
// in, what is wrong with it out.
import { nameSetKeyOfText, nameTextOfText, unknownTypesOf } from '../x509/name.ts';
import { matchesAny, type Namespaces } from '../x509/namespaces.ts';

/** Neither prints, and XML allows neither everywhere. */
const CONTROL = /[\p{Cc}\ufffe\uffff]/u;

/** What is wrong with the name of a site, or undefined: a colon would end it in the strings of getTrustedHostInfo. */
export function siteNameProblem(name: string): string | undefined {
  if (name.includes(':')) return 'has a colon';
  return textProblem(name);
}

/** What is wrong with the name of a role, or undefined: colons and commas part the strings of getTrustedHostInfo. */
export function roleProblem(role: string): string | undefined {
  if (/[:,]/.test(role)) return 'has a colon or comma';
  return textProblem(role);
}

/** What is wrong with the name of a user or signer, or undefined. */
export function personProblem(name: string): string | undefined {
  if (CONTROL.test(name)) return 'has a control character';
  return nameSetKeyOfText(name) === undefined ? 'is not of the form /TYPE=value/TYPE=value' : undefined;
}

/** The end of an older proxy's subject, or of one of RFC 3820 (3.4), which is a number behind a common name. */
const OF_PROXY = /\/CN=(?:limited )?proxy$|\/CN=[^/]+\/CN=\d+$/i;

/** Why nobody may ever be met under the name of a user, or undefined. Without `namespaces` CAs may certify any name. */
export function personDoubt(name: string, namespaces: Namespaces | undefined): string | undefined {
  const [unknown] = unknownTypesOf(name);
  if (unknown !== undefined) return `can never be met: there is no type ${unknown} of names`;
  const isWithinOne = (text: string): boolean => [...(namespaces?.values() ?? [])].some((one) => matchesAny(text, one));
  // In the order of certificates (A80).
  if (namespaces && !isWithinOne(nameTextOfText(name) ?? '')) return 'can never be met: no CA may speak for that name';
  return OF_PROXY.test(name) ? 'has the name of a proxy: want that of the user, without its end' : undefined;
}

function textProblem(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (text.trim() !== text) return 'has blanks at its ends';
  if (CONTROL.test(text) || !text.isWellFormed()) return 'has a control character';
  return undefined;
}
