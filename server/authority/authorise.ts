// One request to be authorised, from its two texts to its answer and what is to be recorded of it. Puts decision,
// evidence and signature together over one configuration; starts no thread.
import type { AuthorisationRecord } from '../observe/events.ts';
import { signerOf } from './attributeCertificate/write.ts';
import { type AuthorisationOutcome, refusedRequest, type SentRequest, sentRequest } from './authorised.ts';
import type { AuthorisationRequest } from './authority.ts';
import type { AuthorityData } from './configuration/load.ts';
import { decide, type Decision, type Policy } from './decide.ts';
import { digestOf } from './digest.ts';
import { evidenceAt, trustOf } from './evidence.ts';
import { randomSerialNumber } from './serialNumber.ts';
import { parseCertificate } from './x509/certificate.ts';
import { nameText } from './x509/name.ts';

/** Answers a request at a time, in whole seconds since 1970. Never throws for what a client sent. */
export type Authorise = (request: AuthorisationRequest, at: number) => AuthorisationOutcome;

/**
 * Ready to answer by one configuration. `giveWay` is called before a signature. Cost: reading its CAs, about 0.1 ms
 * each.
 */
export function authoriserOf(data: AuthorityData, giveWay: () => void = () => undefined): Authorise {
  const certificate = parseCertificate(data.certificate);
  const sign = signerOf({ key: data.key, certificate });
  const trust = trustOf(data);
  const { siteName, lifetimeSeconds, notBeforeOffsetSeconds, clockSkewSeconds } = data;
  const policy: Omit<Policy, 'at'> = {
    siteName,
    lifetimeSeconds,
    notBeforeOffsetSeconds,
    clockSkewSeconds,
    issuer: nameText(certificate.subject),
    issuerNotAfter: data.issuerNotAfter,
    isIssuerRevoked: data.isIssuerRevoked,
    hosts: new Map(data.hosts.map((host) => [host.name, host])),
    rolesOf: (key) => data.users.get(key) ?? [],
  };
  return (request, at) => {
    const sent = sentRequest(request);
    const decision = decide(request, { ...policy, at }, evidenceAt(trust, at));
    if (decision.status !== 'AccessGranted') return refusedRequest(sent, decision.refusal, { ...decision, at });
    const serialNumber = String(randomSerialNumber());
    giveWay();
    const attCert = sign(decision.content);
    return granted(sent, decision, { at, serialNumber, attCert });
  };
}

function granted(
  { requestId, peer, chainDigest }: SentRequest,
  { user, site, content }: Extract<Decision, { readonly status: 'AccessGranted' }>,
  issued: { readonly at: number; readonly serialNumber: string; readonly attCert: string },
): AuthorisationOutcome {
  const { at, serialNumber, attCert } = issued;
  const { holder, roles, provenance, notAfter } = content;
  const record: AuthorisationRecord = {
    kind: 'authorisation',
    at,
    status: 'AccessGranted',
    reason: '',
    sentence: '',
    requestId,
    peer,
    holder,
    claimed: '',
    proxy: user.proxy,
    site,
    roles,
    provenance,
    serialNumber,
    notAfter,
    issuedDigest: digestOf(attCert),
    chainDigest,
  };
  return { answer: { attCert, statCode: 'AccessGranted', errMsg: '' }, record };
}
