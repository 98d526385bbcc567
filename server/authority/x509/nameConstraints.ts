// Which names a CA may certify: name constraints (RFC 5280, section 4.2.1.10) and grid namespaces (A106).
import { type Certificate, printSubject } from './certificate.ts';
import type { NameConstraints, Subtree } from './extensions.ts';
import {
  type GeneralName,
  isHostName,
  isWellFormed,
  mailParts,
  type Name,
  nameOrderKey,
  orderKeyFromText,
  nameProblem,
  nameSetKey,
  setKeyFromText,
  nameText,
  uriHost,
} from './name.ts';
import { EMAIL_ADDRESS } from './algorithm.ts';

/** The remaining names, subtrees and comparisons of one validation; counted down here. */
export interface ComparisonBudget {
  comparisons: number;
}

const TOO_MANY = 'has more names to compare with name constraints than are allowed';

/** Why names violate the constraints, as the end of a sentence. Each name, subtree and comparison costs one unit. */
export function constraintProblem(
  certificate: Certificate,
  constraints: NameConstraints,
  budget: ComparisonBudget,
): string | undefined {
  const subtrees = [...constraints.permitted, ...constraints.excluded];
  const names = listNames(certificate);
  budget.comparisons -= subtrees.length + names.length;
  if (budget.comparisons < 0) return TOO_MANY;
  if (!subtrees.every(isUsable)) return 'is below a CA with name constraints that make no sense';
  const permitted = groupByForm(constraints.permitted);
  const excluded = groupByForm(constraints.excluded);
  for (const name of names) {
    const [allowed, forbidden] = [permitted.get(nameForm(name)), excluded.get(nameForm(name))];
    if (!allowed && !forbidden) continue;
    budget.comparisons -= (allowed?.length ?? 0) + (forbidden?.length ?? 0);
    if (budget.comparisons < 0) return TOO_MANY;
    if (!isComparable(name)) return 'has a name that its CA constrains and that cannot be compared';
    if (forbidden?.some((base) => isWithin(name, base, 'excluded'))) return 'has a name that its CA may not give';
    if (allowed && !allowed.some((base) => isWithin(name, base, 'permitted'))) {
      return 'has a name outside those that its CA may give';
    }
  }
  return undefined;
}

/** All names that constraints apply to: alternative names, the subject, and mail addresses in the subject. */
function listNames({ subject, extensions }: Certificate): readonly GeneralName[] {
  const mails = subject.rdns
    .flatMap(({ attributes }) => attributes)
    .filter(({ oid }) => oid === EMAIL_ADDRESS)
    .map(({ value }) => ({ form: 'email' as const, text: value }));
  const directory = subject.rdns.length > 0 ? [{ form: 'directory' as const, name: subject }] : [];
  return [...(extensions.subjectAltNames ?? []), ...directory, ...mails];
}

/** Only names of the same form are compared. Forms without a comparison are distinguished by number. */
function nameForm(name: GeneralName): string {
  return name.form === 'other' ? `other ${name.number}` : name.form;
}

function groupByForm(subtrees: readonly Subtree[]): ReadonlyMap<string, readonly GeneralName[]> {
  return Map.groupBy(
    subtrees.map(({ base }) => base),
    nameForm,
  );
}

function isComparable(name: GeneralName): boolean {
  if (name.form === 'other') return false;
  return name.form === 'uri' ? uriHost(name.text) !== undefined : isWellFormed(name);
}

/** Whether a subtree is valid (section 4.2.1.10). An empty host name means all hosts. */
function isUsable({ base, isWhole }: Subtree): boolean {
  if (!isWhole) return false;
  switch (base.form) {
    case 'dns':
      return base.text === '' || isHostName(base.text);
    case 'email':
      return base.text.includes('@') ? mailParts(base.text) !== undefined : isHostOrDomain(base.text);
    case 'uri':
      return isHostOrDomain(base.text);
    case 'ip':
      return isNetwork(base.bytes);
    default:
      return true;
  }
}

function isHostOrDomain(text: string): boolean {
  return text === '' || isHostName(text.replace(/^\./, ''));
}

