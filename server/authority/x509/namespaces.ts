// Which names each CA may speak for, after the signing policies of grids (A106): patterns of subjects by the name of
// the CA that issues them. Pure; a configuration says which.
import { type Certificate, shownSubject } from './certificate.ts';
import {
  type Name,
  nameOrderKey,
  nameOrderKeyOfText,
  nameProblem,
  nameSetKey,
  nameSetKeyOfText,
  nameText,
} from './name.ts';

/**
 * Patterns of subjects by the nameOrderKey of the CA. A pattern is a name as text, `/TYPE=value` in certificate order,
 * in which `*` stands for any characters, slashes too. A CA that is not there may issue nothing.
 */
export type Namespaces = ReadonlyMap<string, readonly string[]>;

/**
 * By what names are the same: in any order, but in that of certificates where each CA has its namespaces. These judge
 * names in their order, and a CA could put the attributes of another's name into an order that is within its own.
 */
export interface NameKeys {
  readonly of: (name: Name) => string;
  readonly ofText: (text: string) => string | undefined;
}

const ANY_ORDER: NameKeys = { of: nameSetKey, ofText: nameSetKeyOfText };
const ITS_ORDER: NameKeys = { of: nameOrderKey, ofText: nameOrderKeyOfText };

/** The keys of users, signers and holders under such namespaces (A80, A106). */
export function nameKeysUnder(namespaces: Namespaces | undefined): NameKeys {
  return namespaces === undefined ? ANY_ORDER : ITS_ORDER;
}

/** Whether a name as text is within one of the patterns. Case counts. Cost: the text, for each pattern. */
export function matchesAny(text: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matches(text, pattern));
}

/** The parts between wildcards, each where it is found first: what comes later then has most room. */
function matches(text: string, pattern: string): boolean {
  const [head = '', ...parts] = pattern.split('*');
  const tail = parts.pop();
  if (tail === undefined) return text === head;
  if (text.length < head.length + tail.length || !text.startsWith(head) || !text.endsWith(tail)) return false;
  const end = text.length - tail.length;
  let at = head.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** Why this CA may not have issued a certificate, as the end of a sentence; undefined where it may. */
export function namespaceProblem(
  { subject }: Certificate,
  issuer: Certificate,
  namespaces: Namespaces,
): string | undefined {
  const patterns = namespaces.get(nameOrderKey(issuer.subject));
  if (patterns === undefined) return `was issued by ${shownSubject(issuer)}, which has no namespaces`;
  // A name that another one can be mistaken for is in none.
  if (nameProblem(subject) === undefined && matchesAny(nameText(subject), patterns)) return undefined;
  return `is outside of the namespaces of ${shownSubject(issuer)}, which issued it`;
}
