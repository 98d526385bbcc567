// Decides about a request: validates the chain against the configured CAs, verifies another site's attribute
// certificate, and determines the roles. Uses only the configuration and the time, no network or file.
import { type CertificateReading, readCertificate } from './attributeCertificate/read.ts';
import { signatureProblem } from './attributeCertificate/verify.ts';
import type { AuthorityData } from './configuration/load.ts';
import type { RefusalCode } from '../observe/events.ts';
import {
  type Certificate,
  type Crl,
  type CrlStore,
  makeCrlStore,
  mayBeUsedFor,
  parseCertificate,
  printSubject,
  printText,
} from './x509/certificate.ts';
import { parseSingleCertificate, readChain, readCrlFile, type TrustStore, makeTrustStore } from './x509/search.ts';
import { nameProblem, nameText } from './x509/name.ts';
import { nameKeysUnder } from './x509/nameConstraints.ts';
import type { ProxyKinds } from './x509/pathRules.ts';
import { type ChainRules, validateChain } from './x509/validate.ts';
import type { AttributeContent, Provenance } from './attributeCertificate/content.ts';
import type { AuthorisationRequest } from './authority.ts';
import type { UnsignedContent } from './attributeCertificate/write.ts';
import type { TrustedHost } from './configuration/hosts.ts';

interface Trust {
  readonly store: TrustStore;
  readonly crls: CrlStore | undefined;
  readonly data: AuthorityData;
}

/** Created once per configuration. Cost: reading every CA and CRL. */
export function makeTrust(data: AuthorityData): Trust {
  const store = makeTrustStore(data.anchors.map(parseCertificate));
  const crls = data.crls && makeCrlStore(data.crls.flatMap(parseCrls));
  return { store, crls, data };
}

/** load.ts has already skipped unreadable files. */
function parseCrls(file: Uint8Array): readonly Crl[] {
  const reading = readCrlFile(file);
  return reading.kind === 'read' ? reading.all : [];
}

const NO_PROXIES: ProxyKinds = { full: false, limited: false, legacy: false };
/** Intermediate CAs of a path: a text has at most 8 certificates, one of which is the user's. */
const DEPTH_MAX = 7;

/** `at` is in seconds since 1970. */
export function evidenceAt(trust: Trust, at: number): Evidence {
  return {
    userOf: (text) => proveUser(trust, text, at),
    certificateOf: (text) => proveCertificate(trust, text, at),
  };
}

function makeRules({ store, crls, data }: Trust, proxies: ProxyKinds, at: number): ChainRules {
  const { clockSkewSeconds, allowWeak, namespaces } = data;
  const limits = { clockSkewSeconds, allowWeak, namespaces, maxDepth: DEPTH_MAX, profile: 'service' } as const;
  return { trust: store, crls, at, proxies, ...limits };
}

const CHAIN = "The user's certificates (usrProxyCert)";

function proveUser(trust: Trust, text: string, at: number): Proof<ProvenUser> {
  const reading = readChain(text);
  if (reading.kind === 'unreadable') return unproven('', 'userChain', `${CHAIN} cannot be read: ${reading.reason}`);
  const presented = reading.all[0]!;
  const proxies: ProxyKinds = { full: true, limited: true, legacy: trust.data.legacyProxies };
  const verdict = validateChain(reading.all, makeRules(trust, proxies, at));
  if (!verdict.accepted)
    return unproven(printSubject(presented), 'userChain', `${CHAIN} are refused: ${verdict.reason}`);
  const { subject } = verdict.endEntity;
  const problem = nameProblem(subject);
  if (problem !== undefined) {
    return unproven(printSubject(presented), 'userName', `The user's name (usrProxyCert) is refused: ${problem}`);
  }
  const { expiresAt, proxy } = verdict;
  const key = nameKeysUnder(trust.data.namespaces).of(subject);
  return { kind: 'proven', value: { name: nameText(subject), key, expiresAt, proxy } };
}

const INNER_EXTERNAL = "the user's attribute certificate (usrAttCert)";
const EXTERNAL = "The user's attribute certificate (usrAttCert)";

