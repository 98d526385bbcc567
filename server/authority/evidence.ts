// How texts become proof: chains validated against the configured CAs, other sites' attribute certificates verified.
// Knows the configuration and the time; decides nothing.
import { type CertificateReading, readCertificate } from './attributeCertificate/read.ts';
import { signatureProblem } from './attributeCertificate/verify.ts';
import type { AuthorityData } from './configuration/load.ts';
import type { Evidence, Proof, ProvenCertificate, ProvenUser } from './decide.ts';
import type { RefusalCode } from '../observe/events.ts';
import { type Certificate, mayBeUsedFor, parseCertificate, shownSubject } from './x509/certificate.ts';
import { certificateOf, readChain, readCrlFile } from './x509/chain.ts';
import { nameProblem, nameText } from './x509/name.ts';
import { nameKeysUnder } from './x509/namespaces.ts';
import { type Crl, crlStoreOf, type CrlStore } from './x509/crl.ts';
import type { ProxyKinds } from './x509/proxyRules.ts';
import { trustStoreOf, type TrustStore } from './x509/trust.ts';
import { validateChain, type ChainRules } from './x509/validate.ts';

/** What chains are judged by: the configured CAs and their CRLs. */
export interface Trust {
  readonly store: TrustStore;
  readonly crls: CrlStore | undefined;
  readonly data: AuthorityData;
}

/** Made once per configuration. Cost: reading every CA and CRL. */
export function trustOf(data: AuthorityData): Trust {
  const store = trustStoreOf(data.anchors.map(parseCertificate));
  const crls = data.crls && crlStoreOf(data.crls.flatMap(crlsOf));
  return { store, crls, data };
}

/** Files that cannot be read are none: load.ts has seen to that. */
function crlsOf(file: Uint8Array): readonly Crl[] {
  const reading = readCrlFile(file);
  return reading.kind === 'read' ? reading.all : [];
}

const NO_PROXIES: ProxyKinds = { full: false, limited: false, legacy: false };
/** Intermediate CAs of a path: a text holds 8 certificates, of which one is the user's. */
const DEPTH_MAX = 7;

/** Evidence at a time, in seconds since 1970. */
export function evidenceAt(trust: Trust, at: number): Evidence {
  return {
    userOf: (text) => proveUser(trust, text, at),
    certificateOf: (text) => proveCertificate(trust, text, at),
  };
}

function rulesOf({ store, crls, data }: Trust, proxies: ProxyKinds, at: number): ChainRules {
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
  const verdict = validateChain(reading.all, rulesOf(trust, proxies, at));
  if (!verdict.accepted)
    return unproven(shownSubject(presented), 'userChain', `${CHAIN} are refused: ${verdict.reason}`);
  const { subject } = verdict.endEntity;
  const problem = nameProblem(subject);
  if (problem !== undefined) {
    return unproven(shownSubject(presented), 'userName', `The user's name (usrProxyCert) is refused: ${problem}`);
  }
  const { expiresAt, proxy } = verdict;
  const key = nameKeysUnder(trust.data.namespaces).of(subject);
  return { kind: 'proven', value: { name: nameText(subject), key, expiresAt, proxy } };
}

const INNER_EXTERNAL = "the user's attribute certificate (usrAttCert)";
const EXTERNAL = "The user's attribute certificate (usrAttCert)";

/** Step 5 of the design, in its order, up to the signer's chain; decide.ts goes on. */
function proveCertificate(trust: Trust, text: string, at: number): Proof<ProvenCertificate> {
  const reading: CertificateReading = readCertificate(text);
  if (reading.kind === 'unreadable') return unproven('', 'externalForm', `${EXTERNAL} ${reading.reason}`);
  const { content, signature } = reading.certificate;
  const site = content.issuerName;
  if (content.provenance !== 'original')
    return unproven(site, 'externalProvenance', `${EXTERNAL} is itself mapped from another`);
  const signer = certificateOf(signature.der);
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

/** Why a certificate may not sign attributes: proxies and keys for other purposes may not. */
function signerRefusal(trust: Trust, certificate: Certificate, at: number): string | undefined {
  if (!mayBeUsedFor(certificate, 'digitalSignature'))
    return `${EXTERNAL} is signed by a certificate that is not for signatures`;
  const verdict = validateChain([certificate], rulesOf(trust, NO_PROXIES, at));
  return verdict.accepted ? undefined : `The signer of ${INNER_EXTERNAL} is refused: ${verdict.reason}`;
}

/** A sentence with one full stop, whoever wrote its end. */
function unproven(claimed: string, code: RefusalCode, text: string): Extract<Proof<never>, { kind: 'refused' }> {
  return { kind: 'refused', claimed, refusal: { code, sentence: `${text.replace(/\.$/, '')}.` } };
}