/** Address and mask; the mask is ones followed by zeros. */
function isNetwork(bytes: Uint8Array): boolean {
  if (bytes.length !== 8 && bytes.length !== 32) return false;
  const mask = [...bytes.subarray(bytes.length / 2)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return /^1*0*$/.test(mask);
}

function isWithin(name: GeneralName, base: GeneralName, list: 'permitted' | 'excluded'): boolean {
  if (name.form === 'dns' && base.form === 'dns') return isHostWithin(name.text, base.text, list);
  if (name.form === 'email' && base.form === 'email') return isMailWithin(name.text, base.text);
  if (name.form === 'uri' && base.form === 'uri') return isHostMatch(uriHost(name.text) ?? '', base.text);
  if (name.form === 'ip' && base.form === 'ip') return isAddressWithin(name.bytes, base.bytes);
  if (name.form === 'directory' && base.form === 'directory') return isNameWithin(name.name, base.name);
  return false;
}

/**
 * The host is the base or has more labels in front of it. A pattern `*.example.org` represents the hosts below
 * example.org: excluding one of them, or anything deeper, excludes the pattern, but permitting one does not permit it.
 */
function isHostWithin(host: string, base: string, list: 'permitted' | 'excluded'): boolean {
  if (base === '') return true;
  const [name, end] = [host.toLowerCase(), base.toLowerCase()];
  if (name === end || name.endsWith(`.${end}`)) return true;
  return list === 'excluded' && name.startsWith('*.') && end.endsWith(name.slice(1));
}

/** The base is a mailbox, a host with all its mailboxes, or, with a leading period, all hosts below a domain. */
function isMailWithin(address: string, base: string): boolean {
  const mail = mailParts(address);
  const mailbox = mailParts(base);
  if (mail === undefined) return false;
  if (mailbox === undefined) return isHostMatch(mail.host, base);
  return mail.local === mailbox.local && mail.host.toLowerCase() === mailbox.host.toLowerCase();
}

/** A host itself or, with a leading period, all hosts below it. */
function isHostMatch(host: string, base: string): boolean {
  if (base === '') return true;
  return base.startsWith('.')
    ? host.toLowerCase().endsWith(base.toLowerCase())
    : host.toLowerCase() === base.toLowerCase();
}

function isAddressWithin(address: Uint8Array, network: Uint8Array): boolean {
  const bytes = address.length;
  if (network.length !== 2 * bytes) return false;
  return address.every((byte, i) => ((byte ^ network[i]!) & network[bytes + i]!) === 0);
}

/** The name begins with the RDNs of the base. */
function isNameWithin(name: Name, base: Name): boolean {
  return base.rdns.length <= name.rdns.length && base.rdns.every(({ key }, i) => key === name.rdns[i]!.key);
}

/**
 * Patterns of subjects by the nameOrderKey of the CA. A pattern is a name as text, `/TYPE=value` in certificate order,
 * in which `*` matches any characters, including slashes. A CA without an entry may issue nothing.
 */
export type Namespaces = ReadonlyMap<string, readonly string[]>;

/**
 * How names are compared: in any order without namespaces, in certificate order with them. Namespaces check names in
 * order, so a CA could otherwise reorder another's name until it is within its namespaces.
 */
interface NameKeys {
  readonly of: (name: Name) => string;
  readonly ofText: (text: string) => string | undefined;
}

const ANY_ORDER: NameKeys = { of: nameSetKey, ofText: setKeyFromText };
const ITS_ORDER: NameKeys = { of: nameOrderKey, ofText: orderKeyFromText };

/** The keys of users, signers and holders under these namespaces (A80, A106). */
export function nameKeysUnder(namespaces: Namespaces | undefined): NameKeys {
  return namespaces === undefined ? ANY_ORDER : ITS_ORDER;
}

/** Whether a name as text matches one of the patterns. Case-sensitive. Cost: the length of the text per pattern. */
export function matchesAny(text: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matches(text, pattern));
}

/** Matches each part between wildcards at its first position, which leaves the most room for later parts. */
function matches(text: string, pattern: string): boolean {
  const [head = '', ...parts] = pattern.split('*');
  const tail = parts.pop();
  if (tail === undefined) return text === head;
  if (text.length < head.length + tail.length || !text.startsWith(head) || !text.endsWith(tail)) return false;
  const end = text.length - tail.length;
  let at = head.length;
  for (const part of parts) {
    const match = text.indexOf(part, at);
    if (match < 0 || match + part.length > end) return false;
    at = match + part.length;
  }
  return true;
}

/** Why this CA may not have issued a certificate, as the end of a sentence; undefined if it may. */
export function namespaceProblem(
  { subject }: Certificate,
  issuer: Certificate,
  namespaces: Namespaces,
): string | undefined {
  const patterns = namespaces.get(nameOrderKey(issuer.subject));
  if (patterns === undefined) return `was issued by ${printSubject(issuer)}, which has no namespaces`;
  // A name with an ambiguous text is in no namespace.
  if (nameProblem(subject) === undefined && matchesAny(nameText(subject), patterns)) return undefined;
  return `is outside of the namespaces of ${printSubject(issuer)}, which issued it`;
}
