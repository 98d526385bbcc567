// Name constraints (RFC 5280, section 4.2.1.10) and the namespaces of grids (A106): which names a CA may certify.
import { type Certificate, shownSubject } from './certificate.ts';
import type { NameConstraints, Subtree } from './extensions.ts';
import {
  type GeneralName,
  isHostName,
  isWellFormed,
  mailParts,
  type Name,
  nameOrderKey,
  nameOrderKeyOfText,
  nameProblem,
  nameSetKey,
  nameSetKeyOfText,
  nameText,
  uriHost,
} from './name.ts';
import { EMAIL_ADDRESS } from './algorithm.ts';

/** How many names, subtrees and comparisons of them one validation may still look at. Counted down here. */
export interface ComparisonBudget {
  comparisons: number;
}

const TOO_MANY = 'has more names to compare with name constraints than are allowed';

/** Why names violate the constraints, as the end of a sentence. Costs one a name, subtree and comparison. */
export function constraintProblem(
  certificate: Certificate,
  constraints: NameConstraints,
  budget: ComparisonBudget,
): string | undefined {
  const subtrees = [...constraints.permitted, ...constraints.excluded];
  const names = namesOf(certificate);
  budget.comparisons -= subtrees.length + names.length;
  if (budget.comparisons < 0) return TOO_MANY;
  if (!subtrees.every(isUsable)) return 'is below a CA with name constraints that make no sense';
  const permitted = byForm(constraints.permitted);
  const excluded = byForm(constraints.excluded);
  for (const name of names) {
    const [allowed, forbidden] = [permitted.get(formOf(name)), excluded.get(formOf(name))];
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

/** All names that constraints apply to: alternative names, the subject, and mail addresses in it. */
function namesOf({ subject, extensions }: Certificate): readonly GeneralName[] {
  const mails = subject.rdns
    .flatMap(({ attributes }) => attributes)
    .filter(({ oid }) => oid === EMAIL_ADDRESS)
    .map(({ value }) => ({ form: 'email' as const, text: value }));
  const directory = subject.rdns.length > 0 ? [{ form: 'directory' as const, name: subject }] : [];
  return [...(extensions.subjectAltNames ?? []), ...directory, ...mails];
}

/** Names of one form are compared with each other; the forms that nobody compares are told apart by their number. */
function formOf(name: GeneralName): string {
  return name.form === 'other' ? `other ${name.number}` : name.form;
}

function byForm(subtrees: readonly Subtree[]): ReadonlyMap<string, readonly GeneralName[]> {
  return Map.groupBy(
    subtrees.map(({ base }) => base),
    formOf,
  );
}

function isComparable(name: GeneralName): boolean {
  if (name.form === 'other') return false;
  return name.form === 'uri' ? uriHost(name.text) !== undefined : isWellFormed(name);
}

/** Whether a subtree is one that a CA may state (section 4.2.1.10, with an empty host name for every host). */
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
 * Zero or more labels in front of the base. A pattern `*.example.org` stands for hosts below example.org: excluding one
 * of them, or anything deeper, excludes the pattern; permitting one of them does not permit it.
 */
function isHostWithin(host: string, base: string, list: 'permitted' | 'excluded'): boolean {
  if (base === '') return true;
  const [name, end] = [host.toLowerCase(), base.toLowerCase()];
  if (name === end || name.endsWith(`.${end}`)) return true;
  return list === 'excluded' && name.startsWith('*.') && end.endsWith(name.slice(1));
}

/** A mailbox, all mailboxes on a host, or, with a leading period, on all hosts below a domain. */
function isMailWithin(address: string, base: string): boolean {
  const mail = mailParts(address);
  const mailbox = mailParts(base);
  if (mail === undefined) return false;
  if (mailbox === undefined) return isHostMatch(mail.host, base);
  return mail.local === mailbox.local && mail.host.toLowerCase() === mailbox.host.toLowerCase();
}

/** A host itself, or with a leading period all hosts below it. */
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

/** The RDNs of the base are the first of the name. */
function isNameWithin(name: Name, base: Name): boolean {
  return base.rdns.length <= name.rdns.length && base.rdns.every(({ key }, i) => key === name.rdns[i]!.key);
}

/**
 * Patterns of subjects by the nameOrderKey of the CA. A pattern is a name as text, `/TYPE=value` in certificate order,
 * in which `*` stands for any characters, slashes too. A CA that is not there may issue nothing.
 */
export type Namespaces = ReadonlyMap<string, readonly string[]>;

/**
 * By what names are the same: in any order, but in that of certificates where each CA has its namespaces. These judge
 * names in their order, and a CA could put the attributes of another's name into an order that is within its own.
 */
interface NameKeys {
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