/** Step 5 of the design up to the signer's chain; `mapCertificate` continues. */
function proveCertificate(trust: Trust, text: string, at: number): Proof<ProvenCertificate> {
  const reading: CertificateReading = readCertificate(text);
  if (reading.kind === 'unreadable') return unproven('', 'externalForm', `${EXTERNAL} ${reading.reason}`);
  const { content, signature } = reading.certificate;
  const site = content.issuerName;
  if (content.provenance !== 'original')
    return unproven(site, 'externalProvenance', `${EXTERNAL} is itself mapped from another`);
  const signer = parseSingleCertificate(signature.der);
  if (!signer) return unproven(site, 'externalSignature', `${EXTERNAL} is signed by something that is no certificate`);
  const { externalSignatures: algorithms, allowWeak } = trust.data;
  const problem = signatureProblem(signature, signer, { algorithms, allowWeak });
  if (problem !== undefined) return unproven(site, 'externalSignature', `${EXTERNAL} ${problem}`);
  const refusal = signerRefusal(trust, signer, at);
  if (refusal !== undefined) return unproven(site, 'externalSigner', refusal);
  const keys = nameKeysUnder(trust.data.namespaces);
  const [issuer, holder] = [content.issuer, content.holder].map(keys.ofText);
  return { kind: 'proven', value: { content, signer: keys.of(signer.subject), issuer, holder } };
}

/** Why a certificate may not sign attributes. Proxies may not, nor may keys for other purposes. */
function signerRefusal(trust: Trust, certificate: Certificate, at: number): string | undefined {
  if (!mayBeUsedFor(certificate, 'digitalSignature'))
    return `${EXTERNAL} is signed by a certificate that is not for signatures`;
  const verdict = validateChain([certificate], makeRules(trust, NO_PROXIES, at));
  return verdict.accepted ? undefined : `The signer of ${INNER_EXTERNAL} is refused: ${verdict.reason}`;
}

/** Adds a full stop unless the text ends with one. */
function unproven(claimed: string, code: RefusalCode, text: string): Extract<Proof<never>, { kind: 'refused' }> {
  return { kind: 'refused', claimed, refusal: { code, sentence: `${text.replace(/\.$/, '')}.` } };
}

export interface ProvenUser {
  /** The subject of the end entity. */
  readonly name: string;
  /** The key of the name (NameKeys). */
  readonly key: string;
  /** Expiry of the chain, in seconds since 1970. */
  readonly expiresAt: number;
  readonly proxy: 'none' | 'full' | 'limited';
}

/**
 * Another site's attribute certificate. Its signature and the chain of its signer are valid. `signer`, `issuer` and
 * `holder` are keys of names (NameKeys).
 */
export interface ProvenCertificate {
  readonly content: AttributeContent;
  /** The certificate that signed it. */
  readonly signer: string;
  /** The issuer that it names; undefined if that is not a valid name. */
  readonly issuer: string | undefined;
  /** The holder that it names; undefined if that is not a valid name. */
  readonly holder: string | undefined;
}

/** The kind of refusal, and one human-readable sentence. */
interface RequestRefusal {
  readonly code: RefusalCode;
  readonly sentence: string;
}

/** Proof, or why it is missing. `claimed` is the unproven name in the text, for the record only; '' if unreadable. */
type Proof<T> =
  | { readonly kind: 'proven'; readonly value: T }
  | { readonly kind: 'refused'; readonly refusal: RequestRefusal; readonly claimed: string };

export interface Policy {
  readonly siteName: string;
  /** The subject of this site's certificate. */
  readonly issuer: string;
  /** End of validity of that certificate and its path, in seconds since 1970. */
  readonly issuerNotAfter: number;
  readonly isIssuerRevoked: boolean;
  readonly hosts: ReadonlyMap<string, TrustedHost>;
  readonly findRoles: (userKey: string) => readonly string[];
  readonly lifetimeSeconds: number;
  readonly notBeforeOffsetSeconds: number;
  readonly clockSkewSeconds: number;
  readonly at: number;
}

