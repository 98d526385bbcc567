// The decision about a request to be authorised: who the user is, which roles that gives here, and for how long. Pure:
// keys, clock and files are behind what it is given. The steps are those of the authority design, reqAuthorisation.
import type { AttributeContent, Provenance } from './attributeCertificate/content.ts';
import type { AuthorisationRequest } from './authority.ts';
import type { UnsignedContent } from './attributeCertificate/write.ts';
import type { TrustedHost } from './configuration/hosts.ts';
import type { RefusalCode } from '../observe/events.ts';
import { shownText } from './x509/certificate.ts';

/**
 * A user that a chain proved. `name` is the end entity's subject as text, `key` its key (see NameKeys); the chain
 * expires at `expiresAt`, in seconds since 1970.
 */
export interface ProvenUser {
  readonly name: string;
  readonly key: string;
  readonly expiresAt: number;
  readonly proxy: 'none' | 'full' | 'limited';
}

/**
 * Another site's attribute certificate whose signature and signer's chain are good. `signer` and `issuer` are keys of
 * names: of the certificate that signed it, and of what it says of its issuer (undefined where that is no name);
 * `holder` likewise.
 */
export interface ProvenCertificate {
  readonly content: AttributeContent;
  readonly signer: string;
  readonly issuer: string | undefined;
  readonly holder: string | undefined;
}

/** Why nothing is granted: which of the refusals, and one sentence for a person. */
interface RequestRefusal {
  readonly code: RefusalCode;
  readonly sentence: string;
}

/**
 * Proof, or why there is none; `claimed` is then whose the text says it is, or which site's, for the record alone: ''
 * where that cannot be read.
 */
export type Proof<T> =
  | { readonly kind: 'proven'; readonly value: T }
  | { readonly kind: 'refused'; readonly refusal: RequestRefusal; readonly claimed: string };

/** What a decision goes by: the site, and the time in whole seconds since 1970. */
export interface Policy {
  readonly siteName: string;
  /**
   * This site's subject, as text, until when its certificate and what that rests on is valid, in seconds since 1970,
   * and whether any of it was revoked.
   */
  readonly issuer: string;
  readonly issuerNotAfter: number;
  readonly isIssuerRevoked: boolean;
  readonly hosts: ReadonlyMap<string, TrustedHost>;
  readonly rolesOf: (userKey: string) => readonly string[];
  readonly lifetimeSeconds: number;
  readonly notBeforeOffsetSeconds: number;
  readonly clockSkewSeconds: number;
  readonly at: number;
}

/** How texts become proof. Each is called at most once, and the second only for users without roles of their own. */
export interface Evidence {
  userOf(usrProxyCert: string): Proof<ProvenUser>;
  certificateOf(usrAttCert: string): Proof<ProvenCertificate>;
}

/**
 * What is to be signed, but for its serial number; or why nothing is. `site` is who issued the attribute certificate
 * that was looked at, by its own word until something is granted; '' where none was.
 */
export type Decision =
  | {
      readonly status: 'AccessGranted';
      readonly user: ProvenUser;
      readonly site: string;
      readonly content: UnsignedContent;
    }
  | RefusedDecision;

/** Why nothing is to be signed. `user` is undefined until one was proven, and `claimed` who it was said to be. */
interface RefusedDecision {
  readonly status: 'AccessDenied' | 'AccessError';
  readonly user: ProvenUser | undefined;
  readonly claimed: string;
  readonly site: string;
  readonly refusal: RequestRefusal;
}

/** Decides. Never throws for what a client sent. */
export function decide(request: AuthorisationRequest, policy: Policy, evidence: Evidence): Decision {
  const proof = evidence.userOf(request.usrProxyCert);
  if (proof.kind === 'refused') {
    const { refusal, claimed } = proof;
    return { status: 'AccessError', user: undefined, claimed, site: '', refusal };
  }
  const user = proof.value;
  const roles = policy.rolesOf(user.key);
  if (roles.length > 0) return granted(user, policy, { roles, provenance: 'original', notAfter: user.expiresAt });
  if (isBlank(request.usrAttCert)) {
    return denied(user, 'unregistered', `The user ${user.name} is not registered at ${policy.siteName}.`);
  }
  const external = evidence.certificateOf(request.usrAttCert);
  if (external.kind === 'refused') {
    return { status: 'AccessError', user, claimed: '', site: shownText(external.claimed), refusal: external.refusal };
  }
  return { ...mapped(user, policy, external.value), site: shownText(external.value.content.issuerName) };
}

