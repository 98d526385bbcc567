// How texts become proof: chains validated against the configured CAs, other sites' attribute certificates verified.
// Knows the configuration and the time; decides nothing. Chain verdicts are kept until they expire.
import type { Memory } from '../http/memory.ts';
import { type CertificateReading, readCertificate } from './attributeCertificate/read.ts';
import { DOCUMENT_BYTES_MAX } from './attributeCertificate/tree.ts';
import { signatureProblem } from './attributeCertificate/verify.ts';
import type { AuthorityData } from './configuration/load.ts';
import type { Evidence, Proof, ProvenCertificate, ProvenUser } from './decide.ts';
import type { RefusalCode } from '../observe/events.ts';
import { digestOf } from './digest.ts';
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

/** Made once per configuration and thread. Cost: reading every CA and CRL. */
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

/** A signer of attribute certificates that its chain proved; `key` is that of its subject (see NameKeys). */
export interface ProvenSigner {
  readonly certificate: Certificate;
  readonly key: string;
  readonly holdsUntil: number;
}

/**
 * The verdicts that are kept, as long as they hold: of users' chains and attribute certificates by the digests of their
 * texts, of signers by that of their certificate. A refusal is not kept: it may be one of the moment.
 */
export interface Verdicts {
  readonly users: Memory<ProvenUser>;
  readonly certificates: Memory<ProvenCertificate>;
  readonly signers: Memory<ProvenSigner>;
}

const NO_PROXIES: ProxyKinds = { full: false, limited: false, legacy: false };
/** Intermediate CAs of a path: a text holds 8 certificates, of which one is the user's. */
const DEPTH_MAX = 7;

/**
 * When evidence is to hold, in seconds since 1970, the digest of the user's chain, and what is called behind each text
 * that was proved anew.
 */
export interface Occasion {
  readonly at: number;
  readonly chainDigest: string;
  readonly giveWay: () => void;
}

/** Evidence at a time. */
export function evidenceAt(trust: Trust, verdicts: Verdicts, { at, chainDigest, giveWay }: Occasion): Evidence {
  const behind = <T>(proof: Proof<T>): Proof<T> => {
    giveWay();
    return proof;
  };
  return {
    userOf: (text) =>
      proofOf(verdicts.users, { digest: chainDigest, at, size: 1 }, () => behind(proveUser(trust, text, at))),
    certificateOf(text) {
      const prove = (): Proof<ProvenCertificate> => behind(proveCertificate(trust, verdicts, text, at));
      // It is refused by its length, and not worth a digest.
      if (text.length > DOCUMENT_BYTES_MAX) return prove();
      return proofOf(verdicts.certificates, { digest: digestOf(text), at, size: text.length }, prove);
    },
  };
}

/** A proof, from memory where it still holds; `size` is what it counts there. */
function proofOf<T extends { readonly holdsUntil: number }>(
  verdicts: Memory<T>,
  { digest, at, size }: { readonly digest: string; readonly at: number; readonly size: number },
  prove: () => Proof<T>,
): Proof<T> {
  const value = verdicts.find(digest);
  if (value && at <= value.holdsUntil) return { kind: 'proven', value };
  const proof = prove();
  if (proof.kind === 'proven') verdicts.keep(digest, proof.value, size);
  return proof;
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
  const { expiresAt, holdsUntil, proxy } = verdict;
  const key = nameKeysUnder(trust.data.namespaces).of(subject);
  return { kind: 'proven', value: { name: nameText(subject), key, expiresAt, holdsUntil, proxy } };
}

const INNER_EXTERNAL = "the user's attribute certificate (usrAttCert)";
const EXTERNAL = "The user's attribute certificate (usrAttCert)";

/** Step 5 of the design, in its order, up to the signer's chain; decide.ts goes on. */
function proveCertificate(trust: Trust, verdicts: Verdicts, text: string, at: number): Proof<ProvenCertificate> {
  const reading: CertificateReading = readCertificate(text);
  if (reading.kind === 'unreadable') return unproven('', 'externalForm', `${EXTERNAL} ${reading.reason}`);
  const { content, signature } = reading.certificate;
  const site = content.issuerName;
  if (content.provenance !== 'original')
    return unproven(site, 'externalProvenance', `${EXTERNAL} is itself mapped from another`);
  const digest = digestOf(signature.der);
  const signer = verdicts.signers.find(digest)?.certificate ?? certificateOf(signature.der);
  if (!signer) return unproven(site, 'externalSignature', `${EXTERNAL} is signed by something that is no certificate`);
  const { externalSignatures: algorithms, allowWeak } = trust.data;
  const problem = signatureProblem(signature, signer, { algorithms, allowWeak });
  if (problem !== undefined) return unproven(site, 'externalSignature', `${EXTERNAL} ${problem}`);
  const proof = proofOf(verdicts.signers, { digest, at, size: 1 }, () => proveSigner(trust, signer, at));
  if (proof.kind === 'refused') return { ...proof, claimed: site };
  const [issuer, holder] = [content.issuer, content.holder].map(nameKeysUnder(trust.data.namespaces).ofText);
  return {
    kind: 'proven',
    value: { content, signer: proof.value.key, issuer, holder, holdsUntil: proof.value.holdsUntil },
  };
}

/** Not by a proxy, and not by a key that is for other things. Whose certificate it signed is the caller's to say. */
function proveSigner(trust: Trust, certificate: Certificate, at: number): Proof<ProvenSigner> {
  if (!mayBeUsedFor(certificate, 'digitalSignature')) {
    return unproven('', 'externalSigner', `${EXTERNAL} is signed by a certificate that is not for signatures`);
  }
  const verdict = validateChain([certificate], rulesOf(trust, NO_PROXIES, at));
  if (!verdict.accepted)
    return unproven('', 'externalSigner', `The signer of ${INNER_EXTERNAL} is refused: ${verdict.reason}`);
  const { holdsUntil } = verdict;
  return {
    kind: 'proven',
    value: { certificate, key: nameKeysUnder(trust.data.namespaces).of(certificate.subject), holdsUntil },
  };
}

/** A sentence with one full stop, whoever wrote its end. */
function unproven(claimed: string, code: RefusalCode, text: string): Extract<Proof<never>, { kind: 'refused' }> {
  return { kind: 'refused', claimed, refusal: { code, sentence: `${text.replace(/\.$/, '')}.` } };
}