/**
 * Validates the two texts of a request. Each method is called at most once, `certificateOf` only for users without
 * local roles.
 */
export interface Evidence {
  userOf(usrProxyCert: string): Proof<ProvenUser>;
  certificateOf(usrAttCert: string): Proof<ProvenCertificate>;
}

/** `site` is the issuer of the attribute certificate, '' without one. It is unproven unless access is granted. */
export type Decision =
  | {
      readonly status: 'AccessGranted';
      readonly user: ProvenUser;
      readonly site: string;
      readonly content: UnsignedContent;
    }
  | RefusedDecision;

interface RefusedDecision {
  readonly status: 'AccessDenied' | 'AccessError';
  /** Undefined if no user was proven. */
  readonly user: ProvenUser | undefined;
  /** The name that was claimed in that case. */
  readonly claimed: string;
  readonly site: string;
  readonly refusal: RequestRefusal;
}

/** Never throws because of a client's input. */
export function decide(request: AuthorisationRequest, policy: Policy, evidence: Evidence): Decision {
  const proof = evidence.userOf(request.usrProxyCert);
  if (proof.kind === 'refused') {
    const { refusal, claimed } = proof;
    return { status: 'AccessError', user: undefined, claimed, site: '', refusal };
  }
  const user = proof.value;
  const roles = policy.findRoles(user.key);
  if (roles.length > 0) return grantAccess(user, policy, { roles, provenance: 'original', notAfter: user.expiresAt });
  if (isBlank(request.usrAttCert)) {
    return denyAccess(user, 'unregistered', `The user ${user.name} is not registered at ${policy.siteName}.`);
  }
  const external = evidence.certificateOf(request.usrAttCert);
  if (external.kind === 'refused') {
    return { status: 'AccessError', user, claimed: '', site: printText(external.claimed), refusal: external.refusal };
  }
  return { ...mapCertificate(user, policy, external.value), site: printText(external.value.content.issuerName) };
}

function isBlank(text: string): boolean {
  return !/[^ \t\r\n]/.test(text);
}

/** The rest of step 5, and step 6 onwards. */
function mapCertificate(user: ProvenUser, policy: Policy, certificate: ProvenCertificate): Decision {
  const { content } = certificate;
  const problem = externalProblem(user, policy, certificate);
  if (problem) return error(user, problem[0], `The user's attribute certificate (usrAttCert) ${problem[1]}.`);
  const host = policy.hosts.get(content.issuerName);
  if (!host) {
    const site = printText(content.issuerName);
    return denyAccess(
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
  const roles = mapRoles(content.roles, host);
  if (roles.length > 0)
    return grantAccess(user, policy, {
      roles,
      provenance: 'mapped',
      notAfter: Math.min(user.expiresAt, content.notAfter),
    });
  return denyAccess(
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

/** In the order of the certificate, then of the configuration, without duplicates. */
function mapRoles(remotes: readonly string[], { mappings }: TrustedHost): readonly string[] {
  const byRemote = Map.groupBy(mappings, ({ remote }) => remote);
  const mapped = [...new Set(remotes)].flatMap((remote) => byRemote.get(remote) ?? []);
  return [...new Set(mapped.map(({ local }) => local))];
}

interface Grant {
  readonly roles: readonly string[];
  readonly provenance: Provenance;
  readonly notAfter: number;
}

/**
 * Grants nothing with an expired or revoked certificate: no site would accept the result, nor could new CRLs be loaded
 * with an expired one.
 */
function grantAccess(user: ProvenUser, policy: Policy, grant: Grant): Decision {
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

function denyAccess(user: ProvenUser, code: RefusalCode, sentence: string): Decision {
  return { status: 'AccessDenied', user, claimed: '', site: '', refusal: { code, sentence } };
}

function error(user: ProvenUser, code: RefusalCode, sentence: string): Decision {
  return { status: 'AccessError', user, claimed: '', site: '', refusal: { code, sentence } };
}