function isBlank(text: string): boolean {
  return !/[^ \t\r\n]/.test(text);
}

/** Steps 5 (what is left of it), 6 and on. */
function mapped(user: ProvenUser, policy: Policy, certificate: ProvenCertificate): Decision {
  const { content } = certificate;
  const problem = externalProblem(user, policy, certificate);
  if (problem) return error(user, problem[0], `The user's attribute certificate (usrAttCert) ${problem[1]}.`);
  const host = policy.hosts.get(content.issuerName);
  if (!host) {
    const site = shownText(content.issuerName);
    return denied(
      user,
      'untrustedHost',
      `The site ${site}, which issued the user's attribute certificate, is not trusted by ${policy.siteName}.`,
    );
  }
  if (host.signer !== certificate.signer) {
    return error(
      user,
      'externalHost',
      `The user's attribute certificate (usrAttCert) says it is of ${host.name}, but somebody else signed it.`,
    );
  }
  const roles = mappedRoles(content.roles, host);
  if (roles.length > 0)
    return granted(user, policy, { roles, provenance: 'mapped', notAfter: Math.min(user.expiresAt, content.notAfter) });
  return denied(
    user,
    'unmapped',
    `None of the roles that ${user.name} has at ${host.name} has a mapping at ${policy.siteName}.`,
  );
}

function externalProblem(
  user: ProvenUser,
  { at, clockSkewSeconds }: Policy,
  { content, signer, issuer, holder }: ProvenCertificate,
): readonly [RefusalCode, string] | undefined {
  if (issuer !== signer) return ['externalIssuer', 'names another issuer than the one who signed it'];
  if (at < content.notBefore - clockSkewSeconds) return ['externalTime', 'is not valid yet'];
  if (at > content.notAfter + clockSkewSeconds) return ['externalTime', 'has expired'];
  if (holder !== user.key) return ['externalHolder', 'belongs to somebody other than the user of usrProxyCert'];
  return undefined;
}

/** In the order of the certificate, then of the configuration; each once. */
function mappedRoles(remotes: readonly string[], { mappings }: TrustedHost): readonly string[] {
  const byRemote = Map.groupBy(mappings, ({ remote }) => remote);
  const mapped = [...new Set(remotes)].flatMap((remote) => byRemote.get(remote) ?? []);
  return [...new Set(mapped.map(({ local }) => local))];
}

interface Grant {
  readonly roles: readonly string[];
  readonly provenance: Provenance;
  /** The end of what the grant rests on. */
  readonly notAfter: number;
}

/** Nothing that an expired or revoked certificate signs is accepted; and new CRLs are not taken with the former. */
function granted(user: ProvenUser, policy: Policy, grant: Grant): Decision {
  if (policy.isIssuerRevoked)
    return error(user, 'window', `The certificate of ${policy.siteName}, or what certified it, has been revoked.`);
  if (policy.at > policy.issuerNotAfter + policy.clockSkewSeconds)
    return error(user, 'window', `The certificate of ${policy.siteName}, or what certified it, has expired.`);
  const notBefore = policy.at + policy.notBeforeOffsetSeconds;
  const notAfter = Math.min(notBefore + policy.lifetimeSeconds, Math.floor(grant.notAfter));
  if (notAfter <= Math.max(notBefore, policy.at)) {
    const sentence = 'The certificates sent expire before an attribute certificate would begin to be of use.';
    return error(user, 'window', sentence);
  }
  const { roles, provenance } = grant;
  const { issuer, siteName: issuerName } = policy;
  const content = { holder: user.name, issuer, issuerName, notBefore, notAfter, roles, provenance };
  return { status: 'AccessGranted', user, site: '', content };
}

function denied(user: ProvenUser, code: RefusalCode, sentence: string): Decision {
  return { status: 'AccessDenied', user, claimed: '', site: '', refusal: { code, sentence } };
}

function error(user: ProvenUser, code: RefusalCode, sentence: string): Decision {
  return { status: 'AccessError', user, claimed: '', site: '', refusal: { code, sentence } };
}
